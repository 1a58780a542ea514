"""The motion of the whole tree in the independent coordinates: v_tree = G v, a_tree = G a + g.

All programs of a robot need the same terms of its loops without closed form: cosines and sines of
their angles, G, and what of the drift g does not depend on velocities. One function computes these
(`LoopTerms`); it is compiled once, and the programs take what it gives (`KnownLinkage`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from ...prepare.coordinates import Coordinates
from ...prepare.tree import Tree
from ...program.stages import split_by_time
from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX, CosineSine, JointMotion, Position, joint_motion
from .linkage import ClusterRows, Linkage, cluster_rows, embed, linear_positions


@dataclass(frozen=True, eq=False)
class KnownLinkage:
    """A linkage whose terms are known.

    positions : of its dependent joints by body, as programs use them; angles : as numbers.
    matrix : G (n, independent). drift : g (n, 1) at tree velocities.
    """

    positions: dict[int, Position]
    angles: dict[int, SX]
    matrix: SX
    drift: Callable[[SX], SX]


class LinkageTerms:
    """The terms of one linkage.

    function : of the independent and the dependent positions, and of the parameters p, symbols in
    the tree and in the linkage. count : how many they are.
    """

    def __init__(self, tree: Tree, linkage: Linkage, p: SX) -> None:
        self._linkage = linkage
        bodies = [tree.bodies[body] for body in linkage.cluster.coupled]
        x, v = SX.sym("x", len(bodies)), SX.sym("v", len(bodies))
        places = {place: k for k, place in enumerate((*linkage.independent, *linkage.dependent))}
        positions: list[Position] = [x[places[k]] for k in range(len(bodies))]
        turns = []
        self._turning = []
        for k, body in enumerate(bodies):
            if body.motion.is_hinge and body.motion.keeps_origin:
                positions[k] = turn = CosineSine.by(x[places[k]], body.offset)
                if k in linkage.dependent:
                    self._turning.append(k)
                    turns += [turn.cosine, turn.sine]
        velocity = SX.zeros(tree.nv)
        velocity[list(linkage.coordinates)] = v
        coupled = linkage.cluster.coupled
        joints = {
            k: joint_motion(body, position)
            for k, body, position in zip(coupled, bodies, positions, strict=True)
        }
        values = dict.fromkeys(coupled, SX(0))  # for what is left open, which is not asked for
        rows = cluster_rows(tree, linkage.cluster, joints, values, velocity)
        matrix, drift = (ca.sparsify(part) for part in embed(linkage, rows))
        for place in linkage.independent:
            matrix[place, :] = 0
        matrix = ca.sparsify(matrix)
        kept, last = split_by_time(ca.vertcat(x, p), v, drift)
        self._pattern, self._last = matrix.sparsity(), lasting(last)
        parts = [ca.vertcat(SX(0, 1), *turns), matrix.nz[:], kept]
        self._sizes = [part.shape[0] for part in parts]
        self.count = sum(self._sizes)
        self.function = lasting(ca.Function("terms", [x, p], [ca.vertcat(*parts)], {"cse": True}))

    def known(self, z: SX, terms: SX) -> KnownLinkage:
        """The linkage at dependent positions and terms."""
        linkage = self._linkage
        ends = [0, self._sizes[0], self._sizes[0] + self._sizes[1], self.count]
        turns, entries, kept = ca.vertsplit(terms, ends)
        coupled = linkage.cluster.coupled
        angles = {coupled[place]: z[k] for k, place in enumerate(linkage.dependent)}
        positions: dict[int, Position] = dict(angles)
        for k, place in enumerate(self._turning):
            positions[coupled[place]] = CosineSine(turns[2 * k], turns[2 * k + 1])
        matrix = SX(self._pattern, entries)
        for k, place in enumerate(linkage.independent):
            matrix[place, k] = 1

        def drift(velocity: SX) -> SX:
            return self._last(kept, velocity[list(linkage.coordinates)])

        return KnownLinkage(positions, angles, matrix, drift)


class LoopTerms:
    """The terms of several linkages, one after the other.

    places : the places in q of the independent positions of all of them, in order.
    function : of q (nq,), z, the dependent positions, and the parameters.
    """

    @serialized
    def __init__(
        self,
        tree: Tree,
        linkages: Sequence[Linkage],
        nq: int,
        places: Sequence[int],
        parameters: SX | None = None,
    ) -> None:
        p = SX(0, 1) if parameters is None else parameters
        self._each = {one: LinkageTerms(tree, one, p) for one in linkages}
        self._counts = [len(one.dependent) for one in linkages]
        free = iter(places)
        q, z = SX.sym("q", nq), SX.sym("z", sum(self._counts))
        found = []
        for one, dependent in zip(linkages, self._split(z, self._counts), strict=True):
            independent = [q[next(free)] for _ in one.independent]
            found.append(self._each[one].function(ca.vertcat(*independent, dependent), p))
        result = ca.vertcat(*found)
        self.function = lasting(ca.Function("terms", [q, z, p], [result], {"cse": True}))

    def known(self, z: SX) -> dict[Linkage, KnownLinkage]:
        """Every linkage at z with the terms after it."""
        terms = z[sum(self._counts) :]
        return {
            linkage: one.known(dependent, own)
            for (linkage, one), dependent, own in zip(
                self._each.items(),
                self._split(z[: sum(self._counts)], self._counts),
                self._split(terms, [one.count for one in self._each.values()]),
                strict=True,
            )
        }

    @staticmethod
    def _split(column: SX, counts: Sequence[int]) -> list[SX]:
        ends = [sum(counts[:k]) for k in range(len(counts) + 1)]
        parts: list[SX] = ca.vertsplit(column, ends)
        return parts


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
