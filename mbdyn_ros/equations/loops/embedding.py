"""The motion of the whole tree in the independent coordinates: v_tree = G v, a_tree = G a + g."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from ...prepare.coordinates import Coordinates
from ...prepare.tree import Tree
from ..algebra.spatial import SX, JointMotion, Position, joint_motion
from .linkage import ClusterRows, Linkage, cluster_rows, embed, linear_positions
from .terms import KnownLinkage

NOTHING: Mapping[Linkage, KnownLinkage] = {}


class Embedding:
    """Joints and motion of a tree at independent positions.

    Parameters
    ----------
    tree, linkages : the bodies, and the constrained clusters among them.
    independent : which coordinates are independent.
    q : independent positions (nq, 1).
    z : positions of the dependent joints that have no closed form, linkage by linkage.
    known : linkages whose terms are given; those of the others are written out.

    Attributes
    ----------
    positions : position of every body's joint.
    joints : motion of every body's joint.
    matrix : G (nv_tree, nv), zeros structural.
    """

    def __init__(
        self,
        tree: Tree,
        linkages: Sequence[Linkage],
        independent: Coordinates,
        q: SX,
        z: SX,
        known: Mapping[Linkage, KnownLinkage] = NOTHING,
    ) -> None:
        self.tree, self.linkages, self.independent = tree, linkages, independent
        self._known = known
        self.positions = self._positions(q, z)
        self.joints: list[JointMotion] = [
            joint_motion(body, position)
            for body, position in zip(tree.bodies, self.positions, strict=True)
        ]
        self.matrix = SX(tree.nv, len(independent.v))
        for column, row in enumerate(independent.v):
            self.matrix[row, column] = 1
        for linkage in linkages:
            if linkage in known:
                block = known[linkage].matrix
            else:
                block, _ = embed(linkage, self.rows(linkage, SX.zeros(tree.nv)))
            rows = (linkage.coordinates[place] for place in linkage.independent)
            columns = [independent.v.index(row) for row in rows]
            for place in linkage.dependent:
                for k, column in enumerate(columns):
                    if not block[place, k].is_zero():
                        self.matrix[linkage.coordinates[place], column] = block[place, k]

    def velocity(self, v: SX) -> SX:
        """Tree velocities (nv_tree, 1)."""
        return ca.densify(self.matrix @ v)

    def drift(self, v: SX) -> SX:
        """g (nv_tree, 1): tree accelerations at the tree velocities `v` where a = 0."""
        result = SX.zeros(self.tree.nv)
        for linkage in self.linkages:
            if linkage in self._known:
                bias = self._known[linkage].drift(v)
            else:
                _, bias = embed(linkage, self.rows(linkage, v))
            for place in linkage.dependent:
                result[linkage.coordinates[place]] = bias[place]
        return result

    def motion(self, v: SX, a: SX) -> tuple[SX, SX]:
        """Tree velocities and accelerations (nv_tree, 1)."""
        velocity = self.velocity(v)
        return velocity, self.velocity(a) + self.drift(velocity)

    def reduce(self, efforts: SX) -> SX:
        """Efforts of the independent coordinates that do the work of the tree's: G^T tau."""
        return ca.densify(self.matrix.T @ efforts)

    def values(self) -> SX:
        """Tree positions (nq_tree, 1); angles continuous however far the joints turn."""
        tree = self.tree
        result = SX.zeros(tree.nq)
        for body, position in zip(tree.bodies, self.positions, strict=True):
            if isinstance(position, SX):
                result[body.q] = position
        for one in self._known.values():
            for index, angle in one.angles.items():
                result[tree.bodies[index].q] = angle
        for linkage in self.linkages:
            if linkage.closed_form is not None:
                form = linkage.closed_form
                known = (result[tree.bodies[body].q] for body in form.given_bodies)
                for index, value in form.values(*known).items():
                    result[tree.bodies[index].q] = value
        return result

    def _positions(self, q: SX, z: SX) -> list[Position]:
        """Position of every body's joint, dependent ones solved."""
        whole = SX.zeros(self.tree.nq)
        for k, row in enumerate(self.independent.q):
            whole[row] = q[k]
        given = [whole[body.q] for body in self.tree.bodies]
        positions: list[Position] = list(given)
        used = 0
        for linkage in self.linkages:
            bodies = linkage.cluster.coupled
            if linkage.linear:
                known = {bodies[k]: given[bodies[k]] for k in linkage.independent}
                solved: dict[int, Position] = dict(linear_positions(self.tree, linkage, known))
            elif linkage.closed_form is not None:
                form = linkage.closed_form
                solved = form.positions(*(given[body] for body in form.given_bodies))
            elif linkage in self._known:
                solved = self._known[linkage].positions
            else:
                solved = {bodies[place]: z[used + k] for k, place in enumerate(linkage.dependent)}
                used += len(solved)
            for body, position in solved.items():
                positions[body] = position
        return positions

    def rows(self, linkage: Linkage, v: SX) -> ClusterRows:
        """All constraint rows of a linkage at the tree velocities `v`."""
        joints = {body: self.joints[body] for body in linkage.cluster.coupled}
        values = {
            body: position if isinstance(position := self.positions[body], SX) else SX(0)
            for body in linkage.cluster.coupled
        }
        return cluster_rows(self.tree, linkage.cluster, joints, values, v)
