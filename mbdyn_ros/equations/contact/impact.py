"""Impacts of rigid bodies by Newton's law, all contacts of one instant together.

Shafei and Shafei (2018), equations 44 to 47: with the rows W = n^T J of the contacts, the mass
matrix I and the impulses f along the normals,

    I (v+ - v-) = W^T f (45),   W v+ = -e W v- (46).

Walls push and do not pull, so that with several contacts (46) becomes a complementarity, see
there. The kinetic energy changes by f (1 - e) W v- / 2 <= 0.

Friction after Coulomb adds impulses along the wall, |f_t| <= mu f, against the velocity there
after the impact: f_t = -mu f v_t / |v_t| where it slides, v_t = 0 where it does not (Moreau 1988).
The same conditions on accelerations tell which resting contacts stick, slide or separate.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...errors import ContactError, SimulationError
from ...model.model import Array
from .complementarity import complementary_impulses

ROUNDS, SWEEPS, NEWTON = 40, 25, 40
"""Most starts, sweeps before a start, and Newton steps from it."""

SWEPT = 6
"""Starts that come from sweeps; the others are scattered."""

LEAST_NEWTON_STEP = 1e-4
"""Share of a Newton step that has to help, else another start is tried."""

UNSETTLED = 1e-7
"""Share of the velocities by which redundant contacts with friction may miss their laws."""

SETTLED = 1e-11
"""Share of the velocities by which contacts with friction may miss their laws, else."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where the unknowns of k contacts stand: the normal, and the first of two tangents.

    tangent : (k,), -1 where the contact has no cone of friction (none, or it slides already).
    friction : (k,) mu.
    bound : (b,) of the last b unknowns, which are impulses of dry friction in joints: each within
        [-bound, bound], and at a bound only against the velocity there.
    """

    normal: NDArray[np.intp]
    tangent: NDArray[np.intp]
    friction: Array
    bound: Array = field(default_factory=lambda: np.zeros(0))

    @functools.cached_property
    def contacts(self) -> list[tuple[int, int, float]]:
        """Normal, first tangent and friction of every contact."""
        columns = self.normal.tolist(), self.tangent.tolist(), self.friction.tolist()
        return list(zip(*columns, strict=True))

    def joints(self, count: int) -> Iterable[tuple[int, float]]:
        """Place among `count` unknowns, and bound, of every joint with dry friction."""
        return enumerate(self.bound.tolist(), count - len(self.bound))


def contact_impulses(
    matrix: Array,
    free: Array,
    blocks: Blocks,
    guess: Array | None = None,
    settled: float = SETTLED,
) -> Array:
    """Impulses f (m,) with friction, w = A f + b; without it see `complementary_impulses`.

    Sweeps over the contacts (projected Gauss-Seidel) find which stick and which slide, Newton's
    method on the projections (Alart and Curnier 1991), with a line search, makes them exact; where
    sweeps lead it astray it starts elsewhere. From a good `guess` (m,) that method alone gets
    there. `settled` is the share of the velocities by which the laws may be missed; where that is
    more than usual, a thousand times as much is taken after one round.

    Raises
    ------
    SimulationError
        They do not settle.
    """
    smooth = (blocks.tangent < 0).all() and not len(blocks.bound)
    if smooth and np.array_equal(matrix, matrix.T):
        return complementary_impulses(matrix, free)
    size = float(np.abs(free).max(initial=0.0))
    if size == 0.0:
        return np.zeros(len(free))
    steps = _steps(matrix, blocks)
    normal = blocks.normal
    allowed = max(UNSETTLED, 1000 * settled) * size
    patience = 1 if settled > SETTLED else SWEPT
    f, best, least = np.zeros(len(free)), np.zeros(len(free)), np.inf
    random = np.random.default_rng(0)  # the answer depends on the arguments alone
    for k in range(ROUNDS):
        if k == 0 and guess is not None:
            f = guess.copy()
        elif k < SWEPT:
            for _ in range(SWEEPS):
                _sweep(matrix, free, blocks, steps, f)
        else:
            f = size * steps * random.normal(size=len(free))
            f[normal] = np.abs(f[normal])
            for n, t, mu in blocks.contacts:
                if t >= 0:
                    f[t : t + 2] = mu * f[n] * random.normal(size=2)
        g, gap = _newton(matrix, free, blocks, steps, f, settled * size)
        if gap < least:
            best, least = g, gap
        if gap <= settled * size or (k >= patience and least <= allowed):
            break
    if least > allowed:
        raise ContactError(
            f"friction: the impulses of {len(blocks.normal)} contacts do not settle (by "
            f"{least / size:.1g} of the velocities)"
        )
    best[normal] = np.maximum(best[normal], 0.0)  # none pulls, not by rounding either
    return best


def _newton(
    matrix: Array, free: Array, blocks: Blocks, steps: Array, f: Array, enough: float
) -> tuple[Array, float]:
    """The best impulses that Newton's method finds from f, and their error in velocity."""
    weights = np.sqrt(steps)  # root of an energy
    error, slope = _residual(matrix, free, blocks, steps, f)
    size, best, least = float(np.linalg.norm(error / weights)), f, np.inf
    for _ in range(NEWTON):
        gap = float(np.abs(error / steps).max())
        if gap < least:
            best, least = f, gap
        if gap <= enough:
            break
        step, share = np.linalg.lstsq(slope, error, rcond=1e-11)[0], 1.0
        while share >= LEAST_NEWTON_STEP:
            trial = f - share * step
            error, slope = _residual(matrix, free, blocks, steps, trial)
            left = float(np.linalg.norm(error / weights))
            if left < (1 - 1e-4 * share) * size:
                break
            share /= 2
        else:
            break
        f, size = trial, left
    return best, least


def bouncing_impulses(
    matrix: Array, before: Array, e: Array, blocks: Blocks, settled: float = SETTLED
) -> tuple[Array, Array]:
    """Impulses (m,) of an impact, and the restitution (k,) that was used.

    It is less than e where friction and Newton's law together would gain energy (Kane's paradox),
    by one factor for all contacts: the greatest that gains none. It is 0 where friction jams: a
    point is pressed into the wall so obliquely that sticking alone obeys Coulomb's law, and the
    law of restitution has no answer.

    Parameters
    ----------
    before : velocities (m,) of all rows.
    settled : see `contact_impulses`.
    """
    normal, rubs = blocks.normal, len(blocks.normal) < len(before)

    def solved(share: float) -> Array | None:
        free = before.copy()
        free[normal] += share * e * before[normal]
        try:
            return contact_impulses(matrix, free, blocks, settled=settled)
        except SimulationError:
            if not rubs or share == 0:
                raise
            return None

    def gain(f: Array) -> float:
        return 0.5 * float(f @ (2 * before + matrix @ f))

    impulses = solved(1.0 if e.any() else 0.0)
    if impulses is None:
        low = 0.0
    else:
        noise = 1e-14 * float(np.abs(impulses) @ np.abs(before))
        if not rubs or gain(impulses) <= noise:
            return impulses, e
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            trial = solved(middle)
            if trial is None or gain(trial) > noise:
                high = middle
            else:
                low = middle
    impulses = solved(low)
    assert impulses is not None
    return impulses, low * e


def _steps(matrix: Array, blocks: Blocks) -> Array:
    """Steps (m,) of the projections: the inverse of each block's size."""
    result = np.ones(len(matrix))
    for n, t, _ in blocks.contacts:
        result[n] = 1 / matrix[n, n] if matrix[n, n] > 0 else 1.0
        if t >= 0:
            size = float(np.trace(matrix[t : t + 2, t : t + 2]))
            result[t : t + 2] = 1 / size if size > 1e-12 * matrix[n, n] else result[n]
    joints = range(len(matrix) - len(blocks.bound), len(matrix))
    result[joints] = 1 / matrix[joints, joints]
    return result


def _sweep(matrix: Array, free: Array, blocks: Blocks, steps: Array, f: Array) -> None:
    """Improve the impulses contact by contact, in place."""
    for n, t, mu in blocks.contacts:
        f[n] = max(0.0, f[n] - steps[n] * (matrix[n] @ f + free[n]))
        if t >= 0:
            both = slice(t, t + 2)
            wanted = f[both] - steps[t] * (matrix[both] @ f + free[both])
            length = float(np.linalg.norm(wanted))
            f[both] = wanted * (mu * f[n] / length) if length > mu * f[n] else wanted
    for n, bound in blocks.joints(len(f)):
        f[n] = min(max(f[n] - steps[n] * (matrix[n] @ f + free[n]), -bound), bound)


def _residual(
    matrix: Array, free: Array, blocks: Blocks, steps: Array, f: Array
) -> tuple[Array, Array]:
    """f - projection(f - step w), zero where the laws hold, and its derivative (m, m)."""
    w = matrix @ f + free
    trial = f - steps * w
    moved = np.eye(len(f)) - steps[:, None] * matrix
    error, slope = f.copy(), np.eye(len(f))
    for n, t, mu in blocks.contacts:
        pushes = trial[n] > 0
        if pushes:
            error[n] -= trial[n]
            slope[n] -= moved[n]
        if t < 0:
            continue
        both = slice(t, t + 2)
        bound = mu * max(0.0, f[n])
        length = float(np.linalg.norm(trial[both]))
        if length <= bound:
            error[both] -= trial[both]
            slope[both] -= moved[both]
        elif bound > 0:
            d = trial[both] / length
            error[both] -= bound * d
            across = (np.eye(2) - np.outer(d, d)) / length
            slope[both] -= bound * across @ moved[both]
            slope[both, n] -= mu * d
    for n, bound in blocks.joints(len(f)):
        error[n] -= min(max(trial[n], -bound), bound)
        if abs(trial[n]) < bound:
            slope[n] -= moved[n]
    return error, slope
