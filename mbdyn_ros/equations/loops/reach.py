"""How far a given joint of a planar linkage can go from home before it comes to a singularity.

A triangle closes where each of its margins, such as (l_a + l_b)^2 - |D|^2, is positive. Where the
joint alone changes one side, over its angle theta a margin is A + |B| cos(theta - beta), over its
slide a parabola. Where margins vanish the two branches of the triangle meet; behind that may lie
positions at which it closes again, but which cannot be reached from home. Triangles that the joint
moves through others are searched.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ...array import Array
from ..algebra.spatial import SX

NO_MARGIN = 1e-12
"""Least margin, as a share of the loop's size, that counts as none: branches meet at a point."""

STEEPEST = 1e3
"""Change of a margin over a step that tells its form well, and its inverse too."""

REACH_MARGIN = 1e-12
"""Distance (rad or m) to a singularity, up to which a position counts as reachable."""


SEARCHED = 2001
"""Positions to each side of home at which a margin is looked at."""


@dataclass(frozen=True)
class PositionRange:
    """Positions (rad or m) of the given joint between which the loop stays on its branch.

    lower, upper : the singularities on both sides of home.
    before, beyond : positions in the middle of the intervals beyond them in which the loop
        is open; what lies farther out closes, but is not reached.
    """

    lower: float = field(default=-math.inf, repr=False)
    upper: float = field(default=math.inf, repr=False)
    before: float = -math.inf
    beyond: float = math.inf

    def __and__(self, other: PositionRange) -> PositionRange:
        return PositionRange(
            max(self.lower, other.lower),
            min(self.upper, other.upper),
            max(self.before, other.before),
            min(self.beyond, other.beyond),
        )

    def shifted(self, shift: float) -> PositionRange:
        """The reach counted from elsewhere."""
        return PositionRange(
            self.lower + shift, self.upper + shift, self.before + shift, self.beyond + shift
        )

    def penalty(self, q: SX) -> SX:
        """0, or minus infinity beyond an open interval; two comparisons at most."""
        before, beyond = self.before, self.beyond
        outside = []
        if before > -math.inf and beyond < math.inf:
            outside = [ca.fabs(q - (before + beyond) / 2) > (beyond - before) / 2]
        elif beyond < math.inf:
            outside = [q > beyond]
        elif before > -math.inf:
            outside = [q < before]
        return ca.if_else(outside[0], -math.inf, 0) if outside else SX(0)

    def nearest(self, q: float) -> float:
        """The position nearest to q that is reached."""
        return min(max(q, self.lower + REACH_MARGIN), self.upper - REACH_MARGIN)


def reach_of_turn(margin: Callable[[complex], float], sense: float, home: float) -> PositionRange:
    """Where the margin, a function of exp(i theta), stays positive around theta = sense home."""
    turns = [cmath.exp(2j * math.pi * k / 3) for k in range(3)]
    values = [margin(t) for t in turns]
    mean = sum(values) / 3
    swing = 2 / 3 * sum(value * t for value, t in zip(values, turns, strict=True))
    if mean > abs(swing) + NO_MARGIN or swing == 0:
        return PositionRange()
    half = math.acos(min(max(-mean / abs(swing), -1.0), 1.0))
    centre = home + math.remainder(sense * cmath.phase(swing) - home, 2 * math.pi)
    return PositionRange(centre - half, centre + half, centre - math.pi, centre + math.pi)


def reach_of_slide(margin: Callable[[complex], float], home: float) -> PositionRange:
    """Where the margin, a parabola over the slide or a line, stays positive around home."""
    step = 1.0
    for _ in range(4):
        behind, here, ahead = (margin(complex(home + shift)) for shift in (-step, 0.0, step))
        rise, bend = (ahead - behind) / 2, (ahead + behind) / 2 - here
        steep = max(abs(rise), math.sqrt(abs(bend)))
        if 1 / STEEPEST <= steep <= STEEPEST or steep == 0.0:
            break
        step /= steep  # a tiny loop, or a huge one
    rise, bend = rise / step, bend / step**2
    if abs(bend) * step**2 <= NO_MARGIN:  # a line
        if abs(rise) * step <= NO_MARGIN:
            return PositionRange()
        end = home - here / rise
        return PositionRange(lower=end) if rise > 0 else PositionRange(upper=end)
    middle = home - rise / (2 * bend)
    extreme = here - rise * rise / (4 * bend)
    half = math.sqrt(max(-extreme / bend, 0.0))
    if bend < 0:  # open on both sides
        return PositionRange(middle - half, middle + half)
    if extreme > NO_MARGIN:
        return PositionRange()
    if home > middle:
        return PositionRange(lower=middle + half, before=middle)
    return PositionRange(upper=middle - half, beyond=middle)


def reach_by_search(
    margin: Callable[[Array], Array], home: float, far: float, periodic: bool
) -> PositionRange:
    """Where the margin of many positions stays positive around home; looked for up to `far`.

    What repeats itself beyond `far` (`periodic`) has no end there if it has none before.
    """
    ends = [_end_by_search(margin, home, far * side) for side in (-1, 1)]
    if periodic and any(end is None for end, _ in ends):
        return PositionRange()
    (lower, before), (upper, beyond) = ends
    return PositionRange(
        -math.inf if lower is None else lower,
        math.inf if upper is None else upper,
        -math.inf if before is None else before,
        math.inf if beyond is None else beyond,
    )


def _end_by_search(
    margin: Callable[[Array], Array], home: float, shift: float
) -> tuple[float | None, float | None]:
    """The end of the positive interval on one side of home, and the middle of the next one."""
    grid = home + shift * np.linspace(0.0, 1.0, SEARCHED)
    values = margin(grid)
    negative = np.flatnonzero(values <= 0)
    if not len(negative):
        return None, None
    first = int(negative[0])
    inside, outside = grid[max(first - 1, 0)], grid[first]
    for _ in range(60):
        middle = (inside + outside) / 2
        if margin(np.array([middle]))[0] > 0:
            inside = middle
        else:
            outside = middle
    again = first + np.flatnonzero(values[first:] > 0)
    if not len(again):
        return float(inside), None
    middle, step = (inside + grid[int(again[0])]) / 2, abs(shift) / SEARCHED / 16
    return float(inside), float(step * round(middle / step))  # the same for any home near by
