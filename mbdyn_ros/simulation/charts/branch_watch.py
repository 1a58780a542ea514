"""Loops of several freedoms that move far from home.

Their dependent positions are those at the end of a straight line of the independent ones from
home. A motion may come to the same place by another way, and find the loop closed otherwise; it
then has to go on from a home of its own.
"""

from __future__ import annotations

import numpy as np

from ...equations.chart import Chart
from ...equations.loops.loop_walk import LoopWalk
from ...equations.system import System
from ...model.model import Array
from .change import same_place

SAME_BRANCH_STEP = 0.2
"""Motion of all joints (rad or m) in one step that is surely on one branch."""

WAY_BETWEEN_LOOKS = 0.3
"""Motion (rad or m) after which the line from home is looked at again."""


class BranchWatch:
    """Compares the way of one linkage with the straight line from home."""

    def __init__(self, system: System, chart: Chart) -> None:
        self._loops = LoopWalk(system.tree, chart.linkage)
        self._home = self._seen = system.home[chart.places]

    @staticmethod
    def needed(chart: Chart) -> bool:
        """Whether the way makes a difference."""
        return chart.linkage.closed_form is None and len(chart.linkage.independent) > 1

    def jumped(self, old: Array, new: Array) -> bool:
        """Whether a step's end, as the programs see it, is not on the branch of its start."""
        return bool(np.abs(new - old).max() > SAME_BRANCH_STEP) and not self._leads(old, new)

    def strays(self, position: Array) -> bool:
        """Whether the line from home has ceased to lead to where the motion is."""
        if np.abs(position - self._seen).max() < WAY_BETWEEN_LOOKS:
            return False
        self._seen = position
        return not self._leads(self._home, position)

    def _leads(self, start: Array, end: Array) -> bool:
        walk = self._loops.straight(start, end)
        return walk.arrived and same_place(self._loops.end(walk), end)
