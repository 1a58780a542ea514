"""Closed forms of clusters that gears tie together: loop after loop, and gear after gear.

Each loop of such a cluster (or several that share joints) may lie in a plane of its own. One that
is a planar figure with what is known is solved; a gear with all joints but one known gives
that one. So geared five-bars, and four-bars that drive each other by gears, need no iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...model.motion_law import MotionLaw
from ...prepare.clusters import Closure, Cluster, Gear
from ...prepare.tree import Tree
from ..algebra.spatial import SX, Position
from .linkage import law_of_motion, polynomial
from .planar_figure import PlanarFigure, planar_figure
from .planar_linkage import NUMBERS, Lengths


@dataclass(frozen=True)
class Geared:
    """The position of `body` as shift + sum factor q, `factors` by body; else as of `Gear`."""

    body: int
    factors: tuple[tuple[int, float], ...]
    shift: float
    powers: tuple[tuple[int, tuple[float, ...]], ...] = ()
    laws: tuple[tuple[int, MotionLaw], ...] = ()

    def value(self, known: Mapping[int, SX]) -> SX:
        """It at known positions (1, 1) by body."""
        powers = dict(self.powers)
        terms = (
            polynomial((0.0, factor, *powers.get(body, ())), known[body])
            for body, factor in self.factors
        )
        more = (law_of_motion(law, known[body])[0] for body, law in self.laws)
        return sum(more, sum(terms, SX(self.shift)))


@dataclass(frozen=True)
class Stepwise:
    """A closed form by steps, each from joints that are given or that a step before has solved."""

    given_bodies: tuple[int, ...]
    steps: tuple[Geared | PlanarFigure, ...]

    def positions(self, *q: SX) -> dict[int, Position]:
        """Positions of the dependent joints, by body; NaN out of reach."""
        known = dict(zip(self.given_bodies, q, strict=True))
        result: dict[int, Position] = {}
        for k, step in enumerate(self.steps):
            if isinstance(step, Geared):
                result[step.body] = known[step.body] = step.value(known)
                continue
            at = [known[body] for body in step.given_bodies]
            result |= step.positions(*at)
            if {one.joint.body for one in step.dependent} & self._taken_after(k):
                values = step.values(*at)
                known |= values
                result |= {body: value for body, value in values.items() if body in self._raised}
        return result

    @property
    def figures(self) -> tuple[PlanarFigure, ...]:
        """The figures among its steps."""
        return tuple(step for step in self.steps if isinstance(step, PlanarFigure))

    def with_figures(self, figures: Iterable[PlanarFigure]) -> Stepwise:
        """The same with other figures in their places."""
        left = iter(figures)
        steps = (next(left) if isinstance(one, PlanarFigure) else one for one in self.steps)
        return replace(self, steps=tuple(steps))

    @property
    def varies(self) -> bool:
        """Whether it is of lengths that vary."""
        return any(one.varies for one in self.figures)

    @property
    def _raised(self) -> set[int]:
        """The bodies of whose positions powers are taken: their angles must be numbers."""
        geared = (step for step in self.steps if isinstance(step, Geared))
        return {body for step in geared for body, _ in (*step.powers, *step.laws)}

    def values(self, *q: SX) -> dict[int, SX]:
        """Positions (1, 1) of the dependent joints by body, as continuous as those of each step."""
        known = dict(zip(self.given_bodies, q, strict=True))
        for step in self.steps:
            if isinstance(step, Geared):
                known[step.body] = step.value(known)
            else:
                known |= step.values(*(known[body] for body in step.given_bodies))
        return {body: value for body, value in known.items() if body not in self.given_bodies}

    def _taken_after(self, place: int) -> set[int]:
        """The bodies from which the steps after one take positions."""
        taken: set[int] = set()
        for step in self.steps[place + 1 :]:
            if isinstance(step, Geared):
                taken |= {body for body, _ in step.factors}
            else:
                taken |= set(step.given_bodies)
        return taken


def closed_form(
    tree: Tree, cluster: Cluster, given: Sequence[int], home: Mapping[int, float],
    unit: float = 1.0, lengths: Lengths = NUMBERS,
) -> PlanarFigure | Stepwise | None:  # fmt: skip
    """The closed form of a cluster with loops; None if it has none.

    Parameters as of `planar_figure`.
    """
    if not cluster.gears:
        return planar_figure(tree, cluster, given, home, unit, lengths)
    known, steps = set(given), list[Geared | PlanarFigure]()
    groups, gears = _groups(cluster), list(cluster.gears)
    while known != set(cluster.coupled):
        step = _figure(tree, groups, known, home, unit, lengths) or _gear(gears, known)
        if step is None:
            return None
        steps.append(step)
        new = (
            {step.body} if isinstance(step, Geared) else {one.joint.body for one in step.dependent}
        )
        known |= new
    if any(gear.leading for gear in gears):  # it repeats others, by angles that may be no numbers
        return None
    return Stepwise(tuple(given), tuple(steps))


def _figure(
    tree: Tree, groups: list[Cluster], known: set[int], home: Mapping[int, float], unit: float,
    lengths: Lengths,
) -> PlanarFigure | None:  # fmt: skip
    """The first group of loops that is a figure with what is known; it is taken from the list."""
    for group in groups:
        given = [body for body in group.coupled if body in known]
        if not given:
            continue
        figure = planar_figure(tree, group, given, home, unit, lengths)
        if figure is not None:
            groups.remove(group)
            return figure
    return None


def _gear(gears: list[Gear], known: set[int]) -> Geared | None:
    """The first gear that gives a joint; it is taken from the list."""
    for gear in gears:
        open_ones = [(body, factor) for body, factor in gear.factors if body not in known]
        if len(open_ones) == 1 and open_ones[0][0] not in gear.leading:
            gears.remove(gear)
            ((body, own),) = open_ones
            others = ((other, -factor / own) for other, factor in gear.factors if other != body)
            powers = ((other, tuple(-one / own for one in more)) for other, more in gear.powers)
            laws = ((other, law.scaled(-1 / own)) for other, law in gear.laws)
            return Geared(body, tuple(others), -gear.shift / own, tuple(powers), tuple(laws))
    return None


def _groups(cluster: Cluster) -> list[Cluster]:
    """The loops of a cluster, those that share joints together, without gears."""
    groups: list[list[Closure]] = []
    for closure in cluster.closures:
        sharing = [
            group for group in groups if any(set(one.bodies) & set(closure.bodies) for one in group)
        ]
        groups = [group for group in groups if group not in sharing]
        groups.append([*(one for group in sharing for one in group), closure])
    return [
        Cluster(
            tuple(b for b in cluster.bodies if any(b in one.bodies for one in group)),
            tuple(one for one in cluster.closures if one in group),
        )
        for group in groups
    ]


@dataclass(frozen=True)
class Standstill:
    """The positions (rad or m) of joints that cannot move, by body: a closed form of nothing."""

    places: tuple[tuple[int, float], ...]

    @staticmethod
    def at(bodies: Iterable[int], positions: Iterable[float]) -> Standstill:
        """All joints of a linkage at their positions at home."""
        return Standstill(tuple(zip(bodies, map(float, positions), strict=True)))

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """It follows from no other joint."""
        return ()

    def positions(self) -> dict[int, Position]:
        """Where the joints are, by body."""
        return dict(self.values())

    def values(self) -> dict[int, SX]:
        """The positions (1, 1) by body."""
        return {body: SX(position) for body, position in self.places}
