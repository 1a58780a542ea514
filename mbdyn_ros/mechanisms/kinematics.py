"""The positions of all mechanisms of a kind, as those of a robot's loops: triangle after triangle.

The numbers of the mechanisms and their assembly branches are symbols. Angles of wheels, and of the
links on them, are linear in those of the inputs (Willis' equation). Where triangles do not suffice,
the fewest pins with as many equations as unknowns are a group (an Assur group of a higher class):
its joints are given like the inputs, and `branch_table` walks to them. A cam's follower moves by
the parabola that osculates its law, whose coefficients are given with every state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np

from ..equations.algebra.phasors import Complex, KnownPhasors, Phasor
from ..equations.algebra.spatial import SX, CosineSine, Position
from ..equations.loops.dyads import Circle, Dyads
from ..equations.loops.planar_figure import PlanarFigure, solved_joints
from ..equations.loops.planar_linkage import Lengths, planar_linkage
from ..equations.loops.planar_reach import PositionRange
from ..equations.loops.stepwise import Geared
from ..equations.loops.triangle import Triangle, TwoSlides, TwoTurns
from ..model.model import Array
from ..prepare.clusters import Cluster, Gear, path_from
from ..prepare.tree import WORLD
from ..program.columns import Columns
from ..program.symbols import SerializedProperty, serialized
from .cut_open import closures, layout_tree
from .layout import GROUND, MechanismLayout
from .pose import MechanismPose

COEFFICIENTS, DEGREE = 5, 3
"""Of `DiskCam.coefficients`: all, and those of the parabola."""

IN_TURN = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""Orders of the corners of a triangle that go round it in one sense; the others in the other."""

SAMPLED = (0.05, 0.11)
"""Shares by which samples of the numbers differ from the described ones."""


@dataclass(frozen=True, eq=False)
class Step:
    """A triangle that pins close, with the setting of its branch: nothing where it has one alone.

    sign : of the triangle's branch where the setting is 1: the pin is to the left of the line from
    the joint of the first of the two links that it places to that of the second, or the slide is
    the larger of two. fixed : the number of the side that is on neither of these links.
    """

    triangle: Triangle
    branch: str
    sign: int
    fixed: int


class Kinematics:
    """Positions of a kind of `Design` on symbols: a `LoopClosedForm` of its dependent joints.

    Attributes
    ----------
    mechanism, layout, tree, closures : of symbols.
    given_bodies : the driven ones. wheels : those that meshes determine.
    followers : by body, the coefficients of the parabola in the angle of the cam.
    groups : bodies and pins of every group.
    steps : the triangles by their place in `dyads`, in the order in which pins can be closed.
    symbols, q, z : of the numbers of a design by name, of the inputs' angles, and of `unknowns`.
    parameters : symbols for the numbers of a design, for the `unknowns` of groups (slides, and
        turns, counted from the last part that is placed before), and for `DiskCam.coefficients`.
    """

    @serialized
    def __init__(self, kind: Any) -> None:
        described = kind.described()
        symbols = {name: SX.sym(name) for name in described.numbers()}
        self.mechanism = kind.of_numbers(symbols)
        self.layout = layout = self.mechanism.layout()
        self._laws: list[Any] = [SX.sym(one.name, COEFFICIENTS) for one in layout.cams]
        self.tree = layout_tree(layout, {one.follower: law[DEGREE:] for one, law in
                                         zip(layout.cams, self._laws, strict=True)})  # fmt: skip
        self.closures = tuple(closures(layout, self.tree))
        self._paths = [
            [path_from(self.tree, WORLD, one)[::-1] for one in (pin.predecessor, pin.successor)]
            for pin in self.closures
        ]
        self._moved = [{body for path in paths for body in path} for paths in self._paths]
        values = described.vector()
        apart = (1 + np.abs(values)) * np.cos(np.arange(len(values)))  # also of equal numbers
        near = [values + share * apart for share in (0.0, *SAMPLED)]
        lengths = Lengths(ca.vertcat(*symbols.values()), np.stack(near, axis=1))
        cluster = Cluster(tuple(range(len(layout.parts))), self.closures)
        linkage = planar_linkage(self.tree, cluster, lengths)
        assert linkage is not None
        order = layout.order
        self.given_bodies = tuple(order[name] for name in kind.inputs)
        self.followers = {
            order[one.follower]: Gear(
                one.name, ((order[one.follower], 1.0), (order[one.cam], -law[1])), -law[0], (),
                ((order[one.cam], (-law[2],)),),
            )
            for one, law in zip(layout.cams, self._laws, strict=True)
        }  # fmt: skip
        meshes = [
            Gear(one.name, tuple((order.get(name, WORLD), factor) for name, factor in one.factors),
                 -one.phase, ())
            for one in (*layout.gears, *layout.meshes)
        ]  # fmt: skip
        gears = [*meshes, *self.followers.values()]
        turned, self._trains = {WORLD, *self.given_bodies}, list[Geared]()
        while train := Geared.of(gears, turned):
            self._trains.append(train)
            turned |= set(train.bodies)
        geared = [body for one in self._trains for body in one.bodies]
        self.wheels = tuple(body for body in geared if body not in self.followers)
        self._carried = [
            body for body in self.wheels
            if self._angle(self.tree.bodies[body].parent, dict.fromkeys(turned, 0.0)) is None
        ]  # fmt: skip
        given = [*self.given_bodies, *geared]
        self.groups: list[tuple[list[int], list[int]]] = []
        self.dyads = Dyads(linkage, given)
        while self.dyads.turns is None and (group := self._group()) is not None:
            self.groups.append(group)
            given = [*given, *group[0]]
            self.dyads = Dyads(linkage, given)
        self.unknowns = tuple(body for bodies, _ in self.groups for body in bodies)
        self.steps = self._steps(kind.branches)
        for one in self.steps.values():
            if one.branch:
                symbols.setdefault(one.branch, SX.sym(one.branch))
        self.symbols = symbols
        self.q = [SX.sym(name) for name in kind.inputs]
        self._shafts = {layout.parts[one].name: one for one in (*self.given_bodies, *self.wheels)}
        self.z = [SX.sym(f"unknown {layout.parts[body].name}") for body in self.unknowns]
        self.parameters = ca.vertcat(*symbols.values(), *self.z, *self._laws)

    # -- structure ---------------------------------------------------------------------------------

    def _group(self) -> tuple[list[int], list[int]] | None:
        """Bodies and pins of the fewest pins with as many equations as unknowns."""
        placed = self.dyads.placed
        waiting = {
            k: unknown
            for k, moved in enumerate(self._moved)
            if (unknown := moved - placed.keys())
        }
        for count in range(1, len(waiting) + 1):
            for pins in combinations(waiting, count):
                bodies = set().union(*(waiting[k] for k in pins))
                if len(bodies) == 2 * count:
                    return sorted(bodies), list(pins)
        return None

    def _steps(self, names: Sequence[str]) -> dict[int, Step]:
        """See `steps`; their branches have these names, or are named by pins."""
        circles, connections = self.dyads.circles, self.dyads.linkage.connections
        by_pin = {
            connections.index(one) - len(self.layout.parts): k
            for k, circle in enumerate(circles) for one in circle.joints if one.joint is None
        }  # fmt: skip
        known = set(self.dyads.given) - set(self.unknowns)
        waiting, groups = sorted(by_pin), list(self.groups)
        steps: dict[int, Step] = {}
        while waiting:
            ready = [
                pin for pin in waiting
                if self._moved[pin] - known <= _children(circles[by_pin[pin]])
            ]  # fmt: skip
            if not ready and groups:
                known |= set(groups.pop(0)[0])
                continue
            pin = (ready or waiting)[0]
            k = by_pin[pin]
            circle, triangle, children = circles[k], self.dyads.triangles[k], _children(circles[k])
            known |= children
            waiting = [one for one in waiting if by_pin[one] != k]
            branch = ""
            if not isinstance(triangle, TwoSlides):
                number = sum(bool(one.branch) for one in steps.values())
                second = f"{self.layout.pins[pin].second}_branch"
                branch = names[number] if number < len(names) else second if number else "branch"
            fixed = next(i for i, one in enumerate(circle.parts) if not children & one.keys())
            steps[k] = Step(triangle, branch, self._sign(pin, triangle, circle), fixed)
        return steps

    def _sign(self, pin: int, triangle: Triangle, circle: Circle) -> int:
        """See `Step.sign`."""
        if not isinstance(triangle, TwoTurns):
            return 1
        children = _children(circle)
        ends = [[body for body in path if body in children] for path in self._paths[pin]]
        closing = self.dyads.linkage.connections[len(self.layout.parts) + pin]
        joints = [one.joint.body if one.joint else None for one in circle.joints]
        corners = [joints.index(body) for path in ends for body in path]
        if len(corners) != 2:  # links that are not placed yet carry it
            return 1
        around = (*corners, circle.joints.index(closing))
        return (1 if around in IN_TURN else -1) * (1 if all(ends) else -1)

    # -- positions ---------------------------------------------------------------------------------

    @SerializedProperty
    def _figure(self) -> PlanarFigure:
        """The triangles on their branches; what is given is where `_given` has it."""
        linkage, triangles = self.dyads.linkage, self.dyads.triangles
        steps = (self.steps[k] for k in range(len(triangles)))
        branches = (one.sign * self.symbols[one.branch] if one.branch else 0 for one in steps)
        known = [body for body in self.dyads.given if body not in self._carried]
        given = tuple(linkage.joints[body] for body in known)
        return PlanarFigure(
            given, tuple(triangles), tuple(branches), (),
            solved_joints(self.dyads, self.given_bodies), (PositionRange(),) * len(given),
        )  # fmt: skip

    def known(self, q: Sequence[SX]) -> KnownPhasors:
        """All turns and slides at positions q of the inputs."""
        given = self._given(q)
        known = self._figure.known([given[body] for body in self._figure.given_bodies])
        angles = self._angles(q) if self._carried else {}
        for body in self._carried:
            carrier = self._direction(self.layout.parts[body].parent, known)
            unit = Complex(ca.cos(angles[body]), ca.sin(angles[body]))
            known.units[body] = unit * carrier.conj()
        return known

    def _angles(self, q: Sequence[SX]) -> dict[int, SX]:
        """Angles of the ground, the inputs and wheels in the plane, and positions of followers."""
        angles = {WORLD: SX(0), **dict(zip(self.given_bodies, q, strict=True))}
        for train in self._trains:
            angles |= train.values(*(angles[body] for body in train.given_bodies))
        return angles

    def _angle(self, body: int, angles: Mapping[int, Any]) -> Any:
        """The angle of a part in the plane; None where it is not known."""
        if body == WORLD or not self.layout.parts[body].slides:
            return angles.get(body)
        carrier = self._angle(self.tree.bodies[body].parent, angles)
        return None if carrier is None else carrier + self.layout.parts[body].across * math.pi / 2

    def _direction(self, name: str, known: KnownPhasors) -> Complex:
        """The direction of the x axis of a part."""
        body = self.layout.order.get(name, WORLD)
        quarters = sum(self.layout.parts[one].across for one in path_from(self.tree, WORLD, body))
        return (self.dyads.placed[body] * Phasor(1j**quarters)).at(known)

    def _given(self, q: Sequence[SX]) -> dict[int, SX]:
        """Positions of the joints that are no triangle's."""
        angles, found = self._angles(q), dict[int, SX]()
        for body in angles.keys() - {WORLD, *self._carried}:
            found[body] = angles[body] - self._angle(self.tree.bodies[body].parent, angles)
        unknown = dict(zip(self.unknowns, self.z, strict=True))
        for body, value in unknown.items():
            found[body] = value - unknown.get(self._carrier(body), 0)
        return found

    def _carrier(self, body: int) -> int:
        """The turning body that carries a turning one, or the world."""
        parts = self.layout.parts
        path = () if parts[body].slides else path_from(self.tree, WORLD, body)[:-1]
        return next((one for one in reversed(path) if not parts[one].slides), WORLD)

    def positions(self, *q: SX) -> dict[int, Position]:
        """Turns and slides of all joints but the inputs'."""
        result = self._figure.placed(self.known(q))
        return result | (self._given(q) if self.followers else {})  # the angles of geared cams too

    def values(self, *q: SX) -> dict[int, SX]:
        """Angles within half a turn, and slides."""
        return {
            body: ca.atan2(one.sine, one.cosine) if isinstance(one, CosineSine) else one
            for body, one in self.positions(*q).items()
        }

    @SerializedProperty
    def _known(self) -> KnownPhasors:
        return self.known(self.q)

    @SerializedProperty
    def placed(self) -> tuple[dict[str, Complex], dict[str, Complex]]:
        """Directions of the x axes of all parts, and origins, the ground's included."""
        known = self._known
        positions: Mapping[int, Any] = self._figure.placed(known)
        directions, origins = {GROUND: Complex(1.0, 0.0)}, {GROUND: Complex(0.0, 0.0)}
        for body, part in enumerate(self.layout.parts):
            directions[part.name] = self._direction(part.name, known)
            place = origins[part.parent] + directions[part.parent] * Complex(*part.at)
            if part.slides:
                place = place + directions[part.name].scaled(positions[body])
            origins[part.name] = place
        return directions, origins

    # -- numbers -----------------------------------------------------------------------------------

    def pose(
        self, layout: MechanismLayout, *columns: Sequence[Any], shape: tuple[int, ...]
    ) -> MechanismPose:
        """The places of the parts of a design, or of many in one.

        layout : of numbers. columns : angles of the inputs, numbers and unknowns.
        """
        found = iter(self._all(*columns))
        names = [GROUND, *self.layout.order]
        turned, placed = (
            {name: Complex(next(found), next(found)) for name in names} for _ in range(2)
        )
        counted = dict(zip(self._shafts, found, strict=True)) if self.layout.meshes else {}
        return MechanismPose(layout, turned, placed, counted, shape)

    @SerializedProperty
    def _all(self) -> Columns:
        numbers = [number for group in self.placed for one in group.values()
                   for number in (one.re, one.im)]  # fmt: skip
        angles = self._angles(self.q)
        return self._columns([*numbers, *(angles[body] for body in self._shafts.values())])

    def transmissions(self, *columns: Sequence[Any]) -> list[Array]:
        """Cosines of the transmission angles of the steps, beyond +-1 where they are open, and of
        groups the one whose sine is the determinant of their gaps' derivatives, in columns of
        length one.

        columns : angles of the inputs, numbers and unknowns.
        """
        found = self._transmissions(*columns)
        if not self.unknowns:
            return found
        size = len(self.unknowns)
        found, slopes = found[: len(self.steps)], np.broadcast_arrays(*found[len(self.steps) :])
        slope = np.stack(slopes, axis=-1).reshape(*slopes[0].shape, size, size)  # by columns
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(slope, axis=-1, keepdims=True)
            return [*found, np.sqrt(1 - np.linalg.det(slope / lengths) ** 2)]

    @SerializedProperty
    def _transmissions(self) -> Columns:
        steps = self.steps.values()
        cosines = [one.triangle.transmission(self._known, one.fixed) for one in steps]
        return self._columns([*cosines, *ca.vertsplit(ca.densify(self.gap_slope[1]).nz[:])])

    @SerializedProperty
    def shafts(self) -> dict[str, Columns]:
        """(angles of the inputs, numbers) -> angle in the plane, by input and wheel."""
        angles = self._angles(self.q)
        return {name: self._columns([angles[body]]) for name, body in self._shafts.items()}

    def _columns(self, outputs: Sequence[SX]) -> Columns:
        groups = self.q, self.symbols.values(), [*self.z, *self._laws]
        inputs = [ca.vertcat(SX(0, 1), *one) for one in groups]
        return Columns(inputs, ca.vertcat(SX(0, 1), *outputs))

    @SerializedProperty
    def gap_slope(self) -> tuple[SX, SX]:
        """Gaps (m, 1) of the pins of groups, and their derivatives (m, m) by the unknowns."""
        directions, origins = self.placed
        gaps: list[SX] = []
        for pin in (self.layout.pins[k] for _, pins in self.groups for k in pins):
            first, second = (
                origins[name] + directions[name] * Complex(*at)
                for name, at in ((pin.first, pin.at_first), (pin.second, pin.at_second))
            )
            gap = second - first
            gaps += [gap.re, gap.im]
        residual = ca.vertcat(SX(0, 1), *gaps)
        return residual, ca.jacobian(residual, ca.vertcat(SX(0, 1), *self.z))

    # -- as drawn ----------------------------------------------------------------------------------

    @property
    def stuck(self) -> str:
        """A part whose gears place it on one that they do not, while links hang on it, if any."""
        needed = {symbol for one in self.dyads.triangles for side in one.sides
                  for symbol in side.symbols}  # fmt: skip
        return next((self.layout.parts[one].name for one in self._carried if one in needed), "")

    def branches_at(self, home: Mapping[int, float]) -> dict[str, int]:
        """The settings of the branches on which it is at positions of the joints by body."""
        numbers = self.dyads.numbers(home)
        return {
            one.branch: one.sign * one.triangle.branch_at(numbers)
            for one in self.steps.values()
            if one.branch
        }

    def unknowns_at(self, home: Mapping[int, float]) -> dict[int, float]:
        """The unknowns by body at positions of the joints by body."""
        found: dict[int, float] = {}
        for body in self.unknowns:
            found[body] = home[body] + found.get(self._carrier(body), 0.0)
        return found


def _children(circle: Circle) -> set[int]:
    """The bodies whose joints of the tree are in a circle."""
    return {one.joint.body for one in circle.joints if one.joint is not None}
