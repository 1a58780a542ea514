"""Joints that a full turn brings back, and the shortest rotation between two of their angles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..model.model import Array
from ..robot import Robot


class Turns:
    """The coordinates that differ by whole turns from what means the same.

    Those of `continuous` joints, except for joints that a coupling or a mimic ties to others: those
    stand elsewhere after a turn.

    Parameters
    ----------
    robot : without quaternions among the coordinates.
    labels : of the coordinates.
    """

    def __init__(self, robot: Robot, labels: Sequence[str]) -> None:
        system = robot.system
        geared = {
            system.tree.bodies[body].joint
            for linkage in system.linkages
            for gear in linkage.cluster.gears
            for body, _ in gear.factors
        }
        endless = {
            name
            for name, block in system.coordinates.joint_blocks.items()
            if block.kind.is_endless and block.kind.nv == 1 and name not in geared
        }
        self._turning = np.array([label in endless for label in labels], dtype=bool)

    def shortest(self, difference: Array) -> Array:
        """A displacement (n,) without its full turns, from minus half a turn to half a turn."""
        return np.where(
            self._turning, difference - math.tau * np.round(difference / math.tau), difference
        )
