"""Closed forms of clusters that gears tie together: loop after loop, and gear after gear.

Each loop of such a cluster (or several that share joints) may lie in a plane of its own. One that
is a planar figure with what is known is solved; gears give joints, several at once in planetary
trains. So geared five-bars, and four-bars that drive each other by gears, need no iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from ...prepare.clusters import Closure, Cluster, Gear
from ...prepare.tree import Tree
from ..algebra.spatial import SX, Position
from .linkage import law_of_motion, polynomial, solve_rows
from .planar_figure import PlanarFigure, planar_figure
from .planar_linkage import NUMBERS, Lengths


@dataclass(frozen=True)
class Geared:
    """The positions of some bodies' joints by as many gears, in which they are linear."""

    bodies: tuple[int, ...]
    gears: tuple[Gear, ...]

    @staticmethod
    def of(gears: Iterable[Gear], known: set[int]) -> Geared | None:
        """All positions that gears determine where those of some bodies are known; None of none.

        They are the unknowns of the square part of the gears' rows (Dulmage and Mendelsohn).
        """
        ready = [gear for gear in gears if gear.leading <= known]
        bodies = sorted({body for gear in ready for body, _ in gear.factors} - known)
        rows = SX(len(ready), len(bodies))
        for row, gear in enumerate(ready):
            for body in {body for body, _ in gear.factors} - known:
                rows[row, bodies.index(body)] = 1
        _, chosen, columns, _, _, row_ends, column_ends = rows.sparsity().btf()
        solved = tuple(bodies[column] for column in columns[: column_ends[2]])
        square = tuple(ready[row] for row in chosen[row_ends[1] : row_ends[3]])
        return Geared(solved, square) if solved else None

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """The bodies whose joints they follow."""
        named = {body for gear in self.gears for body, _ in gear.factors}
        return tuple(sorted(named - set(self.bodies)))

    def positions(self, *q: SX) -> dict[int, Position]:
        """The same as `values`."""
        return dict(self.values(*q))

    def values(self, *q: SX) -> dict[int, SX]:
        """The positions (1, 1) by body."""
        known = dict(zip(self.given_bodies, q, strict=True))
        matrix, right = SX(len(self.gears), len(self.bodies)), SX(len(self.gears), 1)
        for row, gear in enumerate(self.gears):
            right[row] = -gear.shift
            powers = dict(gear.powers)
            for body, factor in gear.factors:
                if body in self.bodies:
                    matrix[row, self.bodies.index(body)] += factor
                else:
                    right[row] -= polynomial((0.0, factor, *powers.get(body, ())), known[body])
            for body, law in gear.laws:
                right[row] -= law_of_motion(law, known[body])[0]
        return dict(zip(self.bodies, ca.vertsplit(solve_rows(matrix, right)), strict=True))


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
            at = [known[body] for body in step.given_bodies]
            result |= step.positions(*at)
            taken = {body for later in self.steps[k + 1 :] for body in later.given_bodies}
            if taken & set(step.bodies):
                known |= step.values(*at)
                result |= {body: known[body] for body in step.bodies if body in self._raised}
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
        return {body for step in geared for gear in step.gears for body in gear.leading}

    def values(self, *q: SX) -> dict[int, SX]:
        """Positions (1, 1) of the dependent joints by body, as continuous as those of each step."""
        known = dict(zip(self.given_bodies, q, strict=True))
        for step in self.steps:
            known |= step.values(*(known[body] for body in step.given_bodies))
        return {body: value for body, value in known.items() if body not in self.given_bodies}


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
        step = _figure(tree, groups, known, home, unit, lengths) or Geared.of(gears, known)
        if step is None:
            return None
        steps.append(step)
        known |= set(step.bodies)
        if isinstance(step, Geared):
            gears = [gear for gear in gears if gear not in step.gears]
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
