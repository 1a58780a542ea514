"""A slide along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pose import Array
from .joint_type import LENGTH, NO_ENTRIES, JointAxis, JointType, MotionType


class Prismatic(MotionType):
    """A slide along the axis. Both bodies turn alike, so any second moment may be on either."""

    kind = "prismatic"
    positions = velocities = LENGTH
    moves_alike = (False, NO_ENTRIES[0], ~NO_ENTRIES)

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return np.zeros((3, 1)), axis.reshape(3, 1)

    def shift(self, axis: Any, q: Any) -> Any:
        return axis * q[0]


PRISMATIC = JointType("prismatic", (JointAxis(Prismatic()),))
