"""A mechanism cut open at joints of one's choice, and the tree that is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import InputError, suggestion
from .layout import GROUND, MechanismLayout, Part, Pin
from .link import Point


@dataclass(frozen=True)
class PartConnection(Pin):
    """A joint between two parts, neither of which comes first: a pin, or a slide.

    A slide moves the origin of `second` along that part's x axis, which stands at a quarter turn
    to that of `first` where `across`.
    """

    slides: bool = False
    across: bool = False

    def place_on(self, part: str) -> Point:
        """Its place on one of its parts."""
        return self.at_first if part == self.first else self.at_second


def connections(layout: MechanismLayout) -> tuple[PartConnection, ...]:
    """All joints of a mechanism, those of the parts before the pins that close it."""
    joints = [
        PartConnection(one.joint, one.parent, one.at, one.name, (0.0, 0.0), one.slides, one.across)
        for one in layout.parts
    ]
    pins = [
        PartConnection(pin.name, pin.first, pin.at_first, pin.second, pin.at_second)
        for pin in layout.pins
    ]
    return (*joints, *pins)


@dataclass(frozen=True)
class Hung:
    """A part on its parent in the tree, by `joint`, which it is the first or second part of."""

    part: Part
    parent: str
    joint: PartConnection

    @property
    def reversed(self) -> bool:
        """Is true where the joint counts from the part to its parent."""
        return self.joint.first == self.part.name


@dataclass(frozen=True)
class CutOpen:
    """A mechanism whose loops are cut: the parts on the ground, parents first, and the cut joints.

    Parts that hang on one joint of the ground, a subsystem, come one after the other.
    """

    parts: tuple[Hung, ...]
    cuts: tuple[PartConnection, ...]

    @staticmethod
    def of(
        layout: MechanismLayout,
        cuts: Sequence[str],
        driven: Sequence[str],
        refusal: Callable[[str], InputError],
    ) -> CutOpen:
        """The mechanism cut at `cuts`, and at closing pins where more cuts are needed.

        Parameters
        ----------
        cuts : names of joints. driven : names of those with a drive.
        refusal : makes the error of a sentence.

        Raises
        ------
        InputError
            There is no such joint, it has a drive, or parts would hang on nothing.
        """
        joints = {one.name: one for one in connections(layout)}
        for name in cuts:
            if name not in joints:
                raise refusal(
                    f"there is no joint {name!r} to cut{suggestion(name, joints)}; there are "
                    f"{', '.join(one for one in joints if one not in driven)}"
                )
            if name in driven:
                raise refusal(f"{name} is driven, its torque is wanted; cut a passive joint")
        hangs_on = {part.name: part.name for part in layout.parts} | {GROUND: GROUND}

        def end(part: str) -> str:
            while hangs_on[part] != part:
                part = hangs_on[part]
            return part

        kept, cut = [], [joints[name] for name in dict.fromkeys(cuts)]
        for one in joints.values():
            first, second = end(one.first), end(one.second)
            if one in cut:
                continue
            if first == second:
                cut.append(one)
            else:
                hangs_on[first] = second
                kept.append(one)
        loose = [part.name for part in layout.parts if end(part.name) != end(GROUND)]
        if loose:
            raise refusal(
                f"cut at {' and '.join(dict.fromkeys(cuts))}, {' and '.join(loose)} would hang on "
                "nothing; cut one joint of every loop"
            )
        return CutOpen(tuple(_hung(layout, kept)), tuple(cut))


def _hung(layout: MechanismLayout, kept: Sequence[PartConnection]) -> list[Hung]:
    """The parts, each on the one that carries it."""
    parts = {part.name: part for part in layout.parts}
    found: list[Hung] = []

    def follow(carrier: str, inboard: PartConnection | None) -> None:
        for joint in kept:
            if joint is not inboard and carrier in (joint.first, joint.second):
                name = joint.second if joint.first == carrier else joint.first
                found.append(Hung(parts[name], carrier, joint))
                follow(name, joint)

    follow(GROUND, None)
    return found
