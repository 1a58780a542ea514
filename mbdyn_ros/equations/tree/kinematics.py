"""Where the bodies are, how fast they move, and their energy."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ...model.model import Array
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, JointMotion, constant, cross
from .newton_euler import acting


def body_poses(tree: Tree, joints: Sequence[JointMotion]) -> list[tuple[SX, SX]]:
    """Rotation (3, 3) and origin (3, 1) of every body's frame in the world."""
    poses: list[tuple[SX, SX]] = []
    for body, joint in zip(tree.bodies, joints, strict=True):
        parent = (SX.eye(3), SX.zeros(3)) if body.parent == WORLD else poses[body.parent]
        rotation, origin = joint.transform.placed(*parent)
        poses.append((ca.densify(rotation), origin))
    return poses


def chain(tree: Tree, index: int) -> list[int]:
    """A body and all that carry it, inwards."""
    found = []
    while index != WORLD:
        found.append(index)
        index = tree.bodies[index].parent
    return found


def jacobian(
    tree: Tree,
    joints: Sequence[JointMotion],
    index: int,
    point: SX,
    poses: Sequence[tuple[SX, SX]] = (),
) -> SX:
    """Jacobian (6, nv) of body `index`: linear velocity of its point that is at `point` (3, 1),
    then angular velocity, both in world axes.

    poses : those of all bodies, where they are known; see `body_poses`.
    """
    poses = poses or body_poses(tree, joints)
    result = SX(6, tree.nv)
    for i in chain(tree, index):
        result[:, tree.bodies[i].v] = joint_twists(joints[i], *poses[i], point)
    return result


def joint_twists(joint: JointMotion, rotation: SX, origin: SX, point: SX) -> SX:
    """How a point (3, 1) of a body moves by each velocity of its joint: (6, n), its velocity and
    the angular one, in world axes.

    rotation, origin : the pose of the body.
    """
    columns = [SX(6, 0)]
    for k in range(joint.angular.shape[1]):
        angular = rotation @ joint.angular[:, k]
        linear = rotation @ joint.linear[:, k]
        columns.append(ca.vertcat(linear + cross(angular, point - origin), angular))
    return ca.horzcat(*columns)


def jacobian_rate(
    tree: Tree, joints: Sequence[JointMotion], v: SX, index: int, point: SX, moving: SX
) -> SX:
    """Rate (6, nv) of `jacobian` at the tree velocities `v`, where the point has the velocity
    `moving` (3, 1) in world axes."""
    poses, velocities = body_poses(tree, joints), body_velocities(tree, joints, v)
    result = SX(6, tree.nv)
    for i in chain(tree, index):
        joint, (rotation, origin) = joints[i], poses[i]
        spin, speed = (rotation @ part for part in velocities[i])
        for k, column in enumerate(range(tree.bodies[i].v.start, tree.bodies[i].v.stop)):
            angular = rotation @ joint.angular[:, k]
            turning = cross(spin, angular)
            result[:3, column] = (
                cross(spin, rotation @ joint.linear[:, k])
                + cross(turning, point - origin)
                + cross(angular, moving - speed)
            )
            result[3:, column] = turning
    return result


def body_velocities(tree: Tree, joints: Sequence[JointMotion], v: SX) -> list[tuple[SX, SX]]:
    """Angular velocity and velocity of the origin (3, 1) of every body, in its own axes."""
    velocities: list[tuple[SX, SX]] = []
    for body, joint in zip(tree.bodies, joints, strict=True):
        angular, linear = joint.angular @ v[body.v], joint.linear @ v[body.v]
        if body.parent != WORLD:
            w, u = joint.transform.forward_motion(*velocities[body.parent])
            angular, linear = angular + w, linear + u
        velocities.append((angular, linear))
    return velocities


def energy(tree: Tree, joints: Sequence[JointMotion], v: SX, gravity: Array) -> tuple[SX, SX]:
    """Kinetic and potential energy (J): V = -sum m g.c, zero at the world's origin.

    The rotors of the drives count as kinetic, except where the motion is given; springs do not.
    """
    rotors = acting(tree, "armature")
    for body in tree.bodies:
        if body.given:
            rotors[body.v] = 0
    kinetic, potential = 0.5 * ca.dot(rotors, v**2), SX(0)
    bodies = zip(
        tree.bodies, body_poses(tree, joints), body_velocities(tree, joints, v), strict=True
    )
    for body, (rotation, origin), (w, u) in bodies:
        mass, first = body.inertia.mass, constant(body.inertia.first)
        spin = constant(body.inertia.second) @ w
        kinetic += 0.5 * (mass * ca.dot(u, u) + ca.dot(w, spin)) + ca.dot(u, cross(w, first))
        potential -= ca.dot(constant(gravity), rotation @ first + mass * origin)
    return kinetic, potential
