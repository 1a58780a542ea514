"""The robot as a whole: its centre of mass, and its momentum about it, in world axes.

Momenta are linear, then angular (Orin, Goswami and Lee 2013). What counts is what joints can move.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..program.declaration import program
from .algebra.spatial import SX, JointMotion, constant, cross, skew
from .system import System
from .tree.composite_body import CompositeInertia, composite_inertias
from .tree.kinematics import body_poses, body_velocities
from .tree.newton_euler import forward_pass, inertial_wrenches, total_wrench


@program("q", output="position")
def center_of_mass(system: System, q: SX, z: SX) -> SX:
    """Centre of mass (3, 1)."""
    return _center(system, system.embedding(q, z).joints)


@program("q v", output="velocity")
def center_of_mass_velocity(system: System, q: SX, z: SX, v: SX) -> SX:
    """Velocity (3, 1) of the centre of mass."""
    embedding = system.embedding(q, z)
    _, force = _momentum(system, embedding.joints, embedding.velocity(v))
    return force / system.mass


@program("q", output="jacobian", matrix=True)
def center_of_mass_jacobian(system: System, q: SX, z: SX) -> SX:
    """Jacobian (3, nv) of the centre of mass."""
    embedding = system.embedding(q, z)
    return ca.densify(_columns(system, embedding.joints)[:3, :] @ embedding.matrix) / system.mass


@program("q v", output="momentum")
def centroidal_momentum(system: System, q: SX, z: SX, v: SX) -> SX:
    """Linear momentum, and angular momentum about the centre of mass (6, 1)."""
    embedding = system.embedding(q, z)
    moment, force = _momentum(system, embedding.joints, embedding.velocity(v))
    return ca.vertcat(force, moment - cross(_center(system, embedding.joints), force))


@program("q v a", output="rate")
def centroidal_momentum_rate(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Rate of the centroidal momentum (6, 1): force and moment about the centre of mass, less
    those of gravity."""
    embedding = system.embedding(q, z)
    still = 0 * system.gravity
    motions = forward_pass(system.tree, embedding.joints, *embedding.motion(v, a), still)
    wrenches = inertial_wrenches(system.tree, motions, None)
    moment, force = total_wrench(system.tree, embedding.joints, *wrenches)
    return ca.vertcat(force, moment - cross(_center(system, embedding.joints), force))


@program("q", output="matrix", matrix=True)
def centroidal_momentum_matrix(system: System, q: SX, z: SX) -> SX:
    """The centroidal momentum (6, nv) per velocity coordinate."""
    embedding = system.embedding(q, z)
    columns = _columns(system, embedding.joints)
    linear, angular = columns[:3, :], columns[3:, :]
    angular = angular - skew(_center(system, embedding.joints)) @ linear
    return ca.densify(ca.vertcat(linear, angular) @ embedding.matrix)


def _center(system: System, joints: Sequence[JointMotion]) -> SX:
    """Centre of mass (3, 1)."""
    total = SX.zeros(3)
    for body, (rotation, origin) in zip(
        system.tree.bodies, body_poses(system.tree, joints), strict=True
    ):
        total += rotation @ constant(body.inertia.first) + body.inertia.mass * origin
    return total / system.mass


def _momentum(system: System, joints: Sequence[JointMotion], velocity: SX) -> tuple[SX, SX]:
    """Angular momentum about the world's origin, and linear momentum (3, 1)."""
    momenta = [
        CompositeInertia.of(body.inertia).wrench(*motion)
        for body, motion in zip(
            system.tree.bodies, body_velocities(system.tree, joints, velocity), strict=True
        )
    ]
    moments, forces = ([pair[k] for pair in momenta] for k in range(2))
    return total_wrench(system.tree, joints, moments, forces)


def _columns(system: System, joints: Sequence[JointMotion]) -> SX:
    """Linear momentum, and angular momentum about the world's origin (6, nv_tree)."""
    result = SX.zeros(6, system.tree.nv)
    inertias = composite_inertias(system.tree, joints)
    poses = body_poses(system.tree, joints)
    for body, joint, inertia, (rotation, origin) in zip(
        system.tree.bodies, joints, inertias, poses, strict=True
    ):
        moments, forces = inertia.wrench(joint.angular, joint.linear)
        forces = rotation @ forces
        result[:3, body.v] = forces
        result[3:, body.v] = rotation @ moments + skew(origin) @ forces
    return result
