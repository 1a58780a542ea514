"""Closed form of a planar linkage: its triangles, solved one after the other on their branches.

The reach of a joint is how far it can go from home before it comes to a singularity. A triangle
closes where each of its margins, such as (l_a + l_b)^2 - |D|^2, is positive. Where the joint alone
changes one side, over its angle theta a margin is A + |B| cos(theta - beta), over its slide a
parabola. Where margins vanish the two branches of the triangle meet; beyond, there may be
positions at which it closes again, but which cannot be reached from home. Triangles that the joint
moves through others are searched.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from ...array import Array
from ...prepare.clusters import Cluster
from ...prepare.tree import Tree
from ..algebra.complex_plane import Complex
from ..algebra.phasors import Coefficient, KnownPhasors, Phasor, Vector
from ..algebra.spatial import SX, Position
from .dyads import Dyads
from .planar_linkage import NUMBERS, Lengths, PlanarJoint, planar_linkage
from .triangle import Triangle

MATCHES = 1e-7
"""Largest distance (rad, or the unit of lengths) of a closed form from home, whole turns apart."""


@dataclass(frozen=True)
class SolvedJoint:
    """A dependent joint: a phasor that is its turn or its slide, and whole turns added to it."""

    joint: PlanarJoint
    phasor: Phasor
    turns: int = 0


@dataclass(frozen=True)
class PlanarFigure:
    """A planar linkage solved for its given joints, on one assembly branch.

    triangles, branches : solved in this order. eighths : what `Vector.direction` needs of their
        sides. reach : how far each given joint can go from home, as far as triangles tell that
        move with it alone; others end where they do not close.
    """

    given: tuple[PlanarJoint, ...]
    triangles: tuple[Triangle, ...]
    branches: tuple[int, ...]
    eighths: tuple[tuple[int, ...], ...]
    dependent: tuple[SolvedJoint, ...]
    reach: tuple[PositionRange, ...]

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """The bodies of the given joints."""
        return tuple(joint.body for joint in self.given)

    def positions(self, *q: SX) -> dict[int, Position]:
        """Turns and slides of the dependent joints at the given joints' positions (1, 1); NaN out
        of reach."""
        known = self._solved(q)
        result: dict[int, Position] = {}
        for one in self.dependent:
            value = one.phasor.at(known)
            result[one.joint.body] = one.joint.turn(value) if one.joint.revolute else value.re
        return result

    def values(self, *q: SX) -> dict[int, SX]:
        """Positions (1, 1) of the dependent joints, as continuous in q as
        `phasors.Vector.direction` is."""
        known = self._solved(q)
        for joint, position in zip(self.given, q, strict=True):
            if joint.revolute:
                known.angles[joint.body] = joint.angle(position)
        for triangle, branch, penalty, eighths in zip(
            self.triangles, self.branches, self._penalties(q), self.eighths, strict=True
        ):
            triangle.measure(known, branch, penalty, eighths)
        result = {}
        for one in self.dependent:
            if one.joint.revolute:
                angle = one.joint.position(one.phasor.argument(known))
                result[one.joint.body] = angle + 2 * math.pi * one.turns
            else:
                result[one.joint.body] = one.phasor.at(known).re
        return result

    def margins(self, *q: SX) -> SX:
        """Numbers (n, 1) without unit, each positive where a triangle closes."""
        known = self._solved(q)
        pairs = zip(self.triangles, self.branches, strict=True)
        return ca.vertcat(*(one.margin(known, branch) for one, branch in pairs))

    @property
    def varies(self) -> bool:
        """Whether it is of lengths that vary."""
        phasors = [one.phasor for one in self.dependent]
        phasors += [term for one in self.triangles for side in one.sides for term in side.terms]
        return any(isinstance(one.factor, Coefficient) for one in phasors)

    def changed(self, change: Callable[[SX], SX]) -> PlanarFigure:
        """The figure with its coefficients' expressions changed."""

        def phasor(one: Phasor) -> Phasor:
            factor = one.factor
            if not isinstance(factor, Coefficient):
                return one
            expression = Complex(change(factor.expression.re), change(factor.expression.im))
            return replace(one, factor=Coefficient(factor.samples, expression))

        def triangle(one: Triangle) -> Triangle:
            sides = {
                name: Vector(tuple(map(phasor, side.terms)))
                for name, side in vars(one).items()
                if isinstance(side, Vector)
            }
            return replace(one, **sides)  # type: ignore[arg-type]

        return replace(
            self,
            triangles=tuple(map(triangle, self.triangles)),
            dependent=tuple(replace(one, phasor=phasor(one.phasor)) for one in self.dependent),
        )

    def _solved(self, q: Sequence[SX]) -> KnownPhasors:
        """All units and slides."""
        known = KnownPhasors()
        for joint, position in zip(self.given, q, strict=True):
            if joint.revolute:
                known.units[joint.body] = joint.unit(position)
            else:
                known.slides[joint.body] = position
        for triangle, branch, penalty in zip(
            self.triangles, self.branches, self._penalties(q), strict=True
        ):
            triangle.solve(known, branch, penalty)
        return known

    def _penalties(self, q: Sequence[SX]) -> list[SX]:
        """For each triangle 0, or minus infinity where the position cannot be reached from home."""
        by_body = {
            joint.body: reach.penalty(position)
            for joint, reach, position in zip(self.given, self.reach, q, strict=True)
        }
        penalties = []
        for triangle in self.triangles:
            near = {symbol for side in triangle.sides for symbol in side.symbols} & set(by_body)
            penalties.append(sum((by_body[body] for body in sorted(near)), SX(0)))
        return penalties

    def reached(self, home: Sequence[float]) -> tuple[PositionRange, ...]:
        """How far each given joint can go from positions at which all closes."""
        causes: dict[int, set[int]] = {body: {body} for body in self.given_bodies}
        reach = [PositionRange() for _ in self.given]
        searched: dict[int, list[int]] = {}
        for k, (triangle, branch) in enumerate(zip(self.triangles, self.branches, strict=True)):
            near = {symbol for side in triangle.sides for symbol in side.symbols}
            moved = set().union(*(causes[symbol] for symbol in near))
            causes |= dict.fromkeys(triangle.solved, moved)
            if len(moved) != 1:
                continue
            place = self.given_bodies.index(*moved)
            if near == moved:
                reach[place] &= _direct(self.given[place], triangle, branch, home[place])
            else:
                searched.setdefault(place, []).append(k)
        for place, chosen in searched.items():
            reach[place] &= self._search(place, chosen, home)
        return tuple(reach)

    def _search(self, place: int, chosen: Sequence[int], home: Sequence[float]) -> PositionRange:
        """How far a given joint can go by the triangles that it alone moves."""
        q = SX.sym("q")
        at = [*map(SX, home[:place]), q, *map(SX, home[place + 1 :])]
        free = replace(self, reach=tuple(PositionRange() for _ in self.given))
        function = ca.Function("margin", [q], [ca.mmin(free.margins(*at)[list(chosen)])])

        def margin(grid: Array) -> Array:
            values = np.array(function(grid[None])).ravel()
            return np.where(np.isfinite(values), values, -1.0)

        far = 2 * sum(side.length for one in self.triangles for side in one.lengths)
        turn = self.given[place].revolute
        return reach_by_search(margin, home[place], 2 * math.pi if turn else far, turn)


def _direct(joint: PlanarJoint, triangle: Triangle, branch: int, home: float) -> PositionRange:
    """How far a triangle lets a joint go that alone changes it."""
    reach = PositionRange()
    for margin in triangle.margins(joint.body, branch):
        if joint.revolute:
            offset = joint.offset
            reach &= reach_of_turn(margin, joint.sense, home + offset).shifted(-offset)
        else:
            reach &= reach_of_slide(margin, home)
    return reach


def planar_figure(
    tree: Tree,
    cluster: Cluster,
    given: Sequence[int],
    home: Mapping[int, float],
    unit: float = 1.0,
    lengths: Lengths = NUMBERS,
) -> PlanarFigure | None:
    """The closed form of a cluster with the joints of bodies `given` given; None if it has none.

    home : closed positions of all its joints, by body; they choose the branch.
    unit : length (m) that suits the cluster.
    lengths : symbols in the tree. The reach of a figure with such is not bounded.
    """
    linkage = planar_linkage(tree, cluster, lengths)
    if linkage is None:
        return None
    dyads = Dyads(linkage, given)
    if dyads.turns is None:
        return None
    numbers = dyads.numbers(home)
    dependent = []
    for connection in linkage.connections:
        joint = connection.joint
        if joint is None or joint.body in given:
            continue
        if joint.revolute:
            parent, child = (dyads.turns[end.link] for end in connection.ends)
            dependent.append(SolvedJoint(joint, parent.conj() * child))
        else:
            dependent.append(SolvedJoint(joint, Phasor(slide=dyads.slide(connection))))
    figure = PlanarFigure(
        tuple(linkage.joints[body] for body in given),
        tuple(dyads.triangles),
        tuple(one.branch_at(numbers) for one in dyads.triangles),
        tuple(tuple(side.eighths(numbers) for side in one.sides) for one in dyads.triangles),
        tuple(dependent),
        tuple(PositionRange() for _ in given),
    )
    return _at_home(figure, home, unit, lengths)


def _at_home(
    figure: PlanarFigure, home: Mapping[int, float], unit: float, lengths: Lengths
) -> PlanarFigure | None:
    """The figure with its whole turns and its reach; None where it is not what home is."""
    q = [SX.sym(f"q{k}") for k in range(len(figure.given))]
    values = ca.vertcat(*figure.values(*q).values())
    function = ca.Function("values", [*q, lengths.symbols], [values])
    start = [float(home[body]) for body in figure.given_bodies]
    found = np.array(function(*start, lengths.values[:, 0])).ravel()
    dependent = []
    for one, value in zip(figure.dependent, found, strict=True):
        miss = home[one.joint.body] - value
        turns = round(miss / (2 * math.pi)) if one.joint.revolute and math.isfinite(miss) else 0
        scale = 1.0 if one.joint.revolute else unit
        if not abs(miss - 2 * math.pi * turns) < MATCHES * scale:
            return None
        dependent.append(replace(one, turns=turns))
    whole = replace(figure, dependent=tuple(dependent))
    return whole if lengths is not NUMBERS else replace(whole, reach=figure.reached(start))


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
    before: float | SX = -math.inf
    beyond: float | SX = math.inf

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
