"""Least squares with honest deviations: what data determine, what they leave open, and outliers.

Unknowns x differ from their described values by x - x0 = S y, S their scales. Residuals r(x) come
in kinds of one standard deviation each, which their own scatter shows (Bard, Nonlinear Parameter
Estimation, 1974, ch. 4 and 7). Unknowns that no residual distinguishes are held at x0: as many as
directions of the Jacobian are open (Golub and Van Loan, Matrix Computations, 5.5.7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..array import Array

LEAST_KNOWN = 0.02
"""Deviation of a direction (share of the scales) from which on it is open."""

STRUCTURAL = 1e-6
"""Singular value (share of the largest) of a direction that is open without noise, too."""

NAMED_FACTOR = 0.01
"""Factor from which an unknown belongs to a combination."""

EXACT_DEVIATION = 1e-12
"""Deviation (m or rad) of residuals without noise."""

CHANCE = 1e-8
"""Probability of a row of normal errors to count as an outlier."""

MEDIAN_OF_NORMAL = 0.6744897501960817
"""Median of the absolute values of a standard normal variable."""

MOST_WEIGHTINGS = 20
SETTLED_WEIGHTS = 0.02
"""Share by which deviations change no more when weights have settled."""

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

Residual = Callable[[Array], tuple[Array, Array]]
"""x (n,) -> residuals (N, m), NaN where there are none, and their derivatives (N, m, n)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Unknowns, and the residuals that determine them.

    start, scale : (n,) described values and their units. kinds : (m,) kind of each residual.
    fixed : (n,) known exactly. nuisance : (n,) found, but of no interest: nothing else is moved
    where one of these can be.
    """

    residual: Residual
    start: Array
    scale: Array
    kinds: Sequence[str]
    fixed: Mask
    nuisance: Mask

    def spread(self, noise: dict[str, float]) -> Array:
        """The deviation of each residual of a row, (m,)."""
        return np.array([noise[kind] for kind in self.kinds])


@dataclass(frozen=True, eq=False)
class Solution:
    """Found values of the unknowns.

    value, deviation : (n,) and their standard deviations, NaN where not found. held : those held
    at the start, each with the others from which it cannot be distinguished. noise : deviation of a
    residual, by kind. residual : (N, m). outliers : rows that were left out.
    """

    value: Array
    deviation: Array
    held: dict[int, tuple[int, ...]]
    noise: dict[str, float]
    residual: Array
    outliers: tuple[int, ...]


def solve(problem: Problem) -> Solution:
    """The most likely values: weights by robust least squares, then plain ones without outliers."""
    x, noise = problem.start, root_mean_squares(problem, problem.start)
    every = np.ones(len(problem.residual(x)[0]), dtype=bool)
    held: dict[int, tuple[int, ...]] = {}
    for _ in range(MOST_WEIGHTINGS):
        before, last = held, noise
        held = undetermined(problem, x, noise, every)
        x = minimized(problem, x, noise, list(held), every, "soft_l1")
        noise = _scatter(problem, x, noise, list(held), every, robust=True)
        if held.keys() == before.keys() and _settled(last, noise):
            break
    good = every
    for _ in range(MOST_WEIGHTINGS):
        last, before_good, good = noise, good, ~_outlying(problem, x, noise)
        held = undetermined(problem, x, noise, good)
        x = minimized(problem, x, noise, list(held), good, "linear")
        noise = _scatter(problem, x, noise, list(held), good)
        if (good == before_good).all() and _settled(last, noise):
            break
    spread = np.full(len(x), np.nan)
    free = _free(problem, list(held))
    scaled = _whitened(problem, x, noise, free, good)[1]
    spread[free] = np.sqrt(np.diag(np.linalg.pinv(scaled.T @ scaled))) * problem.scale[free]
    outliers = tuple(np.flatnonzero(~good).tolist())
    return Solution(x, spread, held, noise, problem.residual(x)[0], outliers)


def root_mean_squares(problem: Problem, x: Array) -> dict[str, float]:
    """Of the residuals at x, by kind."""
    r, _ = problem.residual(x)
    return {
        kind: max(float(np.sqrt(np.mean(r[:, one] ** 2))), EXACT_DEVIATION)
        for kind, one in _columns(problem)
    }


def minimized(
    problem: Problem,
    x: Array,
    noise: dict[str, float],
    held: list[int],
    rows: Mask,
    loss: str,
) -> Array:
    """x of the least weighted residuals, with some unknowns held at their described values."""
    from scipy.optimize import least_squares  # slow to import

    free = _free(problem, held)
    whole = problem.start.copy()
    whole[problem.fixed] = x[problem.fixed]
    if not free.size:
        return whole

    def at(y: Array) -> Array:
        whole[free] = problem.start[free] + problem.scale[free] * y
        return whole.copy()

    first = (x[free] - problem.start[free]) / problem.scale[free]
    if not np.isfinite(problem.residual(at(first))[0]).all():
        first = np.zeros(len(free))
    found = least_squares(
        lambda y: _whitened(problem, at(y), noise, free, rows)[0],
        first,
        lambda y: _whitened(problem, at(y), noise, free, rows)[1],
        loss=loss, xtol=1e-13, ftol=1e-13, gtol=1e-13, max_nfev=100,
    )  # fmt: skip
    return at(found.x)


def undetermined(
    problem: Problem, x: Array, noise: dict[str, float], rows: Mask
) -> dict[int, tuple[int, ...]]:
    """Unknowns to hold, each with those from which it cannot be distinguished.

    Nuisances come first: of the others counts what these leave over.
    """
    free = _free(problem, [])
    jacobian = _whitened(problem, x, noise, free, rows)[1]
    aside = problem.nuisance[free]
    others, own = free[aside], free[~aside]
    largest = float(np.linalg.norm(jacobian, 2)) if free.size else 0.0
    found: dict[int, tuple[int, ...]] = {}
    n, p = jacobian[:, aside], jacobian[:, ~aside]
    open_n, null_n = _open_columns(n, largest)
    kept = np.setdiff1d(np.arange(n.shape[1]), open_n)
    for j, k in enumerate(open_n):
        found[int(others[k])] = _named(null_n[:, j], others, int(others[k]))
    basis, _ = np.linalg.qr(n[:, kept])
    open_p, null_p = _open_columns(p - basis @ (basis.T @ p), largest)
    along = -np.linalg.lstsq(n[:, kept], p @ null_p, rcond=None)[0]
    for j, k in enumerate(open_p):
        factors = np.concatenate([null_p[:, j], along[:, j]])
        found[int(own[k])] = _named(factors, np.concatenate([own, others[kept]]), int(own[k]))
    return found


def _open_columns(matrix: Array, largest: float) -> tuple[Places, Array]:
    """Columns to hold (k,), and the directions (n, k) that are open, each 1 in one of these alone.

    matrix : (any, n) of unit deviation. largest : singular value that `STRUCTURAL` is a share of.
    """
    count = matrix.shape[1]
    if not matrix.size:
        return np.arange(count), np.eye(count)
    _, sizes, rows = np.linalg.svd(np.linalg.qr(matrix, mode="r"))  # whose left vectors are few
    sizes = np.concatenate([sizes, np.zeros(count - len(sizes))])
    null = rows[(sizes <= STRUCTURAL * largest) | (sizes * LEAST_KNOWN < 1)].T
    pivots = held_columns(null)
    return pivots, null @ np.linalg.inv(null[pivots])


def held_columns(null: Array, readiness: Array | float = 1.0) -> Places:
    """Unknowns (k,) to hold so that none of the open directions (n, k) is left.

    readiness : (n,) by which some are rather held than others; of equals, the outermost is held.
    """
    from scipy.linalg import qr  # slow to import

    count = len(null)
    if not null.size:
        return np.zeros(0, dtype=np.intp)
    outer = readiness * (1 + 1e-3 * np.arange(count) / count)
    pivots: Places = qr(null.T * outer, mode="r", pivoting=True)[1][: null.shape[1]]
    return pivots


def _named(factors: Array, names: Places, own: int) -> tuple[int, ...]:
    """The unknowns of a combination, except for the one that is held."""
    chosen = names[np.abs(factors) > NAMED_FACTOR * np.abs(factors).max()]
    return tuple(int(one) for one in chosen if one != own)


def _free(problem: Problem, held: list[int]) -> Places:
    """The unknowns that are found."""
    free = ~problem.fixed
    free[held] = False
    return np.flatnonzero(free)


def _columns(problem: Problem) -> list[tuple[str, Mask]]:
    """Every kind of residual, and which of a row's are of it."""
    return [
        (kind, np.array([one == kind for one in problem.kinds]))
        for kind in dict.fromkeys(problem.kinds)
    ]


def _whitened(
    problem: Problem, x: Array, noise: dict[str, float], free: Places, rows: Mask
) -> tuple[Array, Array]:
    """Residuals of rows, and their derivatives by y of the free unknowns, in unit deviation."""
    r, jacobian = problem.residual(x)
    spread = problem.spread(noise)
    scaled = (jacobian[rows] / spread[:, None])[:, :, free] * problem.scale[free]
    weighted = (r[rows] / spread).ravel()
    return weighted, scaled.reshape(len(weighted), len(free))


def _scatter(
    problem: Problem, x: Array, noise: dict[str, float], held: list[int], rows: Mask,
    robust: bool = False,
) -> dict[str, float]:  # fmt: skip
    """The deviation of a residual by kind: unbiased, or that of the median."""
    free = _free(problem, held)
    basis, _ = np.linalg.qr(_whitened(problem, x, noise, free, rows)[1])
    leverage = (basis**2).sum(axis=1).reshape(-1, len(problem.kinds))
    r = problem.residual(x)[0][rows]
    found = {}
    for kind, one in _columns(problem):
        count = r[:, one].size
        freedom = max(count - leverage[:, one].sum(), 1e-3 * count)
        square = np.mean(r[:, one] ** 2)
        if robust:
            square = (np.median(np.abs(r[:, one])) / MEDIAN_OF_NORMAL) ** 2
        found[kind] = max(float(np.sqrt(square * count / freedom)), EXACT_DEVIATION)
    return found


def _outlying(problem: Problem, x: Array, noise: dict[str, float]) -> Mask:
    """Rows (N,) that normal errors hardly ever make."""
    from scipy.special import chdtri  # slow to import

    r = problem.residual(x)[0] / problem.spread(noise)
    outlying: Mask = (r**2).sum(axis=1) > chdtri(r.shape[1], CHANCE)
    return outlying


def _settled(last: dict[str, float], now: dict[str, float]) -> bool:
    return all(abs(now[kind] - last[kind]) <= SETTLED_WEIGHTS * last[kind] for kind in now)
