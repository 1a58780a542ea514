"""The types of joints: each declares its coordinates, units and motion, on numbers and symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..pose import Array, across, rotation_onto
from .joint_type import (
    ANGLE,
    LENGTH,
    NO_ENTRIES,
    CoordinatePart,
    JointAxis,
    JointType,
    MotionType,
    Number,
    Rows,
    in_parent,
)
from .quaternion import (
    NO_TURN,
    PARTS,
    TURNING,
    quaternion_rate,
    rotated,
    rotation_rows,
    screw_shift,
    shift_of_screw,
    turn_between,
    turned,
)


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


@dataclass(frozen=True)
class Screw(MotionType):
    """A turn about the axis and a way of `pitch` times its angle along it (m/rad)."""

    pitch: float = math.nan

    kind = "screw"
    positions = velocities = ANGLE
    is_hinge = True

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return axis.reshape(3, 1), self.pitch * axis.reshape(3, 1)

    def shift(self, axis: Any, q: Any) -> Any:
        return axis * (self.pitch * q[0])


PITCH = Number("pitch", "way along the axis in metres per radian (the lead divided by 2 pi)")

SCREW = JointType("screw", (JointAxis(Screw()),), in_urdf=False, numbers=(PITCH,))


def first_across(axis: Array) -> Array:
    """The x axis of the plane, turned with z onto the axis by the shortest way."""
    return rotation_onto(axis)[:, 0]


def second_across(axis: Array) -> Array:
    """The y axis of the plane."""
    return rotation_onto(axis)[:, 1]


PLANAR = JointType(
    "planar",
    (
        JointAxis(Prismatic(), "x", first_across),
        JointAxis(Prismatic(), "y", second_across),
        JointAxis(Revolute(), "theta"),
    ),
)


def first_pin(axis: Array) -> Array:
    """The pin in the parent."""
    return across(axis)[0]


def second_pin(axis: Array) -> Array:
    """The pin in the child."""
    return across(axis)[1]


UNIVERSAL = JointType(
    "universal",
    (JointAxis(Revolute(), "first", first_pin), JointAxis(Revolute(), "second", second_pin)),
    in_urdf=False,
)


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


class Floating(MotionType):
    """A shift [x y z] in axes of the parent and a turn; velocities in those of the body."""

    kind = "floating"
    positions = (*(CoordinatePart(name, "m") for name in ("x", "y", "z")), *PARTS)
    velocities = (*(CoordinatePart(name, "m") for name in ("vx", "vy", "vz")), *TURNING)
    neutral = (0.0, 0.0, 0.0, *NO_TURN)
    has_axis = False
    quaternion = 3

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        still, every = np.zeros((3, 3)), np.eye(3)
        return np.hstack([still, every]), np.hstack([every, still])

    def rotation(self, q: Any) -> Rows:
        return rotation_rows(q[3], q[4], q[5], q[6])

    def shift(self, axis: Any, q: Any) -> Any:
        return q[:3]

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Any, ...]:
        """With the quaternion p = (x, y, z, s) and the velocity u of the origin, xyz' = R(p) u."""
        x, y, z, s = (q[k] for k in range(3, 7))
        ux, uy, uz = (v[k] for k in range(3))
        # R u = u + 2 p x (p x u + s u)
        tx = y * uz - z * uy + s * ux
        ty = z * ux - x * uz + s * uy
        tz = x * uy - y * ux + s * uz
        return (
            ux + 2 * (y * tz - z * ty),
            uy + 2 * (z * tx - x * tz),
            uz + 2 * (x * ty - y * tx),
            *quaternion_rate((x, y, z, s), [v[k] for k in range(3, 6)]),
        )

    def integrate(self, q: Array, dv: Array) -> Array:
        """Along a screw: both velocities stay in the body's axes."""
        displacement = rotated(q[..., 3:], screw_shift(dv[..., 3:], dv[..., :3]))
        return np.concatenate([q[..., :3] + displacement, turned(q[..., 3:], dv[..., 3:])], axis=-1)

    def difference(self, start: Array, end: Array) -> Array:
        turn = turn_between(start[..., 3:], end[..., 3:])
        back = start[..., 3:] * [-1.0, -1.0, -1.0, 1.0]
        displacement = shift_of_screw(turn, rotated(back, end[..., :3] - start[..., :3]))
        return np.concatenate([displacement, turn], axis=-1)


def coordinate_axis(k: int) -> JointAxis:
    """A slide along an axis of the parent."""
    return JointAxis(Prismatic(), "xyz"[k], in_parent(*np.eye(3)[k]))


FLOATING = JointType(
    "floating", (JointAxis(Floating()),), (*map(coordinate_axis, range(3)), *YAW_PITCH_ROLL)
)
