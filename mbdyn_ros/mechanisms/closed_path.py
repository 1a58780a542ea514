"""Whether a mechanism stays closed on the whole path between points, not only at them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..model.model import Array

MARGIN_ROUNDING = 1e-14
"""A margin this little below zero is zero: a change point touches the limit and goes on."""

GOLDEN = (math.sqrt(5.0) - 1) / 2
NARROWINGS = 36
"""Golden sections: a place to 1e-7 of a step, and so the least margin to 1e-14 of its curvature."""

Places = NDArray[np.intp]


def along(q: Array, t: Array) -> Array:
    """Positions (..., n) at t (...), which counts the points of q (K, n); straight between them.

    Examples
    --------
    >>> along(np.array([[0.0], [1.0], [3.0]]), np.array([1.5, -1.0])).tolist()
    [[2.0], [-1.0]]
    """
    k = np.clip(np.floor(t).astype(int), 0, len(q) - 2)
    position: Array = q[k] + (t - k)[..., None] * (q[k + 1] - q[k])
    return position


def dips(values: Array) -> tuple[Places, ...]:
    """Indices of points 0 to K-1 near which a margin may go below zero between points.

    A parabola through three points falls below the middle one by an eighth of their second
    difference at most; the test uses the whole of it.

    values : (K + 2, ...), margins at -1, 0, ..., K; the first and last are beyond the path's ends.
    """
    before, here, after = values[:-2], values[1:-1], values[2:]
    low = (here >= 0) & (here <= before) & (here <= after) & (3 * here < before + after)
    return np.nonzero(low)


def deepest(margin: Callable[[Array], Array], k: Places, last: int) -> tuple[Array, Array]:
    """Where near points k (M,) of a path of points 0 to `last` the margin is least, and what it is.

    margin : of M places t, each in the design of its dip.
    """
    low, high = np.maximum(k - 1.0, 0.0), np.minimum(k + 1.0, float(last))
    for _ in range(NARROWINGS):
        step = GOLDEN * (high - low)
        lower = margin(high - step) < margin(low + step)
        low, high = np.where(lower, low, high - step), np.where(lower, low + step, high)
    middle = (low + high) / 2
    return middle, margin(middle)


def first_open(margin: Callable[[Array], Array], count: int) -> float | None:
    """The first of points 0 to count - 1, and of dips between, without a margin; or None."""
    values = margin(np.arange(-1.0, count + 1))
    (low,) = dips(values)
    at, least = np.arange(float(count)), values[1:-1]
    if len(low):
        place, between = deepest(margin, low, count - 1)
        at, least = np.append(at, place), np.append(least, between)
    below = at[least < -MARGIN_ROUNDING]
    return float(below.min()) if len(below) else None


def edge(margin: Callable[[Array], Array], inside: float, outside: float) -> tuple[float, float]:
    """The last place with a margin and the first without, bisected between one of each."""
    while inside != (middle := 0.5 * (inside + outside)) != outside:
        if margin(np.array([middle]))[0] >= 0:
            inside = middle
        else:
            outside = middle
    return inside, outside
