"""Dead centres and change points on the way of a simulation.

The independent joints of a loop are coordinates of its motion, and coordinates end: at a dead
centre the slider stands still while the crank turns on. The motion then goes on in others. At a
change point all coordinates end, and what follows is not determined.
"""

from __future__ import annotations

import numpy as np

from ..dynamics.chart import Chart, charts
from ..model.errors import SimulationError
from ..model.model import Array
from ..robot import Robot
from .integrator import Step
from .motion import Motion

POOR = 0.1
"""Share of the best choice's quality under which joints are given up as coordinates."""

NEAR = 0.05
"""Regularity under which a change point is looked for between the steps."""

SINGULAR = 1e-5
"""Regularity that counts as a change point."""


class ChartWatch:
    """Watches the coordinates of a robot whose loops move."""

    def __init__(self, robot: Robot, motion: Motion) -> None:
        self._robot, self._motion = robot, motion
        self._charts = charts(robot._system)
        self._position = robot.bind("joint_position") if self._charts else None

    def check(self, t: float, y: Array) -> None:
        """Raise `SimulationError` where the state itself stands at a change point."""
        for chart, regularity in self._regularities(y):
            if regularity < SINGULAR:
                self._stop(chart, t)

    def passed(self, step: Step) -> None:
        """Raise `SimulationError` where a step passes a change point."""
        if not self._charts:
            return
        ends = [dict(self._regularities(y)) for y in (step.initial, step.state(step.end))]
        for chart in self._charts:
            if min(end[chart] for end in ends) < NEAR:
                self._search(chart, step)

    def better(self, y: Array) -> list[str] | None:
        """Independent joints to go on with, where the present ones are poor coordinates."""
        if not self._charts:
            return None
        position = self._tree_position(y)
        bodies = self._robot._system.tree.bodies
        chosen = list(self._robot.independent_joints)
        changed = False
        for chart in self._charts:
            matrix = chart.matrix(position)
            best = chart.best(matrix)
            if chart.quality(matrix) >= POOR * chart.quality_of(matrix, best):
                continue
            tied = [bodies[body].joint for body in chart.linkage.cluster.tied]
            old = [tied[k] for k in chart.linkage.independent]
            new = [tied[k] for k in best]
            for name in [name for name in old if name not in new]:
                place = chosen.index(name)
                chosen[place] = next(one for one in new if one not in chosen)
                changed = True
        return chosen if changed else None

    def _tree_position(self, y: Array) -> Array:
        assert self._position is not None
        q, _ = self._motion.split(y)
        self._position.q[:] = q
        self._position()
        return self._position.result

    def _regularities(self, y: Array) -> list[tuple[Chart, float]]:
        if not self._charts:
            return []
        position = self._tree_position(y)
        return [(chart, chart.regularity(chart.matrix(position))) for chart in self._charts]

    def _search(self, chart: Chart, step: Step) -> None:
        """Find the least regularity within a step."""
        from scipy.optimize import minimize_scalar  # slow to import, and rarely needed

        def regularity(t: float) -> float:
            return chart.regularity(chart.matrix(self._tree_position(step.state(t))))

        times = np.linspace(step.start, step.end, 17)
        k = int(np.argmin([regularity(t) for t in times]))
        bounds = times[max(0, k - 1)], times[min(16, k + 1)]
        found = minimize_scalar(regularity, bounds=bounds, method="bounded", options={"xatol": 0})
        if found.fun < SINGULAR:
            self._stop(chart, float(found.x))

    def _stop(self, chart: Chart, t: float) -> None:
        bodies = self._robot._system.tree.bodies
        joints = ", ".join(bodies[body].joint for body in chart.linkage.cluster.tied)
        raise SimulationError(
            f"loop {chart.linkage.cluster.name!r} is at a change point at t = {t:.9g} s: no choice "
            f"among its joints ({joints}) determines the others there, and the motion can go on "
            "in more than one way"
        )
