"""How positions change with velocities: unit quaternions turn, everything else moves along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..model.coordinates import Coordinates
from ..model.model import Array
from ..program.declaration import program
from .algebra.spatial import SX
from .efforts import joint_friction
from .programs import forward_dynamics
from .system import System


def floating_rate(quaternion: Sequence[Any], velocity: Sequence[Any]) -> tuple[Any, ...]:
    """Rate of [x y z, qx qy qz qw], of numbers or symbols.

    With the quaternion p = (x, y, z, w) of unit length, the velocity u of the origin and the
    angular velocity w, both in the moving axes, xyz' = R(p) u and p' = p * (w, 0) / 2.
    """
    x, y, z, s = quaternion
    ux, uy, uz, wx, wy, wz = velocity
    # R u = u + 2 p x (p x u + s u)
    tx = y * uz - z * uy + s * ux
    ty = z * ux - x * uz + s * uy
    tz = x * uy - y * ux + s * uz
    return (
        ux + 2 * (y * tz - z * ty),
        uy + 2 * (z * tx - x * tz),
        uz + 2 * (x * ty - y * tx),
        0.5 * (s * wx + y * wz - z * wy),
        0.5 * (s * wy + z * wx - x * wz),
        0.5 * (s * wz + x * wy - y * wx),
        -0.5 * (x * wx + y * wy + z * wz),
    )


def floating_places(coordinates: Coordinates) -> list[tuple[int, int]]:
    """Where the floating joints start in q and in v."""
    return [(start - 3, start - 3 - k) for k, start in enumerate(coordinates.quaternions)]


@program("q v", output="rate", internal=True)
def position_rate(system: System, q: SX, z: SX, v: SX) -> SX:
    """Rate of q (nq, 1) at the velocity v."""
    coordinates = system.coordinates
    starts = dict(floating_places(coordinates))
    parts: list[SX] = []
    iq = iv = 0
    while iq < coordinates.nq:
        if iq in starts:
            parts += floating_rate([q[iq + 3 + k] for k in range(4)], [v[iv + k] for k in range(6)])
            iq, iv = iq + 7, iv + 6
        else:
            parts.append(v[iv])
            iq, iv = iq + 1, iv + 1
    return ca.vertcat(SX(0, 1), *parts)


@program("q v effort", output="rate", internal=True)
def motion_rate(system: System, q: SX, z: SX, v: SX, effort: SX) -> SX:
    """Rates of q and v, and the power of efforts and of friction (nq + nv + 2, 1).

    y' of an integrator that also keeps the work.
    """
    a = forward_dynamics(system, q, z, v, effort)
    velocity = system.embedding(q, z).velocity(v)
    work = ca.dot(velocity[list(system.coordinates.effort)], effort)
    loss = ca.dot(velocity, joint_friction(system.tree, velocity))
    return ca.vertcat(position_rate(system, q, z, v), a, work, loss)


class PositionRate:
    """The map from v to the rate of q: q' = v, but for floating joints; see `floating_rate`."""

    def __init__(self, coordinates: Coordinates) -> None:
        self.floating = floating_places(coordinates)
        in_q = np.ones(coordinates.nq, dtype=bool)
        in_v = np.ones(coordinates.nv, dtype=bool)
        for iq, iv in self.floating:
            in_q[iq : iq + 7] = False
            in_v[iv : iv + 6] = False
        self._in_q, self._in_v = np.flatnonzero(in_q), np.flatnonzero(in_v)

    def __call__(self, q: Array, v: Array, rate: Array) -> None:
        """Write the rate of q (nq,) at the velocity v (nv,)."""
        if not self.floating:
            rate[:] = v
            return
        rate[self._in_q] = v[self._in_v]
        for iq, iv in self.floating:
            rate[iq : iq + 7] = floating_rate(
                q[iq + 3 : iq + 7].tolist(), v[iv : iv + 6].tolist()
            )

    def normalize(self, q: Array) -> None:
        """Give the quaternions in q (nq,) or (N, nq) unit length, in place."""
        for iq, _ in self.floating:
            quaternion = q[..., iq + 3 : iq + 7]
            quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
