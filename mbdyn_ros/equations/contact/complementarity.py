"""Impulses of several contacts without friction: they push, or there is no velocity to stop.

    xi = W v+ + e W v- >= 0,   f >= 0,   f xi = 0,

the conditions of min |v+ - v-|_I under xi >= 0: there is one v+, and impulses exist even where
contacts are redundant. See `impact` for W, I, e and f.
"""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...errors import ContactError

IMPULSE_NOISE = 1e-10
"""Share of the largest velocity, or impulse, that counts as none."""


def complementary_impulses(matrix: Array, free: Array) -> Array:
    """Numbers f (k,) >= 0 with xi = A f + b >= 0 and f xi = 0: of least norm where several fit.

    Parameters
    ----------
    matrix : A (k, k), symmetric and positive semidefinite; b in such a place that A f + b >= 0
        has a solution, as it has for contacts.
    free : b (k,).
    """
    count = len(free)
    size = float(np.abs(free).max(initial=0.0))
    if size == 0.0 or (free >= 0).all():
        return np.zeros(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = _equal(matrix, free)  # (47): all contacts follow Newton's law
    if (f >= 0).all() and np.abs(matrix @ f + free).max() <= IMPULSE_NOISE * size:
        return f
    return _principal_pivots(matrix, free, size)


def _equal(matrix: Array, free: Array) -> Array:
    """The least f with A f + b = 0 as nearly as may be."""
    if len(free) == 1:
        return -free / matrix[0]
    return np.asarray(np.linalg.lstsq(matrix, -free, rcond=1e-12)[0], dtype=np.float64)


def _principal_pivots(matrix: Array, free: Array, size: float) -> Array:
    """By the active sets of Lawson and Hanson's least distance programming, then polished."""
    from scipy.optimize import nnls  # slow to import, and rarely needed

    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-12 * values[-1]
    rows = vectors[:, kept] * np.sqrt(values[kept])  # A = G G^T
    # least |x| with G x >= -b: the impulses are its multipliers
    stacked = np.vstack([rows.T, -free / size])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    u, _ = nnls(stacked, target, maxiter=100 * len(free))
    rest = target - stacked @ u
    if rest[-1] <= 1e-12:
        raise ContactError(
            "the contacts cannot all be kept from closing: the points press against each other"
        )
    f = u / rest[-1] * size
    active = f > IMPULSE_NOISE * f.max(initial=0.0)
    xi = matrix @ f + free
    tight = active | (np.abs(xi) <= 1e-9 * size)
    for chosen in (tight, active):
        polished = np.zeros(len(free))
        polished[chosen] = _equal(matrix[np.ix_(chosen, chosen)], free[chosen])
        good = (polished >= 0).all() and (matrix @ polished + free >= -1e-11 * size).all()
        if good:
            return polished
    return f
