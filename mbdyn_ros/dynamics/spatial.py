"""Vectors, joints and inertias on CasADi symbols: the small algebra of the recursions.

All vectors of a body are in the axes of its frame, all moments and accelerations about its
origin. Accelerations are those of classical mechanics (of the material point at the origin),
so that no linear velocity is needed; see Luh, Walker and Paul (1980).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.tree import Body, snap

SX = ca.SX


def constant(values: object) -> SX:
    """Numbers as a symbolic matrix without structural zeros."""
    return SX(ca.DM(np.asarray(values, dtype=float)))


def cross(a: SX, b: SX) -> SX:
    """The vector product a x b of (3, 1) vectors."""
    return ca.cross(a, b)


def skew(a: SX) -> SX:
    """The matrix (3, 3) with skew(a) b = a x b."""
    zero = SX(0)
    return ca.blockcat([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def symmetric(upper: SX) -> SX:
    """The symmetric matrix with the upper triangle of `upper`."""
    return ca.triu2symm(ca.triu(upper))


def congruence(rotation: SX, matrix: SX) -> SX:
    """R A R^T of a symmetric A, upper triangle computed once."""
    return symmetric(rotation @ matrix @ rotation.T)


@dataclass(frozen=True)
class Transform:
    """Pose of a child frame in its parent: turns by `turns` one after the other, then `shift`.

    The turn of a joint and the constant turn of its placement are kept apart: two sparse
    matrices cost less than their product.
    """

    turns: tuple[SX, ...]
    shift: SX

    def outward(self, vector: SX) -> SX:
        """Components in the child's axes of a vector given in the parent's."""
        for turn in self.turns:
            vector = turn.T @ vector
        return vector

    def inward(self, vector: SX) -> SX:
        """Components in the parent's axes of a vector given in the child's."""
        for turn in reversed(self.turns):
            vector = turn @ vector
        return vector

    def inward_symmetric(self, matrix: SX) -> SX:
        """The same of a symmetric matrix (3, 3)."""
        for turn in reversed(self.turns):
            matrix = congruence(turn, matrix)
        return matrix

    def inward_matrix(self, matrix: SX) -> SX:
        """The same of a general matrix (3, 3)."""
        for turn in reversed(self.turns):
            matrix = turn @ matrix @ turn.T
        return matrix

    def inward_wrench(self, moment: SX, force: SX) -> tuple[SX, SX]:
        """Moment about the parent's origin and force, in the parent's axes."""
        force = self.inward(force)
        return self.inward(moment) + cross(self.shift, force), force


@dataclass(frozen=True)
class JointMotion:
    """What a joint does: transform from the body to its parent, and motion in body axes.

    angular, linear : motion subspace S, (3, n) each.
    """

    transform: Transform
    angular: SX
    linear: SX


def joint_motion(body: Body, q: SX) -> JointMotion:
    """The joint of `body` at its position coordinates `q` ((1,) or (7,))."""
    rotation, shift = constant(body.placement.rotation), constant(body.placement.translation)
    fixed = () if np.array_equal(body.placement.rotation, np.eye(3)) else (rotation,)
    if body.kind == "revolute":
        turn = rotation_about_z(q, body.offset)
        axis = constant(body.axis)
        return JointMotion(Transform((*fixed, turn), shift), axis, constant(np.zeros(3)))
    if body.kind == "prismatic":
        axis = constant(body.axis)
        slide = shift + rotation @ (axis * q)
        return JointMotion(Transform(fixed, slide), constant(np.zeros(3)), axis)
    turn = rotation_of_quaternion(q[3:7])
    angular = constant(np.hstack([np.zeros((3, 3)), np.eye(3)]))
    linear = constant(np.hstack([np.eye(3), np.zeros((3, 3))]))
    return JointMotion(Transform((*fixed, turn), shift + rotation @ q[:3]), angular, linear)


def rotation_about_z(q: SX, offset: float) -> SX:
    """Rz(q + offset); quarter turns cost nothing."""
    cosine, sine = ca.cos(q), ca.sin(q)
    quarter = snap(np.array([np.cos(offset), np.sin(offset)]))
    if 0.0 in quarter:
        cosine, sine = (
            cosine * quarter[0] - sine * quarter[1],
            sine * quarter[0] + cosine * quarter[1],
        )
    else:
        cosine, sine = ca.cos(q + offset), ca.sin(q + offset)
    zero, one = SX(0), SX(1)
    return ca.blockcat([[cosine, -sine, zero], [sine, cosine, zero], [zero, zero, one]])


def rotation_of_quaternion(quaternion: SX) -> SX:
    """Rotation of a unit quaternion (x, y, z, w)."""
    x, y, z, w = (quaternion[i] for i in range(4))
    return ca.blockcat(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
