"""How positions change with velocities: unit quaternions turn, everything else moves along."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..integration.methods import FIXED
from ..model.model import Array
from ..prepare.coordinates import Coordinates
from ..program.program import program
from .algebra.spatial import SX
from .programs import forward_dynamics
from .system import System
from .tree.newton_euler import joint_friction

SHORTEST_QUATERNION = 1e-6
"""Length below which a quaternion has no direction."""


@program("q v", output="rate", internal=True, integrated=(*FIXED.values(),))
def position_rate(system: System, q: SX, z: SX, v: SX) -> SX:
    """Rate of q (nq, 1) at the velocity v."""
    parts: list[SX] = []
    for motion, in_q, in_v in system.coordinates.motions:
        parts += motion.rate(ca.vertsplit(q[in_q]), ca.vertsplit(v[in_v]))
    return ca.vertcat(SX(0, 1), *parts)


@program("q v", output="rate", internal=True)
def step_rate(system: System, q: SX, z: SX, v: SX) -> SX:
    """The same for steps, compiled without the methods of rollouts: in a quarter of the time."""
    return position_rate(system, q, z, v)


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
    """The map from v to the rate of q: q' = v, except for quaternions; see `MotionType.rate`."""

    def __init__(self, coordinates: Coordinates) -> None:
        self.turning = [place for place in coordinates.motions if place[0].quaternion is not None]
        self._quaternions = coordinates.quaternions
        in_q = np.ones(coordinates.nq, dtype=bool)
        in_v = np.ones(coordinates.nv, dtype=bool)
        for _, iq, iv in self.turning:
            in_q[iq] = False
            in_v[iv] = False
        self._in_q, self._in_v = np.flatnonzero(in_q), np.flatnonzero(in_v)

    def __call__(self, q: Array, v: Array, rate: Array) -> None:
        """Write the rate of q (nq,) at the velocity v (nv,)."""
        if not self.turning:
            rate[:] = v
            return
        rate[self._in_q] = v[self._in_v]
        for motion, iq, iv in self.turning:
            rate[iq] = motion.rate(q[iq].tolist(), v[iv].tolist())

    def between(self, start: Array, end: Array, span: float, mean: Array) -> None:
        """Put into `mean` (nv,) the mean velocities from one q (nq,) to another in a span (s).

        Those of what turns by quaternions are left as they are.
        """
        mean[self._in_v] = (end[self._in_q] - start[self._in_q]) / span

    def normalize(self, q: Array) -> None:
        """Give the quaternions in q (nq,) or (N, nq) unit length, in place.

        Those that are too short to have a direction are left as they are.
        """
        for start in self._quaternions:
            quaternion = q[..., start : start + 4]
            length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
            quaternion /= np.where(length < SHORTEST_QUATERNION, 1.0, length)
