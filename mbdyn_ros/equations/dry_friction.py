"""Which joints resist, and along which rows their dry friction acts.

Dry friction acts along rows of velocities J v, each with a bound F. In a loop of one freedom every
joint moves by v_tree = G(q) v, and all their dry friction f is one row: that of the coordinate,
F = sum |G| f. In a loop of several freedoms each joint with friction has a row of its own, J = G of
the joint and F = f; there may be more rows than freedoms.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.model import Array
from ..prepare.tree import Tree
from .algebra.spatial import SX
from .loops.embedding import Embedding
from .system import System
from .tree.newton_euler import acting


@dataclass(frozen=True)
class DryFrictionRows:
    """Which joints of the tree make the rows of dry friction.

    single : coordinate of v, and the velocities of the tree that it moves and that rub.
    own : velocities of the tree that are rows by themselves.
    """

    single: tuple[tuple[int, tuple[int, ...]], ...]
    own: tuple[int, ...]

    @staticmethod
    def of(system: System) -> DryFrictionRows:
        """The rows of a system."""
        leader = {row: k for k, row in enumerate(system.coordinates.v)}
        mixed: set[int] = set()
        still: set[int] = set()
        for linkage in system.linkages:
            if linkage.is_rigid:
                still.update(linkage.coordinates)
            elif len(linkage.independent) > 1:
                mixed.update(linkage.coordinates)
            else:
                first = leader[linkage.coordinates[linkage.independent[0]]]
                leader.update(dict.fromkeys(linkage.coordinates, first))
        dry = acting(system.tree, "friction").sparsity().row()
        rough = [i for i in dry if i not in still]
        chosen = sorted({leader[row] for row in rough if row not in mixed})
        single = tuple(
            (k, tuple(i for i in rough if i not in mixed and leader[i] == k)) for k in chosen
        )
        return DryFrictionRows(single, tuple(row for row in rough if row in mixed))

    def leaders(self, system: System) -> tuple[int, ...]:
        """Velocity of the tree that each row depends on: its coordinate, or its own."""
        return (*(system.coordinates.v[k] for k, _ in self.single), *self.own)

    def __len__(self) -> int:
        return len(self.single) + len(self.own)


def sliding_friction(system: System, embedding: Embedding, slides: SX) -> SX:
    """Dry friction (nv_tree, 1) of the tree's joints that slide, as they resist.

    slides : (nv_tree, 1) directions, +-1, in which rows slide, 0 at rest, each where its `leader`
        stands; zeros elsewhere.
    """
    rows, dry = DryFrictionRows.of(system), acting(system.tree, "friction")
    result = SX(system.tree.nv, 1)
    for (k, members), leader in zip(rows.single, rows.leaders(system), strict=False):
        for i in members:
            result[i] = dry[i] * ca.sign(embedding.matrix[i, k]) * slides[leader]
    for row in rows.own:
        result[row] = dry[row] * slides[row]
    return ca.densify(result)


def tree_friction(tree: Tree) -> tuple[Array, Array]:
    """Damping (N m s/rad or N s/m) and dry friction (N m or N) of the tree, (tree nv,) each."""
    damping, dry = np.zeros(tree.nv), np.zeros(tree.nv)
    for body in tree.bodies:
        damping[body.v], dry[body.v] = body.damping, body.friction
    return damping, dry
