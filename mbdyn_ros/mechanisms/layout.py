"""The skeleton of a mechanism: which parts hang on which, and which pins close the loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..equations.algebra.complex_plane import Complex
from ..model.model import Array
from .dyad import Dyad
from .link import Number, Piece, Point

GROUND = "ground"
"""The part that stands still."""


@dataclass(frozen=True)
class Part:
    """A moving part on its parent, by a joint at a point of the parent.

    A turning part's frame stands at its joint. A sliding one moves along its own x axis, which
    stands at a quarter turn to the parent's where `across`.
    """

    name: str
    parent: str
    at: Point
    piece: Piece
    slides: bool = False
    across: bool = False

    @property
    def joint(self) -> str:
        """Name of the joint that moves it."""
        return f"{self.name}_joint"


@dataclass(frozen=True)
class Pin:
    """A pin that closes a loop: a point of one part is a point of another."""

    name: str
    first: str
    at_first: Point
    second: str
    at_second: Point


@dataclass(frozen=True)
class Layout:
    """Parts, parents first; pins; and turning parts that copy another's angle by a factor.

    Positions of parts come from `gears` where there are any, and pins carry forces alone.
    """

    parts: tuple[Part, ...]
    pins: tuple[Pin, ...]
    gears: tuple[tuple[str, str, float], ...] = ()

    @property
    def order(self) -> dict[str, int]:
        """Place of every part among the parts."""
        return {part.name: k for k, part in enumerate(self.parts)}


@dataclass(frozen=True)
class Solved:
    """The position of a mechanism.

    turns : direction of every turning part's x axis in the plane; slides : of sliding parts (m).
    dyads : as they were solved one after the other.
    """

    turns: dict[str, Complex]
    slides: dict[str, Number] = field(default_factory=dict)
    dyads: tuple[Dyad, ...] = ()


def directions(layout: Layout, solved: Solved) -> dict[str, Complex]:
    """Direction of the x axis of every part, the ground included."""
    result = {GROUND: Complex(1.0, 0.0)}
    for part in layout.parts:
        if part.slides:
            quarter = Complex(0.0, 1.0) if part.across else Complex(1.0, 0.0)
            result[part.name] = result[part.parent] * quarter
        else:
            result[part.name] = solved.turns[part.name]
    return result


def relative(layout: Layout, solved: Solved) -> dict[str, Any]:
    """The position of every joint: its turn as a unit complex number, or its slide."""
    absolute = directions(layout, solved)
    return {
        part.name: solved.slides[part.name]
        if part.slides
        else absolute[part.name] * absolute[part.parent].conj()
        for part in layout.parts
    }


def origins(layout: Layout, solved: Solved) -> dict[str, Complex]:
    """The origin of the frame of every part."""
    absolute = directions(layout, solved)
    result = {GROUND: Complex(0.0, 0.0)}
    for part in layout.parts:
        result[part.name] = result[part.parent] + absolute[part.parent] * Complex(*part.at)
        if part.slides:
            along = absolute[part.name].scaled(solved.slides[part.name])
            result[part.name] = result[part.name] + along
    return result


def turned(layout: Layout, joints: Array, rate: bool = False) -> dict[str, Array]:
    """Angle of every part in the plane (N,), or its `rate`, the ground's included.

    joints : (N, parts) positions of the joints, or rates of any order.
    """
    result = {GROUND: np.zeros(len(joints))}
    for k, part in enumerate(layout.parts):
        own = joints[:, k] if not part.slides else math.pi / 2 if part.across and not rate else 0.0
        result[part.name] = result[part.parent] + own
    return result
