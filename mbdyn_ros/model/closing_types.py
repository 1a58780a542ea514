"""The joints that may close a loop: each declares where its two frames may slide and turn.

This table is all that is known of a loop type: its rows, its freedoms and whether it has an axis
follow from it, the equations from `equations.loops.loop_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .named_type import named_type


class Slide(Enum):
    """Where the frames of a closing joint may slide apart; the value counts the ways."""

    NOWHERE = 0
    ALONG = 1
    ACROSS = 2

    @property
    def rows(self) -> int:
        """Constraint rows that are lengths."""
        return 3 - self.value


class Turn(Enum):
    """How the frames of a closing joint may turn; the value counts the ways.

    ABOUT the axis; BEND in two directions across the axis, without a twist about it.
    """

    NOWHERE = 0
    ABOUT = 1
    BEND = 2
    ALL = 3

    @property
    def rows(self) -> int:
        """Constraint rows that are sines of angles."""
        return 3 - self.value


@dataclass(frozen=True)
class ClosingType:
    """A type of closing joint: what it leaves free. `synonyms` are other formats' names of it."""

    name: str
    slide: Slide
    turn: Turn
    synonyms: tuple[str, ...] = ()

    @property
    def freedoms(self) -> int:
        """How many relative motions it leaves free."""
        return self.slide.value + self.turn.value

    @property
    def has_axis(self) -> bool:
        """Whether what it leaves free depends on a direction."""
        return self.slide is not Slide.NOWHERE or self.turn in (Turn.ABOUT, Turn.BEND)

    @property
    def is_hinge(self) -> bool:
        """Whether it leaves a turn about its axis and nothing else."""
        return self.slide is Slide.NOWHERE and self.turn is Turn.ABOUT


CLOSING_TYPES = {
    one.name: one
    for one in (
        ClosingType("fixed", Slide.NOWHERE, Turn.NOWHERE, ("weld",)),
        ClosingType("revolute", Slide.NOWHERE, Turn.ABOUT, ("hinge", "pin")),
        ClosingType("continuous", Slide.NOWHERE, Turn.ABOUT),
        ClosingType("prismatic", Slide.ALONG, Turn.NOWHERE),
        ClosingType("cylindrical", Slide.ALONG, Turn.ABOUT),
        ClosingType("universal", Slide.NOWHERE, Turn.BEND),
        ClosingType("spherical", Slide.NOWHERE, Turn.ALL, ("ball",)),
        ClosingType("planar", Slide.ACROSS, Turn.ABOUT),
    )
}
"""The closing joints by name; names as for tree joints."""


def closing_type(name: str | None, what: str = "") -> ClosingType:
    """The closing joint of that name.

    Raises
    ------
    ModelError
        There is none: the message, which `what` begins, lists those that there are.
    """
    return named_type(name, CLOSING_TYPES, what, _known, {})


def _known() -> str:
    return f"a loop is closed by one of {', '.join(CLOSING_TYPES)}"
