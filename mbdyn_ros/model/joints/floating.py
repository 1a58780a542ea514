"""A free body: three ways of its origin and a unit quaternion, velocities in its own axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..pose import Array
from .joint_type import CoordinatePart, JointAxis, JointType, MotionType, Rows, in_parent
from .prismatic import Prismatic
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
from .spherical import YAW_PITCH_ROLL


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
