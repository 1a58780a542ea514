"""The kinds of linkages by their lengths: four-bar, slider-crank, five-bar and six-bar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .layout import GROUND, ORIGIN, GearMesh, MechanismLayout, Part
from .link import Block, Link, Number, Plate
from .mechanism import Mechanism


def _four_bar(design: FourBar | SixBar) -> MechanismLayout:
    """Crank with coupler, and rocker; closed at the pin between coupler and rocker."""
    crank = Part("crank", GROUND, ORIGIN, design.crank)
    coupler = crank.carried("coupler", design.coupler)
    rocker = Part("rocker", GROUND, (design.ground, 0.0), design.rocker)
    return MechanismLayout((crank, coupler, rocker), (coupler.pinned("coupler_pin", rocker),))


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
        return _four_bar(self)

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
    a second parallelogram next to it kept it open: the angles of coupler and rocker follow the
    crank's by gears, so that nothing is singular there but the share of the pins' forces.
    """

    name: ClassVar[str] = "parallelogram"
    title: ClassVar[str] = "Parallelogram linkage"
    twins: ClassVar[Mapping[str, str]] = {
        "rocker_length": "crank_length", "coupler_length": "ground"
    }  # fmt: skip

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
        given = dict(settings)
        for one, other in self.twins.items():
            for name, twin in ((one, other), (other, one)):
                if name in settings:
                    given.setdefault(twin, settings[name])
        return super()._values(given)

    def _check(self) -> None:
        super()._check()
        lengths: dict[str, Any] = self.lengths
        for one, other in (("crank", "rocker"), ("ground", "coupler")):
            if not np.allclose(lengths[one], lengths[other], rtol=1e-12, atol=0):
                raise self.refusal(
                    f"a parallelogram has {one} and {other} equal, not {lengths[one]:g} and "
                    f"{lengths[other]:g} m; change both, or take a four_bar"
                )


@dataclass(frozen=True, kw_only=True)
class SliderCrank(Mechanism):
    """Crank and coupler drive a slider along x.

    offset : m, of the slide above the crank's pivot. branch : 1, the slider to the right of the
        crank's pin, or -1.
    """

    name: ClassVar[str] = "slider_crank"
    title: ClassVar[str] = "Slider-crank"
    output: ClassVar[str] = "slider"

    offset: Number = 0.0
    crank: Link = Link(0.1, 0.4)
    coupler: Link = Link(0.3, 0.6)
    slider: Block = Block(0.8)

    def layout(self) -> MechanismLayout:
        """Crank with coupler, and slider; closed at the slider's pin."""
        crank = Part("crank", GROUND, ORIGIN, self.crank)
        coupler = crank.carried("coupler", self.coupler)
        slider = Part("slider", GROUND, (0.0, self.offset), self.slider, slides=True)
        return MechanismLayout((crank, coupler, slider), (coupler.pinned("slider_pin", slider),))

    def _explain_open(self) -> str:
        return (
            f"the lengths cannot close: crank and coupler together "
            f"({self.crank.length + self.coupler.length:g} m), or the coupler alone where the "
            f"crank is longer, do not reach the slide at offset {self.offset:g} m"
        )


@dataclass(frozen=True, kw_only=True)
class QuickReturn(Mechanism):
    """Inverted slider-crank: the crank's pin is in a block that slides on a lever.

    With the ground longer than the crank the lever swings, slowly in one direction and quickly back
    (crank shaper); with a shorter one it turns fully, unevenly (Whitworth).

    ground : m, of the lever's pivot below the crank's. offset : m, of the block to the left of
        the lever's axis. branch : 1, the block on the lever's positive side, or -1.
    """

    name: ClassVar[str] = "quick_return"
    title: ClassVar[str] = "Inverted slider-crank (quick return)"
    output: ClassVar[str] = "lever"

    ground: Number = 0.25
    offset: Number = 0.0
    crank: Link = Link(0.1, 0.4)
    lever: Link = Link(0.45, 1.0)
    block: Block = Block(0.2, 1e-4)

    def layout(self) -> MechanismLayout:
        """Crank, and lever with block; closed at the block's pin."""
        crank = Part("crank", GROUND, ORIGIN, self.crank)
        lever = Part("lever", GROUND, (0.0, -self.ground), self.lever)
        block = Part("block", "lever", (0.0, self.offset), self.block, slides=True)
        return MechanismLayout((crank, lever, block), (crank.pinned("block_pin", block),))

    def _explain_open(self) -> str:
        return (
            f"the lengths cannot close: the crank's pin never comes as far as the offset "
            f"({self.offset:g} m) from the lever's pivot"
        )


@dataclass(frozen=True, kw_only=True)
class ScotchYoke(Mechanism):
    """The crank's pin moves a block up and down in the slot of a yoke that slides along x."""

    name: ClassVar[str] = "scotch_yoke"
    title: ClassVar[str] = "Scotch yoke"
    output: ClassVar[str] = "yoke"

    crank: Link = Link(0.1, 0.4)
    yoke: Block = Block(1.0)
    block: Block = Block(0.1)

    def layout(self) -> MechanismLayout:
        """Crank, and yoke with block; closed at the block's pin."""
        crank = Part("crank", GROUND, ORIGIN, self.crank)
        yoke = Part("yoke", GROUND, ORIGIN, self.yoke, slides=True)
        block = Part("block", "yoke", ORIGIN, self.block, slides=True, across=True)
        return MechanismLayout((crank, yoke, block), (crank.pinned("block_pin", block),))


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
        crank = Part("crank", GROUND, ORIGIN, self.crank)
        coupler = crank.carried("coupler", self.coupler)
        second = Part("second_crank", GROUND, (self.ground, 0.0), self.second_crank)
        other = second.carried("second_coupler", self.second_coupler)
        pin = coupler.pinned("coupler_pin", other)
        return MechanismLayout((crank, coupler, second, other), (pin,))


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
        first, plate = _four_bar(self), getattr(self, self.ternary)
        pivot = self.second_pivot_x, self.second_pivot_y
        coupler = Part("second_coupler", self.ternary, plate.third, self.second_coupler)
        rocker = Part("second_rocker", GROUND, pivot, self.second_rocker)
        pin = coupler.pinned("second_pin", rocker)
        return MechanismLayout((*first.parts, coupler, rocker), (*first.pins, pin))


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
