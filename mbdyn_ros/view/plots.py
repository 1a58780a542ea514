"""Plots of trajectories, of motions along a path, and of external efforts (matplotlib)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array import Array
from ..errors import InputError
from ..extras import require
from ..model.model import Model
from ..motion import TimedPath
from ..simulation.trajectory import Trajectory
from ..units import effort_unit, position_unit, velocity_unit
from .figure import (
    COLORS,
    FAINT_INK,
    INK,
    LIMIT_IN_VIEW,
    as_they_stand,
    color_of,
    empty_figure,
    figure_of,
    legend_beside,
    save_figure,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


COLUMN = {"rad": 0, "rad/s": 0, "N m": 0, "m": 1, "m/s": 1, "N": 1, "": 1}
"""Where a unit is plotted: what turns on the left, what slides on the right."""

ENERGY_ROW = 3
"""The last row; it also has the quaternions of floating joints."""

LEGEND_WIDTH = 0.01
"""Of its column; the layout makes room for what it holds."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 3)))
"""With these the colours suffice for the lines of a humanoid."""

IMPACT_LINE = {"color": "grey", "linewidth": 0.7, "alpha": 0.6, "zorder": 0}


def plot_trajectory(model: Model, trajectory: Trajectory, title: str | None = None) -> Figure:
    """Positions, velocities, efforts and energy over time, one line a coordinate.

    Thin vertical lines are impacts. Angles and lengths have axes of their own; one legend serves
    all of them.

    Parameters
    ----------
    model : of the robot that moved; it gives the units.
    title : default: the robot's name.
    """
    require("plot")
    from matplotlib.lines import Line2D

    panels = _panels(model, trajectory)
    columns = sorted({column for _, column in panels}) or [0]
    styles = _styles(trajectory)
    energy = _energies(trajectory)
    many = len(styles) > 14
    figure = empty_figure(6.0 + 4.0 * len(columns), 11.0, dpi=120)
    grid = figure.add_gridspec(
        ENERGY_ROW + 1, len(columns) + 1, width_ratios=[1.0] * len(columns) + [LEGEND_WIDTH]
    )
    for (row, column), (what, unit, lines) in panels.items():
        axes = figure.add_subplot(grid[row, columns.index(column)])
        for name, numbers in lines:
            color, dash = styles[name]
            axes.plot(trajectory.time, numbers, color=color, linestyle=dash, linewidth=1.2)
        _mark_impacts(axes, trajectory)
        _finish(axes, f"{what} ({unit or 'quaternion'})")
    axes = figure.add_subplot(grid[ENERGY_ROW, 0])
    for numbers, color, dash in energy.values():
        axes.plot(trajectory.time, numbers, color=color, linestyle=dash, linewidth=1.8)
    _mark_impacts(axes, trajectory)
    _finish(axes, "energy (J)")
    heading = figure.suptitle(title or model.name)
    entries = [(name, color, dash, 1.2) for name, (color, dash) in styles.items()]
    entries.append(("", "none", "-", 0.0))  # a gap
    entries += [(name, color, dash, 1.8) for name, (_, color, dash) in energy.items()]
    side = figure.add_subplot(grid[:, -1])  # figures place legends outside from 3.7 on
    side.axis("off")
    legend = side.legend(
        [Line2D([], [], color=c, linestyle=dash, linewidth=w) for _, c, dash, w in entries],
        [name for name, _, _, _ in entries],
        loc="upper left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.0,
        fontsize="small" if many else "medium",
        handlelength=2.8,
        frameon=False,
    )
    as_they_stand(heading, *legend.get_texts())
    return figure


def save_plot(
    model: Model, trajectory: Trajectory, path: str | os.PathLike[str], title: str | None = None
) -> None:
    """Save `plot_trajectory` as PNG, SVG or PDF, by the path's end."""
    if not len(trajectory):
        raise InputError(f"{path}: there is nothing to plot; the trajectory is empty")
    save_figure(plot_trajectory(model, trajectory, title), path)


Panels = dict[tuple[int, int], tuple[str, str, list[tuple[str, Array]]]]
"""(row, column) -> quantity, unit, named lines."""


def _panels(model: Model, trajectory: Trajectory) -> Panels:
    panels: Panels = {}
    quantities: list[tuple[str, tuple[str, ...], Array, Callable[[Model, str], str]]] = [
        ("position", trajectory.position_labels, trajectory.q, position_unit),
        ("velocity", trajectory.velocity_labels, trajectory.v, velocity_unit),
        ("effort", trajectory.effort_labels, trajectory.effort, effort_unit),
    ]
    for row, (what, labels, numbers, unit_of) in enumerate(quantities):
        for k, label in enumerate(labels):
            unit = unit_of(model, label)
            place = (row if unit else ENERGY_ROW, COLUMN[unit])
            panel = panels.setdefault(place, (what if unit else "orientation", unit, []))
            panel[2].append((_line_name(label), numbers[:, k]))
    return panels


def _line_name(label: str) -> str:
    """The legend's name: x, vx, wx and qx of one joint share a line style."""
    joint, _, part = label.partition("/")
    return f"{joint} {part[-1] if part != 'theta' else part}" if part else joint


def _styles(trajectory: Trajectory) -> dict[str, tuple[str, Any]]:
    labels = trajectory.position_labels + trajectory.velocity_labels + trajectory.effort_labels
    names = map(_line_name, labels)
    return {
        name: (color_of(k), DASHES[k // len(COLORS) % len(DASHES)])
        for k, name in enumerate(dict.fromkeys(names))
    }


def _energies(trajectory: Trajectory) -> dict[str, tuple[Array, str, Any]]:
    """Numbers, colour and dash of the curves of energy."""
    kinetic, potential = trajectory.energy.T
    work, loss = trajectory.work.T
    potential = potential - potential[0]
    curves: dict[str, tuple[Array, str, Any]] = {
        "kinetic energy": (kinetic, color_of(1), "-"),
        "potential, from start": (potential, color_of(0), "-"),
    }
    if np.any(work):
        curves["work of efforts"] = (work, color_of(2), "-")
    if np.any(loss):
        words = "lost, friction and impacts" if trajectory.impacts else "lost to friction"
        curves[words] = (loss, color_of(3), "-")
    curves["total, from start"] = (kinetic + potential, INK, ":")
    return curves


def _mark_impacts(axes: Any, trajectory: Trajectory) -> None:
    times = [impact.time for impact in trajectory.impacts]
    axes.vlines(times, 0, 1, transform=axes.get_xaxis_transform(), **IMPACT_LINE)


def _finish(axes: Any, label: str) -> None:
    axes.set_ylabel(label)
    tidy(axes)
    axes.margins(x=0)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_xlabel("time (s)")
    if not any(np.any(line.get_ydata()) for line in axes.get_lines()):
        axes.set_ylim(-1, 1)  # all zero


def save_result_plot(
    path: str | os.PathLike[str],
    title: str,
    what: str,
    labels: Sequence[str],
    units: Sequence[str],
    values: Array,
    time: Array | None = None,
    limits: Array | None = None,
) -> None:
    """Plot one line a coordinate, a panel for each unit.

    Parameters
    ----------
    path : .png, .svg or .pdf. title : above all. what : the quantity.
    labels, units : of the coordinates.
    values : (N, n). time : (N,), s; else the states are counted.
    limits : (n,), drawn dashed where they are near a line.

    Raises
    ------
    InputError
        Fewer than two states, or the file cannot be written.
    """
    if len(np.atleast_2d(values)) < 2 or values.ndim < 2:
        raise InputError(f"{path}: one state makes no plot; give many, as with --trajectory")
    kinds = list(dict.fromkeys(units))
    across = np.arange(len(values)) if time is None else time
    figure = figure_of(len(kinds), size=(8.0, 3.2))
    for row, unit in enumerate(kinds):
        axes = figure.add_subplot(len(kinds), 1, row + 1)
        columns = [k for k, one in enumerate(units) if one == unit]
        for i, k in enumerate(columns):
            color = color_of(i)
            axes.plot(across, values[:, k], color=color, linewidth=1.4, label=labels[k])
            if limits is not None and limits[k] <= LIMIT_IN_VIEW * np.abs(values[:, k]).max():
                for limit in (-limits[k], limits[k]):
                    axes.axhline(limit, color=color, linewidth=0.9, linestyle=(0, (5, 3)))
        axes.set_ylabel(f"{what} ({unit})")
        axes.set_xlabel("state" if time is None else "time (s)")
        axes.margins(x=0)
        tidy(axes)
        as_they_stand(*legend_beside(axes).get_texts())
    as_they_stand(figure.suptitle(title))
    save_figure(figure, path)


def save_external_plot(
    path: str | os.PathLike[str],
    title: str,
    time: Array,
    labels: Sequence[str],
    units: Sequence[str],
    external: Array,
    thresholds: Array,
    link: str,
    force_time: Array,
    force: Array,
    contacts: Sequence[tuple[float, float]],
) -> None:
    """Plot external efforts (N, n), a panel for each unit, and the force at a link.

    force : (M, 3) at `force_time` (M,). thresholds : (n,), drawn dashed about zero.
    contacts : begin and end (s), shaded.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    kinds = list(dict.fromkeys(units))
    figure = figure_of(len(kinds) + 1, size=(9.0, 3.0))
    panels = [(kind, [k for k, one in enumerate(units) if one == kind]) for kind in kinds]
    for row, (kind, columns) in enumerate(panels):
        axes = figure.add_subplot(len(kinds) + 1, 1, row + 1)
        for k in columns:
            axes.plot(time, external[:, k], color=color_of(k), linewidth=1.2, label=labels[k])
            for threshold in (-thresholds[k], thresholds[k]):
                axes.axhline(threshold, color=color_of(k), linewidth=0.6, linestyle=(0, (5, 4)))
        axes.set_ylabel(f"external effort ({kind})")
    axes = figure.add_subplot(len(kinds) + 1, 1, len(kinds) + 1)
    for k, name in enumerate("xyz"):
        axes.plot(force_time, force[:, k], color=color_of(k), linewidth=1.2, label=f"force {name}")
    axes.plot(force_time, np.linalg.norm(force, axis=1), color="black", linewidth=0.9, label="size")
    axes.set_ylabel(f"force at {link} (N)")
    axes.set_xlabel("time (s)")
    for axes in figure.axes:
        for begin, end in contacts:
            axes.axvspan(begin, end, color=FAINT_INK, alpha=0.3, linewidth=0)
        axes.margins(x=0)
        tidy(axes)
        as_they_stand(*legend_beside(axes).get_texts(), axes.yaxis.label)
    as_they_stand(figure.suptitle(title))
    save_figure(figure, path)


LEAST_SPAN = 0.004
"""Part of the duration under which a stretch is not named."""


def save_timing_plot(timed: TimedPath, path: str | os.PathLike[str], title: str = "") -> None:
    """Draw ds/dt over s, and the used share of every limit that limits, over time.

    Each limit has a colour, in which the speed is drawn where it is the one that is used most. In
    grey: the greatest ds/dt by limits of speeds alone.
    """
    times, shares = timed.used()
    worst = shares.argmax(axis=1)
    spans = np.gradient(times)
    durations = np.bincount(worst, weights=spans, minlength=shares.shape[1])
    shown = np.argsort(-durations)[: len(COLORS)]
    shown = shown[durations[shown] > LEAST_SPAN * timed.duration]
    color = {int(k): color_of(i) for i, k in enumerate(shown)}
    figure = figure_of(2, size=(8.4, 3.1))
    phase, used = figure.subplots(2)
    done, start, first = 0.0, 0.0, 0
    for part, fast in zip(timed.parts, timed.fastest, strict=True):
        count = len(fast.u)
        here = slice(first, first + count)
        s, speed, _ = part.at(times[here] - start)
        with np.errstate(divide="ignore"):
            most = np.sqrt(fast.rows.most)
        phase.plot(done + fast.rows.s, most, color=FAINT_INK, linewidth=1.0)
        phase.plot(done + s, speed, color=FAINT_INK, linewidth=2.2)
        for k, one in color.items():
            phase.plot(
                done + s, np.where(worst[here] == k, speed, np.nan), color=one, linewidth=2.2
            )
        done, start, first = done + fast.path.length, start + part.duration, first + count
    top = max(float(np.sqrt(fast.x.max())) for fast in timed.fastest)
    phase.set(xlabel="s, length of the path in the joints", ylabel="ds/dt (1/s)")
    phase.set_ylim(0, 1.4 * top)
    for k, one in color.items():
        used.plot(times, 100 * shares[:, k], color=one, linewidth=1.4, label=timed.limits.labels[k])
    used.set(xlabel="time (s)", ylabel="used of the limit (%)", ylim=(0, 108))
    for axes in (phase, used):
        axes.margins(x=0)
        tidy(axes)
    as_they_stand(*legend_beside(used).get_texts())
    as_they_stand(figure.suptitle(title or f"{timed.duration:.4g} s"))
    save_figure(figure, path)
