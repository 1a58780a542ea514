"""Dead centres and change points on the way of a simulation.

The independent joints of a loop are coordinates of its motion, and coordinates end: at a dead
centre the slider stands still while the crank turns on. The motion then goes on in others. At a
change point all coordinates end, and what follows is not determined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...assembly.chart import Chart, charts
from ...model.model import Array
from ...robot import Robot
from ..charts import POOR, SINGULAR
from .integrator import Step
from .motion import Motion

DEAD = 1e-4
"""Share of the best choice's quality under which a velocity of the joints does not give that of
the loop."""

NEARLY_SINGULAR = 10 * SINGULAR
"""Regularity that counts as a change point where loops cannot be closed after it: so near, their
residuals are rounding errors."""

DOUBTFUL = 1e-2
"""Regularity under which a failure is put down to the singularity nearby."""

EVEN_MOTION = 0.5
"""Motion of a joint in one step (rad or m) under which its rows change about evenly."""

CHANGE_POINT_PROBES = 16
"""Parts of a step in which a change point is looked for."""


@dataclass(frozen=True)
class _View:
    """A linkage at one state: positions (n,) and rows (m, n) of its joints, and their norm.

    least : a lower bound of the rows' singular values; that of those solved for the dependent
        joints.
    """

    position: Array
    rows: Array
    norm: float
    least: float


class ChartWatch:
    """Watches the coordinates of a robot whose loops have dead centres.

    Most steps cost one position program and one small singular value decomposition a linkage.

    charts : of these loops. tree_position : where it stands.
    """

    def __init__(self, robot: Robot, motion: Motion) -> None:
        self._robot, self._motion = robot, motion
        self.charts = charts(robot.system)
        self._position = robot.bind("joint_position")
        self._before: list[_View] = []
        self._views: list[_View] = []
        self.tree_position = robot.system.home
        system = robot.system
        self._walk = [*system.numerical_independent_rows, *system.numerical_dependent_rows]
        self._poor = [POOR] * len(self.charts)

    def start(self, y: Array, chosen: bool) -> str | None:
        """Look at the first state; what to say if it is a change point.

        Parameters
        ----------
        chosen : whether the coordinates were chosen for this state, and are as good as any.
        """
        self._views = self._look(y)
        self._arrive()
        for k, (chart, view) in enumerate(zip(self.charts, self._views, strict=True)):
            if not np.isfinite(view.rows).all() or chart.regularity(view.rows) < SINGULAR:
                return chart.at_change_point()
            best = chart.best(view.rows)
            share = chart.quality(view.rows) / chart.quality_of(view.rows, best)
            if chosen:
                self._poor[k] = min(POOR, share / 2)
            elif share < DEAD and self._moves(chart, y):
                names = chart.joints
                old, new = (
                    ", ".join(names[place] for place in places)
                    for places in (chart.linkage.independent, best)
                )
                return (
                    f"it starts with a velocity at a dead centre of {old}, which leaves "
                    f"the speed of loop {chart.linkage.cluster.name!r} undetermined; make {new} "
                    "independent, or start elsewhere"
                )
        return None

    def _moves(self, chart: Chart, y: Array) -> bool:
        _, v = self._motion.split(y)
        order = self._robot.system.coordinates.v
        places = [order.index(chart.linkage.coordinates[k]) for k in chart.linkage.independent]
        return bool(v[places].any())

    def follow(self, y: Array) -> None:
        """Look at the end y of a step."""
        self._before, self._views = self._views, self._look(y)
        self._arrive()

    @property
    def lost(self) -> bool:
        """Whether a loop is not closed where it was last looked at."""
        return not all(math.isfinite(view.norm) for view in self._views)

    @property
    def quality(self) -> float:
        """The least singular value of rows that are solved, as a share of the norm of all."""
        return min(view.least / view.norm for view in self._views)

    @property
    def came_from(self) -> str | None:
        """Words about the change point at which the last step began; None where there is none."""
        for chart, view in zip(self.charts, self._before, strict=True):
            if chart.regularity(view.rows) < NEARLY_SINGULAR:
                return chart.at_change_point()
        return None

    def change_point(self, step: Step) -> tuple[float, str] | None:
        """The instant at which the step meets a change point; what to say of it.

        By Weyl's inequality singular values change by no more than the norm of what is added;
        1.5 leaves room for a way that is not straight. Only where they could vanish is the step
        looked into.
        """
        triples = zip(self.charts, self._before, self._views, strict=True)
        for k, (chart, old, new) in enumerate(triples):
            moved = float(np.abs(new.position - old.position).max())
            way = 1.5 * float(np.linalg.norm(new.rows - old.rows)) + 2 * SINGULAR * new.norm
            if moved < EVEN_MOTION and old.least + new.least > way:
                continue
            if moved < EVEN_MOTION and chart.least(old.rows) + chart.least(new.rows) > way:
                continue
            found = self._search(k, step)
            if found is not None:
                return found, chart.at_change_point()
        return None

    def better(self) -> list[str] | None:
        """Independent joints to go on with, where the present ones have become poor.

        They are the same where only the choice of rows has to be made anew.
        """
        chosen = list(self._robot.independent_joints)
        changed = False
        for k, (chart, view) in enumerate(zip(self.charts, self._views, strict=True)):
            if view.least >= POOR * view.norm:
                continue
            best = chart.best(view.rows)
            if chart.quality(view.rows) >= self._poor[k] * chart.quality_of(view.rows, best):
                continue
            exchanged = chart.exchanged(best, chosen)
            if exchanged is None:
                continue
            chosen = exchanged
            changed = True  # even where the joints are the same: other rows determine the rest
        return chosen if changed else None

    def doubt(self, y: Array) -> str:
        """Words to add to those of a failure at y, where a singularity is near."""
        for chart, view in zip(self.charts, self._look(y), strict=True):
            if np.isfinite(view.rows).all() and chart.regularity(view.rows) < DOUBTFUL:
                return "; " + chart.at_change_point("is near")
        return ""

    def _arrive(self) -> None:
        """Take home along, so that every next position is found from here."""
        if not np.isfinite(self._position.result).all():
            return
        self.tree_position = self._position.result.copy()
        if self._walk:
            self._robot.calls.home[:] = self.tree_position[self._walk]

    def _look(self, y: Array) -> list[_View]:
        """Every linkage at a state."""
        self._position.q[:] = self._motion.split(y)[0]
        self._position()
        position = self._position.result
        views = []
        for chart in self.charts:
            rows = chart.matrix(position)
            views.append(_View(position[chart.places], rows, *chart.size_and_least(rows)))
        return views

    def _search(self, k: int, step: Step) -> float | None:
        """The instant of the least regularity within a step, if it is none at all."""
        from scipy.optimize import minimize_scalar  # slow to import, and rarely needed

        chart, length = self.charts[k], step.end - step.start

        def regularity(share: float) -> float:
            rows = self._look(step.state(step.start + share * length))[k].rows
            return chart.regularity(rows) if np.isfinite(rows).all() else np.inf

        shares = np.linspace(0.0, 1.0, CHANGE_POINT_PROBES + 1)
        values = [regularity(share) for share in shares]
        least = int(np.argmin(values))
        if values[least] >= SINGULAR:
            bounds = shares[max(0, least - 1)], shares[min(CHANGE_POINT_PROBES, least + 1)]
            found = minimize_scalar(
                regularity, bounds=bounds, method="bounded", options={"xatol": 1e-12}
            )
            if found.fun >= SINGULAR:
                return None
            return step.start + float(found.x) * length
        return step.start + float(shares[least]) * length
