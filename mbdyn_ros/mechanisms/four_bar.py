"""The four-bar linkage and the parallelogram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .layout import GROUND, GearMesh, MechanismLayout, Part, Pin
from .link import Link, Number
from .mechanism import Mechanism


@dataclass(frozen=True, kw_only=True)
class FourBar(Mechanism):
    """Crank, coupler and rocker on two pivots of the ground.

    ground : m, from the crank's pivot to the rocker's, along x.
    branch : 1, the pin of coupler and rocker to the left of the line from the crank's pin to the
        rocker's pivot ("open" with the pivots as drawn), or -1.

    Examples
    --------
    >>> FourBar(ground=0.32, crank=Link(0.1), coupler=Link(0.3), rocker=Link(0.25)).grashof_class
    'crank-rocker'
    """

    name: ClassVar[str] = "four_bar"
    title: ClassVar[str] = "Four-bar linkage"
    output: ClassVar[str] = "rocker"

    ground: Number = 0.32
    crank: Link = Link(0.1, 0.35)
    coupler: Link = Link(0.3, 0.6)
    rocker: Link = Link(0.25, 0.7)

    def layout(self) -> MechanismLayout:
        """Crank with coupler, and rocker; closed at the pin between coupler and rocker."""
        parts = (
            Part("crank", GROUND, (0.0, 0.0), self.crank),
            Part("coupler", "crank", self.crank.end, self.coupler),
            Part("rocker", GROUND, (self.ground, 0.0), self.rocker),
        )
        pin = Pin("coupler_pin", "coupler", self.coupler.end, "rocker", self.rocker.end)
        return MechanismLayout(parts, (pin,))

    @property
    def lengths(self) -> dict[str, float]:
        """The four lengths (m)."""
        links = {"crank": self.crank, "coupler": self.coupler, "rocker": self.rocker}
        return {"ground": self.ground, **{name: link.length for name, link in links.items()}}

    @property
    def grashof_class(self) -> str:
        """Which links can turn fully, by Grashof's criterion.

        "crank-rocker", "double-crank", "rocker-crank" (the rocker turns fully, not the crank),
        "double-rocker" (the coupler does), "triple-rocker" (none), or "change-point".
        """
        lengths = self.lengths
        shortest, p, q, longest = sorted(lengths.values())
        if abs(shortest + longest - p - q) <= 1e-12 * longest:
            return "change-point"
        if shortest + longest > p + q:
            return "triple-rocker"
        kinds = {
            "crank": "crank-rocker",
            "ground": "double-crank",
            "rocker": "rocker-crank",
            "coupler": "double-rocker",
        }
        return kinds[min(lengths, key=lengths.__getitem__)]

    def _explain_open(self) -> str:
        lengths = self.lengths
        longest = max(lengths, key=lengths.__getitem__)
        rest = sum(lengths.values()) - lengths[longest]
        return (
            f"the lengths cannot close: the {longest} ({lengths[longest]:g} m) is longer than the "
            f"other three together ({rest:g} m)"
        )


@dataclass(frozen=True, kw_only=True)
class Parallelogram(FourBar):
    """The four-bar with opposite sides equal: the coupler never turns.

    Where all links lie in line it could fold into an antiparallelogram. This one does not, as if
    a second parallelogram beside it kept it open: the angles of coupler and rocker follow the
    crank's by gears, so that nothing is singular there but the share of the pins' forces.
    """

    name: ClassVar[str] = "parallelogram"
    title: ClassVar[str] = "Parallelogram linkage"

    ground: Number = 0.3
    crank: Link = Link(0.15, 0.35)
    coupler: Link = Link(0.3, 0.6)
    rocker: Link = Link(0.15, 0.35)

    def layout(self) -> MechanismLayout:
        """The four-bar's parts and pin, with gears."""
        layout = super().layout()
        ratios = {"coupler": 0.0, "rocker": 1.0}
        gears = tuple(GearMesh("crank", name, GROUND, one) for name, one in ratios.items())
        return MechanismLayout(layout.parts, layout.pins, gears)

    def _values(self, settings: Mapping[str, Number]) -> dict[str, Any]:
        """Opposite lengths are set together."""
        twins = {}
        for one, other in (("crank_length", "rocker_length"), ("ground", "coupler_length")):
            for name, twin in ((one, other), (other, one)):
                if name in settings and twin not in settings:
                    twins[twin] = settings[name]
        return super()._values({**settings, **twins})

    def _check(self) -> None:
        super()._check()
        lengths: dict[str, Any] = self.lengths
        for one, other in (("crank", "rocker"), ("ground", "coupler")):
            if not np.allclose(lengths[one], lengths[other], rtol=1e-12, atol=0):
                raise self.refusal(
                    f"a parallelogram has {one} and {other} equal, not {lengths[one]:g} and "
                    f"{lengths[other]:g} m; change both, or take a four_bar"
                )
