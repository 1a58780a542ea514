"""Pictures of a piezo robot at work (matplotlib; no window, no global state)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.model import Array
from ..robot import Robot
from ..units import effort_unit, position_unit
from ..view.figure import FAINT_INK, color_of, empty_figure, legend_beside, tidy
from . import PiezoRun, PulseWindows
from .pulse_equations import TURN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEGREES = 180 / np.pi


def plot_pulses(robot: Robot, windows: PulseWindows, title: str = "") -> Figure:
    """The rotor's torque on every joint over one turn, and the part that its pulse lets through."""
    count = len(windows.joints)
    figure = empty_figure(10, 1.2 + 1.6 * count)
    axes = figure.subplots(count, 1, squeeze=False)[:, 0]
    largest = float(windows.amplitude.max(initial=0.0)) or 1.0
    phase = np.linspace(0, TURN, 721)
    for k, (name, axis) in enumerate(zip(windows.joints, axes, strict=True)):
        torque = windows.amplitude[k] * np.cos(phase - windows.phase[k])
        axis.plot(DEGREES * phase, torque, color=FAINT_INK, linewidth=1.2, label="of the rotor")
        width = (windows.off[k] - windows.on[k]) % TURN
        inside = (phase - windows.on[k]) % TURN <= width
        if width > 0:
            axis.plot(DEGREES * phase, np.where(inside, torque, np.nan), color=color_of(2),
                      linewidth=2.2, label="let through")  # fmt: skip
            axis.fill_between(DEGREES * phase, 0, torque, where=inside, color=color_of(2),
                              alpha=0.3)  # fmt: skip
            axis.axhline(windows.mean_torque[k], color=color_of(0), linestyle="--", linewidth=1.4,
                         label="its mean over a turn")  # fmt: skip
        mean = windows.mean_torque[k]
        unit = effort_unit(robot.model, name)
        text = f"mean {mean:+.4g} {unit}" if width > 0 else "held"
        if name in windows.unmoved:
            text = "held: the rotor cannot move it here"
        elif windows.saturated[k]:
            text += ", saturated"
        axis.set_title(f"{name}: {text}", loc="left", fontsize=9)
        axis.set_ylabel(unit)
        tidy(axis)
        if windows.amplitude[k] == 0:
            axis.set_ylim(-largest, largest)
        axis.set_xlim(0, 360)
        axis.set_xticks(range(0, 361, 45))
        axis.set_xlabel("phase of the rotor (degrees)", fontsize="small")
        legend_beside(axis)
    figure.suptitle(title or f"{robot.model.name}: torque over the rotor's turn")
    return figure


def plot_run(robot: Robot, run: PiezoRun, turns: float = 6.0, title: str = "") -> Figure:
    """The whole motion, a few turns of it, their phase portrait, and the path of the rotor's link.

    Parameters
    ----------
    turns : how many turns of the rotor to show closely, from the middle of the motion.
    """
    figure = empty_figure(11, 13)
    grid = figure.add_gridspec(5, 2, height_ratios=(3, 3, 1.6, 3, 3))
    whole, near = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, :])
    on = figure.add_subplot(grid[2, :], sharex=near)
    phase = figure.add_subplot(grid[3, :])
    path, gap = figure.add_subplot(grid[4, 0]), figure.add_subplot(grid[4, 1])
    labels = robot.velocity_labels
    moved = [k for k in range(len(labels)) if np.ptp(run.q[:, k]) > 0]
    middle = len(run.time) // 2
    start = run.angle[middle]
    close = (run.angle >= start) & (run.angle <= start + turns * TURN)
    time = run.time[close]
    units = {position_unit(robot.model, labels[k]) for k in moved}
    unit = units.pop() if len(units) == 1 else "rad, m"
    for k in moved:
        colour = color_of(k)
        whole.plot(run.time, run.wanted[:, k], color=colour, linewidth=0.8, linestyle="--")
        whole.plot(run.time, run.q[:, k], color=colour, linewidth=1.5, label=labels[k])
        begin = run.q[close][0, k]
        near.plot(1e3 * time, 1e3 * (run.wanted[close, k] - begin), color=colour, linewidth=0.8,
                  linestyle="--")  # fmt: skip
        gone = 1e3 * (run.q[close, k] - begin)
        near.plot(1e3 * time, gone, color=colour, linewidth=1.5)
        phase.plot(gone, run.v[close, k], color=colour, linewidth=1.2)
    for row, k in enumerate(moved):
        on.fill_between(
            1e3 * time, row, row + 0.8, where=run.free[close, k], color=color_of(k), step="pre"
        )
    whole.set_ylabel(f"position ({unit})")
    whole.set_xlabel("time (s)")
    legend_beside(whole)
    near.set_ylabel(f"position from there (m{unit})" if unit in ("rad", "m") else "position, e-3")
    near.set_xlabel("time (ms)")
    near.set_title(f"{turns:g} turns of the rotor from the middle", loc="left", fontsize=9)
    phase.set_title("phase portrait: a leap a turn, from rest to rest", loc="left", fontsize=9)
    phase.set_xlabel(near.get_ylabel())
    phase.set_ylabel(f"velocity ({unit}/s)" if unit in ("rad", "m") else "velocity (rad/s, m/s)")
    on.set_yticks([row + 0.4 for row in range(len(moved))], [labels[k] for k in moved], fontsize=8)
    on.set_title("transducers on", loc="left", fontsize=9)
    on.set_xlabel("time (ms)")
    _draw_path(path, run)
    gap.plot(run.time, 1e3 * run.gap, color=color_of(1), linewidth=1.0)
    gap.set_xlabel("time (s)")
    gap.set_ylabel("distance from its path (mm)")
    gap.set_ylim(bottom=0)
    for axis in (whole, near, on, phase, path, gap):
        tidy(axis)
    figure.suptitle(title or f"{robot.model.name}: motion by pulses; dashed: wanted")
    return figure


def _draw_path(axis: Any, run: PiezoRun) -> None:
    """The path in the plane in which it lies, mm."""
    centre = (run.wanted_place.max(axis=0) + run.wanted_place.min(axis=0)) / 2
    _, _, directions = np.linalg.svd(run.wanted_place - centre, full_matrices=False)

    def flat(places: Array) -> Array:
        return 1e3 * (places - centre) @ directions[:2].T

    axis.plot(*flat(run.wanted_place).T, color="0.3", linewidth=0.9, linestyle="--")
    axis.plot(*flat(run.place).T, color=color_of(0), linewidth=1.2)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xlabel("along the path's plane (mm)")
    axis.set_ylabel("across it (mm)")
