"""How steep a face of a wall is and how it bends at most, by interval arithmetic.

Every operation of g, its gradient and its derivatives up to the third is done with intervals
(Moore 1966): over all space first, and where that leaves no bound over boxes of what is within
`WITHIN` of the origin, the worst of which are halved again and again. Derivatives do not know of
edges, as those of |x| and of the least of two numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...array import Array
from ...program.symbols import serialized
from ..algebra.spatial import SX

WITHIN = 100.0
"""Distance (m) from the origin along each axis to which bounds hold that all space has not."""

HALVINGS, MOST_BOXES = 60, 2000
"""Rounds in which the worst boxes are halved, and boxes at most."""


@dataclass(frozen=True)
class Steepness:
    """Bounds of a face g; infinite where none is known.

    least : of |grad g|, from below. hollow : of the most negative curvature of g, at least 0.
    slopes : (3,) of |dg/dx_k|. bends, twists : (3,) of the second and third derivatives of which at
        least one is by x_k. up : k + 1 where g grows with x_k at the constant rate `least`, and
        -(k + 1) where it falls; else 0.
    """

    least: float
    hollow: float
    slopes: tuple[float, float, float]
    bends: tuple[float, float, float]
    twists: tuple[float, float, float]
    up: int = 0

    @property
    def widest(self) -> float:
        """Radius (m) of balls up to which one point alone meets the conditions of the deepest one.

        The multiplier l = |grad g| / r leaves g + l u^2 / 2 convex in all of such a ball, so that
        of two such points each would be the deeper one.
        """
        return self.least / self.hollow if self.hollow else np.inf


@serialized
def steepness_of(face: ca.Function) -> Steepness | None:
    """Bounds of a face of a wall; None of one that may have edges."""
    x = SX.sym("x", 3)
    value, first, second = face(x)
    g = ca.Function("g", [x], [value])
    if any(g.instruction_id(k) in _WITH_EDGES for k in range(g.n_instructions())):
        return None
    third = ca.jacobian(ca.vec(second), x)
    parts = [ca.densify(one) for one in (first, second, third)]
    derivatives = ca.Function("derivatives", [x], [ca.vertcat(*map(ca.vec, parts))], {"cse": True})
    whole = np.full((1, 3), np.inf)
    low, high = intervals(derivatives, -whole, whole)
    if not np.isfinite([low, high]).all():
        low, high = _within(derivatives, [ca.depends_on(parts[0], x[k]) for k in range(3)])
    return _bounds(low, high)


def _bounds(low: Array, high: Array) -> Steepness:
    """Those of gradient, second and third derivatives (39, boxes) from below and above."""
    most = np.maximum(np.abs(low), np.abs(high)).max(axis=1)
    nearest = np.where((low > 0) | (high < 0), np.minimum(np.abs(low), np.abs(high)), 0.0)
    bends, twists = most[3:12].reshape(3, 3), most[12:].reshape(3, 3, 3)
    even = (low[:3] == high[:3]).all(axis=1) & (low[:3, 0] != 0) & ~bends.any(axis=1)
    up = int(even.argmax()) if even.any() else -1
    slopes, bent, twisted = (
        (float(one[0]), float(one[1]), float(one[2]))
        for one in (most[:3], bends.max(axis=1), twists.max(axis=(1, 2)))
    )
    least = float(np.linalg.norm(nearest[:3], axis=0).min())
    climbs = int(np.sign(low[up, 0])) * (up + 1)
    return Steepness(least, float(_hollow(low, high).max()), slopes, bent, twisted, climbs)


def _hollow(low: Array, high: Array) -> Array:
    """Bounds (boxes,) of the most negative eigenvalue of second derivatives, by Gershgorin's discs
    and by the norm, at least 0."""
    most = np.maximum(np.abs(low[3:12]), np.abs(high[3:12])).reshape(3, 3, -1)
    own = low[[3, 7, 11]]
    discs = np.array(
        [most[k, [j for j in range(3) if j != k]].sum(axis=0) - own[k] for k in range(3)]
    ).max(axis=0)
    norm = np.sqrt((most**2).sum(axis=(0, 1)))
    return np.maximum(np.fmin(discs, norm), 0.0)


def _within(derivatives: ca.Function, along: list[bool]) -> tuple[Array, Array]:
    """Intervals over boxes; those where g bends most are the smallest."""
    ways = [k for k in range(3) if along[k]]
    a = np.full((1, 3), -WITHIN)
    b = -a
    low, high = intervals(derivatives, a, b)
    for _ in range(HALVINGS):
        if len(a) >= MOST_BOXES:
            break
        worst = _hollow(low, high)
        chosen = ~(worst < 0.7 * worst.max())
        if chosen.sum() > MOST_BOXES // 8:
            order = np.argsort(np.where(np.isnan(worst), np.inf, worst))[-MOST_BOXES // 8 :]
            chosen = np.isin(np.arange(len(a)), order)
        wide = (b - a)[chosen][:, ways]
        k = np.array(ways)[wide.argmax(axis=1)]
        rows = np.arange(int(chosen.sum()))
        middle = (a[chosen][rows, k] + b[chosen][rows, k]) / 2
        left, right = b[chosen].copy(), a[chosen].copy()
        left[rows, k] = right[rows, k] = middle
        halves = [intervals(derivatives, *one) for one in ((a[chosen], left), (right, b[chosen]))]
        a = np.vstack([a[~chosen], a[chosen], right])
        b = np.vstack([b[~chosen], left, b[chosen]])
        low, high = (
            np.hstack([one[:, ~chosen], *(half[end] for half in halves)])
            for end, one in enumerate((low, high))
        )
    return low, high


Interval = tuple[Array, Array]
"""From below and above, (boxes,) each."""


def intervals(function: ca.Function, low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds (m, boxes) of the numbers of a function of a point (3,) in boxes (boxes, 3)."""
    count = len(low)
    work: list[Interval] = [(np.zeros(count), np.zeros(count))] * int(function.sz_w())
    found = np.zeros((2, function.numel_out(0), count))
    with np.errstate(all="ignore"):
        for k in range(function.n_instructions()):
            code = function.instruction_id(k)
            given, results = function.instruction_input(k), function.instruction_output(k)
            if code == ca.OP_OUTPUT:
                found[:, results[1]] = work[given[0]]
            elif code == ca.OP_INPUT:
                work[results[0]] = low[:, given[1]], high[:, given[1]]
            elif code == ca.OP_CONST:
                value = np.full(count, function.instruction_constant(k))
                work[results[0]] = value, value
            else:
                way = _WAYS.get(code, _nothing)
                one, two = way(*(work[i] for i in given))
                for i in results:
                    work[i] = (
                        np.where(np.isnan(one), -np.inf, one), np.where(np.isnan(two), np.inf, two)
                    )  # fmt: skip
    return found[0], found[1]


def _nothing(*given: Interval) -> Interval:
    """Of operations of which nothing is known."""
    far = np.full(len(given[0][0]), np.inf) if given else np.full(1, np.inf)
    return -far, far


def _times(one: Interval, two: Interval) -> Interval:
    each = np.array([a * b for a in one for b in two])
    each[np.isnan(each)] = 0.0  # 0 times no bound
    return each.min(axis=0), each.max(axis=0)


def _inverse(one: Interval) -> Interval:
    low, high = one
    apart = (low > 0) | (high < 0)
    return np.where(apart, 1 / high, -np.inf), np.where(apart, 1 / low, np.inf)


def _squared(one: Interval) -> Interval:
    low, high = one
    ends = np.array([low * low, high * high])
    return np.where((low < 0) & (high > 0), 0.0, ends.min(axis=0)), ends.max(axis=0)


def _rising(function: Callable[[Array], Array], least: float = -np.inf) -> Callable[..., Interval]:
    """Of a function that grows, defined from `least` on."""
    return lambda one: (function(np.maximum(one[0], least)), function(np.maximum(one[1], least)))


def _cosine(one: Interval) -> Interval:
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in one)
    endless = ~(np.isfinite(one[0]) & np.isfinite(one[1]))
    ends = np.cos([low, high])
    top = endless | (np.floor(high / (2 * np.pi)) >= np.ceil(low / (2 * np.pi)))
    bottom = endless | (
        np.floor((high - np.pi) / (2 * np.pi)) >= np.ceil((low - np.pi) / (2 * np.pi))
    )
    return np.where(bottom, -1.0, ends.min(axis=0)), np.where(top, 1.0, ends.max(axis=0))


def _sine(one: Interval) -> Interval:
    return _cosine((one[0] - np.pi / 2, one[1] - np.pi / 2))


def _magnitude(one: Interval) -> Interval:
    low, high = np.abs(one)
    return np.where((one[0] < 0) & (one[1] > 0), 0.0, np.minimum(low, high)), np.maximum(low, high)


def _power(one: Interval, two: Interval) -> Interval:
    exponent = two[0][0]
    if not ((two[0] == exponent).all() and (two[1] == exponent).all()):
        return _nothing(one)
    if exponent == round(exponent) and exponent >= 0:
        whole = _magnitude(one) if exponent % 2 == 0 else one
        return whole[0] ** exponent, whole[1] ** exponent
    if exponent > 0:
        return tuple(np.maximum(end, 0.0) ** exponent for end in one)  # type: ignore[return-value]
    return _inverse(_power(one, (-two[0], -two[1])))


_WAYS: dict[int, Callable[..., Interval]] = {
    ca.OP_ASSIGN: lambda one: one,
    ca.OP_NEG: lambda one: (-one[1], -one[0]),
    ca.OP_ADD: lambda one, two: (one[0] + two[0], one[1] + two[1]),
    ca.OP_SUB: lambda one, two: (one[0] - two[1], one[1] - two[0]),
    ca.OP_MUL: _times,
    ca.OP_DIV: lambda one, two: _times(one, _inverse(two)),
    ca.OP_SQ: _squared,
    ca.OP_TWICE: lambda one: (2 * one[0], 2 * one[1]),
    ca.OP_INV: _inverse,
    ca.OP_SQRT: _rising(np.sqrt, 0.0),
    ca.OP_EXP: _rising(np.exp),
    ca.OP_LOG: _rising(np.log, 0.0),
    ca.OP_ATAN: _rising(np.arctan),
    ca.OP_TANH: _rising(np.tanh),
    ca.OP_SINH: _rising(np.sinh),
    ca.OP_COSH: lambda one: _rising(np.cosh)(_magnitude(one)),
    ca.OP_SIN: _sine,
    ca.OP_COS: _cosine,
    ca.OP_FABS: _magnitude,
    ca.OP_SIGN: _rising(np.sign),
    ca.OP_FMIN: lambda one, two: (np.minimum(one[0], two[0]), np.minimum(one[1], two[1])),
    ca.OP_FMAX: lambda one, two: (np.maximum(one[0], two[0]), np.maximum(one[1], two[1])),
    ca.OP_POW: _power,
    ca.OP_CONSTPOW: _power,
}
"""By operation, what becomes of intervals; nothing is known of others."""

_WITH_EDGES = {
    ca.OP_FABS, ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX, ca.OP_IF_ELSE_ZERO, ca.OP_COPYSIGN,
    ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMOD,
}  # fmt: skip
