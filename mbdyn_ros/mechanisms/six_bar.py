"""Six-bar linkages: a four-bar whose ternary link drives a second dyad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .layout import GROUND, MechanismLayout, Part, Pin
from .link import Link, Number, Plate
from .mechanism import Mechanism


@dataclass(frozen=True, kw_only=True)
class SixBar(Mechanism):
    """A four-bar with a plate, whose third pin carries the second coupler to a second rocker.

    ground : m, from the crank's pivot to the rocker's, along x. second_pivot_x, second_pivot_y :
        m, of the second rocker's pivot. branch, second_branch : 1, the pin of each dyad to the
        left of the line from its first end to its pivot, or -1.
    """

    output: ClassVar[str] = "second_rocker"
    branches: ClassVar[tuple[str, ...]] = ("branch", "second_branch")
    ternary: ClassVar[str]

    ground: Number = 0.3
    crank: Link = Link(0.1, 0.4)
    coupler: Link | Plate = Link(0.3, 0.6)
    rocker: Link | Plate = Link(0.2, 0.6)
    second_coupler: Link = Link(0.3, 0.5)
    second_rocker: Link = Link(0.25, 0.5)
    second_pivot_x: Number = 0.6
    second_pivot_y: Number = 0.0
    second_branch: Number = 1

    def layout(self) -> MechanismLayout:
        """The four-bar's parts, then those of the second dyad."""
        plate = getattr(self, self.ternary)
        parts = (
            Part("crank", GROUND, (0.0, 0.0), self.crank),
            Part("coupler", "crank", self.crank.end, self.coupler),
            Part("rocker", GROUND, (self.ground, 0.0), self.rocker),
            Part("second_coupler", self.ternary, plate.third, self.second_coupler),
            Part("second_rocker", GROUND, (self.second_pivot_x, self.second_pivot_y),
                 self.second_rocker),
        )  # fmt: skip
        seconds = self.second_coupler.end, "second_rocker", self.second_rocker.end
        pins = (
            Pin("coupler_pin", "coupler", self.coupler.end, "rocker", self.rocker.end),
            Pin("second_pin", "second_coupler", *seconds),
        )
        return MechanismLayout(parts, pins)


@dataclass(frozen=True, kw_only=True)
class Watt(SixBar):
    """Watt's six-bar (II): the rocker is a plate and drives a second four-bar."""

    name: ClassVar[str] = "watt"
    title: ClassVar[str] = "Watt six-bar"
    ternary: ClassVar[str] = "rocker"

    rocker: Link | Plate = Plate(0.2, (0.12, -0.16), 0.8)


@dataclass(frozen=True, kw_only=True)
class Stephenson(SixBar):
    """Stephenson's six-bar (III): the coupler is a plate and drives a dyad on the ground."""

    name: ClassVar[str] = "stephenson"
    title: ClassVar[str] = "Stephenson six-bar"
    ternary: ClassVar[str] = "coupler"

    coupler: Link | Plate = Plate(0.3, (0.15, 0.12), 0.8)
    second_pivot_x: Number = 0.45
