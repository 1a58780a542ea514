"""The joints that may close a loop: each declares where its two frames may slide and turn.

This table is all that is known of a loop type: its rows, its freedoms and whether it has an axis
follow from it, the equations from `equations.loops.loop_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .joints.types import named_type


class Translation(Enum):
    """Where the frames of a closing joint may slide apart; the value counts the ways."""

    NOWHERE = 0
    ALONG = 1
    ACROSS = 2

    @property
    def rows(self) -> int:
        """Constraint rows that are lengths."""
        return 3 - self.value


class Rotation(Enum):
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
    """A type of closing joint: the motions that it leaves free. `synonyms`: names elsewhere."""

    name: str
    slide: Translation
    turn: Rotation
    synonyms: tuple[str, ...] = ()

    @property
    def freedoms(self) -> int:
        """How many relative motions it leaves free."""
        return self.slide.value + self.turn.value

    @property
    def has_axis(self) -> bool:
        """Whether the motion that it leaves free depends on a direction."""
        return self.slide is not Translation.NOWHERE or self.turn in (Rotation.ABOUT, Rotation.BEND)

    @property
    def is_hinge(self) -> bool:
        """Whether it leaves a turn about its axis and nothing else."""
        return self.slide is Translation.NOWHERE and self.turn is Rotation.ABOUT


CLOSING_TYPES = {
    one.name: one
    for one in (
        ClosingType("fixed", Translation.NOWHERE, Rotation.NOWHERE, ("weld",)),
        ClosingType("revolute", Translation.NOWHERE, Rotation.ABOUT, ("hinge", "pin")),
        ClosingType("continuous", Translation.NOWHERE, Rotation.ABOUT),
        ClosingType("prismatic", Translation.ALONG, Rotation.NOWHERE),
        ClosingType("cylindrical", Translation.ALONG, Rotation.ABOUT),
        ClosingType("universal", Translation.NOWHERE, Rotation.BEND),
        ClosingType("spherical", Translation.NOWHERE, Rotation.ALL, ("ball",)),
        ClosingType("planar", Translation.ACROSS, Rotation.ABOUT),
    )
}
"""The closing joints by name; names as for tree joints."""

KNOWN = f"a loop is closed by one of {', '.join(CLOSING_TYPES)}"
"""Words for them."""


def closing_type(name: str | None, what: str = "") -> ClosingType:
    """The closing joint of that name.

    Raises
    ------
    ModelError
        There is none: the message, which `what` begins, lists those that there are.
    """
    return named_type(name, CLOSING_TYPES, what, KNOWN, {})
