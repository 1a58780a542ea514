"""The energy of every link that joints can move."""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from .algebra.spatial import SX, constant
from .system import System
from .tree.composite_body import CompositeInertia
from .tree.kinematics import body_poses, body_velocities


@program("q v", output="energies", matrix=True)
def link_energies(system: System, q: SX, z: SX, v: SX) -> SX:
    """Kinetic and potential energy (2, links) (J), in the order of `tree.parts`."""
    embedding = system.embedding(q, z)
    tree, joints = system.tree, embedding.joints
    poses = body_poses(tree, joints)
    velocities = body_velocities(tree, joints, embedding.velocity(v))
    columns = [SX(2, 0)]
    for index, own in tree.parts.values():
        (rotation, origin), (spin, speed) = poses[index], velocities[index]
        moment, force = CompositeInertia.of(own).wrench(spin, speed)
        kinetic = 0.5 * (ca.dot(spin, moment) + ca.dot(speed, force))
        place = rotation @ constant(own.first) + own.mass * origin
        columns.append(ca.vertcat(kinetic, -ca.dot(constant(system.gravity), place)))
    return ca.densify(ca.horzcat(*columns))
