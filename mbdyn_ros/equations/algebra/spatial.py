"""Vectors, joints and inertias on CasADi symbols: the small algebra of the recursions.

All vectors of a body are in the axes of its frame, all moments and accelerations about its
origin. Accelerations are those of classical mechanics (of the material point at the origin),
so that no linear velocity is needed; see Luh, Walker and Paul (1980).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca
import numpy as np

from ...model.joints.types import turn_rows
from ...model.pose import snap
from ...program.symbols import lasting

if TYPE_CHECKING:
    from ...prepare.tree import Body

Formula = TypeVar("Formula", bound=Callable[..., object])


def inlined(*shapes: int | tuple[int, int]) -> Callable[[Formula], Formula]:
    """Decorate a formula of dense vectors (n,) and matrices (m, n), given by their shapes.

    Python and CasADi take 5 to 30 us for every operation on small matrices. A function of CasADi
    puts in all operations of a formula at once, in a tenth of that time, and simplifies each as it
    does when written out: products with 0 and 1 vanish, and the expressions are the same.

    It must do the same whatever the arguments are: what asks whether one of them is zero would get
    the answer of a symbol.
    """

    def decorate(formula: Formula) -> Formula:
        @functools.cache
        def traced() -> ca.Function:
            sizes = [(one, 1) if isinstance(one, int) else one for one in shapes]
            symbols = [ca.SX.sym(f"x{k}", *size) for k, size in enumerate(sizes)]
            results: Any = formula(*symbols)
            several = list(results) if isinstance(results, tuple) else [results]
            return lasting(ca.Function(formula.__name__.strip("_"), symbols, several))

        @functools.wraps(formula)
        def call(*arguments: ca.SX) -> object:
            return traced()(*arguments)

        return call  # type: ignore[return-value]

    return decorate


SX = ca.SX


def constant(values: object) -> SX:
    """Numbers as a symbolic matrix without structural zeros; symbols stay what they are."""
    if isinstance(values, SX):
        return values
    return SX(np.asarray(values, dtype=float))


def cross(a: SX, b: SX) -> SX:
    """The vector product a x b of (3, 1) vectors."""
    return ca.cross(a, b)


@inlined(3)
def skew(a: SX) -> SX:
    """The matrix (3, 3) with skew(a) b = a x b."""
    zero = SX(0)
    return ca.blockcat([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def symmetric(upper: SX) -> SX:
    """The symmetric matrix with the upper triangle of `upper`."""
    return ca.triu2symm(ca.triu(upper))


def symmetric_of(six: SX) -> SX:
    """The symmetric matrix (3, 3) of its upper triangle, row by row."""
    xx, xy, xz, yy, yz, zz = (six[k] for k in range(6))
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def upper_of(matrix: SX) -> SX:
    """The upper triangle (6, 1) of a matrix (3, 3), row by row."""
    return ca.vertcat(*(matrix[i, j] for i in range(3) for j in range(i, 3)))


def by_rows(matrix: SX) -> SX:
    """The elements of a matrix (m n, 1), row by row."""
    return ca.vec(ca.densify(matrix).T)


def homogeneous(rotation: SX, shift: SX, one: int = 1) -> SX:
    """[rotation shift; 0 one] (4, 4)."""
    return ca.vertcat(ca.horzcat(rotation, shift), constant([[0.0, 0.0, 0.0, float(one)]]))


def by_columns(function: Callable[[SX, SX], tuple[SX, SX]], first: SX, second: SX) -> tuple[SX, SX]:
    """A function from two vectors to two, applied to the columns of matrices (3, n)."""
    pairs = [function(first[:, k], second[:, k]) for k in range(first.shape[1])]
    return ca.horzcat(*(one for one, _ in pairs)), ca.horzcat(*(two for _, two in pairs))


def second_moment(moments: SX) -> SX:
    """J = (tr I / 2) 1 - I: the integral of r r^T dm (3, 3), from moments of inertia."""
    return 0.5 * ca.trace(moments) * SX.eye(3) - moments


def congruence(rotation: SX, matrix: SX) -> SX:
    """R A R^T; of a rotation about an axis of the frame with half the products of the general case.

    With u = s (A_xx - A_yy) + c (A_xy + A_yx), a turn about z gives A_xx - s u, A_yy + s u,
    c u - A_yx and c u - A_xy.
    """
    axis = _turned_about(rotation)
    if axis is None:
        return rotation @ matrix @ rotation.T
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = rotation[i, i], rotation[j, i]
    result = rotation @ matrix @ rotation.T  # for the row and the column of the axis
    u = s * (matrix[i, i] - matrix[j, j]) + c * (matrix[i, j] + matrix[j, i])
    result[i, i], result[j, j] = matrix[i, i] - s * u, matrix[j, j] + s * u
    result[i, j], result[j, i] = c * u - matrix[j, i], c * u - matrix[i, j]
    return result


def _turned_about(rotation: SX) -> int | None:
    """The axis about which a rotation turns; None if it is none of the frame's.

    None too for quarter and half turns, which cost nothing as they are.
    """
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        across = (rotation[axis, i], rotation[axis, j], rotation[i, axis], rotation[j, axis])
        if rotation[axis, axis].is_one() and all(entry.is_zero() for entry in across):
            free = rotation[i, i].is_zero() or rotation[j, i].is_zero()
            return None if free else axis
    return None


@dataclass(frozen=True)
class Transform:
    """Pose of a child frame in its parent: turns by `turns` one after the other, then `shift`.

    The turn of a joint and the constant turn of its placement are kept apart: two sparse
    matrices cost less than their product.
    """

    turns: tuple[SX, ...]
    shift: SX

    def to_child(self, vector: SX) -> SX:
        """Components in the child's axes of a vector given in the parent's."""
        for turn in self.turns:
            vector = turn.T @ vector
        return vector

    def to_parent(self, vector: SX) -> SX:
        """Components in the parent's axes of a vector given in the child's."""
        for turn in reversed(self.turns):
            vector = turn @ vector
        return vector

    def symmetric_to_parent(self, matrix: SX) -> SX:
        """A symmetric matrix (3, 3) of the child's axes in the parent's."""
        for turn in reversed(self.turns):
            matrix = symmetric(congruence(turn, matrix))
        return matrix

    def matrix_to_parent(self, matrix: SX) -> SX:
        """A general matrix (3, 3) of the child's axes in the parent's."""
        for turn in reversed(self.turns):
            matrix = congruence(turn, matrix)
        return matrix

    def turned(self, rotation: SX) -> SX:
        """Axes (3, 3) of the child, where the parent's are `rotation`."""
        for turn in self.turns:
            rotation = rotation @ turn
        return rotation

    def placed(self, rotation: SX, origin: SX) -> tuple[SX, SX]:
        """Axes (3, 3) and origin (3, 1) of the child from the parent's."""
        return self.turned(rotation), origin + rotation @ self.shift

    def forward_motion(self, angular: SX, linear: SX) -> tuple[SX, SX]:
        """Velocity, or acceleration at rest, that the parent's motion gives the child."""
        return self.to_child(angular), self.to_child(linear + cross(angular, self.shift))

    def wrench_to_parent(self, moment: SX, force: SX) -> tuple[SX, SX]:
        """Moment about the parent's origin and force, in the parent's axes."""
        force = self.to_parent(force)
        return self.to_parent(moment) + cross(self.shift, force), force


@dataclass(frozen=True)
class JointMotion:
    """The motion of a joint: transform from the body to its parent, and motion in body axes.

    angular, linear : motion subspace S, (3, n) each.
    """

    transform: Transform
    angular: SX
    linear: SX


@dataclass(frozen=True)
class CosineSine:
    """Cosine and sine of the angle of a revolute joint, its offset included."""

    cosine: SX
    sine: SX

    @staticmethod
    def by(q: SX, offset: float | SX) -> CosineSine:
        """The turn by q + offset; quarter turns cost nothing."""
        if isinstance(offset, SX):
            return CosineSine(ca.cos(q + offset), ca.sin(q + offset))
        quarter = snap(np.array([np.cos(offset), np.sin(offset)]))
        if 0.0 not in quarter:
            return CosineSine(ca.cos(q + offset), ca.sin(q + offset))
        cosine, sine = ca.cos(q), ca.sin(q)
        return CosineSine(
            cosine * quarter[0] - sine * quarter[1], sine * quarter[0] + cosine * quarter[1]
        )

    @property
    def rotation(self) -> SX:
        """The rotation (3, 3) about z."""
        return _turn(self.cosine, self.sine)


@inlined(1, 1)
def _turn(cosine: SX, sine: SX) -> SX:
    """The rotation (3, 3) about z."""
    return ca.blockcat([list(row) for row in turn_rows(cosine, sine)])


Position = SX | CosineSine
"""Position coordinates of a joint; for a revolute one, its turn serves as well."""


def joint_motion(body: Body, position: Position) -> JointMotion:
    """The joint of `body` at its positions (nq, 1), or a `CosineSine` of one that only turns."""
    rotation, shift = constant(body.placement.rotation), constant(body.placement.translation)
    fixed = () if (rotation - SX.eye(3)).is_zero() else (rotation,)
    motion = body.motion
    angular, linear = (constant(part) for part in motion.subspace(body.axis))
    turned: tuple[SX, ...] = ()
    if isinstance(position, CosineSine):
        assert motion.is_hinge and motion.keeps_origin, "of other joints the angle is needed"
        return JointMotion(Transform((*fixed, position.rotation), shift), angular, linear)
    if motion.is_hinge:
        turned = (CosineSine.by(position, body.offset).rotation,)
    elif (rows := motion.rotation(position)) is not None:
        turned = (ca.blockcat([list(row) for row in rows]),)
    if (displacement := motion.shift(constant(body.axis), position)) is not None:
        shift = shift + rotation @ displacement
    return JointMotion(Transform((*fixed, *turned), shift), angular, linear)
