"""The deepest points of a ball in a wall, where there may be several.

The least g over |y - x| <= r is sought from many places on the ball, as close as bounds of the
derivatives of g say that it bends anew. Neighbours are compared, and from the lower ones lead steps
that only go down:

    u -> -r (grad g - k u) / |grad g - k u|,   k at least the curvature of g at x + u,

which lessens the bound g + grad g . du + k du^2 / 2 most, or Newton's, if that goes further down.
Those that are left are improved to the last digit, and the deepest of them are what touches, as the
two flanks of a valley do. The search has no memory: the deepest points are functions of x.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
import numpy.typing as npt

from ...array import Array
from ...errors import InputError
from ...program.stages import Stages
from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX, constant
from .signed_distance import Ball, length, newton_step
from .steepness import Steepness

SLIDES, NEWTON_DESCENTS, LAST_DESCENTS, LAST_POLISHES = 2, 2, 3, 3
"""Steps down from every place, with Newton's from those that lead to lower ones than their
neighbours, from the deepest of all, and Newton's that end them."""

MOST_DEEPEST = 3
"""Places at which a ball may touch a wall at once: as many as determine where it lies."""

TWO_DEEPEST = 1e-2
"""Share of the radius by which two deepest points differ."""

FEWEST_STARTS = 4
"""Places that are not halved."""

SPREAD_OF_STARTS = 1.0
"""Way between places where the search begins, by the way on which g bends anew."""

CLOSER_ALL_ROUND = 0.5
"""Share of that way where g does not grow with a height at a constant rate."""

SPREAD_UNKNOWN = 1 / 3
"""The same by the radius, where nothing bounds g."""

MOST_STARTS = 4000
"""Places on a ball at most."""

POLISHED_WITHIN = 1e-2
"""Share of the radius from which Newton's method ends at the deepest point."""


def starts(steepness: Steepness, radius: float) -> Array:
    """Unit vectors (n, 3) to places on a ball of this radius (m), close by the bounds of g, and
    neighbours one after the other.

    Where g grows with a height at a constant rate, its deepest point is not further aside than its
    greatest slope leads.

    Raises
    ------
    InputError
        They are too many.
    """
    spread = [_spread(steepness, k, radius) for k in range(3)]
    if not steepness.up:
        close = CLOSER_ALL_ROUND * min(spread)
        count = int(np.ceil(4 * np.pi * (radius / close) ** 2))
        _require_few(count, radius, min(spread))
        k = np.arange(count) + 0.5
        height, turn = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k  # Fibonacci's spiral
        aside = np.sqrt(1 - height**2)
        whole = np.array([aside * np.cos(turn), aside * np.sin(turn), height])
        cells = ((whole + 1) * radius / close).astype(int)
        return whole.T[np.argsort(_interleaved(cells))]
    up = abs(steepness.up) - 1
    ways = [k for k in range(3) if k != up]
    slopes = np.array(steepness.slopes)
    most = [_share(slopes[k], slopes[up]) for k in ways]
    counts = [
        2 * int(np.ceil(share * radius / spread[k])) + 1 if share else 1
        for k, share in zip(ways, most, strict=True)
    ]
    _require_few(counts[0] * counts[1], radius, min(spread[k] for k in ways))
    axes = [
        np.linspace(-share, share, n) if n > 1 else np.zeros(1)
        for share, n in zip(most, counts, strict=True)
    ]
    grid = np.array(np.meshgrid(*map(np.arange, counts), indexing="ij")).reshape(2, -1)
    i, j = grid[:, np.argsort(_interleaved(grid))]
    aside = np.array([axes[0][i], axes[1][j]])
    steepest = _share(float(np.hypot(*slopes[ways])), slopes[up])
    aside = aside[:, np.hypot(*aside) <= steepest + 1e-9]
    places: Array = np.zeros((aside.shape[1], 3))
    places[:, ways] = aside.T
    places[:, up] = -np.sign(steepness.up) * np.sqrt(np.maximum(1 - (aside**2).sum(axis=0), 0))
    return places


def _interleaved(places: npt.NDArray[np.int64]) -> Array:
    """Numbers (n,) of places (m, n) on a grid along a curve that fills it (Morton 1966)."""
    bits = [
        (places[k] >> bit & 1) << (bit * len(places) + k)
        for bit in range(12)
        for k in range(len(places))
    ]
    numbers: Array = np.sum(bits, axis=0)
    return numbers


def _share(slope: float, climb: float) -> float:
    return float(slope / np.hypot(slope, climb)) if np.isfinite(slope) else 1.0


def _spread(steepness: Steepness, k: int, radius: float) -> float:
    """The same for a ball of that radius (m): a sixth of the way from hollow to hollow."""
    way = bends_anew(steepness, k)
    return SPREAD_OF_STARTS * min(way, 2 * radius) if way else SPREAD_UNKNOWN * radius


def bends_anew(steepness: Steepness, k: int) -> float:
    """Way (m) along an axis on which g bends anew, infinite where it never does; 0 if unknown."""
    slope, bend, twist = (one[k] for one in (steepness.slopes, steepness.bends, steepness.twists))
    if not np.isfinite([slope, bend, twist]).all():
        return 0.0
    return min([a / b for a, b in ((slope, bend), (bend, twist)) if b], default=np.inf)


def _require_few(count: int, radius: float, spread: float) -> None:
    if count > MOST_STARTS:
        raise InputError(
            f"a ball of {radius:g} m may touch a wall that bends anew every {spread:.3g} m at more "
            f"than {MOST_STARTS} places; give smaller balls, or a smoother wall"
        )


def deepest(
    ball: Ball, stages: Stages, centres: Sequence[Sequence[SX]], radii: Sequence[float]
) -> list[list[SX]]:
    """The `MOST_DEEPEST` places where every ball is deepest, from its middle (3, 1), the deepest
    first; 0 where there are fewer.

    Parameters
    ----------
    centres : middles (3, 1) and radii, as symbols. radii : their numbers, m.
    """
    assert ball.face is not None and ball.steepness is not None
    ways = starts(ball.steepness, max(radii))
    directions = int((np.ptp(ways, axis=0) > 0).sum()) - 1
    halvings = max(1, directions) if ball.steepness.up else 0
    look, slide, descend, end = search_steps(ball.face)
    places = [[ca.vertcat(r * constant(way), 0) for way in ways] for _, r in centres]

    def move(steps: Sequence[ca.Function], given: Sequence[Sequence[SX]] = centres) -> None:
        each = [one for one, of in zip(given, places, strict=True) for _ in of]
        moved = iter(stages.changed([one for of in places for one in of], steps, each))
        places[:] = [[next(moved) for _ in of] for of in places]

    def halve() -> None:
        half = len(places[0]) // 2
        pairs = [(of[2 * k], of[2 * k + 1]) for of in places for k in range(half)]
        lower = iter(
            stages.changed([two for _, two in pairs], [_lower()], [[one] for one, _ in pairs])
        )
        places[:] = [[next(lower) for _ in range(half)] + of[2 * half :] for of in places]

    move([look])
    for steps in ([slide] * SLIDES, [descend] * NEWTON_DESCENTS):
        for _ in range(halvings):
            if len(places[0]) > FEWEST_STARTS:
                halve()
        move(steps)
    move([descend] * LAST_DESCENTS + [end] * LAST_POLISHES)
    found: list[list[SX]] = [[] for _ in centres]
    while True:
        several = places[:]
        while len(places[0]) > 1:
            halve()
        for (one,), of in zip(places, found, strict=True):
            of.append(one[:3])
        if len(found[0]) == MOST_DEEPEST:
            return found
        others = [[r, one] for (_, r), (one,) in zip(centres, places, strict=True)]
        places = several
        move([_apart()], others)


@serialized
def _lower() -> ca.Function:
    """Of two places with their g (4, 1) the lower."""
    one, other = SX.sym("one", 4), SX.sym("other", 4)
    return lasting(ca.Function("lower", [one, other], [ca.if_else(one[3] <= other[3], one, other)]))


@serialized
def _apart() -> ca.Function:
    """A place with its g (4, 1), or nothing, (0, 0, 0, inf), where it is that of another one.

    Its first arguments are the radius and the other."""
    r, other, one = SX.sym("r"), SX.sym("other", 4), SX.sym("one", 4)
    is_other = ca.sumsqr(one[:3] - other[:3]) < (TWO_DEEPEST * r) ** 2
    found = ca.if_else(is_other, ca.vertcat(0, 0, 0, np.inf), one)
    return lasting(ca.Function("apart", [r, other, one], [found]))


@serialized
def search_steps(face: ca.Function) -> tuple[ca.Function, ...]:
    """Steps of a ball at x (3, 1) with radius r that change u and g at x + u (4, 1).

    They find g, go down, go down as far as Newton's method may, and take a step of that alone
    where it stays near.
    """
    given = x, r, now = SX.sym("x", 3), SX.sym("r"), SX.sym("now", 4)
    u = now[:3]
    g, slope, bend = face(x + u)
    across = slope - ca.norm_fro(bend) * u
    newton = newton_step(u, r, slope, bend)
    low, far = (ca.vertcat(way, face(x + way)[0]) for way in (-r / length(across) * across, newton))
    lower = ca.if_else(far[3] <= low[3], far, low)
    results = [
        ca.vertcat(u, g),
        ca.if_else(low[3] <= now[3], low, now),
        ca.if_else(lower[3] <= now[3], lower, now),
        ca.vertcat(
            ca.if_else(ca.sumsqr(newton - u) < (POLISHED_WITHIN * r) ** 2, newton, u), now[3]
        ),
    ]
    return tuple(
        lasting(ca.Function("search", list(given), [ca.densify(one)], {"cse": True}))
        for one in results
    )
