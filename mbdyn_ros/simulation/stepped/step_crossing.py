"""Where a distance first falls below zero within one step, from its values at both ends.

Over a short step the cubic with the distances and rates of both ends is as exact as the step.
"""

from __future__ import annotations

import numpy as np

from ...integration.root import first_true
from ...model.model import Array
from ..contact.events import SPEEDS
from ..contact.rows import Flags

Ends = tuple[Array, Array]
"""Distances (m,) and their rates (m,) at one end of a step."""


def first_crossing(
    start: Ends, end: Ends, length: float, watched: Flags, depth: Array
) -> tuple[float, int] | None:
    """Time (s) since the start, and number, of the first distance that falls below zero.

    Parameters
    ----------
    watched : (m,) which of them count.
    depth : (m,) what is less deep only grazes.
    """
    (g, rate), (last, last_rate) = start, end
    fastest = SPEEDS * np.maximum(np.abs(rate), np.abs(last_rate))
    first = None
    for k in np.flatnonzero(watched & (g + last <= fastest * length)).tolist():
        share = crossing(g[k], rate[k] * length, last[k], last_rate[k] * length, depth[k])
        if share is not None and (first is None or share * length < first[0]):
            first = share * length, k
    return first


def crossing(a: float, u: float, b: float, w: float, depth: float) -> float | None:
    """The first s in [0, 1] at which the cubic from a (slope u) to b (slope w) falls below zero.

    None where it stays above -depth.
    """
    one, two, three = u, 3 * (b - a) - 2 * u - w, 2 * (a - b) + u + w
    knots = [0.0, *sorted(_between(one, 2 * two, 3 * three)), 1.0]

    def value(s: float) -> float:
        return a + s * (one + s * (two + s * three))

    for left, right in zip(knots[:-1], knots[1:], strict=True):
        if value(right) >= -depth or value(right) >= value(left):
            continue
        if value(left) <= 0:
            return left
        return first_true(lambda s: not value(s) > 0, left, right)
    return None


def _between(c: float, b: float, a: float) -> list[float]:
    """Zeros of c + b s + a s^2 in (0, 1)."""
    root = b * b - 4 * a * c
    if root < 0:
        return []
    far = -0.5 * (b + (root**0.5 if b >= 0 else -(root**0.5)))
    zeros = [far / a if a else 2.0, c / far if far else 2.0]
    return [s for s in zeros if 0 < s < 1]
