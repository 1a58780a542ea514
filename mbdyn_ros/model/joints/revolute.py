"""A turn about an axis; continuous where nothing bounds it."""

from __future__ import annotations

import numpy as np

from ..pose import Array
from .joint_type import ANGLE, JointAxis, JointType, MotionType


class Revolute(MotionType):
    """A turn about the axis. A thin rod along it moves alike on either body."""

    kind = "revolute"
    positions = velocities = ANGLE
    is_hinge = keeps_origin = is_periodic = True
    moves_alike = (True, np.array([0, 0, 1], dtype=bool), np.diag([False, False, True]))

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return axis.reshape(3, 1), np.zeros((3, 1))


REVOLUTE = JointType("revolute", (JointAxis(Revolute()),))
CONTINUOUS = JointType("continuous", (JointAxis(Revolute()),), is_endless=True)
