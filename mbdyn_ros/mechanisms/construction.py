"""Position analysis of any planar linkage: dyad after dyad, and other groups of links as a whole.

A pin says that a point of one part is a point of another. Seen from what is placed already, either
is a known point and terms of what is not: the unknown direction of a part times an arm, an unknown
slide along a known direction, or both at once of a slide on a part whose direction is unknown (a
lever). Where two unknowns are left, they are one of the five dyads. Where no pin is left with two,
the fewest pins that have as many equations as unknowns are a group (an Assur group of higher
class).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..equations.algebra.complex_plane import Complex
from .dyad import Dyad, pp, root, rpr, rrp, rrr
from .layout import GROUND, MechanismLayout, Part, Pin
from .link import Number, Point

QUARTER_TURN = Complex(0.0, 1.0)


@dataclass(frozen=True)
class UnknownTerm:
    """sign times what is unknown of a point: of a turn, a slide, or a lever (both).

    arm : of a rotation, in the part's axes. direction : of a slide; of a lever, the unit 1 or i in
    direction (arm + unit slide).
    """

    sign: int
    turn: str | None = None
    slide: str | None = None
    arm: Complex = Complex(0.0, 0.0)
    direction: Complex = Complex(1.0, 0.0)

    @property
    def unknowns(self) -> set[str]:
        """Names of the parts whose joints are not known."""
        return {one for one in (self.turn, self.slide) if one is not None}


class Placing:
    """The parts of a layout that are placed so far: directions of turning, slides of sliding."""

    def __init__(self, layout: MechanismLayout, turns: dict[str, Any]) -> None:
        self.layout = layout
        self.turns: dict[str, Any] = dict(turns)
        self.slides: dict[str, Number] = {}
        self._parts = {part.name: part for part in layout.parts}

    def direction(self, name: str) -> Complex | None:
        """Direction of the x axis of a part, where it is known."""
        if name == GROUND:
            return Complex(1.0, 0.0)
        part = self._parts[name]
        if not part.slides:
            return self.turns.get(name)
        carrier = self.direction(part.parent)
        return carrier if carrier is None or not part.across else carrier * QUARTER_TURN

    def seen(self, name: str, at: Point, sign: int = 1) -> tuple[Complex, list[UnknownTerm]]:
        """A point of a part: the known share of its place, and the unknown terms."""
        total, terms, arm = Complex(0.0, 0.0), list[UnknownTerm](), Complex(*at)
        while name != GROUND:
            part, direction = self._parts[name], self.direction(name)
            if not part.slides:
                if direction is None:
                    terms.append(UnknownTerm(sign, name, arm=arm))
                else:
                    total = total + direction * arm
                name, arm = part.parent, Complex(*part.at)
                continue
            if part.name in self.slides:
                arm = arm + Complex(self.slides[name], 0.0)
            elif direction is None:
                name, arm = self._lever(part, arm, sign, terms)
                continue
            else:
                terms.append(UnknownTerm(sign, slide=name, direction=direction))
            arm = Complex(*part.at) + (arm * QUARTER_TURN if part.across else arm)
            name = part.parent
        return total + arm, terms

    def _lever(
        self, part: Part, arm: Complex, sign: int, terms: list[UnknownTerm]
    ) -> tuple[str, Complex]:
        """A slide on a part whose direction is unknown too; what that part stands on."""
        unit = QUARTER_TURN if part.across else Complex(1.0, 0.0)
        carrier = self._parts[part.parent]
        place = Complex(*part.at) + unit * arm
        terms.append(UnknownTerm(sign, carrier.name, part.name, place, unit))
        if carrier.slides:  # no dyad
            terms.append(UnknownTerm(sign, carrier.name, carrier.name))
        return carrier.parent, Complex(*carrier.at)

    def gap(self, pin: Pin) -> tuple[Complex, list[UnknownTerm]]:
        """The sum that the unknown terms of a pin must have, and these."""
        first, terms = self.seen(pin.first, pin.at_first)
        second, others = self.seen(pin.second, pin.at_second, -1)
        return second - first, terms + others

    def close(self, pin: Pin, branch: Number) -> Dyad:
        """Place the dyad that a pin closes."""
        gap, terms = self.gap(pin)
        turning = [one for one in terms if one.turn is not None and one.slide is None]
        sliding = [one for one in terms if one.turn is None]
        if len(turning) == 2:
            one, two = turning
            (a, unit), (b, other) = _polar(one.arm), _polar(two.arm)
            dyad = rrr(Complex(0.0, 0.0), gap, a, b, branch)
            self.turns[str(one.turn)] = _signed(dyad.first, one.sign) * unit
            self.turns[str(two.turn)] = _signed(dyad.second, -two.sign) * other
        elif len(sliding) == 2:
            one, two = sliding
            dyad = pp(gap, _signed(one.direction, one.sign), _signed(two.direction, two.sign))
            self.slides[str(one.slide)], self.slides[str(two.slide)] = dyad.first, dyad.second
        elif turning:
            (one,), (two,) = turning, sliding
            a, unit = _polar(one.arm)
            direction = _signed(two.direction, -two.sign)
            dyad = rrp(Complex(0.0, 0.0), a, gap, direction, branch)
            self.turns[str(one.turn)] = _signed(dyad.first, one.sign) * unit
            self.slides[str(two.slide)] = dyad.second
        else:
            (lever,) = terms
            arm = lever.arm * lever.direction.conj()
            dyad = rpr(_signed(gap, lever.sign), Complex(0.0, 0.0), arm.im, branch)
            self.turns[str(lever.turn)] = dyad.first * lever.direction.conj()
            self.slides[str(lever.slide)] = dyad.second - arm.re
        return dyad


def _signed(one: Complex, sign: int) -> Complex:
    return one if sign > 0 else Complex(-one.re, -one.im)


def _polar(arm: Complex) -> tuple[Number, Complex]:
    """The length of an arm, and what turns its direction into its part's."""
    if isinstance(arm.im, float) and arm.im == 0.0:
        return arm.re, Complex(1.0, 0.0)
    length = root(arm.square())
    return length, arm.conj().scaled(1 / length)


@dataclass(frozen=True)
class ConstructionStep:
    """Pins that are closed together. unknowns : of a group, the parts that they place; of a dyad
    none. branch : name of the setting that selects the assembly branch of a dyad."""

    pins: tuple[int, ...]
    unknowns: tuple[str, ...] = ()
    branch: str = ""


def plan(
    layout: MechanismLayout, known: dict[str, Any], drawn: dict[str, Any]
) -> list[ConstructionStep]:
    """The steps that place all parts, and how dyads are assembled: 1 or -1.

    known : directions of the inputs and wheels. drawn : directions and slides of all parts.
    Pins that place nothing are left out; `ConstructionStep.branch` is the sign as text.
    """
    placing, steps = Placing(layout, known), list[ConstructionStep]()
    waiting = list(range(len(layout.pins)))
    while waiting:
        k = next((k for k in waiting if _is_dyad(placing.gap(layout.pins[k])[1])), None)
        if k is not None:
            steps.append(ConstructionStep((k,), (), _place_dyad(placing, layout.pins[k], drawn)))
            waiting.remove(k)
            continue
        group = _group(placing, [(k, placing.gap(layout.pins[k])[1]) for k in waiting])
        if group is None:
            break
        steps.append(group)
        waiting = [k for k in waiting if k not in group.pins]
        for name in group.unknowns:
            sliding = next(part.slides for part in layout.parts if part.name == name)
            (placing.slides if sliding else placing.turns)[name] = drawn[name]
    return steps


def _is_dyad(terms: Sequence[UnknownTerm]) -> bool:
    unknowns = [one.unknowns for one in terms]
    names: set[str] = set().union(*unknowns)
    return len(names) == 2 == sum(map(len, unknowns))


def _place_dyad(placing: Placing, pin: Pin, drawn: dict[str, Any]) -> str:
    """Place a dyad as it is drawn; the sign of its branch, nothing of one that has none."""
    before = dict(placing.turns), dict(placing.slides)
    gap, terms = placing.gap(pin)
    names = set().union(*(one.unknowns for one in terms))
    tries = []
    for sign in (1, -1):
        placing.turns, placing.slides = dict(before[0]), dict(before[1])
        placing.close(pin, sign)
        found = placing.turns | placing.slides
        away = sum(_distance(found[name], drawn[name]) for name in names)
        tries.append((away, -sign, placing.turns, placing.slides))
    _, sign, placing.turns, placing.slides = min(tries, key=lambda one: one[:2])
    return "" if all(one.turn is None for one in terms) else str(-sign)


def _distance(one: Any, other: Any) -> float:
    if isinstance(one, Complex):
        return float((one - other).square())
    return float((one - other) ** 2)


def _group(
    placing: Placing, waiting: Sequence[tuple[int, list[UnknownTerm]]]
) -> ConstructionStep | None:
    """The fewest pins with as many equations as unknowns."""
    for count in range(2, len(waiting) + 1):
        for chosen in combinations(waiting, count):
            names: set[str] = set().union(*(term.unknowns for _, terms in chosen for term in terms))
            if len(names) == 2 * count:
                order = [part.name for part in placing.layout.parts if part.name in names]
                return ConstructionStep(tuple(k for k, _ in chosen), tuple(order))
    return None
