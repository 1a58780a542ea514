"""Mass matrix by composite rigid bodies (Featherstone 2008, ch. 6).

A body's composite inertia is the inertia of all it carries. Column i of H is the wrench that a unit
acceleration of joint i asks of its composite body, projected on the joints towards the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model.inertia import RigidInertia
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import (
    SX,
    JointMotion,
    Transform,
    by_columns,
    constant,
    cross,
    inlined,
    symmetric,
)
from .newton_euler import acting


@dataclass
class CompositeInertia:
    """Mass, first moment (3, 1) and moments (3, 3) about a body's origin, on symbols."""

    mass: float | SX
    first: SX
    second: SX

    @staticmethod
    def of(inertia: RigidInertia) -> CompositeInertia:
        """The inertia of one rigid body."""
        return CompositeInertia(inertia.mass, constant(inertia.first), constant(inertia.second))

    @property
    def rigid(self) -> RigidInertia:
        """The same as a tree's bodies have it, on symbols."""
        return RigidInertia(self.mass, self.first, self.second)  # type: ignore[arg-type]

    def to_parent(self, transform: Transform) -> CompositeInertia:
        """The inertia about the parent's origin in the parent's axes.

        I' = R I R^T + (2 h.p + m p.p) 1 - h p^T - p h^T - m p p^T with h = R m c: the parallel
        axis theorem without going through the centre of mass.
        """
        p, first = transform.shift, transform.to_parent(self.first)
        half = first + 0.5 * self.mass * p
        second = _parallel_axis(transform.symmetric_to_parent(self.second), p, half)
        return CompositeInertia(self.mass, first + self.mass * p, second)

    def __add__(self, other: CompositeInertia) -> CompositeInertia:
        return CompositeInertia(
            self.mass + other.mass, self.first + other.first, self.second + other.second
        )

    def wrench(self, angular: SX, linear: SX) -> tuple[SX, SX]:
        """Moments and forces (3, n) that the accelerations (3, n), (3, n) ask for."""

        def of_one(alpha: SX, a: SX) -> tuple[SX, SX]:
            moment = self.second @ alpha + cross(self.first, a)
            return moment, self.mass * a + cross(alpha, self.first)

        return by_columns(of_one, angular, linear)


@inlined((3, 3), 3, 3)
def _parallel_axis(second: SX, p: SX, half: SX) -> SX:
    """Moments about the parent's origin; `half` is R m c and half of m p."""
    second = SX(second)  # a copy, to be written to
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        second[x, x] += 2 * p[y] * half[y] + 2 * p[z] * half[z]
        second[x, y] -= half[x] * p[y] + half[y] * p[x]
        second[y, x] = second[x, y]
    return second


def composite_inertias(tree: Tree, joints: Sequence[JointMotion]) -> list[CompositeInertia]:
    """The inertia of every body and all that it carries."""
    inertias = [CompositeInertia.of(body.inertia) for body in tree.bodies]
    for i, body in reversed(list(enumerate(tree.bodies))):
        if body.parent != WORLD:
            inertias[body.parent] += inertias[i].to_parent(joints[i].transform)
    return inertias


def composite_body(tree: Tree, joints: Sequence[JointMotion]) -> SX:
    """Mass matrix (nv, nv) of the tree coordinates; zeros between branches are structural."""
    inertias = composite_inertias(tree, joints)
    matrix = SX(tree.nv, tree.nv)
    for i, body in enumerate(tree.bodies):
        moments, forces = inertias[i].wrench(joints[i].angular, joints[i].linear)
        j = i
        while True:
            target, joint = tree.bodies[j], joints[j]
            block = joint.angular.T @ moments + joint.linear.T @ forces
            if j == i:
                block = symmetric(block)
            matrix[target.v, body.v] = block
            matrix[body.v, target.v] = block.T
            if target.parent == WORLD:
                break
            moments, forces = by_columns(joint.transform.wrench_to_parent, moments, forces)
            j = target.parent
    rotors = acting(tree, "armature")
    for k in rotors.sparsity().row():  # a sum of matrices would make a single zero structural
        matrix[k, k] += rotors[k]
    return matrix
