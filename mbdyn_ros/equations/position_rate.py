"""How positions change with velocities: unit quaternions turn, everything else moves along."""

from __future__ import annotations

import casadi as ca

from ..integration.methods import FIXED
from ..program.program import program
from .algebra.spatial import SX
from .programs import forward_dynamics
from .system import System
from .tree.newton_euler import joint_friction


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
