"""When independent joints are good coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from ...array import Array
from ...assembly.chart import Chart, charts
from ...errors import SimulationError
from ...robot import Robot

POOR = 0.1
"""Share of the best choice's quality under which joints are given up as coordinates.

The new ones are ten times better, so that there is no way straight back.
"""

SINGULAR = 1e-4
"""Regularity that counts as a change point: so near, 16 digits no longer give the motion to
the tolerances. A four-bar comes there if its lengths miss those of a change point by 1e-8.
"""


def suits(robot: Robot, tree_position: Array) -> bool:
    """Whether the robot's independent joints are good coordinates at tree positions."""
    for chart in charts(robot.system):
        rows = chart.matrix(tree_position)
        if chart.quality(rows) < POOR * chart.quality_of(rows, chart.best(rows)):
            return False
    return True


def better_joints(
    linkages: Sequence[Chart], chosen: Sequence[str], tree_position: Array, share: float
) -> tuple[list[str], float]:
    """The independent joints, exchanged where they have less than a share of the best quality.

    Returns
    -------
    The joints, and the least share among those that were exchanged, else 1.

    Raises
    ------
    SimulationError
        A linkage is at a change point; the message names its joints.
    """
    joints, worst = list(chosen), 1.0
    for chart in linkages:
        rows = chart.matrix(tree_position)
        norm, least = chart.size_and_least(rows)
        if least >= share * norm:
            continue
        best = chart.best(rows)
        quality = chart.quality_of(rows, best)
        if not quality >= SINGULAR:
            raise SimulationError(chart.at_change_point())
        ratio = chart.quality(rows) / quality
        exchanged = chart.exchanged(best, joints)
        if ratio < share and exchanged is not None:
            joints, worst = exchanged, min(worst, ratio)
    return joints, worst
