"""Dependent positions by following the loop from a known configuration (Newton's method).

From a closed configuration the independent positions y move along a straight line to the wanted
ones. Each step goes along the tangent dz = -K_z^-1 K_y dy and closes the loop by Newton's method.
The determinant of K_z vanishes where the loop has a singularity, and what lies behind is no
longer this branch. So it must keep its sign and, since it could change it twice within a step,
steps are as short as its logarithm changes little, by d log|det K_z| = tr(K_z^-1 dK_z). Towards a
singularity they shrink, and there the walk stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX

from ..array import Array
from .columns import Columns
from .symbols import SerializedProperty, lasting

LARGEST_MOVE = 0.5
"""Most that any joint may move in one step (rad or m)."""

MOST_STEPS = 1e6
"""Most of the largest steps that a walk may have before it: longer ones are not begun."""

FARTHEST = LARGEST_MOVE * MOST_STEPS
"""Distance (rad or m) from which on no walk begins."""

LARGEST_CORRECTION = 0.1
"""Most by which Newton's method may correct it (rad or m)."""

GENTLE, STEEP = 0.25, 1.0
"""Change of log|det K_z| over a step, by its rate at the start (so long are steps) and at the end
(a step with more is taken back)."""

SMALLEST_STEP = 1e-7
"""Share of the largest step under which the walk gives up."""

CLOSED = 1e-12
"""Largest residual of a closed loop (m or rad)."""

EXACT, NOISE = 1e-14, 1e-8
"""Residual (m or rad) of rounding errors alone; next to it a correction up to the noise is one of
them: near a singularity it is large, and does not shrink."""

ITERATIONS = 8
"""Newton iterations within which a step must have converged."""

LONGEST_STRIDE = 0.1
"""Most that any joint may move (rad or m) in a step of following, which compiled programs do."""

MANY_COLUMNS = 16
"""Positions from which on their equations are computed by NumPy."""

NONE = np.zeros(0)
"""No parameters."""

SMALL, CONTRACTION = 0.1, 0.25
"""Share of such a step that Newton's first correction may be; share of it that the next may be."""


@dataclass(frozen=True)
class LoopFunctions:
    """The equations of a loop in its independent positions y and dependent ones z.

    p are the parameters of its robot, none where all is numbers.

    rows : (y, z, p) -> residual (n, 1) of the rows that determine z, K_z (n, n), K_y (n, m), the
        largest residual of all rows, and the least of the signs that reveal a turned frame.
    change : (y, z, dy, dz, p) -> dK_z (n, n), the change of K_z along dy and dz.
    """

    rows: ca.Function
    change: ca.Function

    @staticmethod
    def of(y: SX, z: SX, p: SX, rows: Sequence[SX], name: str = "loop") -> LoopFunctions:
        """Those of the expressions that `rows` gives; functions `name`_rows, _change."""
        seeds = SX.sym("dy", y.numel()), SX.sym("dz", z.numel())
        change = ca.jtimes(ca.densify(rows[1]), ca.vertcat(y, z), ca.vertcat(*seeds))
        dense, inputs = list(map(ca.densify, rows)), [y, z, *seeds, p]
        return LoopFunctions(
            lasting(ca.Function(f"{name}_rows", [y, z, p], dense, {"cse": True})),
            lasting(ca.Function(f"{name}_change", inputs, [ca.densify(change)], {"cse": True})),
        )

    def rows_at(self, y: Array, z: Array, p: Array) -> list[Array]:
        """Those of `rows` at columns (m, N), (n, N), (p, N): arrays (N, rows, columns)."""
        count = y.shape[1]
        if count >= MANY_COLUMNS:
            return self._columns.matrices(count, y, z, p)
        found = (np.array(part) for part in self.rows(y, z, p))
        return [one.reshape(len(one), count, -1).swapaxes(0, 1) for one in found]

    @SerializedProperty
    def _columns(self) -> Columns:
        symbols = [SX.sym("x", self.rows.numel_in(k)) for k in range(3)]
        return Columns(symbols, *self.rows.call(symbols))


@dataclass(frozen=True)
class Walk:
    """How far a walk came: share of the way, positions there, and largest residual."""

    share: float
    independent: Array
    dependent: Array
    gap: float

    @property
    def arrived(self) -> bool:
        """Whether the wanted configuration was reached."""
        return self.share == 1.0


@dataclass(frozen=True)
class _Place:
    """A closed configuration on the way.

    sign : of det K_z. tangent : change of z over the whole way, from here. rate : change of
    log|det K_z| over it.
    """

    z: Array
    gap: float
    sign: float
    tangent: Array
    rate: float


def reach(loop: LoopFunctions, start: tuple[Array, Array], target: Array, p: Array = NONE) -> Walk:
    """Walk to the independent positions `target` by the first way that leads there.

    First the straight one. Where it does not lead there, and there are several independent
    joints: one joint after the other, from the first to the last, then from the last to the
    first. So the answer depends on `start` and `target` alone.

    Returns
    -------
    The walk that arrived; else the straight one.
    """
    straight = follow(loop, start, target, p)
    count = len(target)
    if straight.arrived or count < 2:
        return straight
    for order in (range(count), reversed(range(count))):
        y, z = start
        for k in order:
            corner = y.copy()
            corner[k] = target[k]
            walk = follow(loop, (y, z), corner, p)
            if not walk.arrived:
                break
            y, z = corner, walk.dependent
        else:
            return walk
    return straight


def follow(loop: LoopFunctions, start: tuple[Array, Array], target: Array, p: Array = NONE) -> Walk:
    """Walk straight from the closed configuration `start` (y, z) to `target`.

    The compiled programs do the same in C.
    """
    y0, z = start
    if not np.isfinite(target).all():
        return Walk(0.0, y0, z, np.nan)
    whole = target - y0
    largest = LARGEST_MOVE / max(float(np.abs(whole).max(initial=0.0)), LARGEST_MOVE)
    if not largest * MOST_STEPS >= 1.0:
        return Walk(0.0, y0, z, np.nan)
    progress, size = 0.0, largest
    here = _closed(loop, y0, z, whole, p)
    if here is None:
        return Walk(0.0, y0, z, np.nan)
    while progress < 1.0:
        fastest = float(np.abs(here.tangent).max(initial=0.0))
        with np.errstate(divide="ignore"):
            step = min(size, *(np.array([LARGEST_MOVE, GENTLE]) / [fastest, abs(here.rate)]))
        if not step >= SMALLEST_STEP * largest:
            break
        step = min(step, 1.0 - progress)
        ahead = 1.0 if progress + step >= 1.0 else progress + step
        y = y0 + ahead * whole if ahead < 1.0 else target
        found = _closed(loop, y, here.z + step * here.tangent, whole, p)
        if found is None or found.sign != here.sign or not abs(found.rate) * step <= STEEP:
            size = step / 2
            continue
        progress, here = ahead, found
        size = min(2 * size, largest)
    return Walk(progress, target if progress == 1.0 else y0 + progress * whole, here.z, here.gap)


def reshape(
    loop: LoopFunctions, start: tuple[Array, Array], before: Array, after: Array
) -> tuple[Array, Array]:
    """Keep a loop closed at its independent positions while its parameters change.

    They go straight from `before` (p,) to each row of `after` (N, p), in steps over which Newton's
    method converges and K_z keeps the sign of its determinant: on the branch of the start. A row
    takes the whole way in one step, or halves it until it can.

    Returns
    -------
    The dependent positions (N, n), and the share (N,) of the change up to which the loop stays
    closed: 1, unless its branch ends before.
    """
    (y, z), still, count = start, np.zeros_like(start[0]), len(after)
    here = _closed(loop, y, z, still, before)
    found, share, step = np.tile(z, (count, 1)), np.zeros(count), np.ones(count)
    if here is None:
        return found, share
    found[:] = here.z
    while len(k := np.flatnonzero((share < 1.0) & (step >= SMALLEST_STEP))):
        ahead = np.minimum(share[k] + step[k], 1.0)
        p = before[:, None] + ahead * (after[k].T - before[:, None])
        same = np.repeat(y[:, None], len(k), axis=1)
        settled, by_z, _, _, done = _settled(loop, same, found[k].T, p)
        done[done] &= np.linalg.slogdet(by_z[done]).sign == here.sign
        found[k[done]], share[k[done]] = settled.T[done], ahead[done]
        step[k] *= np.where(done, 2.0, 0.5)
    return found, share


def _closed(loop: LoopFunctions, y: Array, guess: Array, whole: Array, p: Array) -> _Place | None:
    """Close the loop at y from a guess; None where that does not converge nearby."""
    columns = (one.reshape(-1, 1) for one in (y, guess, p))
    z, by_z, by_y, gap, done = _settled(loop, *columns)
    if not done[0]:
        return None
    (z,), (by_z,), (by_y,) = z.T, by_z, by_y
    tangent: Array = np.asarray(-np.linalg.solve(by_z, by_y @ whole), dtype=np.float64)
    rate = np.trace(np.linalg.solve(by_z, np.array(loop.change(y, z, whole, tangent, p))))
    sign = np.linalg.slogdet(by_z).sign
    return _Place(z, float(gap[0]), float(sign), tangent, float(rate))


def _settled(
    loop: LoopFunctions, y: Array, guess: Array, p: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Close N loops at once, by Newton's method from guesses (n, N).

    Returns
    -------
    Dependent positions (n, N), K_z (N, n, n) and K_y (N, n, m) there, the largest residuals (N,),
    and where the method converged nearby (N,).
    """
    n, count = guess.shape
    z, last = guess.copy(), np.full(count, np.inf)
    lost, done = np.zeros((2, count), dtype=bool)
    for _ in range(ITERATIONS):
        residual, by_z, by_y, gap, aligned = loop.rows_at(y, z, p)
        gap, change = gap.ravel(), _corrections(by_z, residual[..., 0])
        moved = np.abs(change).max(axis=1, initial=0.0)
        exact = (gap <= EXACT) & (moved <= NOISE)
        shrinks = (moved <= last / 2) | (moved <= CLOSED) | exact  # not so where it is NaN
        z = np.where(done | lost, z, z - change.T)
        near = np.abs(z - guess).max(axis=0, initial=0.0) <= LARGEST_CORRECTION
        lost |= ~done & ~(shrinks & near)
        closed = ((moved <= CLOSED) | exact) & (gap <= CLOSED) & (aligned.ravel() > 0)
        done |= closed & ~lost
        last = np.maximum(moved, CLOSED)
        if (done | lost).all():
            break
    return z, by_z, by_y, gap, done


def _corrections(matrices: Array, right: Array) -> Array:
    """Solutions (N, n) of systems (N, n, n); NaN of what is singular."""
    try:
        return np.asarray(np.linalg.solve(matrices, right[..., None])[..., 0], dtype=np.float64)
    except np.linalg.LinAlgError:
        if len(right) == 1:
            return np.full(right.shape, np.nan)
        pairs = zip(np.split(matrices, len(right)), np.split(right, len(right)), strict=True)
        return np.concatenate([_corrections(*pair) for pair in pairs])
