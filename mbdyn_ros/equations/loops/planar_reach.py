"""How far the given joints of a planar linkage can go from home, for many lengths at once.

A triangle closes where each of its margins, such as (l_a + l_b)^2 - |D|^2, is positive. Where one
joint alone changes one side, over its angle theta a margin is A + |B| cos(theta - beta), over its
slide a parabola. Where margins vanish the two branches of the triangle meet; beyond, there may be
positions at which it closes again, but which cannot be reached from home. Triangles that the joint
moves through others are searched.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ...array import Array
from ...program.columns import Columns
from ..algebra.phasors import Complex, KnownPhasors, on_symbols
from ..algebra.spatial import SX
from .planar_linkage import PlanarJoint
from .triangle import Triangle

NO_MARGIN = 1e-12
"""Least margin, as a share of the loop's size, that counts as none: branches meet at a point."""

STEEPEST = 1e3
"""Change of a margin over a step that shows its form well, and its inverse."""

REACH_MARGIN = 1e-12
"""Distance (rad or m) to a singularity, up to which a position counts as reachable."""

SEARCHED = 2001
"""Positions to each side of home at which a margin is looked at."""

FINER_PARTS, FINER_ROUNDS = 64, 8
"""Parts of the step in which an end is found, and how often it is looked for in these: to
rounding."""

SEARCHED_TOGETHER = 64
"""Designs that are searched together: their margins fill some megabytes."""

Margin = Callable[[Any], Array]
"""A margin of N designs over a position of each."""


@dataclass(frozen=True)
class PositionRange:
    """Positions (rad or m) of the given joint between which the loop stays on its branch.

    Numbers, or arrays (N,) of N designs.

    lower, upper : the singularities on both sides of home.
    before, beyond : positions in the middle of the intervals beyond them in which the loop
        is open; what lies farther out closes, but is not reached.
    """

    lower: Any = field(default=-math.inf, repr=False)
    upper: Any = field(default=math.inf, repr=False)
    before: Any = -math.inf
    beyond: Any = math.inf

    def __and__(self, other: PositionRange) -> PositionRange:
        return PositionRange(
            np.maximum(self.lower, other.lower),
            np.minimum(self.upper, other.upper),
            np.maximum(self.before, other.before),
            np.minimum(self.beyond, other.beyond),
        )

    def shifted(self, shift: float) -> PositionRange:
        """The reach counted from elsewhere."""
        return PositionRange(
            self.lower + shift, self.upper + shift, self.before + shift, self.beyond + shift
        )

    def of(self, design: int) -> PositionRange:
        """That of one of several designs, in numbers."""
        ends = (self.lower, self.upper, self.before, self.beyond)
        return PositionRange(*(float(np.broadcast_to(one, design + 1)[design]) for one in ends))

    def penalty(self, q: SX) -> SX:
        """0, or minus infinity beyond an open interval; two comparisons at most."""
        before, beyond = self.before, self.beyond
        if isinstance(before, SX):  # of a robot whose lengths vary
            return ca.if_else(ca.logic_or(q < before, q > beyond), -math.inf, 0)
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
        return float(min(max(q, self.lower + REACH_MARGIN), self.upper - REACH_MARGIN))


class FigureReach:
    """How far each given joint of a figure can go from positions at which all closes.

    Parameters
    ----------
    given, triangles, branches : of the figure. symbols : (p, 1), in its lengths; none where these
    are numbers. margins : of all triangles (t, 1) at positions (g, 1) of the given joints,
    wherever they close; asked for where something is searched.
    """

    def __init__(
        self, given: Sequence[PlanarJoint], triangles: Sequence[Triangle],
        branches: Sequence[int], symbols: SX, margins: Callable[[SX], SX],
    ) -> None:  # fmt: skip
        self._given, self._symbols = given, symbols
        self._direct: dict[int, list[Columns]] = {}
        self._searched: dict[int, Columns] = {}
        bodies = [joint.body for joint in given]
        causes: dict[int, set[int]] = {body: {body} for body in bodies}
        searched: dict[int, list[int]] = {}
        for k, (triangle, branch) in enumerate(zip(triangles, branches, strict=True)):
            near = {symbol for side in triangle.sides for symbol in side.symbols}
            moved = set().union(*(causes[symbol] for symbol in near))
            causes |= dict.fromkeys(triangle.solved, moved)
            if len(moved) != 1:
                continue
            place = bodies.index(*moved)
            if near == moved:
                self._direct.setdefault(place, []).extend(self._margins(place, triangle, branch))
            else:
                searched.setdefault(place, []).append(k)
        if not searched:
            return
        q = SX.sym("q", len(given))
        all_margins = margins(q)
        for place, chosen in searched.items():
            least = ca.mmin(all_margins[chosen])
            self._searched[place] = Columns([q, symbols], least)
        sides = (side for one in triangles for side in one.lengths)
        terms = (term for side in sides for term in side.terms if term.slide is None)
        far = sum((2 * ca.sqrt(on_symbols(term.factor).square()) for term in terms), SX(0))
        self._far = Columns([symbols], far)

    def _margins(self, place: int, triangle: Triangle, branch: int) -> list[Columns]:
        """(t, p) -> a margin of a triangle that a joint alone changes; t (2, 1) is its unit
        number, or its slide and 0."""
        body, t, zero = self._given[place].body, SX.sym("t", 2), SX(0)
        known, still = KnownPhasors(), KnownPhasors()
        if self._given[place].revolute:
            known.units[body], still.units[body] = Complex(t[0], t[1]), Complex(zero, zero)
        else:
            known.slides[body], still.slides[body] = t[0], zero
        margins = triangle.margins(body, branch, known, still)
        return [Columns([t, self._symbols], one) for one in margins]

    def at(self, home: Array, parameters: Array) -> tuple[PositionRange, ...]:
        """The ranges of all given joints, arrays (N,). home : (given, N). parameters : (p, N)."""
        reach = [PositionRange() for _ in self._given]
        for place, functions in self._direct.items():
            joint, start = self._given[place], home[place]
            for function in functions:
                margin = functools.partial(_values, function, parameters)
                if joint.revolute:
                    found = _reach_of_turn(margin, joint.sense, start + joint.offset)
                    found = found.shifted(-joint.offset)
                else:
                    found = _reach_of_slide(margin, start)
                reach[place] &= found
        for place, least in self._searched.items():
            turns = self._given[place].revolute
            parts = []
            for k in range(0, home.shape[1], SEARCHED_TOGETHER):
                rows = slice(k, k + SEARCHED_TOGETHER)
                start, chosen = home[:, rows], parameters[:, rows]
                (end,) = [math.tau] if turns else self._far(chosen)
                end = np.broadcast_to(end, start.shape[1:])
                margin = functools.partial(_searched, least, place, start, chosen)
                parts.append(_reach_by_search(margin, start[place], end, turns))
            ends = zip(*(vars(one).values() for one in parts), strict=True)
            reach[place] &= PositionRange(*map(np.concatenate, ends))
        return tuple(reach)


def _values(function: Columns, parameters: Array, t: Any) -> Array:
    """A margin (N,) at a unit number or slide, or at one of each design (N,)."""
    (margin,) = function([np.real(t), np.imag(t)], parameters)
    return np.broadcast_to(margin, parameters.shape[1:])


def _searched(function: Columns, place: int, home: Array, p: Array, q: Array) -> Array:
    """The least margin (N, k) with a given joint at q (N, k); -1 where an earlier one is open."""
    whole = [*home[..., None]]
    whole[place] = q
    (values,) = function(whole, p[..., None])
    return np.broadcast_to(np.where(np.isfinite(values), values, -1.0), q.shape)


def _reach_of_turn(margin: Margin, sense: float, home: Array) -> PositionRange:
    """Where the margin, a function of exp(i theta), stays positive around theta = sense home."""
    turns = np.exp(2j * math.pi * np.arange(3) / 3)
    values = np.stack([margin(t) for t in turns])
    mean, swing = values.mean(axis=0), 2 / 3 * turns @ values
    size = np.abs(swing)
    free = (mean > size + NO_MARGIN) | (size == 0)
    half = np.arccos(np.clip(-mean / np.where(free, 1.0, size), -1.0, 1.0))
    away = sense * np.angle(swing) - home
    centre = home + away - math.tau * np.round(away / math.tau)
    ends = (centre - half, centre + half, centre - math.pi, centre + math.pi)
    never = (-math.inf, math.inf, -math.inf, math.inf)
    return PositionRange(*(np.where(free, one, end) for one, end in zip(never, ends, strict=True)))


def _reach_of_slide(margin: Margin, home: Array) -> PositionRange:
    """Where the margin, a parabola over the slide or a line, stays positive around home."""
    step = np.ones_like(home)
    for _ in range(4):
        behind, here, ahead = (margin(home + shift) for shift in (-step, 0 * step, step))
        rise, bend = (ahead - behind) / 2, (ahead + behind) / 2 - here
        steep = np.maximum(np.abs(rise), np.sqrt(np.abs(bend)))
        good = ((1 / STEEPEST <= steep) & (steep <= STEEPEST)) | (steep == 0.0)
        if good.all():
            break
        step = np.where(good, step, step / steep)  # a tiny loop, or a huge one
    line, level = np.abs(bend) <= NO_MARGIN, np.abs(rise) <= NO_MARGIN
    with np.errstate(divide="ignore", invalid="ignore"):
        rise, bend = rise / step, bend / step**2
        end = home - here / rise
        middle = home - rise / (2 * bend)
        extreme = here - rise * rise / (4 * bend)
        half = np.sqrt(np.maximum(-extreme / bend, 0.0))
        closed = ~line & (bend < 0)  # on both sides
        open_ = ~line & (bend >= 0) & (extreme <= NO_MARGIN)
        above = open_ & (home > middle)
        below = open_ & ~above
        rising, falling = (line & ~level & one for one in (rise > 0, rise <= 0))
        lower = [end, middle - half, middle + half]
        upper = [end, middle + half, middle - half]
    return PositionRange(
        np.select([rising, closed, above], lower, -math.inf),
        np.select([falling, closed, below], upper, math.inf),
        np.where(above, middle, -math.inf),
        np.where(below, middle, math.inf),
    )


def _reach_by_search(margin: Margin, home: Array, far: Array, periodic: bool) -> PositionRange:
    """Where the margin stays positive around home; looked for up to `far` (N,).

    What repeats itself beyond `far` (`periodic`) has no end there if it has none before.
    """
    (lower, before), (upper, beyond) = (
        _end_by_search(margin, home, side * far) for side in (-1, 1)
    )
    if periodic:
        endless = np.isinf(lower) | np.isinf(upper)
        lower, before = np.where(endless, -math.inf, (lower, before))
        upper, beyond = np.where(endless, math.inf, (upper, beyond))
    return PositionRange(lower, upper, before, beyond)


def _end_by_search(margin: Margin, home: Array, shift: Array) -> tuple[Array, Array]:
    """The end of the positive interval on one side of home, and the middle of the next one."""
    grid = home[:, None] + shift[:, None] * np.linspace(0.0, 1.0, SEARCHED)
    closes, rows = margin(grid) > 0, np.arange(len(home))
    first = np.argmin(closes, axis=1)
    ends = ~closes[rows, first]
    inside, outside = grid[rows, np.maximum(first - 1, 0)], grid[rows, first]
    for _ in range(FINER_ROUNDS):
        finer = np.linspace(inside, outside, FINER_PARTS + 1, axis=-1)
        opens = margin(finer) <= 0
        opens[:, -1] = True
        place = np.argmax(opens, axis=1)
        inside, outside = finer[rows, np.maximum(place - 1, 0)], finer[rows, place]
    later = closes & (np.arange(SEARCHED) > first[:, None])
    again = np.argmax(later, axis=1)
    middle, step = (inside + grid[rows, again]) / 2, np.abs(shift) / SEARCHED / 16
    middle = step * np.round(middle / step)  # the same for any home near by
    infinite = np.copysign(math.inf, shift)
    return (
        np.where(ends, inside, infinite),
        np.where(ends & later[rows, again], middle, infinite),
    )
