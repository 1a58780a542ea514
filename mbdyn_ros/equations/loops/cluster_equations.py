"""The constraint equations of a cluster as numbers, and closed configurations found with them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import casadi as ca
import numpy as np

from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree
from ...program.continuation import CLOSED
from .closure_gap import ClosureGap, closure_gap, closure_gaps
from .linkage import Linkage, rows_at_positions
from .rank import RANK
from .units import rows_in, unit_of_length, units_of

LEFT_OPEN = 1e-3
"""Gap (rad, or share of the size) that rounding may leave in rows that repeat others."""

SETTLED = 30
"""Most steps of Newton's method on the rows that count."""

FAR_FROM_GUESS = 0.5
"""Distance (rad or m) from a rough guess over which other ways to close the loops are tried."""

TRIALS = 12
"""How many other ways are tried."""

NEARLY_CLOSED = 1e-3
"""Gap (m or rad) from which Newton's method goes on by itself."""


class ClusterEquations:
    """Residual and rows of a cluster as functions of its positions (m or rad).

    Lengths count in a unit that suits the cluster, metres for 3 cm to 30 m: in residuals, and in
    the positions that the rows are derivatives by. `units` make rows comparable.
    """

    def __init__(self, tree: Tree, cluster: Cluster, rough: Array) -> None:
        self._tree, self._cluster = tree, cluster
        x, rows = rows_at_positions(tree, cluster)
        outputs = [rows.residual, ca.densify(rows.matrix), ca.mmin(rows.aligned)]
        self.linear = not cluster.closures
        turns = [tree.bodies[body].motion.is_periodic for body in cluster.tied]
        self._turns = np.array(turns) & (not self.linear)
        self._function = ca.Function("rows", [x], outputs)
        self.units = units_of(tree, cluster, np.array(self._function(rough)[1]))
        self.unit = 1.0 if self.linear else unit_of_length(self.units.size)
        self._rows = rows_in(tree, cluster, self.unit)
        slides = [tree.bodies[body].motion.slides for body in cluster.tied]
        self.steps = np.where(slides, self.unit, 1.0)
        self._slack = np.zeros(len(self._rows))

    def keeping(self, linkage: Linkage) -> ClusterEquations:
        """The equations of a linkage: the rows that it leaves out may stay open by its slack."""
        other = copy(self)
        if linkage.slack:
            other._slack = np.array(linkage.slack) * self._rows
        return other

    def slack(self, rows: Sequence[int]) -> tuple[float, ...]:
        """How far rounding may leave each row open (m or rad) where `rows` are closed."""
        most = LEFT_OPEN / self.units.rows * (self.units.around / self.units.size)
        most[list(rows)] = 0.0
        return tuple(map(float, most))

    def residual(self, x: Array) -> Array:
        return np.array(self._function(x)[0]).ravel() * self._rows

    def matrix(self, x: Array) -> Array:
        return np.array(self._function(x)[1]) * np.outer(self._rows, self.steps)

    def aligned(self, x: Array) -> bool:
        return float(self._function(x)[2]) > 0

    def gap(self, x: Array) -> float:
        """Largest residual, beyond the slack of rows that rounding leaves open."""
        over = np.abs(self.residual(x)) - self._slack
        return max(float(over.max(initial=0.0)), 0.0)

    def distance(self, x: Array) -> float:
        """Norm of the residual, which `close` makes as small as it can."""
        return float(np.linalg.norm(self.residual(x)))

    def gap_at(self, x: Array) -> ClosureGap:
        """The gap of the loops, in metres and radians."""
        return closure_gap(self._tree, self._cluster, self.residual(x) / self._rows)

    def worst_gap(self, x: Array) -> tuple[str, ClosureGap]:
        """The loop that is open widest, and its gap."""
        gaps = closure_gaps(self._tree, self._cluster, self.residual(x) / self._rows)
        size = self.units.size
        return max(gaps.items(), key=lambda item: item[1].metres / size + item[1].radians)

    def misfit(self, x: Array) -> float:
        """The largest residual, lengths as shares of the cluster's size."""
        return float(np.abs(self.residual(x) / self._rows * self.units.rows).max(initial=0.0))

    def scaled(self, x: Array) -> Array:
        """The rows without units."""
        return self.units.scaled(np.array(self._function(x)[1]))

    def settle(self, x: Array, rank: int) -> Array | None:
        """Close the `rank` rows that count by Newton's method; None where that fails nearby.

        Redundant rows, which are open by rounding, do not move the joints: they would go far.
        """
        x = np.array(x, dtype=float)
        for _ in range(SETTLED):
            left, values, right = np.linalg.svd(self.scaled(x), full_matrices=False)
            residual = self.residual(x) / self._rows * self.units.rows
            step = right[:rank].T @ (left[:, :rank].T @ residual / values[:rank])
            x = x - step * self.units.columns
            moved = float(np.abs(step).max(initial=0.0))
            if not moved < 1.0:
                return None
            if moved <= CLOSED:
                return x
        return None

    def close(self, x: Array, free: Sequence[int], hold: float = 0.0) -> Array:
        """Close the loops by moving the coordinates `free` only, as little as need be.

        hold : weight of the way that they move against what stays open.
        """
        result, free = np.array(x, dtype=float), list(free)
        if not free:
            return result
        if self.linear:
            return self._polished(result, free)
        from scipy.optimize import least_squares  # slow to import, and gears do without

        steps = self.steps[free]
        start = result[free] / steps
        held = hold * np.eye(len(free)) if hold else np.zeros((0, len(free)))

        def place(part: Array) -> Array:
            result[free] = part * steps
            return result

        solution = least_squares(
            lambda part: np.append(self.residual(place(part)), held @ (part - start)),
            start,
            jac=lambda part: np.vstack([self.matrix(place(part))[:, free], held]),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=500,
        )
        place(solution.x)
        if hold or self.gap(result) >= NEARLY_CLOSED:
            return result
        return self._polished(result, free)

    def nearest(self, rough: Array, free: Sequence[int]) -> Array | None:
        """The regular closed configuration nearest to `rough`, moving the coordinates `free`.

        A guess far from every branch may be drawn to a far one, so others are tried then.
        """
        free = list(free)
        found = [x for x in [self.close(rough, free)] if self._regular(x, free)]
        if not found or self._distance(found[0], rough) > FAR_FROM_GUESS:
            random = np.random.default_rng(2)
            reach = np.where(self._turns, np.pi, 1.0)[free]
            for _ in range(TRIALS):
                guess = rough.copy()
                guess[free] += reach * random.uniform(-1.0, 1.0, len(free)) * self.steps[free]
                x = self.close(guess, free)
                if self._regular(x, free):
                    found.append(x)
        if not found:
            return None
        best = min(found, key=lambda x: self._distance(x, rough))
        whole_turns = np.round((rough - best) / (2 * np.pi))
        return best + np.where(self._turns, 2 * np.pi * whole_turns, 0.0)

    def _regular(self, x: Array, free: list[int]) -> bool:
        """Whether x is closed, and determined by the other coordinates than `free`."""
        return (
            self.gap(x) <= CLOSED
            and self.aligned(x)
            and np.linalg.matrix_rank(self.matrix(x)[:, free], RANK) == len(free)
        )

    def _distance(self, x: Array, rough: Array) -> float:
        """Largest move (rad or unit) from one to the other; whole turns do not count."""
        apart = (x - rough) / self.steps
        turned = apart - 2 * np.pi * np.round(apart / (2 * np.pi))
        return float(np.abs(np.where(self._turns, turned, apart)).max(initial=0.0))

    def _polished(self, x: Array, free: list[int]) -> Array:
        """A few steps of Newton's method, to the last digits."""
        for _ in range(4):
            matrix, residual = self._counted(self.matrix(x)), self._counted(self.residual(x))
            step = np.linalg.lstsq(matrix[:, free], residual, rcond=1e-10)
            x[free] -= step[0] * self.steps[free]
        return x

    def _counted(self, rows: Array) -> Array:
        """What belongs to rows that may not stay open."""
        return rows[self._slack == 0.0]
