"""Figures of mechanisms and of better designs (matplotlib)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ...view.figure import COLORS, FAINT_INK, INK, color_of, figure_of, legend_beside, tidy
from .. import Analysis, Mechanism
from ..design import unit_of
from ..fit import CurveFit
from ..forward import ForwardMotion
from ..link import Wheel
from ..pareto import GOALS, Front
from ..precision_positions import FunctionFit
from ..sweep import QUANTITIES, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


JOINTS = {"position": "", "velocity": "/s", "acceleration": "/s²"}
"""Quantities of joints, and what follows their unit."""

STYLES = ("-", "--", ":")
"""Of lines beyond the colours."""

DEGREES_PER_TICK = 90

FRAMES_PER_SECOND = 15
"""Of animations."""

ANIMATED = 4.4, 3.0
"""Size of a panel of an animation, in: both fit the width of a phone, with text that is read."""


def plot_drive(analysis: Analysis, curve: Array | None = None) -> Figure:
    """Torque with and without gravity, motion in the plane and of the joints, pin forces, shaking.

    curve : (N, 2) m, a coupler curve to draw with the links; see `Analysis.curve`.
    """
    mechanism = analysis.mechanism
    figure = figure_of(4, 2, (6.6, 2.9))
    grid = figure.subplots(4, 2)
    abscissa, label = abscissa_of(analysis)
    axes = grid[0][0]
    for k, name in enumerate(mechanism.inputs):
        part = f" of the {name.replace('_', ' ')}" if len(mechanism.inputs) > 1 else ""
        whole, rest = analysis.torque[:, k], analysis.torque_without_gravity[:, k]
        axes.plot(abscissa, whole, color=color_of(k), label=f"torque{part}")
        axes.plot(abscissa, rest, "--", color=color_of(k), label=f"without gravity{part}")
    finish(axes, label, "driving torque (N m)", legend=True)
    plot_links(grid[0][1], analysis, curve)
    panels = [*zip(analysis.in_plane, JOINTS, ("absolute ",) * 3, strict=True),
              (analysis.joints[1], "velocity", "joint ")]  # fmt: skip
    for axes, (values, what, kind) in zip(grid[1:3].ravel(), panels, strict=True):
        title = _plot_joints(axes, mechanism, abscissa, values, what)
        finish(axes, label, kind + title, legend=True)
    for k, (name, reaction) in enumerate(analysis.reactions.items()):
        force = np.hypot(reaction[:, 0], reaction[:, 1])
        joint = name.removesuffix("_joint").replace("_", " ")
        style = STYLES[k // len(COLORS) % len(STYLES)]
        grid[3][0].plot(abscissa, force, style, color=color_of(k), label=joint)
    finish(grid[3][0], label, "force in the joints (N)", legend=True)
    force = analysis.shaking
    grid[3][1].plot(force[:, 0], force[:, 1], color=color_of(1))
    grid[3][1].plot(force[:1, 0], force[:1, 1], "o", color=color_of(1), markersize=4)
    finish(grid[3][1], "shaking force, x (N)", "shaking force, y (N)")
    grid[3][1].margins(0.05)
    figure.suptitle(mechanism.title)
    return figure


def plot_comparison(setting: str, analyses: Mapping[float, Analysis]) -> Figure:
    """Driving torque for several values of a setting, on one plot."""
    figure = figure_of(1, 1, (7.0, 4.0))
    axes = figure.subplots()
    first = next(iter(analyses.values()))
    abscissa, label = abscissa_of(first)
    name, unit = setting.replace("_", " "), unit_of(setting)
    for k, (value, analysis) in enumerate(analyses.items()):
        for i in range(len(first.mechanism.inputs)):
            axes.plot(
                abscissa, analysis.torque[:, i], color=color_of(k), linestyle=("-", "--")[i % 2],
                label=None if i else f"{name} {value:g} {unit}",
            )  # fmt: skip
    finish(axes, label, "driving torque (N m)", legend=True)
    axes.set_title(first.mechanism.title)
    return figure


def plot_forward(mechanism: Mechanism, motion: ForwardMotion) -> Figure:
    """Motion in the plane (absolute) and of the joints (relative), energy, driving torque."""
    figure = figure_of(4, 2, (6.6, 2.4))
    grid = figure.subplots(4, 2)
    analysis = Analysis(mechanism, motion)
    columns = ("absolute ", analysis.in_plane), ("joint ", analysis.joints)
    for column, (kind, quantities) in enumerate(columns):
        for axes, values, what in zip(grid[:3, column], quantities, JOINTS, strict=True):
            title = _plot_joints(axes, mechanism, motion.time, values, what)
            finish(axes, "time (s)", kind + title, legend=axes is grid[0][1])
    kinetic, potential = mechanism.energy(motion.q, motion.v)
    potential = potential - potential[0]
    axes = grid[3][0]
    axes.plot(motion.time, kinetic, color=color_of(1), label="kinetic")
    axes.plot(motion.time, potential, color=color_of(0), label="potential, from start")
    axes.plot(motion.time, kinetic + potential, ":", color=INK, label="total, from start")
    finish(axes, "time (s)", "energy (J)", legend=True)
    for k, name in enumerate(mechanism.inputs):
        grid[3][1].plot(motion.time, motion.torque[:, k], color=color_of(k), label=name)
    finish(grid[3][1], "time (s)", "driving torque (N m)")
    figure.suptitle(mechanism.title)
    return figure


def plot_sweep(sweep: Sweep, quantity: str = "peak_torque") -> Figure:
    """A quantity over one setting as a line, over two as a map; over more the best of the rest."""
    figure = figure_of(1, 1, (7.0, 4.6))
    axes = figure.subplots()
    values = sweep.values[quantity]
    names = list(sweep.settings)
    text = QUANTITIES[quantity]
    if len(names) > 2:
        rest = tuple(range(2, len(names)))
        best = np.fmax if quantity == "transmission" else np.fmin
        values = best.reduce(values, axis=rest)
        text += f", best over {', '.join(names[2:])}"
    labels = [f"{name.replace('_', ' ')} ({unit_of(name)})" for name in names]
    best_settings, best_value = sweep.best(quantity)
    if len(names) == 1:
        axes.plot(sweep.settings[names[0]], values, color=color_of(0))
        axes.plot(best_settings[names[0]], best_value, "o", color=color_of(1), clip_on=False)
        finish(axes, labels[0], text)
    else:
        x, y = (sweep.settings[name] for name in names[:2])
        top = np.nanpercentile(values, 98)
        colormap = "viridis" if quantity == "transmission" else "viridis_r"
        mesh = axes.pcolormesh(
            x, y, values.T, cmap=colormap, vmax=top, shading="nearest", rasterized=True
        )
        figure.colorbar(mesh, ax=axes, label=text, extend="max")
        axes.set_facecolor("0.88")
        place = best_settings[names[0]], best_settings[names[1]]
        axes.plot(*place, "o", color=color_of(1), mec="white", clip_on=False, zorder=5)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
    lost = sweep.lost
    note = f", {lost:,} of them cannot go through the motion (grey)" if lost else ""
    words = sweep.best_in_words(quantity).replace("; ", "\n")
    figure.suptitle(
        f"{sweep.mechanism.title}: {sweep.closed.size:,} designs{note}\nbest {words}",
        fontsize="medium",
    )
    return figure


def animate(
    analysis: Analysis,
    path: str | os.PathLike[str],
    curve: Array | None = None,
    frames: int = 36,
) -> None:
    """Write an animated GIF of the mechanism in its motion, with the torque below it.

    curve : as for `plot_drive`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    motion = analysis.motion
    chosen = np.linspace(0, len(motion) - 1, frames, endpoint=False).astype(int)
    figure = figure_of(2, 1, ANIMATED)
    figure.set_dpi(100)
    upper, lower = figure.subplots(2, 1)
    lines = plot_links(upper, analysis, curve)
    abscissa, label = abscissa_of(analysis)
    for k in range(len(analysis.mechanism.inputs)):
        lower.plot(abscissa, analysis.torque[:, k], color=color_of(k))
    (mark,) = lower.plot([], [], "o", color=color_of(1))
    finish(lower, label, "driving torque (N m)")

    moving = [*lines, mark]
    for line in moving:
        line.set_animated(True)  # the rest is drawn once
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    outlines, pictures = _outlines(analysis), []
    for k in chosen:
        canvas.restore_region(still)
        for line, points in zip(lines, outlines, strict=True):
            line.set_data(points[:, k].real, points[:, k].imag)
        mark.set_data([abscissa[k]], [analysis.torque[k, 0]])
        for line in moving:
            line.axes.draw_artist(line)
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"))
    try:
        pictures[0].save(
            path, save_all=True, append_images=pictures[1:], duration=1000 // FRAMES_PER_SECOND,
            loop=0,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the animation cannot be written: {error}") from None


def _plot_joints(axes: Axes, mechanism: Mechanism, x: Array, values: Array, what: str) -> str:
    """Draw a quantity of all joints over x (N,), those of slides dotted; return its title."""
    parts = mechanism.layout().parts
    for k, part in enumerate(parts):
        style, name = ":" if part.slides else "-", part.name.replace("_", " ")
        axes.plot(x, values[:, k], style, color=color_of(k), label=name)
    units = ("rad", "m") if any(part.slides for part in parts) else ("rad",)
    return f"{what} ({', '.join(unit + JOINTS[what] for unit in units)})"


def _outlines(analysis: Analysis) -> list[Any]:
    """Points (pins, N) of every part, closed where it is a plate."""
    result = []
    for part in analysis.mechanism.layout().parts:
        pins = analysis.pose.outline(part.name)
        result.append(np.stack([*pins, pins[0]] if len(pins) > 2 else pins))
    return result


def plot_links(axes: Axes, analysis: Analysis, curve: Array | None) -> list[Any]:
    """The mechanism at the start of its motion, with the paths of its pins."""
    if curve is not None:
        axes.plot(*curve.T, color=color_of(1), linewidth=1.5, label="curve", zorder=2)
    lines = []
    layout = analysis.mechanism.layout()
    parts, shaped = layout.parts, {name for cam in layout.cams for name in (cam.cam, cam.follower)}
    for k, (part, points) in enumerate(zip(parts, _outlines(analysis), strict=True)):
        color = color_of(k)
        wheel = isinstance(part.piece, Wheel) or part.name in shaped
        for path in points[:1] if wheel else points:
            if np.ptp(path.real) + np.ptp(path.imag) > 1e-9:
                axes.plot(path.real, path.imag, color=FAINT_INK, linewidth=0.8, zorder=1)
        marker = "" if wheel else "s" if part.slides else "o"
        start = points[:, 0]
        lines += axes.plot(
            start.real, start.imag, marker=marker, color=color, linewidth=2 if wheel else 3,
            markersize=9 if part.slides else 5, label=part.name.replace("_", " "), zorder=3,
        )  # fmt: skip
        if part.parent == "ground" and not part.slides:
            place = analysis.pose.origins[part.name][0]
            axes.plot(place.real, place.imag, "^", color=INK, markersize=10, zorder=2)
    axes.set_aspect("equal", adjustable="datalim")
    finish(axes, "x (m)", "y (m)", legend=True)
    axes.margins(0.08)
    return lines


def abscissa_of(analysis: Analysis) -> tuple[Array, str]:
    """The first input's angle (deg) where it turns in one direction, else the time."""
    time, q = analysis.motion.time, analysis.motion.q
    steps = np.diff(q[:, 0])
    if len(steps) and (np.all(steps > 0) or np.all(steps < 0)):
        return np.degrees(q[:, 0]), f"{analysis.mechanism.inputs[0]} angle (deg)"
    return time, "time (s)"


def finish(axes: Axes, x: str, y: str, legend: bool = False) -> None:
    """Name the axes, with ticks at right angles over an angle; tidy them."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    tidy(axes)
    if x.endswith("(deg)"):
        from matplotlib.ticker import MultipleLocator

        axes.xaxis.set_major_locator(MultipleLocator(DEGREES_PER_TICK))
        axes.margins(x=0)
    if legend:
        legend_beside(axes)


def plot_balance(before: Analysis, after: Analysis) -> Figure:
    """Shaking force, shaking moment and driving torque without counterweights, and with them."""
    figure = figure_of(3, 1, (7.5, 2.5))
    x, label = abscissa_of(before)
    titles = "shaking force (N)", "shaking moment (N m)", "driving torque (N m)"
    for k, (axes, title) in enumerate(zip(figure.subplots(3, 1), titles, strict=True)):
        for one, name, color in (
            (before, "without counterweights", color_of(0)), (after, "with them", color_of(1)),
        ):  # fmt: skip
            force = np.hypot(one.shaking[:, 0], one.shaking[:, 1])
            values = (force, one.shaking[:, 2], one.torque)[k]
            axes.plot(x, values, color=color, label=name)
        finish(axes, label, title, legend=k == 0)
    figure.suptitle(before.mechanism.title)
    return figure


def plot_front(front: Front) -> Figure:
    """The front over all designs that were tried, those far off left out; and its settings."""
    rows = len(front.settings)
    figure = figure_of(1, 2, (6.0, max(4.2, 1.5 * rows)))
    grid = figure.add_gridspec(rows, 2)
    axes = figure.add_subplot(grid[:, 0])
    first, second = (front.values[goal] for goal in front.goals)
    axes.plot(*front.tried.T, ".", color=FAINT_INK, markersize=2, label="designs tried", zorder=1)
    axes.plot(first, second, "o-", color=color_of(1), markersize=4, linewidth=1, label="front",
              zorder=2)  # fmt: skip
    for values, set_limits in ((first, axes.set_xlim), (second, axes.set_ylim)):
        low, high = float(values.min()), float(values.max())
        room = max(high - low, 0.02 * abs(high))
        set_limits(low - 0.15 * room, high + 0.6 * room)
    finish(axes, GOALS[front.goals[0]], GOALS[front.goals[1]])
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.09), ncols=2, frameon=False,
                fontsize="small")  # fmt: skip
    for k, (name, values) in enumerate(front.settings.items()):
        beside = figure.add_subplot(grid[k, 1])
        beside.plot(first, values, ".-", color=color_of(0), linewidth=1, markersize=4)
        title = f"{name.replace('_', ' ')} ({unit_of(name)})"
        beside.set_title(title, loc="left", fontsize="small")
        beside.set_xlabel(GOALS[front.goals[0]], fontsize="small")
        tidy(beside)
    figure.suptitle(front.mechanism.title)
    return figure


def plot_fit(fit: CurveFit) -> Figure:
    """The whole curve, the points wanted, and the mechanism at the first of them."""
    figure = figure_of(1, 1, (7.0, 5.0))
    axes = figure.subplots()
    pose = fit.mechanism.pose(fit.q[:1, None])
    color = color_of(len(pose.layout.parts))
    axes.plot(*fit.curve().T, color=color, linewidth=1.5, label="curve", zorder=2)
    axes.plot(*fit.wanted.T, "o", color=INK, markersize=4, label="path", zorder=4)
    move = np.exp(1j * fit.turn)
    for k, part in enumerate(pose.layout.parts):
        pins = [complex(pin[0]) for pin in pose.outline(part.name)]
        if part.name == fit.part:
            pins += [complex(pose.point(part.name, fit.at)[0]), pins[0]]
        points = complex(*fit.place) + move * np.array(pins)
        axes.plot(
            points.real, points.imag, "-o", color=color_of(k), linewidth=2,
            markersize=4, label=part.name.replace("_", " "), zorder=3,
        )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(f"{fit.mechanism.title}: {1e3 * fit.gap_rms:.3g} mm from the path (rms)")
    finish(axes, "x (m)", "y (m)", legend=True)
    return figure


def plot_function(fit: FunctionFit) -> Figure:
    """The rocker's angle over the crank's, and the pairs wanted."""
    figure = figure_of(1, 1, (7.0, 4.5))
    axes = figure.subplots()
    room = 0.25 * np.ptp(fit.q)
    q = np.linspace(fit.q.min() - room, fit.q.max() + room, 361)
    rocker = np.angle(fit.mechanism.solved(q[:, None]).directions["rocker"]) - fit.rocker_zero
    near = np.interp(q, fit.q[np.argsort(fit.q)], fit.rocker[np.argsort(fit.q)])
    rocker = near + np.angle(np.exp(1j * (rocker - near)))
    q, wanted = q - fit.crank_zero, fit.q - fit.crank_zero
    axes.plot(np.degrees(q), np.degrees(rocker), color=color_of(0), linewidth=1.5, label="four-bar")
    axes.plot(
        np.degrees(wanted), np.degrees(fit.rocker), "o", color=INK, markersize=5, label="pairs"
    )
    axes.set_xlabel("crank (deg)")
    axes.set_ylabel("rocker (deg)")
    lengths = ", ".join(f"{name} {value:.3g}" for name, value in fit.mechanism.lengths.items())
    axes.set_title(f"{fit.mechanism.title}: {lengths} (m)", fontsize="medium")
    tidy(axes)
    legend_beside(axes)
    return figure
