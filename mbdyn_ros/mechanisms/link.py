"""The rigid links that a mechanism is made of: lengths and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

Number = Any
"""A float, an array of as many designs, or a CasADi symbol: the formulas serve all three."""

Point = tuple[Number, Number]
"""Place in a part (m), along it and across it."""


class Bar:
    """A part with a pin at each end, `length` apart."""

    length: Number

    @property
    def end(self) -> Point:
        """The second pin, seen from the first."""
        return self.length, 0.0

    @property
    def pins(self) -> tuple[Point, ...]:
        """All pins, seen from the first."""
        return (0.0, 0.0), self.end


@dataclass(frozen=True)
class Link(Bar):
    """A bar between two pins.

    length : m, from pin to pin. mass : kg.
    width : m; 0 is a slender rod, more a flat bar of that width, both of even material.
    center : (along, across) m, centre of mass seen from the first pin; default in the middle.
    inertia : kg m^2 about the centre of mass, across the plane; default that of the rod or bar.

    Examples
    --------
    >>> Link(0.3, 2.0).moment
    0.015
    """

    length: Number
    mass: Number = 1.0
    width: Number = 0.0
    center: Point | None = None
    inertia: Number = None

    @property
    def middle(self) -> Point:
        """Centre of mass (along, across)."""
        return (self.length / 2, 0.0) if self.center is None else self.center

    @property
    def moment(self) -> Number:
        """Moment of inertia about the centre of mass."""
        if self.inertia is not None:
            return self.inertia
        return self.mass * (self.length**2 + self.width**2) / 12


@dataclass(frozen=True)
class Plate(Bar):
    """A link with three pins: first to second along its axis, the third anywhere.

    length : m, from the first to the second pin. third : (along, across) m of the third pin,
    seen from the first. center : as of a `Link`; default the middle of the three pins.
    inertia : default that of an even triangle, where the pins make one, else of a rod.
    """

    length: Number
    third: Point
    mass: Number = 1.0
    center: Point | None = None
    inertia: Number = None

    @property
    def pins(self) -> tuple[Point, ...]:
        """All pins, seen from the first."""
        return *super().pins, self.third

    @property
    def middle(self) -> Point:
        """Centre of mass (along, across)."""
        if self.center is not None:
            return self.center
        return (self.length + self.third[0]) / 3, self.third[1] / 3

    @property
    def moment(self) -> Number:
        """Moment of inertia about the centre of mass: m (a^2 + b^2 + c^2) / 36 of a triangle."""
        if self.inertia is not None:
            return self.inertia
        along, across = self.third
        squares = self.length**2 + along**2 + across**2 + (along - self.length) ** 2 + across**2
        return self.mass * squares / 36


@dataclass(frozen=True)
class Block:
    """A block that slides, its centre of mass on its pin. mass : kg. inertia : kg m^2."""

    mass: Number = 1.0
    inertia: Number = 0.0
    pins: ClassVar[tuple[Point, ...]] = ((0.0, 0.0),)
    middle: ClassVar[Point] = (0.0, 0.0)

    @property
    def moment(self) -> Number:
        """Moment of inertia about the centre of mass."""
        return self.inertia


Piece = Link | Plate | Block

PIECES = (Link, Plate, Block)
"""The types of a `Piece`, for `isinstance`."""


def piece_numbers(piece: Piece) -> dict[str, Number]:
    """The numbers of a link that its equations need, by name, shapes resolved."""
    along, across = piece.middle
    numbers = {"mass": piece.mass, "inertia": piece.moment, "center_along": along}
    numbers["center_across"] = across
    if isinstance(piece, Bar):
        numbers["length"] = piece.length
    if isinstance(piece, Plate):
        numbers["third_along"], numbers["third_across"] = piece.third
    return numbers


def piece_of(kind: type[Piece], numbers: dict[str, Number]) -> Piece:
    """The link that has the numbers of `piece_numbers`: the way back."""
    given: dict[str, Any] = {"mass": numbers["mass"], "inertia": numbers["inertia"]}
    names = {one.name for one in fields(kind)}
    if "center" in names:
        given["center"] = numbers["center_along"], numbers["center_across"]
    if "length" in names:
        given["length"] = numbers["length"]
    if "third" in names:
        given["third"] = numbers["third_along"], numbers["third_across"]
    return kind(**given)
