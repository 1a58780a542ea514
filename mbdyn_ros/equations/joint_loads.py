"""Loads on the joints of the tree, as if the loops were open: bodies, weight and inertia.

Equations 13-18 and 37 of the parallel-serial paper: f_i and n_i of each body, summed in the
backward pass. What the closing joints add is statics, in `robot.wrenches`.
"""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from .algebra.spatial import SX, by_rows
from .system import System
from .tree.kinematics import body_poses
from .tree.newton_euler import forward_pass, joint_wrenches

LOADS = 18
"""Numbers of a body: its pose (rotation by rows, origin), and force and moment at its joint."""


@program("q v a", output="terms", loaded=True, internal=True)
def joint_loads(
    system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
) -> SX:
    """Pose of every body in the world, and what its parent exerts on it with all loops open.

    Force and moment are about the origin of the body's frame, in its axes; friction is part of
    them, as all that acts between the two bodies.
    """
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    motions = forward_pass(system.tree, embedding.joints, velocity, acceleration, system.gravity)
    through = joint_wrenches(system.tree, embedding.joints, motions, wrenches)
    poses = body_poses(system.tree, embedding.joints)
    parts = [SX(0, 1)]
    for (rotation, origin), (moment, force) in zip(poses, through, strict=True):
        parts += [by_rows(rotation), origin, force, moment]
    return ca.densify(ca.vertcat(*parts))
