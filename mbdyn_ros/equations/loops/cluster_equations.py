"""The constraint equations of a cluster as numbers, and closed configurations found with them."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree
from ...program.continuation import CLOSED
from .closure_gap import closure_gap
from .linkage import rows_at_positions

RANK = 1e-8
"""Singular values below this share of the largest count as zero."""

FAR_FROM_GUESS = 0.5
"""Distance (rad or m) from a rough guess over which other ways to close the loops are tried."""

TRIALS = 12
"""How many other ways are tried."""

NEARLY_CLOSED = 1e-3
"""Gap (m or rad) from which Newton's method goes on by itself."""


class ClusterEquations:
    """Residual and rows of a cluster as functions of its positions."""

    def __init__(self, tree: Tree, cluster: Cluster) -> None:
        self._tree, self._cluster = tree, cluster
        x, rows = rows_at_positions(tree, cluster)
        outputs = [rows.residual, ca.densify(rows.matrix), ca.mmin(rows.aligned)]
        self.linear = not cluster.closures
        turns = [tree.bodies[body].motion.is_periodic for body in cluster.tied]
        self._turns = np.array(turns) & (not self.linear)
        self._function = ca.Function("rows", [x], outputs)

    def residual(self, x: Array) -> Array:
        return np.array(self._function(x)[0]).ravel()

    def matrix(self, x: Array) -> Array:
        return np.array(self._function(x)[1])

    def aligned(self, x: Array) -> bool:
        return float(self._function(x)[2]) > 0

    def gap(self, x: Array) -> float:
        return float(np.abs(self.residual(x)).max(initial=0.0))

    def distance(self, x: Array) -> float:
        """Norm of the residual, which `close` makes as small as it can."""
        return float(np.linalg.norm(self.residual(x)))

    def gap_text(self, x: Array) -> str:
        return str(closure_gap(self._tree, self._cluster, self.residual(x)))

    def rank(self, x: Array) -> int:
        values = np.linalg.svd(self.matrix(x), compute_uv=False)
        return int((values > RANK * values.max(initial=1e-300)).sum())

    def close(self, x: Array, free: Sequence[int]) -> Array:
        """Close the loops by moving the coordinates `free` only, as little as need be."""
        result = np.array(x, dtype=float)
        if not free:
            return result
        if self.linear:
            return self._polished(result, list(free))
        from scipy.optimize import least_squares  # slow to import, and gears do without

        free = list(free)

        def place(part: Array) -> Array:
            result[free] = part
            return result

        solution = least_squares(
            lambda part: self.residual(place(part)),
            result[free],
            jac=lambda part: self.matrix(place(part))[:, free],
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=500,
        )
        place(solution.x)
        return self._polished(result, free) if self.gap(result) < NEARLY_CLOSED else result

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
                guess[free] += reach * random.uniform(-1.0, 1.0, len(free))
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
        """Largest move (rad or m) from one to the other; whole turns do not count."""
        apart = x - rough
        turned = apart - 2 * np.pi * np.round(apart / (2 * np.pi))
        return float(np.abs(np.where(self._turns, turned, apart)).max(initial=0.0))

    def _polished(self, x: Array, free: list[int]) -> Array:
        """A few steps of Newton's method, to the last digits."""
        for _ in range(4):
            step = np.linalg.lstsq(self.matrix(x)[:, free], self.residual(x), rcond=1e-10)
            x[free] -= step[0]
        return x
