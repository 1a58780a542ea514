"""A rotation about a point in any direction: a unit quaternion, angular velocity in body axes.

As rotations about three axes it is yaw, pitch and roll, as in URDF's `rpy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..pose import Array
from .joint_type import NO_ENTRIES, JointAxis, JointType, MotionType, Rows, in_parent
from .quaternion import (
    NO_TURN,
    PARTS,
    TURNING,
    quaternion_rate,
    rotation_rows,
    turn_between,
    turned,
)
from .revolute import Revolute

YAW_PITCH_ROLL = (
    JointAxis(Revolute(), "yaw", in_parent(0.0, 0.0, 1.0)),
    JointAxis(Revolute(), "pitch", in_parent(0.0, 1.0, 0.0)),
    JointAxis(Revolute(), "roll", in_parent(1.0, 0.0, 0.0)),
)
"""Outwards: R = Rz(yaw) Ry(pitch) Rx(roll). At a pitch of a quarter turn yaw and roll are one."""


class Spherical(MotionType):
    """A turn about the origin. A mass there moves alike on either body."""

    kind = "spherical"
    positions, velocities, neutral = PARTS, TURNING, NO_TURN
    has_axis = False
    keeps_origin = True
    quaternion = 0
    moves_alike = (True, NO_ENTRIES[0], NO_ENTRIES)

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return np.eye(3), np.zeros((3, 3))

    def rotation(self, q: Any) -> Rows:
        return rotation_rows(q[0], q[1], q[2], q[3])

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Any, ...]:
        return quaternion_rate(q, v)

    def integrate(self, q: Array, dv: Array) -> Array:
        return turned(q, dv)

    def difference(self, start: Array, end: Array) -> Array:
        return turn_between(start, end)


SPHERICAL = JointType(
    "spherical", (JointAxis(Spherical()),), YAW_PITCH_ROLL, in_urdf=False, synonyms=("ball",)
)
