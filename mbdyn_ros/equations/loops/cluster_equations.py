"""The constraint equations of a cluster as numbers, and closed configurations found with them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np

from ...model.closing_types import Turn
from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree
from ...program.continuation import CLOSED
from .closure_gap import closure_gap
from .levenberg import least_squares
from .linkage import rows_at_positions

RANK = 1e-8
"""Singular values below this share of the largest count as zero."""

FAR_FROM_GUESS = 0.5
"""Distance (rad or m) from a rough guess over which other ways to close the loops are tried."""

TRIALS = 12
"""How many other ways are tried."""

SAME = 1e-6
"""Distance (rad or m) between configurations that are one."""

NEARLY_CLOSED = 1e-3
"""Gap (m or rad) from which Newton's method goes on by itself."""

FULLY_ALIGNED = {Turn.ABOUT: 1.0, Turn.NOWHERE: 2.0}
"""What `LoopRows.aligned` is where the frames of a closed loop are not turned."""

OUTSIDE = 0.1
"""Weight of the way beyond a joint's limits against the gap of the loops."""


class ClusterEquations:
    """Residual and rows of a cluster as functions of its positions.

    limits : (2, n) lower and upper bounds of the positions, kept where the loops can be closed so.
    """

    def __init__(self, tree: Tree, cluster: Cluster, limits: Array) -> None:
        self._tree, self._cluster, self._limits = tree, cluster, limits
        x, rows = rows_at_positions(tree, cluster)
        outputs = [rows.residual, ca.densify(rows.matrix), ca.mmin(rows.aligned)]
        self.linear = not cluster.closures
        geared = {body for gear in cluster.gears for body, _ in gear.factors}
        self._turns = np.array(
            [tree.bodies[k].motion.is_periodic and k not in geared for k in cluster.tied]
        )
        self._function = ca.Function("rows", [x], outputs)
        aligned = zip(cluster.closures, ca.vertsplit(rows.aligned)[1:], strict=True)
        turned = [
            1 - cosine / FULLY_ALIGNED[closure.closing.turn]
            for closure, cosine in aligned
            if closure.closing.turn in FULLY_ALIGNED
        ]
        self._x, self._apart = x, ca.vertcat(rows.residual, *turned)

    @functools.cached_property
    def _distant(self) -> ca.Function:
        """What tells how far open the loops are, however far, and its derivatives.

        The sines of the residual fall again beyond a quarter of a turn, and vanish at a half; with
        the cosines beside them the sum of squares rises all the way.
        """
        derivatives = ca.densify(ca.jacobian(self._apart, self._x))
        return ca.Function("distant", [self._x], [self._apart, derivatives])

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
        result, free = np.array(x, dtype=float), list(free)
        if not free:
            return result
        if self.linear or self.gap(result) < NEARLY_CLOSED:
            result = self._polished(result, free)
            if self.linear or self.gap(result) <= CLOSED:
                return result
        for outside in (OUTSIDE, 0.0):  # limits are kept if they can be

            def equations(part: Array, outside: float = outside) -> tuple[Array, Array]:
                result[free] = part
                apart, slope = (np.array(one) for one in self._distant(result))
                beyond = outside * self._beyond(result)[free]
                return (
                    np.append(apart.ravel(), beyond),
                    np.vstack([slope[:, free], np.diag(outside * (beyond != 0.0))]),
                )

            result[free] = least_squares(equations, result[free])
            if self.gap(result) < NEARLY_CLOSED:
                break
        return self._polished(result, free) if self.gap(result) < NEARLY_CLOSED else result

    def closings(self, rough: Array, free: Sequence[int], regular: bool) -> list[Array]:
        """Closed configurations around `rough`, with the coordinates `free` moved: nearest first.

        A guess far from every closing may be drawn to a far one, so others are tried then. Those
        within the limits come first.

        regular : whether the other coordinates shall determine those that are free.
        """
        free = list(free)
        found: list[Array] = []
        for guess in self._guesses(rough, free):
            x = self.close(guess, free)
            closed = self.gap(x) <= CLOSED and self.aligned(x)
            if closed and (not regular or self._regular(x, free)):
                x = self._within_half_a_turn(x, rough)
                if all(self._distance(x, other) > SAME for other in found):
                    found.append(x)
                if not self._far(found[0], rough):
                    return found
        return sorted(found, key=lambda x: (self._is_outside(x), self._distance(x, rough)))

    def nearly_closed(self, rough: Array, free: Sequence[int]) -> Array:
        """The configuration with the least gap that was seen, where there is no closed one."""
        tried = (self.close(guess, free) for guess in self._guesses(rough, free))
        return min(tried, key=self.distance)

    def _guesses(self, rough: Array, free: Sequence[int]) -> Iterator[Array]:
        """Where to begin: the same at every call, within the limits, `rough` itself at first."""
        free = list(free)
        yield rough
        random = np.random.default_rng(2)
        reach = np.where(self._turns, np.pi, 1.0)[free]
        lower, upper = (np.clip(bound[free], -reach, reach) for bound in self._limits)
        inside = lower < upper
        for _ in range(TRIALS):
            guess, share = rough.copy(), random.uniform(0.0, 1.0, len(free))
            guess[free] = np.where(
                inside, lower + share * (upper - lower), rough[free] + reach * (2 * share - 1)
            )
            yield guess

    def _far(self, x: Array, rough: Array) -> bool:
        return self._distance(x, rough) > FAR_FROM_GUESS or self._is_outside(x)

    def _beyond(self, x: Array) -> Array:
        """How far positions are beyond their limits."""
        return x - np.clip(x, *self._limits)

    def _is_outside(self, x: Array) -> bool:
        return bool(np.abs(self._beyond(x)).max(initial=0.0) > SAME)

    def _within_half_a_turn(self, x: Array, rough: Array) -> Array:
        """The same configuration with whole turns as in `rough`, or else within the limits."""
        near = x + np.where(self._turns, 2 * np.pi * np.round((rough - x) / (2 * np.pi)), 0.0)
        for turn in (2 * np.pi, -2 * np.pi):
            other = near + turn
            better = self._turns & (self._beyond(near) != 0.0) & (self._beyond(other) == 0.0)
            near = np.where(better, other, near)
        return near

    def _regular(self, x: Array, free: Sequence[int]) -> bool:
        """Whether the closed configuration x is determined by the other coordinates than `free`."""
        return int(np.linalg.matrix_rank(self.matrix(x)[:, free], RANK)) == len(free)

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
