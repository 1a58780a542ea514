"""The five-bar linkage: two cranks, two freedoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .layout import GROUND, MechanismLayout, Part, Pin
from .link import Link, Number
from .mechanism import Mechanism


@dataclass(frozen=True, kw_only=True)
class FiveBar(Mechanism):
    """Two cranks on the ground, each with a coupler; a pin joins these.

    ground : m, from the crank's pivot to the second crank's, along x. branch : 1, the pin to the
        left of the line from the crank's pin to the second crank's, or -1.
    """

    name: ClassVar[str] = "five_bar"
    title: ClassVar[str] = "Five-bar linkage"
    inputs: ClassVar[tuple[str, ...]] = ("crank", "second_crank")
    output: ClassVar[str] = "coupler"

    ground: Number = 0.2
    crank: Link = Link(0.1, 0.4)
    coupler: Link = Link(0.25, 0.5)
    second_crank: Link = Link(0.08, 0.4)
    second_coupler: Link = Link(0.25, 0.5)

    def layout(self) -> MechanismLayout:
        """Each crank with its coupler; closed at the couplers' pin."""
        parts = (
            Part("crank", GROUND, (0.0, 0.0), self.crank),
            Part("coupler", "crank", self.crank.end, self.coupler),
            Part("second_crank", GROUND, (self.ground, 0.0), self.second_crank),
            Part("second_coupler", "second_crank", self.second_crank.end, self.second_coupler),
        )
        ends = self.coupler.end, "second_coupler", self.second_coupler.end
        pin = Pin("coupler_pin", "coupler", *ends)
        return MechanismLayout(parts, (pin,))
