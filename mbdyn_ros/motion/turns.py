"""Joints that a whole turn brings back, and the shortest way between two of their angles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..model.model import Array
from ..robot import Robot


class Turns:
    """The coordinates that differ by whole turns from what means the same.

    Those of `continuous` joints, but for joints that a coupling or a mimic ties to others: those
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

    def shortest(self, way: Array) -> Array:
        """A way (n,) less the whole turns in it, from minus a half to a half turn."""
        return np.where(self._turning, way - math.tau * np.round(way / math.tau), way)
