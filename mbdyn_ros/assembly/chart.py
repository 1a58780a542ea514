"""How well the independent joints determine the others, and which would do so best.

At a dead centre of a joint its velocity says nothing about the mechanism's: the rows of the
dependent joints lose rank there, although the mechanism moves on. Other joints serve as
coordinates then. Only where the rows of all joints lose rank does the mechanism itself have
a singularity (a change point), and more than one way to go.

Ranks are judged by singular values, so the rows are made free of units: lengths count in the
size of the linkage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..equations.loops.linkage import Linkage, rows_at_positions
from ..equations.loops.units import units_of
from ..equations.system import System
from ..model.model import Array
from ..program.evaluation import Evaluation
from ..program.symbols import serialized
from .rank import spanning_rows

CLOSING_STEPS = 20
"""Most steps of Newton's method that close loops nearby."""

NEXT_TO_CLOSED = 1e-11
"""Step (rad or share of the size) with which they are closed; near a change point rounding moves
joints by about as much."""


class Chart:
    """The constraint rows of one linkage as numbers, and what they say of its coordinates.

    All matrices are (m, n): the rows of all loops and gears of the linkage, redundant ones too,
    over the joints in them, without units. A quality is the share of the largest singular
    value that the least one has. `joints` names the constrained joints in order.
    """

    @serialized
    def __init__(self, system: System, linkage: Linkage) -> None:
        self.linkage = linkage
        self._rank = len(linkage.rows)
        self._block = np.ix_(linkage.rows, linkage.dependent)
        self.places = np.array(system.rows(linkage))
        self.joints = [system.tree.bodies[body].joint for body in linkage.cluster.coupled]
        x, rows = rows_at_positions(system.tree, linkage.cluster)
        self._rows = Evaluation("rows", [x], [rows.matrix])
        self._units = np.ones(rows.matrix.shape)
        units = units_of(system.tree, linkage.cluster, self.matrix(system.home))
        self._units, self._columns = np.outer(units.rows, units.columns), units.columns
        self._residual, self._row_units = system.residuals[linkage], units.rows

    def matrix(self, tree_position: Array) -> Array:
        """The rows (m, n) at tree positions."""
        return self._rows(tree_position[self.places])[0] * self._units

    def closed(self, tree_position: Array) -> Array | None:
        """Tree positions near others where the loops close, no choice of joints being needed.

        Newton's method with the shortest steps there are; None where it does not converge.
        """
        result = tree_position.copy()
        for _ in range(CLOSING_STEPS):
            residual = self._residual(result[self.places])[0].ravel() * self._row_units
            left, values, right = np.linalg.svd(self.matrix(result), full_matrices=False)
            count = self._rank
            step = right[:count].T @ (left[:, :count].T @ residual / values[:count])
            result[self.places] -= step * self._columns
            moved = float(np.abs(step).max(initial=0.0))
            if not moved < 1.0:
                return None
            if moved < NEXT_TO_CLOSED:
                return result
        return None

    def regularity(self, matrix: Array) -> float:
        """Quality of the rows over all joints: 0 at a change point."""
        return self._share(matrix, matrix)

    def quality(self, matrix: Array) -> float:
        """Quality of the rows that are solved for the dependent joints: 0 at a dead centre."""
        return self._share(matrix[self._block], matrix)

    def quality_of(self, matrix: Array, independent: Sequence[int]) -> float:
        """Quality of another choice of joints, with the rows that suit it."""
        dependent = [k for k in range(matrix.shape[1]) if k not in independent]
        return self._share(matrix[:, dependent], matrix)

    def size_and_least(self, matrix: Array) -> tuple[float, float]:
        """Norm of the rows, and the least singular value of those solved for; NaN where NaN is.

        The latter is not greater than `least`.
        """
        norm = math.sqrt(np.vdot(matrix, matrix))
        if not math.isfinite(norm):
            return norm, math.nan
        return norm, float(np.linalg.svd(matrix[self._block], compute_uv=False)[-1])

    def best(self, matrix: Array) -> tuple[int, ...]:
        """Places in the linkage of the joints that would best be independent.

        They are those that move most, by rows of a basis of the motions that are possible.
        """
        motions = self._motions(matrix)
        return spanning_rows(motions, motions.shape[1])

    def volume(self, matrix: Array, independent: Sequence[int]) -> float:
        """How much of the motions that are possible a choice of joints shows: a determinant.

        Unlike a quality it does not vanish at a change point, if the choice serves beyond it.
        """
        return abs(float(np.linalg.det(self._motions(matrix)[list(independent)])))

    def _motions(self, matrix: Array) -> Array:
        """An orthonormal basis (n, n - rank) of the motions that are possible."""
        motions: Array = np.linalg.svd(matrix)[2][self._rank :].T
        return motions

    def exchanged(self, best: Sequence[int], chosen: Sequence[str]) -> list[str] | None:
        """The independent joints `chosen` of the robot, with `best` ones of this linkage.

        None where they cannot be chosen one by one: a planar joint has three coordinates.
        """
        if len(set(self.joints)) < len(self.joints):
            return None
        old = [self.joints[place] for place in self.linkage.independent]
        new = [self.joints[place] for place in best]
        result = list(chosen)
        fresh = [name for name in new if name not in old]
        for name in [name for name in old if name not in new]:
            result[result.index(name)] = fresh.pop(0)
        return result

    def at_change_point(self, where: str = "is at") -> str:
        """Words for messages about a change point."""
        joints = ", ".join(dict.fromkeys(self.joints))
        return (
            f"loop {self.linkage.cluster.name!r} {where} a change point: no choice among its "
            f"joints ({joints}) determines the others there, and the motion can continue in more "
            "than one way"
        )

    def least(self, matrix: Array) -> float:
        """The singular value of the rows that vanishes at a change point."""
        return float(np.linalg.svd(matrix, compute_uv=False)[self._rank - 1])

    def _share(self, part: Array, whole: Array) -> float:
        values = np.linalg.svd(part, compute_uv=False)
        return float(values[self._rank - 1] / np.linalg.norm(whole, 2))


def charts(system: System) -> tuple[Chart, ...]:
    """The charts of all linkages that have dead centres."""
    return tuple(Chart(system, one) for one in system.linkages if one.has_dead_centres)
