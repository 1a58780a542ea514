"""Terms of the equations of motion as controllers need them: efforts of the actuators, all joints.

The programs of `programs` are of the independent coordinates; these, of the joints and the drives
that a machine has.
"""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from .actuation import actuated
from .algebra.spatial import SX
from .programs import holding_vector
from .system import System
from .tree.acting import joint_friction


@program("q v a", output="motion", internal=True)
def joint_motion(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Positions, velocities and accelerations of `joint_names`, one after the other."""
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    in_q, in_v = system.coordinates.joint_rows
    return ca.vertcat(embedding.values()[in_q], velocity[in_v], acceleration[in_v])


@program("q", output="effort", internal=True)
def gravity_effort(system: System, q: SX, z: SX) -> SX:
    """Efforts of the actuated joints that hold the robot at rest: against gravity and springs."""
    return actuated(system, system.embedding(q, z), holding_vector(system, q, z))


@program("q v", output="effort", internal=True)
def friction_effort(system: System, q: SX, z: SX, v: SX) -> SX:
    """Efforts of the actuated joints that overcome damping and dry friction of all joints."""
    embedding = system.embedding(q, z)
    reduced = embedding.reduce(joint_friction(system.tree, embedding.velocity(v)))
    return actuated(system, embedding, ca.densify(reduced))


@program("q force", output="effort", internal=True)
def actuated_effort(system: System, q: SX, z: SX, force: SX) -> SX:
    """Efforts of the actuated joints that do the work of `force` at the independent coordinates.

    force : (nv,), N m or N.
    """
    return actuated(system, system.embedding(q, z), force)
