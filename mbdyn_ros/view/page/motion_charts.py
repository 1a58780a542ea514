"""Charts of a robot's motion: its efforts and its joints, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ...units import effort_unit, position_unit
from ..colors import color_of
from ..figure import LIMIT_IN_VIEW
from .charts import Curve, PageChart
from .motion import RobotMotion
from .page import Page

MOST_LINES = 4
"""Lines of one chart; the largest are drawn."""

LEAST_PEAK = 1e-9
"""Peaks (rad, m, N m or N) that are not drawn."""

UNITS = ("N m", "N", "rad", "m")
PRINTED = {"N m": "effort (N m)", "N": "effort (N)", "rad": "angle (rad)", "m": "slide (m)"}


class MotionCharts:
    """A chart for each unit, those with the largest lines."""

    def __init__(self, page: Page, robot: Robot) -> None:
        self._robot = robot
        gui = page.server.gui
        with page.charts("Motion and efforts"):
            self._charts = {
                unit: PageChart(gui, PRINTED[unit], "time (s)", aspect=0.62) for unit in UNITS
            }
            gui.add_markdown(
                "Solid: efforts of the motion. Dotted: gravity alone. Dashed: limits near them."
            )

    def mark(self, now: float) -> None:
        """Move the mark of the present."""
        for chart in self._charts.values():
            chart.mark(now)

    def draw(self, motion: RobotMotion, now: float) -> None:
        """Draw a motion; `now` is the present, s."""
        lines = {**self._efforts(motion), **self._positions(motion)}
        for unit, chart in self._charts.items():
            chart.show(motion.time, lines[unit], now)

    def _efforts(self, motion: RobotMotion) -> dict[str, list[Curve]]:
        robot = self._robot
        lines: dict[str, list[Curve]] = {"N m": [], "N": []}
        labels, limits = robot.effort_labels, robot.effort_limits
        units = [effort_unit(robot.model, one) for one in labels]
        effort = motion.effort
        for unit, drawn in lines.items():
            columns = [k for k, one in enumerate(units) if one == unit]
            for i, k in enumerate([] if effort is None else _largest(effort, columns)):
                assert effort is not None
                name, color, values = labels[k], color_of(i), effort[:, k]
                drawn.append(Curve(name, values, color))
                if motion.gravity is not None:
                    gravity = motion.gravity[:, k]
                    drawn.append(Curve(f"{name}, gravity", gravity, color, "dot", 1.5, False))
                drawn += _limit_lines(name, values, (-limits[k], limits[k]), color)
        return lines

    def _positions(self, motion: RobotMotion) -> dict[str, list[Curve]]:
        robot = self._robot
        labels = robot.system.coordinates.joint_labels
        bounds = _bounds(robot)
        moved = motion.position - motion.position[0]
        units = [position_unit(robot.model, one) for one in labels]
        lines: dict[str, list[Curve]] = {"rad": [], "m": []}
        for unit, drawn in lines.items():
            chosen = _largest(moved, [k for k, one in enumerate(units) if one == unit])
            for i, k in enumerate(chosen):
                values, color = motion.position[:, k], color_of(i)
                drawn.append(Curve(labels[k], values, color))
                drawn += _limit_lines(labels[k], values, bounds.get(labels[k], ()), color)
        return lines


def _bounds(robot: Robot) -> Mapping[str, tuple[float, float]]:
    """Position limits by joint, of joints of one coordinate that have an end."""
    joints = [joint for joint in robot.model.joints if joint.nq == 1 and not joint.kind.is_endless]
    return {joint.name: (joint.limits.lower, joint.limits.upper) for joint in joints}


def _limit_lines(name: str, values: Array, limits: Sequence[float], color: str) -> list[Curve]:
    """Those of some limits that are near a line."""
    peak = float(np.abs(values).max())
    return [
        Curve(f"{name}, limit", np.full_like(values, limit), color, "dash", 1.0, False)
        for limit in limits
        if np.isfinite(limit) and abs(limit) <= LIMIT_IN_VIEW * peak
    ]


def _largest(values: Array, columns: Sequence[int]) -> list[int]:
    """The columns with the largest peaks, at most `MOST_LINES`, in their order; no zeros."""
    peaks = {k: float(np.abs(values[:, k]).max()) for k in columns}
    chosen = sorted((k for k in columns if peaks[k] > LEAST_PEAK), key=lambda k: -peaks[k])
    return sorted(chosen[:MOST_LINES])
