"""The rigid links that a mechanism is made of: lengths and inertias."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Number = Any
"""A float, an array of as many designs, or a CasADi symbol: the formulas serve all three."""

Points = NDArray[np.complex128]
"""Points of the plane or of a part as x + i y, m."""

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


ORDINALS = ("fourth", "fifth", "sixth", "seventh", "eighth")
"""Names of the pins of a plate beyond the third."""


@dataclass(frozen=True)
class Plate(Bar):
    """A link with three pins or more: first to second along its axis, the others anywhere.

    length : m, from the first to the second pin.
    third : (along, across) m of the third pin, seen from the first; so too the fourth to the
        eighth.
    center : as of a `Link`; default the middle of the pins.
    inertia : default m sum r^2 / 12 over the pins' distances r from their middle: that of an even
        triangle or parallelogram between them.
    """

    length: Number
    third: Point
    mass: Number = 1.0
    center: Point | None = None
    inertia: Number = None
    fourth: Point | None = None
    fifth: Point | None = None
    sixth: Point | None = None
    seventh: Point | None = None
    eighth: Point | None = None

    @property
    def others(self) -> dict[str, Point]:
        """The pins that it has beyond the second, by the names of its fields."""
        rest = {name: getattr(self, name) for name in ("third", *ORDINALS)}
        return {name: at for name, at in rest.items() if at is not None}

    @property
    def pins(self) -> tuple[Point, ...]:
        """All pins, seen from the first."""
        return *super().pins, *self.others.values()

    def _mean(self) -> Point:
        alongs, acrosses = zip(*self.pins, strict=True)
        return sum(alongs) / len(alongs), sum(acrosses) / len(acrosses)

    @property
    def middle(self) -> Point:
        """Centre of mass (along, across)."""
        return self._mean() if self.center is None else self.center

    @property
    def moment(self) -> Number:
        """Moment of inertia about the centre of mass."""
        if self.inertia is not None:
            return self.inertia
        x, y = self._mean()
        squares = sum((along - x) ** 2 + (across - y) ** 2 for along, across in self.pins)
        return self.mass * squares / 12


class OnItsPin:
    """A part with a single pin, its centre of mass there."""

    inertia: Number
    end: ClassVar[Point] = (0.0, 0.0)
    pins: ClassVar[tuple[Point, ...]] = (end,)
    middle: ClassVar[Point] = end

    @property
    def moment(self) -> Number:
        """Moment of inertia about the centre of mass."""
        return self.inertia


@dataclass(frozen=True)
class Block(OnItsPin):
    """A block that slides, its centre of mass on its pin. mass : kg. inertia : kg m^2."""

    mass: Number = 1.0
    inertia: Number = 0.0


@dataclass(frozen=True)
class Cam(Block):
    """A disk cam on its axle, its centre of mass there. mass : kg. inertia : kg m^2."""


@dataclass(frozen=True)
class Wheel(OnItsPin):
    """A gear wheel on its axle, its centre of mass there.

    teeth : its share of the ratio; need not be whole. mass : kg. inertia : kg m^2.
    """

    teeth: Number
    mass: Number = 1.0
    inertia: Number = 0.0


Piece = Link | Plate | Block | Wheel

PIECES = (Link, Plate, Block, Wheel)
"""The types of a `Piece`, for `isinstance`."""


def piece_numbers(piece: Piece) -> dict[str, Number]:
    """The numbers of a link that its equations need, by name, shapes resolved."""
    numbers = {"mass": piece.mass, "inertia": piece.moment}
    if isinstance(piece, Wheel):
        return {**numbers, "teeth": piece.teeth}
    numbers["center_along"], numbers["center_across"] = piece.middle
    if isinstance(piece, Bar):
        numbers["length"] = piece.length
    for name, at in piece.others.items() if isinstance(piece, Plate) else ():
        numbers[f"{name}_along"], numbers[f"{name}_across"] = at
    return numbers


AXES = ("along", "across")
"""Ends of the names of a point's numbers."""

PLACES = tuple(f"{name}_{axis}" for name in ("third", *ORDINALS) for axis in AXES)
"""Names of the numbers of a plate's pins."""


def piece_of(kind: type[Piece], numbers: dict[str, Number]) -> Piece:
    """The link that has the numbers of `piece_numbers`, its inverse."""
    given: dict[str, Any] = {}
    for name in (one.name for one in fields(kind)):
        if name in numbers:
            given[name] = numbers[name]
        elif f"{name}_along" in numbers:
            given[name] = tuple(numbers[f"{name}_{axis}"] for axis in AXES)
    return kind(**given)
