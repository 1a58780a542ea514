"""Mechanisms with a sliding block: slider-crank, quick return, Scotch yoke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .layout import GROUND, MechanismLayout, Part, Pin
from .link import Block, Link, Number
from .mechanism import Mechanism


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
        parts = (
            Part("crank", GROUND, (0.0, 0.0), self.crank),
            Part("coupler", "crank", self.crank.end, self.coupler),
            Part("slider", GROUND, (0.0, self.offset), self.slider, slides=True),
        )
        pin = Pin("slider_pin", "coupler", self.coupler.end, "slider", (0.0, 0.0))
        return MechanismLayout(parts, (pin,))

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
        parts = (
            Part("crank", GROUND, (0.0, 0.0), self.crank),
            Part("lever", GROUND, (0.0, -self.ground), self.lever),
            Part("block", "lever", (0.0, self.offset), self.block, slides=True),
        )
        pin = Pin("block_pin", "crank", self.crank.end, "block", (0.0, 0.0))
        return MechanismLayout(parts, (pin,))

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
        parts = (
            Part("crank", GROUND, (0.0, 0.0), self.crank),
            Part("yoke", GROUND, (0.0, 0.0), self.yoke, slides=True),
            Part("block", "yoke", (0.0, 0.0), self.block, slides=True, across=True),
        )
        pin = Pin("block_pin", "crank", self.crank.end, "block", (0.0, 0.0))
        return MechanismLayout(parts, (pin,))
