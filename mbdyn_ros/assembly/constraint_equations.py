"""The constraint equations of a cluster as numbers, and closed configurations found with them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from copy import copy

import casadi as ca
import numpy as np

from ..equations.loops.linkage import Linkage, rows_at_positions
from ..equations.loops.units import rows_in, unit_of_length, units_of
from ..model.closing_types import Rotation
from ..model.model import Array
from ..prepare.clusters import Cluster
from ..prepare.tree import Tree
from ..program.continuation import CLOSED
from ..program.evaluation import Evaluation
from .closure_gap import ClosureGap, closure_gap, closure_gaps
from .rank import RANK

LEFT_OPEN = 1e-3
"""Gap (rad, or share of the size) that rounding may leave in rows that repeat others."""

SETTLING_STEPS = 30
"""Most steps of Newton's method on the rows that count."""

NEARLY_CLOSED = 1e-3
"""Gap (m or rad) from which Newton's method goes on by itself."""

FULLY_ALIGNED = {Rotation.ABOUT: 1.0, Rotation.NOWHERE: 2.0}
"""Value of `LoopRows.aligned` where the frames of a closed loop are not turned."""

OUTSIDE = 0.1
"""Weight of the way beyond a joint's limits against the gap of the loops."""

FAR_FROM_GUESS = 0.5
"""Distance (rad or unit) from a rough guess over which other ways to close are tried."""

TRIALS = 12
"""How many other ways are tried."""

SAME = 1e-6
"""Distance (rad or unit) between configurations that are one."""

MOST_EVALUATIONS = 300
"""Most evaluations."""

FIRST_DAMPING = 1e-3
"""Damping of the first step, as a share of the largest square of a column."""

REGULAR_DAMPING = 1e-13
"""Damping, as a share of the largest square of a column, that keeps every step regular."""

SHORT = 1e-14
"""Step (share of the way from zero) with which nothing is gained any more."""


class ClusterEquations:
    """Residual and rows of a cluster as functions of its positions (m or rad).

    Lengths count in a unit that suits the cluster, metres for 3 cm to 30 m: in residuals, and in
    the positions that the rows are derivatives by. `units` make rows comparable.

    limits : (2, n) lower and upper bounds of the positions, kept where the loops can be closed so.
    turns : (n,) whether a joint stands after a whole turn as before.
    """

    def __init__(self, tree: Tree, cluster: Cluster, rough: Array, limits: Array) -> None:
        self._tree, self._cluster, self.limits = tree, cluster, limits
        x, rows = rows_at_positions(tree, cluster)
        outputs = [rows.residual, rows.matrix, ca.mmin(rows.aligned)]
        self.linear = cluster.linear
        geared = {body for gear in cluster.gears for body, _ in gear.factors}
        self.turns = np.array(
            [tree.bodies[k].motion.is_periodic and k not in geared for k in cluster.coupled]
        )
        self._evaluation = Evaluation("rows", [x], outputs)
        self.units = units_of(tree, cluster, self._evaluation(rough)[1])
        self.unit = unit_of_length(self.units.size) if cluster.closures else 1.0
        self._rows = rows_in(tree, cluster, self.unit)
        slides = [tree.bodies[body].motion.slides for body in cluster.coupled]
        self.steps = np.where(slides, self.unit, 1.0)
        self._tolerances = np.zeros(len(self._rows))
        aligned = zip(cluster.closures, ca.vertsplit(rows.aligned)[1:], strict=True)
        turned = [
            1 - cosine / FULLY_ALIGNED[closure.closing.turn]
            for closure, cosine in aligned
            if closure.closing.turn in FULLY_ALIGNED
        ]
        self._x, self._apart = x, ca.vertcat(rows.residual * self._rows, *turned)

    @functools.cached_property
    def _distant(self) -> Evaluation:
        """Measures of how far open the loops are, however far, and their derivatives.

        The sines of the residual fall again beyond a quarter of a turn, and vanish at a half; with
        the cosines next to them the sum of squares rises all the way.
        """
        derivatives = ca.jacobian(self._apart, self._x) @ ca.diag(self.steps)
        return Evaluation("distant", [self._x], [self._apart, derivatives])

    def keeping(self, linkage: Linkage) -> ClusterEquations:
        """The equations of a linkage: rows that it leaves out may stay open by its tolerance."""
        other = copy(self)
        if linkage.tolerances:
            other._tolerances = np.array(linkage.tolerances) * self._rows
        return other

    def tolerances(self, rows: Sequence[int]) -> tuple[float, ...]:
        """How far rounding may leave each row open (m or rad) where `rows` are closed."""
        most = LEFT_OPEN / self.units.rows * (self.units.around / self.units.size)
        most[list(rows)] = 0.0
        return tuple(map(float, most))

    def residual(self, x: Array) -> Array:
        return self._evaluation(x)[0].ravel() * self._rows

    def matrix(self, x: Array) -> Array:
        return self._evaluation(x)[1] * np.outer(self._rows, self.steps)

    def _residual_and_derivatives(self, x: Array) -> tuple[Array, Array]:
        """`residual`, and the derivatives (rows, n) without a scale, of one evaluation."""
        residual, derivatives, _ = self._evaluation(x)
        return residual.ravel() * self._rows, derivatives

    def aligned(self, x: Array) -> bool:
        return bool(self._evaluation(x)[2] > 0)

    def gap(self, x: Array) -> float:
        """Largest residual, beyond the tolerance of rows that rounding leaves open."""
        over = np.abs(self.residual(x)) - self._tolerances
        return max(float(over.max(initial=0.0)), 0.0)

    def distance(self, x: Array) -> float:
        """Norm of the residual, which `close` makes as small as it can."""
        return float(np.linalg.norm(self.residual(x)))

    def gap_at(self, x: Array) -> ClosureGap:
        """The gap of the loops, in metres and radians."""
        return closure_gap(self._tree, self._cluster, self.residual(x) / self._rows)

    def gaps(self, x: Array) -> dict[str, ClosureGap]:
        """The gap of every loop; what rounding leaves open counts as closed."""
        tolerances, residual = self._tolerances / self._rows, self.residual(x) / self._rows
        beyond = residual - np.clip(residual, -tolerances, tolerances)
        return closure_gaps(self._tree, self._cluster, beyond)

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
        return self.units.scaled(self._evaluation(x)[1])

    def settle(self, x: Array, rank: int) -> Array | None:
        """Close the `rank` rows that count by Newton's method; None where that fails nearby.

        Redundant rows, which are open by rounding, do not move the joints: they would go far.
        """
        x = np.array(x, dtype=float)
        for _ in range(SETTLING_STEPS):
            residual, derivatives = self._residual_and_derivatives(x)
            scaled = self.units.scaled(derivatives)
            left, values, right = np.linalg.svd(scaled, full_matrices=False)
            residual = residual / self._rows * self.units.rows
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
        if not hold and self.gap(result) < NEARLY_CLOSED:
            near = self._polished(result.copy(), free)
            if self.gap(near) <= CLOSED:
                return near
        steps = self.steps[free]
        start = result[free] / steps
        held = hold * np.eye(len(free) if hold else 0, len(free))
        for outside in (OUTSIDE, 0.0):  # limits are kept if they can be

            def equations(part: Array, outside: float = outside) -> tuple[Array, Array]:
                result[free] = part * steps
                apart, slope = self._distant(result)
                beyond = outside * (self.beyond(result)[free] / steps)
                slopes = slope[:, free], held, np.diag(outside * (beyond != 0.0))
                residuals = apart.ravel(), held @ (part - start), beyond
                return np.concatenate(residuals), np.vstack(slopes)

            result[free] = least_squares(equations, result[free] / steps) * steps
            if self.gap(result) < NEARLY_CLOSED:
                break
        if hold or self.gap(result) >= NEARLY_CLOSED:
            return result
        polished = self._polished(result.copy(), free)  # goes far where rounded rows lock the loop
        return min(polished, result, key=self.distance)

    def beyond(self, x: Array) -> Array:
        """How far (rad or m) positions are beyond their limits."""
        return x - np.clip(x, *self.limits)

    def is_regular(self, x: Array, free: Sequence[int]) -> bool:
        """Whether x is closed, and determined by the coordinates other than `free`."""
        return (
            self.gap(x) <= CLOSED
            and self.aligned(x)
            and int(np.linalg.matrix_rank(self.matrix(x)[:, list(free)], RANK)) == len(free)
        )

    def way(self, x: Array, other: Array) -> float:
        """Largest move (rad or unit) from one to the other; whole turns do not count."""
        apart = (x - other) / self.steps
        turned = apart - 2 * np.pi * np.round(apart / (2 * np.pi))
        return float(np.abs(np.where(self.turns, turned, apart)).max(initial=0.0))

    def _polished(self, x: Array, free: list[int]) -> Array:
        """A few steps of Newton's method, to the last digits."""
        for _ in range(4):
            residual, derivatives = self._residual_and_derivatives(x)
            matrix = self._counted(derivatives * np.outer(self._rows, self.steps))
            step = np.linalg.lstsq(matrix[:, free], self._counted(residual), rcond=1e-10)
            x[free] -= step[0] * self.steps[free]
        return x

    def _counted(self, rows: Array) -> Array:
        """Elements of the rows that may not stay open."""
        return rows[self._tolerances == 0.0]


def closings(
    equations: ClusterEquations,
    rough: Array,
    free: Sequence[int],
    accepted: Callable[[Array, Array], Array | None],
) -> list[Array]:
    """Closed configurations that moving the coordinates `free` of `rough` gives, nearest first.

    A guess far from every closing may be drawn to a far one, so others are tried then. Closings
    within the joints' limits come first.

    Parameters
    ----------
    accepted : (guess, what closing it came to) -> the configuration that is taken, or None.
    """
    found: list[Array] = []
    for guess in _guesses(equations, rough, list(free)):
        x = accepted(guess, equations.close(guess, free))
        if x is None:
            continue
        x = _with_turns_of(equations, x, rough)
        if all(equations.way(x, other) > SAME for other in found):
            found.append(x)
        near = equations.way(found[0], rough) <= FAR_FROM_GUESS
        if near and not _is_outside(equations, found[0]):
            break
    return sorted(found, key=lambda x: (_is_outside(equations, x), equations.way(x, rough)))


def _guesses(equations: ClusterEquations, rough: Array, free: list[int]) -> Iterator[Array]:
    """Where to begin: `rough` itself, then others within the limits, the same at every call."""
    yield rough
    random = np.random.default_rng(2)
    reach = np.where(equations.turns, np.pi, equations.steps)[free]
    lower, upper = (np.clip(bound[free], -reach, reach) for bound in equations.limits)
    for _ in range(TRIALS):
        guess, share = rough.copy(), random.uniform(0.0, 1.0, len(free))
        guess[free] = np.where(
            lower < upper, lower + share * (upper - lower), rough[free] + reach * (2 * share - 1)
        )
        yield guess


def _with_turns_of(equations: ClusterEquations, x: Array, rough: Array) -> Array:
    """The same configuration, turned within half a turn of `rough`, or else within the limits."""
    turns = equations.turns
    near = x + np.where(turns, 2 * np.pi * np.round((rough - x) / (2 * np.pi)), 0.0)
    for turn in (2 * np.pi, -2 * np.pi):
        other = near + turn
        better = turns & (equations.beyond(near) != 0.0) & (equations.beyond(other) == 0.0)
        near = np.where(better, other, near)
    return near


def _is_outside(equations: ClusterEquations, x: Array) -> bool:
    return bool(np.abs(equations.beyond(x) / equations.steps).max(initial=0.0) > SAME)


def least_squares(equations: Callable[[Array], tuple[Array, Array]], start: Array) -> Array:
    """The unknowns (n,) near `start` with the least sum of squared residuals, found downhill.

    Damped steps stay near where they start: of the many solutions of fewer equations than unknowns
    they come to one nearby. The damping follows the gain of each step (Nielsen 1999).

    Parameters
    ----------
    equations : the residual (m,) and its derivatives (m, n) at unknowns.
    """
    x = np.array(start, dtype=float)
    residual, matrix = equations(x)
    square, slope = residual @ residual, matrix.T @ residual
    normal = matrix.T @ matrix
    damping = FIRST_DAMPING * float(np.diag(normal).max(initial=1e-30))
    growth = 2.0
    for _ in range(MOST_EVALUATIONS):
        damping = max(damping, REGULAR_DAMPING * float(np.diag(normal).max(initial=1e-30)))
        step = -np.linalg.solve(normal + damping * np.eye(len(x)), slope)
        if not np.abs(step).max(initial=0.0) > SHORT * (1.0 + np.abs(x).max(initial=0.0)):
            break
        ahead, ahead_matrix = equations(x + step)
        ahead_square = ahead @ ahead
        gain = float((square - ahead_square) / (step @ (damping * step - slope)))
        if gain > 0:
            x, square, slope = x + step, ahead_square, ahead_matrix.T @ ahead
            normal = ahead_matrix.T @ ahead_matrix
            damping *= max(1 / 3, 1 - (2 * gain - 1) ** 3)
            growth = 2.0
        else:
            damping *= growth
            growth *= 2.0
    return x
