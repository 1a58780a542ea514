"""The drawing of a mechanism: named points at one position, links between them, what slides, gears.

A link hangs by its first point on the part listed before it that has this point; wherever else it
shares a point with one listed before it, a pin closes a loop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import InputError, suggestion
from .layout import GROUND
from .link import ORDINALS, Block, Link, Piece, Plate, Wheel

MOST_POINTS = len(ORDINALS) + 3
"""Of a link."""


@dataclass(frozen=True)
class DrawnLink:
    """A link of a drawing.

    points : names; a bar has two, a plate more, a wheel its axle, a block its pin.
    mass, inertia, center, width : as of a `Link`, seen from the first point, x towards the second.
    slides_on, along : of a block, the part that it slides on and whose axis: "x" or "y".
    teeth : of a wheel.
    """

    name: str
    points: tuple[str, ...]
    mass: float = 1.0
    inertia: float | None = None
    center: tuple[float, float] | None = None
    width: float = 0.0
    slides_on: str | None = None
    along: str = "x"
    teeth: float | None = None


@dataclass(frozen=True)
class DrawnGears:
    """Two parts that mesh; see `layout.GearMesh`.

    on : the part that carries both axles. internal : one of them is a ring.
    ratio : of parts without teeth. teeth : of the ring where the driven part is the ground.
    """

    driver: str
    driven: str
    on: str = GROUND
    internal: bool = False
    ratio: float | None = None
    teeth: float | None = None


@dataclass(frozen=True)
class Drawing:
    """A mechanism as it is drawn.

    points : name and place (x, y), m. ground : the points that are fixed.
    inputs : links on the ground that are driven. output : the part whose motion is looked at.
    settings : numbers that are not as drawn, by the names of `Mechanism.settings`.
    """

    name: str
    title: str
    points: tuple[tuple[str, tuple[float, float]], ...]
    ground: tuple[str, ...]
    links: tuple[DrawnLink, ...]
    inputs: tuple[str, ...]
    output: str
    gears: tuple[DrawnGears, ...] = ()
    settings: tuple[tuple[str, float], ...] = ()

    def refusal(self, problem: str) -> InputError:
        """The error that says what is wrong with it."""
        return InputError(f"{self.name}: {problem}")

    @cached_property
    def places(self) -> dict[str, complex]:
        """Points by name, x + i y."""
        return {name: complex(*at) for name, at in self.points}

    @cached_property
    def link(self) -> dict[str, DrawnLink]:
        """Links by name."""
        return {one.name: one for one in self.links}

    def check(self) -> None:
        """Refuse what names nothing, or names something twice."""
        names = [GROUND, *(one.name for one in self.links)]
        for what, given in (("point", [name for name, _ in self.points]), ("link", names)):
            twice = {one for one in given if given.count(one) > 1}
            if twice:
                raise self.refusal(f"there are two {what}s {min(twice)!r}; rename one")
        self._known("ground", self.ground, self.places, "point")
        if not self.ground:
            raise self.refusal("the ground has no points; name those that are fixed")
        for one in self.links:
            self._check_link(one)
        parts = dict.fromkeys(names)
        for gear in self.gears:
            self._known("gears", (gear.driver, gear.driven, gear.on), parts, "link")
            self._check_gear(gear)
        self._known("inputs", self.inputs, self.link, "link")
        self._known("output", (self.output,), self.link, "link")
        if not self.inputs:
            raise self.refusal("nothing drives it; name the driven links as inputs")

    def _check_link(self, one: DrawnLink) -> None:
        self._known(one.name, one.points, self.places, "point")
        if len(set(one.points)) != len(one.points):
            raise self.refusal(f"{one.name} has a point twice")
        count = len(one.points)
        if one.slides_on is not None or one.teeth is not None:
            kind = "slides" if one.slides_on is not None else "is a wheel"
            if count != 1:
                raise self.refusal(f"{one.name} {kind} and has {count} points; give it one")
            if one.slides_on is not None and one.along not in ("x", "y"):
                raise self.refusal(f"{one.name} slides along {one.along!r}; give x or y")
        elif not 2 <= count <= MOST_POINTS:
            raise self.refusal(f"{one.name} has {count} points; give it 2 to {MOST_POINTS}")
        else:
            start, end = (self.places[name] for name in one.points[:2])
            if start == end:
                raise self.refusal(f"{one.name} has no length: its first two points coincide")

    def _check_gear(self, gear: DrawnGears) -> None:
        for name in (gear.driver, gear.driven):
            given = gear.teeth if name == GROUND else self.teeth(name)
            if gear.ratio is None and given is None:
                raise self.refusal(
                    f"gears of {gear.driver} and {gear.driven}: {name} has no teeth; give it "
                    "teeth, or give the gears a ratio"
                )
            if given is not None and not given > 0:
                raise self.refusal(f"{name} has {given:g} teeth; give more than 0")
        if gear.ratio == 0:
            raise self.refusal(f"gears of {gear.driver} and {gear.driven}: the ratio is 0")
        if GROUND == gear.driver:
            raise self.refusal("the ground drives nothing; name it as driven")

    def teeth(self, name: str) -> float | None:
        """Of a wheel."""
        return self.link[name].teeth if name in self.link else None

    def _known(self, where: str, names: Any, known: Any, what: str) -> None:
        for name in names:
            if name not in known:
                raise self.refusal(
                    f"{where}: there is no {what} {name!r}{suggestion(name, known)}; there are "
                    f"{', '.join(known)}"
                )

    # -- shapes --------------------------------------------------------------------------------

    def direction(self, name: str) -> complex:
        """The drawn direction of the x axis of a part."""
        one = self.link.get(name)
        if one is None or one.teeth is not None:
            return 1.0
        if one.slides_on is not None:
            return self.direction(one.slides_on) * (1j if one.along == "y" else 1)
        start, end = (self.places[point] for point in one.points[:2])
        return (end - start) / abs(end - start)

    def origin(self, name: str) -> complex:
        """The drawn origin of a part."""
        return self.places[self.link[name].points[0]] if name in self.link else 0.0

    def slide(self, one: DrawnLink) -> tuple[float, float]:
        """Drawn slide of a block and its offset, in the axes of the part it slides on."""
        on = str(one.slides_on)
        seen = (self.origin(one.name) - self.origin(on)) / self.direction(on)
        return (seen.real, seen.imag) if one.along == "x" else (seen.imag, seen.real)

    def piece(self, one: DrawnLink) -> Piece:
        """The part with its lengths as drawn."""
        if one.slides_on is not None:
            return Block(one.mass, one.inertia or 0.0)
        if one.teeth is not None:
            return Wheel(one.teeth, one.mass, one.inertia or 0.0)
        start, direction = self.origin(one.name), self.direction(one.name)
        seen = [(self.places[point] - start) / direction for point in one.points]
        length = abs(seen[1])
        if len(seen) == 2:
            return Link(length, one.mass, one.width, one.center, one.inertia)
        rest = [(_rounded(at.real, length), _rounded(at.imag, length)) for at in seen[2:]]
        plate = Plate(length, rest[0], one.mass, one.center, one.inertia)
        return replace(plate, **dict(zip(ORDINALS, rest[1:], strict=False)))  # type: ignore[arg-type]


def _rounded(value: float, size: float) -> float:
    """A coordinate without the rounding of the turn that led to it."""
    return round(value, 14 - math.floor(math.log10(size)))
