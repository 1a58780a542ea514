"""A planar linkage taken apart into triangles, which are solved one after the other.

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
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..algebra.phasors import Phasor, Vector
from .planar_linkage import Connection, End, PlanarLinkage
from .triangle import Triangle, TurnAndSlide, TwoSlides, TwoTurns

Part = dict[int, Phasor]
"""A rigid part: its links, and how each has turned in its frame."""

STRAIGHT, BACK = Phasor(), Phasor(-1 + 0j)


@dataclass(frozen=True)
class Circle:
    """Three parts k, a, b that three joints hold in a circle: k_a, k_b and a_b."""

    parts: tuple[Part, Part, Part]
    joints: tuple[Connection, Connection, Connection]


@dataclass
class Dyads:
    """The triangles of a linkage with some joints given, in an order in which they can be solved.

    Symbols are numbered: those of the given joints are their bodies; the others are negative.

    circles : the parts and joints of each triangle.
    turns : how the links have turned, once all are one part; None where some are left.
    """

    linkage: PlanarLinkage
    given: Sequence[int]
    triangles: list[Triangle] = field(default_factory=list)
    circles: list[Circle] = field(default_factory=list)
    turns: Part | None = None

    def __post_init__(self) -> None:
        links = [self.linkage.root, *self.linkage.joints]
        self._parts: list[Part] = [{link: STRAIGHT} for link in links]
        self._held: dict[int, list[Connection]] = {link: [] for link in links}
        self._slides: dict[int, int] = {}  # symbols by the place of the connection
        self._turned: dict[int, tuple[Part, Part]] = {}
        self._names = itertools.count(-2, -1)  # -1 is the world's
        open_ones = []
        for one in self.linkage.connections:
            if one.joint is not None and one.joint.body in self.given:
                self._fix(one, one.joint.body)
            else:
                open_ones.append(one)
        while len(self._parts) > 1 and self._merge(open_ones):
            pass
        if len(self._parts) == 1:
            self.turns = self._parts[0]

    @property
    def placed(self) -> Part:
        """The part that the root is in."""
        return self._part(self.linkage.root)

    def slide(self, one: Connection) -> int:
        """The symbol of a slide that is given or solved."""
        return self._slides[self.linkage.connections.index(one)]

    def numbers(self, home: Mapping[int, float]) -> dict[int, complex]:
        """All symbols where the joints of the tree are at positions by body."""
        poses = {self.linkage.root: (1 + 0j, 0j)}
        numbers: dict[int, complex] = {}
        for one in self.linkage.connections:
            if (joint := one.joint) is None:
                continue
            turn, shift = poses[one.ends[0].link]
            if joint.revolute:
                unit = cmath.rect(1.0, joint.angle(home[joint.body]))
                poses[joint.body] = turn * unit, shift + turn * joint.place * (1 - unit)
                numbers[joint.body] = unit
            else:
                displacement = home[joint.body] * joint.direction
                poses[joint.body] = turn, shift + turn * displacement
        for place, symbol in self._slides.items():
            first, second = self.linkage.connections[place].ends
            (turn, start), (other, stop) = poses[first.link], poses[second.link]
            apart = other * second.place + stop - turn * first.place - start
            numbers[symbol] = complex((apart * (turn * first.direction).conjugate()).real)
        for symbol, parts in self._turned.items():
            frames = []
            for part in parts:
                link, turned = next(iter(part.items()))
                frames.append(poses[link][0] / turned.number(numbers))
            numbers[symbol] = frames[1] / frames[0]
        return numbers

    # -- parts -------------------------------------------------------------------------------------

    def _fix(self, one: Connection, body: int) -> None:
        """Make one part of the two that a given joint holds."""
        parent, child = (self._part(end.link) for end in one.ends)
        turn = STRAIGHT
        if one.slides:
            self._slides[self.linkage.connections.index(one)] = body
        else:
            turn = Phasor(1 + 0j, ((body, 1),))
        inside = parent[one.ends[0].link] * turn * child[one.ends[1].link].conj()
        self._join([parent, child], [STRAIGHT, inside], [one])

    def _part(self, link: int) -> Part:
        return next(part for part in self._parts if link in part)

    def _join(
        self, parts: Sequence[Part], turns: Sequence[Phasor], held: Sequence[Connection]
    ) -> None:
        """Join parts, each at its turn against the first, into one in the frame of the largest."""
        back = turns[max(range(len(parts)), key=lambda k: len(parts[k]))].conj()
        whole = {
            link: back * turn * own
            for part, turn in zip(parts, turns, strict=True)
            for link, own in part.items()
        }
        self._parts = [part for part in self._parts if all(part is not one for one in parts)]
        self._parts.append(whole)
        for one in held:
            for end in one.ends:
                self._held[end.link].append(one)

    def _vector(self, part: Part, start: End, stop: End) -> Vector:
        """From one end to another in a part's frame, along the fewest links between them."""
        before: dict[int, Connection | None] = {start.link: None}
        queue = deque([start.link])
        while stop.link not in before:
            link = queue.popleft()
            for one in self._held[link]:
                other = _far_end(one, link).link
                if other not in before:
                    before[other] = one
                    queue.append(other)
        total, at, link = Vector(), stop.place, stop.link  # backwards
        while (joint := before[link]) is not None:
            here, there = _far_end(joint, _far_end(joint, link).link), _far_end(joint, link)
            total = total + Vector.of(at - here.place).turned(part[link])
            if joint.slides:
                sign = 1 if there is joint.ends[0] else -1
                along = Phasor(sign * there.direction, (), self.slide(joint))
                total = total + Vector((part[there.link] * along,))
            at, link = there.place, there.link
        return total + Vector.of(at - start.place).turned(part[link])

    # -- triangles ---------------------------------------------------------------------------------

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
        """Solve the triangle of parts i, j, k, joined by `sides` ij, ik, jk.

        Turns are those against one part, best the one that the tree joins to both others: then they
        are turns of its joints, and no products of such.
        """
        count = sum(one.slides for one in sides)
        pairs = ((0, 1), (0, 2), (1, 2))
        closing = [pair for pair, one in zip(pairs, sides, strict=True) if one.joint is None]
        apart = closing[0] if len(closing) == 1 else (1, 2)
        if count == 0:
            second, third = apart
            first = 3 - second - third
        elif count == 1:  # the slide joins the first to the second
            first, second = pairs[[one.slides for one in sides].index(True)]
            third = 3 - first - second
            if {first, third} == {*apart}:
                first, second = second, first
        else:  # slides join the first to the others
            second, third = pairs[[one.slides for one in sides].index(False)]
            first = 3 - second - third
        by_pair = {frozenset(pair): one for pair, one in zip(pairs, sides, strict=True)}
        k, a, b = (parts[n] for n in (first, second, third))
        k_a, k_b, a_b = (
            by_pair[frozenset(pair)] for pair in ((first, second), (first, third), (second, third))
        )
        self.circles.append(Circle((k, a, b), (k_a, k_b, a_b)))
        solve = (self._two_turns, self._turn_and_slide, self._two_slides)[count]
        self._join([k, a, b], [STRAIGHT, *solve(k, a, b, k_a, k_b, a_b)], sides)

    def _two_turns(
        self, k: Part, a: Part, b: Part, k_a: Connection, k_b: Connection, a_b: Connection
    ) -> tuple[Phasor, Phasor]:
        """Turns of a and b in k's frame: three hinges."""
        w_a, w_b = self._turn(k, a), self._turn(k, b)
        d = self._vector(k, _end(k, k_a), _end(k, k_b))
        l_a, l_b = (
            self._vector(part, _end(part, foot), _end(part, a_b))
            for part, foot in ((a, k_a), (b, k_b))
        )
        self.triangles.append(TwoTurns(w_a, w_b, d, l_a, l_b))
        return Phasor(1 + 0j, ((w_a, 1),)), Phasor(1 + 0j, ((w_b, 1),))

    def _turn_and_slide(
        self, k: Part, a: Part, b: Part, k_a: Connection, k_b: Connection, a_b: Connection
    ) -> tuple[Phasor, Phasor]:
        """A slide joins a to k, b has the hinges."""
        turn, along, slide = self._slid(k, a, k_a)
        w = self._turn(k, b)
        z = self._across(k, a, k_b, k_a, a_b, turn)
        arm = self._vector(b, _end(b, k_b), _end(b, a_b))
        self.triangles.append(TurnAndSlide(w, slide, z, Vector((along,)), arm))
        return turn, Phasor(1 + 0j, ((w, 1),))

    def _two_slides(
        self, k: Part, a: Part, b: Part, k_a: Connection, k_b: Connection, a_b: Connection
    ) -> tuple[Phasor, Phasor]:
        """Slides join a and b to k."""
        turn_a, u, d = self._slid(k, a, k_a)
        turn_b, v, e = self._slid(k, b, k_b)
        arm = self._vector(b, _end(b, k_b), _end(b, a_b)).turned(turn_b)
        z = self._across(k, a, k_b, k_a, a_b, turn_a) - arm
        self.triangles.append(TwoSlides(d, e, z, Vector((u,)), Vector((BACK * v,))))
        return turn_a, turn_b

    def _turn(self, k: Part, a: Part) -> int:
        """A new symbol: the turn of a's frame against k's."""
        symbol = next(self._names)
        self._turned[symbol] = k, a
        return symbol

    def _slid(self, k: Part, a: Part, one: Connection) -> tuple[Phasor, Phasor, int]:
        """Turn of a in k's frame, the direction in which the slide moves it, and its symbol."""
        mine, other = _end(k, one), _end(a, one)
        symbol = self._slides[self.linkage.connections.index(one)] = next(self._names)
        along = k[mine.link] * Phasor(mine.direction)
        turn = along * (a[other.link] * Phasor(other.direction)).conj()
        return turn, along if mine is one.ends[0] else BACK * along, symbol

    def _across(
        self, k: Part, a: Part, start: Connection, slide: Connection, stop: Connection, turn: Phasor
    ) -> Vector:
        """From a joint of k to one of a, in k's frame, with the slide between them at zero."""
        inside = self._vector(k, _end(k, start), _end(k, slide))
        return inside + self._vector(a, _end(a, slide), _end(a, stop)).turned(turn)


def _end(part: Part, one: Connection) -> End:
    """The end of a joint that holds a part."""
    return next(end for end in one.ends if end.link in part)


def _far_end(one: Connection, link: int) -> End:
    """The end that does not hold a link."""
    return one.ends[0] if one.ends[1].link == link else one.ends[1]
