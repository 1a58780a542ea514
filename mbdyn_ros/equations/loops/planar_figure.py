"""Closed form of a planar linkage: its triangles, solved one after the other on their branches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ...prepare.clusters import Cluster
from ...prepare.tree import Tree
from ..algebra.phasors import Coefficient, Complex, KnownPhasors, Phasor, Vector
from ..algebra.spatial import SX, Position
from .dyads import Dyads
from .planar_linkage import NUMBERS, Lengths, PlanarJoint, planar_linkage
from .planar_reach import FigureReach, PositionRange
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

    triangles, branches : solved in this order; a branch may be a symbol.
    eighths : what `Vector.direction` needs of the triangles' sides.
    reach : how far each given joint can go from home, as far as triangles limit that move with it
        alone; others end where they do not close.
    """

    given: tuple[PlanarJoint, ...]
    triangles: tuple[Triangle, ...]
    branches: tuple[Any, ...]
    eighths: tuple[tuple[int, ...], ...]
    dependent: tuple[SolvedJoint, ...]
    reach: tuple[PositionRange, ...]

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """The bodies of the given joints."""
        return tuple(joint.body for joint in self.given)

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies of the dependent joints."""
        return tuple(one.joint.body for one in self.dependent)

    def positions(self, *q: SX) -> dict[int, Position]:
        """Turns and slides of the dependent joints at the given joints' positions (1, 1); NaN out
        of reach."""
        return self.placed(self.known(q))

    def placed(self, known: KnownPhasors) -> dict[int, Position]:
        """Turns and slides of the dependent joints where all units and slides are known."""
        result: dict[int, Position] = {}
        for one in self.dependent:
            value = one.phasor.at(known)
            result[one.joint.body] = one.joint.turn(value) if one.joint.revolute else value.re
        return result

    def values(self, *q: SX) -> dict[int, SX]:
        """Positions (1, 1) of the dependent joints, as continuous in q as
        `phasors.Vector.direction` is."""
        known = self.known(q)
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
        known = self.known(q)
        pairs = zip(self.triangles, self.branches, strict=True)
        return ca.vertcat(*(one.margin(known, branch) for one, branch in pairs))

    def reach_of_joints(self, symbols: SX) -> FigureReach:
        """How far the given joints go, at values of the symbols (p, 1) in the lengths."""
        free = replace(self, reach=tuple(PositionRange() for _ in self.given))
        return FigureReach(
            self.given, self.triangles, self.branches, symbols,
            lambda q: free.margins(*ca.vertsplit(q)),
        )  # fmt: skip

    @property
    def figures(self) -> tuple[PlanarFigure, ...]:
        """The figures that it is made of: itself."""
        return (self,)

    def with_figures(self, figures: Iterable[PlanarFigure]) -> PlanarFigure:
        """The same of other figures: the first of them."""
        return next(iter(figures))

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

    def known(self, q: Sequence[SX]) -> KnownPhasors:
        """All units and slides at the given joints' positions (1, 1)."""
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
    figure = PlanarFigure(
        tuple(linkage.joints[body] for body in given),
        tuple(dyads.triangles),
        tuple(one.branch_at(numbers) for one in dyads.triangles),
        tuple(tuple(side.eighths(numbers) for side in one.sides) for one in dyads.triangles),
        solved_joints(dyads, given),
        tuple(PositionRange() for _ in given),
    )
    return _at_home(figure, home, unit, lengths)


def solved_joints(dyads: Dyads, given: Sequence[int]) -> tuple[SolvedJoint, ...]:
    """The joints of the tree that are not given, of a linkage whose links are one part."""
    turns, found = dyads.placed, []
    for connection in dyads.linkage.connections:
        joint = connection.joint
        if joint is None or joint.body in given:
            continue
        if joint.revolute:
            parent, child = (turns[end.link] for end in connection.ends)
            found.append(SolvedJoint(joint, parent.conj() * child))
        else:
            found.append(SolvedJoint(joint, Phasor(slide=dyads.slide(connection))))
    return tuple(found)


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
    if lengths is not NUMBERS:
        return whole
    reach = figure.reach_of_joints(lengths.symbols).at(np.array(start)[:, None], lengths.values)
    return replace(whole, reach=tuple(one.of(0) for one in reach))
