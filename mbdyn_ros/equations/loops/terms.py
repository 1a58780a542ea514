"""Terms of loops without closed form that programs need in addition to positions, in numbers.

All programs of a robot need the same of its loops: cosines and sines of their angles, the
velocities of their dependent joints at those of the independent ones, and what of the drift does
not depend on velocities. So it is computed by one function, which is compiled once; the programs
take what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from ...prepare.tree import Tree
from ...program.binding_times import split_by_time
from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX, CosineSine, Position, joint_motion
from .linkage import Linkage, cluster_rows, embed


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
