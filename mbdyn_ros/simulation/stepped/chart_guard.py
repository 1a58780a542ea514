"""Dead centres and change points ahead of a motion in equal steps, seen before they are passed.

Singular values of the constraint rows change by no more than the norm of what the rows change by
(Weyl 1912). So the change in the last steps bounds in how many more nothing can vanish, and only
after these is looked again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...array import Array
from ...assembly.chart import Chart, charts
from ...assembly.gimbal import UPRIGHT, pitches
from ...errors import SimulationError
from ...robot import Robot
from ..charts import POOR, SINGULAR

SAFE = 4.0
"""How many times faster rows may change, in the steps until they are looked at again."""

SOON = 2.0
"""Steps in which a singular value that is about to vanish may do so."""

HASTE, WORSE = 16.0, 0.7
"""Steps in which a singular value that keeps falling would vanish, from which on a step is no
longer short enough for its change; and the share of the best choice's quality under which joints
are given up then. Such a dead centre is a leg along the axis of its fork, passed in milliseconds.
"""

EVEN, MOST_PARTS = 0.025, 64
"""Change in a step, as a share of what remains, under which RK4 keeps energy to about 1e-9: of the
rows, and of the least singular value; of a link's attitude, and of the cosine of its pitch. And
the most parts into which a step is divided for it.
"""

MOST_UNWATCHED, UNWATCHED = 20, 0.02
"""Most steps, and most time (s), between two looks."""


@dataclass(frozen=True)
class _View:
    """The rows of a linkage, their norm, and the least singular value of those that are solved."""

    rows: Array
    norm: float
    least: float


def _parts(change: float, remains: float) -> int:
    """Into how many a step is divided in which that much changes of what remains."""
    if change <= EVEN * remains:
        return 1
    most = change >= MOST_PARTS * EVEN * remains
    return MOST_PARTS if most else math.ceil(change / (EVEN * remains))


class ChartGuard:
    """Watches the coordinates of a robot that moves in equal steps.

    due : steps that may be taken until `look` is to be called.
    parts : into how many each of them is to be divided, since coordinates are poor and change fast,
        or the pitch of a link in a loop is near a quarter turn.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self.charts = robot, charts(robot.system)
        self._turns = [
            turns for one in self.charts for turns in pitches(robot.system, one.linkage.cluster)
        ]
        self.forget()

    def forget(self, parts: int = 1) -> None:
        """Begin anew: the robot was put somewhere else, or goes on in other coordinates."""
        self._views: list[_View] = []
        self._at = self._robot.system.home
        self._taken, self.due = 1, 0 if self.charts else MOST_UNWATCHED
        self.parts = parts

    def repeat(self, other: ChartGuard) -> None:
        """Know what the guard of the same motion does."""
        self._views, self._taken, self.due = list(other._views), other._taken, other.due
        self._at = other._at
        self.parts = other.parts

    def took(self, steps: int) -> None:
        """Count steps."""
        self.due -= steps
        self._taken += steps

    def look(self, tree_position: Array, step: float) -> list[str] | None:
        """The independent joints to go on with, where the present ones become poor.

        Parameters
        ----------
        step : length of the next steps, s.

        Raises
        ------
        SimulationError
            A linkage comes to a change point in the next step, or is at one, by name.
        """
        chosen, ahead = list(self._robot.independent_joints), min(MOST_UNWATCHED, UNWATCHED / step)
        views = [
            _View(rows.copy(), *chart.size_and_least(rows))
            for chart in self.charts
            for rows in [chart.matrix(tree_position)]
        ]
        before, taken, self._views = self._views or views, self._taken, views
        parts = 1
        for chart, old, new in zip(self.charts, before, views, strict=True):
            speed = float(np.linalg.norm(new.rows - old.rows)) / taken
            ahead = min(ahead, new.least / (SAFE * speed) if speed else ahead)
            if new.least < POOR * new.norm:
                parts = max(parts, _parts(speed, new.least))
            fall = (old.least - new.least) / taken
            if not new.least < max(POOR * new.norm, SOON * speed, HASTE * fall):
                continue
            best = chart.best(new.rows)
            quality, other = chart.quality(new.rows), chart.quality_of(new.rows, best)
            if other < SINGULAR:
                raise SimulationError(chart.at_change_point())
            share = 1.0 if new.least < SOON * fall else WORSE if new.least < HASTE * fall else POOR
            better = chart.exchanged(best, chosen) if quality < share * other else None
            if better is not None:
                chosen = better
            elif new.least < SOON * fall:
                raise SimulationError(self._no_way_on(chart, old, new))
        moved = (tree_position - self._at) / taken
        self._at = tree_position.copy()
        for yaw, pitch in self._turns:
            cosine = abs(math.cos(tree_position[pitch]))
            speed = math.hypot(moved[pitch], cosine * moved[yaw])
            if cosine < UPRIGHT and speed > 0:
                ahead = min(ahead, cosine / (SAFE * speed))
                parts = max(parts, _parts(speed, cosine))
        fresh = before is views  # how fast rows change is not known yet
        self._taken, self.due = 0, 1 if fresh else max(1, int(ahead))
        if not fresh:
            self.parts = parts
        return None if chosen == list(self._robot.independent_joints) else chosen

    def _no_way_on(self, chart: Chart, old: _View, new: _View) -> str:
        """Words on rows that lose rank in the next step."""
        regular, before = chart.least(new.rows), chart.least(old.rows)
        if regular < SOON * (before - regular) or regular < POOR * new.least:
            return chart.at_change_point("comes to")
        joints = ", ".join(self._robot.independent_joints)
        return f"the independent joints ({joints}) come to a dead centre: take shorter steps"
