"""A planar linkage taken to triangles that are solved one after the other.

Rigid parts grow: at first every link is one. A given joint makes one part of the two that it
holds, and so do three joints that hold three parts in a circle: their triangle gives how they
stand. Two links on three joints, of which one is the third part, are a dyad (an Assur group of the
second class); since no part need be the ground, dyads are found wherever loops were cut open, and
on links that are themselves not known yet. Where parts are left, an Assur group of a higher class
is among them.
"""

from __future__ import annotations

import cmath
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..algebra.phasors import Phasor, Vector
from .planar_linkage import Connection, End, PlanarLinkage
from .triangle import Triangle, TurnAndSlide, TwoSlides, TwoTurns


@dataclass(frozen=True)
class Placement:
    """A pose in the plane, z -> turn z + shift."""

    turn: Phasor = Phasor()
    shift: Vector = Vector()

    def __matmul__(self, other: Placement) -> Placement:
        return Placement(self.turn * other.turn, self.point(other.shift))

    def point(self, place: Vector) -> Vector:
        """A point of the frame."""
        return place.turned(self.turn) + self.shift

    def inverse(self) -> Placement:
        """The way back."""
        back = self.turn.conj()
        return Placement(back, Vector() - self.shift.turned(back))

    @staticmethod
    def about(turn: Phasor, pivot: Vector, at: Vector) -> Placement:
        """Turned so that `pivot` comes to `at`."""
        return Placement(turn, at - pivot.turned(turn))


Part = dict[int, Placement]
"""A rigid part: its links and how they stand in its frame."""


@dataclass
class Dyads:
    """The triangles of a linkage with some joints given, in an order in which they can be solved.

    Symbols are numbered: those of the given joints are their bodies; the others are negative.

    poses : how the links stand, once all are one part; None where some are left.
    slides : symbol of each slide that a triangle gives, by body.
    """

    linkage: PlanarLinkage
    given: Sequence[int]
    triangles: list[Triangle] = field(default_factory=list)
    slides: dict[int, int] = field(default_factory=dict)
    poses: Part | None = None
    _turned: dict[int, tuple[Part, Part]] = field(default_factory=dict)
    _slid: dict[int, Connection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._parts: list[Part] = [{link: Placement()} for link in self._links()]
        self._names = itertools.count(-2, -1)  # -1 is the world's
        open_ones = []
        for one in self.linkage.connections:
            if one.joint is not None and one.joint.body in self.given:
                self._fix(one)
            else:
                open_ones.append(one)
        while len(self._parts) > 1 and self._merge(open_ones):
            pass
        if len(self._parts) == 1:
            self.poses = self._parts[0]

    def numbers(self, home: Mapping[int, float]) -> dict[int, complex]:
        """All symbols where the joints of the tree are at positions by body."""
        stands = {self.linkage.root: (1 + 0j, 0j)}
        numbers: dict[int, complex] = {}
        for body, joint in self.linkage.joints.items():
            (parent, _) = next(one.ends for one in self.linkage.connections if one.joint is joint)
            turn, shift = stands[parent.link]
            if joint.revolute:
                unit = cmath.rect(1.0, joint.angle(home[body]))
                stands[body] = turn * unit, shift + turn * joint.place * (1 - unit)
            else:
                stands[body] = turn, shift + turn * joint.direction * home[body]
            if body in self.given:
                numbers[body] = unit if joint.revolute else complex(home[body])
        for triangle in self.triangles:
            for symbol in triangle.solved:
                if symbol in self._slid:
                    one, two = self._slid[symbol].ends
                    (turn, start), (other, stop) = stands[one.link], stands[two.link]
                    way = other * two.place + stop - turn * one.place - start
                    numbers[symbol] = complex((way * (turn * one.direction).conjugate()).real)
                else:
                    turns = []
                    for part in self._turned[symbol]:
                        link, placement = next(iter(part.items()))
                        turns.append(stands[link][0] / placement.turn.number(numbers))
                    numbers[symbol] = turns[1] / turns[0]
        return numbers

    def _turn(self, k: Part, a: Part) -> int:
        """A new symbol: the turn of a's frame against k's."""
        symbol = next(self._names)
        self._turned[symbol] = k, a
        return symbol

    def _links(self) -> list[int]:
        return [self.linkage.root, *self.linkage.joints]

    def _part(self, link: int) -> int:
        return next(k for k, part in enumerate(self._parts) if link in part)

    def _fix(self, one: Connection) -> None:
        """Make one part of the two that a given joint holds."""
        joint = one.joint
        assert joint is not None
        parent, child = (self._parts[self._part(end.link)] for end in one.ends)
        place = Vector.of(joint.place)
        if joint.revolute:
            moved = Placement.about(Phasor(1 + 0j, ((joint.body, 1),)), place, place)
        else:
            moved = Placement(shift=Vector((Phasor(joint.direction, (), joint.body),)))
        inside = parent[one.ends[0].link] @ moved @ child[one.ends[1].link].inverse()
        self._join([parent, child], [Placement(), inside])

    def _join(self, parts: list[Part], placements: list[Placement]) -> None:
        """One part of some, which stand so; in the frame of the largest."""
        largest = max(range(len(parts)), key=lambda k: len(parts[k]))
        back = placements[largest].inverse()
        whole: Part = {}
        for k, (part, placement) in enumerate(zip(parts, placements, strict=True)):
            seen = Placement() if k == largest else back @ placement
            whole |= {link: seen @ pose for link, pose in part.items()}
        self._parts = [part for part in self._parts if all(part is not one for one in parts)]
        self._parts.append(whole)

    def _merge(self, open_ones: Sequence[Connection]) -> bool:
        """Solve one triangle, of the largest parts there are; False where there is none."""
        owner = {link: k for k, part in enumerate(self._parts) for link in part}
        between: dict[tuple[int, int], Connection] = {}
        neighbours: dict[int, set[int]] = {k: set() for k in range(len(self._parts))}
        for one in open_ones:
            i, j = (owner[end.link] for end in one.ends)
            if i != j:
                between[min(i, j), max(i, j)] = one
                neighbours[i].add(j)
                neighbours[j].add(i)
        order = sorted(neighbours, key=lambda k: -len(self._parts[k]))
        for i in order:
            for j, k in itertools.combinations(sorted(neighbours[i]), 2):
                if k in neighbours[j]:
                    pairs = ((i, j), (i, k), (j, k))
                    found = [between[min(pair), max(pair)] for pair in pairs]
                    if sum(one.slides for one in found) < 3:
                        self._solve([self._parts[n] for n in (i, j, k)], found)
                        return True
        return False

    def _solve(self, parts: list[Part], sides: list[Connection]) -> None:
        """Solve the triangle of parts i, j, k, joined by `sides` ij, ik, jk."""
        count = sum(one.slides for one in sides)
        pairs = ((0, 1), (0, 2), (1, 2))
        if count == 0:
            first, second, third = 0, 1, 2
        elif count == 1:  # the slide joins the first to the second
            first, second = pairs[[one.slides for one in sides].index(True)]
            third = 3 - first - second
        else:  # slides join the first to the others
            second, third = pairs[[one.slides for one in sides].index(False)]
            first = 3 - second - third
        by_pair = {frozenset(pair): one for pair, one in zip(pairs, sides, strict=True)}
        k, a, b = (parts[n] for n in (first, second, third))
        k_a, k_b, a_b = (
            by_pair[frozenset(pair)] for pair in ((first, second), (first, third), (second, third))
        )
        solve = (self._two_turns, self._turn_and_slide, self._two_slides)[count]
        self._join([k, a, b], [Placement(), *solve(k, a, b, k_a, k_b, a_b)])

    def _two_turns(
        self, k: Part, a: Part, b: Part, k_a: Connection, k_b: Connection, a_b: Connection
    ) -> tuple[Placement, Placement]:
        """Poses of a and b in k's frame: three hinges."""
        at_a, at_b = _pin(k, k_a), _pin(k, k_b)
        foot_a, foot_b = _pin(a, k_a), _pin(b, k_b)
        w_a, w_b = self._turn(k, a), self._turn(k, b)
        l_a, l_b = _pin(a, a_b) - foot_a, _pin(b, a_b) - foot_b
        self.triangles.append(TwoTurns(w_a, w_b, at_b - at_a, l_a, l_b))
        return (
            Placement.about(Phasor(1 + 0j, ((w_a, 1),)), foot_a, at_a),
            Placement.about(Phasor(1 + 0j, ((w_b, 1),)), foot_b, at_b),
        )

    def _slide(self, k: Part, a: Part, one: Connection) -> tuple[Placement, Phasor, int]:
        """Pose of a in k's frame with the slide at zero, the direction it moves in, its symbol."""
        first, second = one.ends
        (mine, sign), (other, _) = ((first, 1), (second, -1))[:: 1 if first.link in k else -1]
        symbol = next(self._names)
        self._slid[symbol] = one
        if one.joint is not None:
            self.slides[one.joint.body] = symbol
        along = k[mine.link].turn * Phasor(mine.direction)
        turn = along * (a[other.link].turn * Phasor(other.direction)).conj()
        return Placement.about(turn, _at(a, other), _at(k, mine)), Phasor(sign) * along, symbol

    def _turn_and_slide(
        self, k: Part, a: Part, b: Part, k_a: Connection, k_b: Connection, a_b: Connection
    ) -> tuple[Placement, Placement]:
        """A slide joins a to k, b has the hinges."""
        at_zero, along, slide = self._slide(k, a, k_a)
        pivot, foot, turn = _pin(k, k_b), _pin(b, k_b), self._turn(k, b)
        z, u = at_zero.point(_pin(a, a_b)) - pivot, Vector((along,))
        self.triangles.append(TurnAndSlide(turn, slide, z, u, _pin(b, a_b) - foot))
        return (
            _slid(at_zero, along, slide),
            Placement.about(Phasor(1 + 0j, ((turn, 1),)), foot, pivot),
        )

    def _two_slides(
        self, k: Part, a: Part, b: Part, k_a: Connection, k_b: Connection, a_b: Connection
    ) -> tuple[Placement, Placement]:
        """Slides join a and b to k."""
        zero_a, u, d = self._slide(k, a, k_a)
        zero_b, v, e = self._slide(k, b, k_b)
        z = zero_a.point(_pin(a, a_b)) - zero_b.point(_pin(b, a_b))
        back = Phasor(-1 + 0j) * v
        self.triangles.append(TwoSlides(d, e, z, Vector((u,)), Vector((back,))))
        return _slid(zero_a, u, d), _slid(zero_b, v, e)


def _slid(at_zero: Placement, along: Phasor, slide: int) -> Placement:
    way = Phasor(along.factor, along.powers, slide)
    return Placement(at_zero.turn, at_zero.shift + Vector((way,)))


def _at(part: Part, end: End) -> Vector:
    """The place of a joint's end in a part."""
    return part[end.link].point(Vector.of(end.place))


def _pin(part: Part, one: Connection) -> Vector:
    """The place of a hinge in a part that it holds."""
    return _at(part, next(end for end in one.ends if end.link in part))
