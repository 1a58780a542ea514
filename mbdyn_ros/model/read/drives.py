"""The joints that a description says are driven, though no dynamics is written there."""

from __future__ import annotations

from collections.abc import Iterator

from .remarks import Remarks
from .xml_source import XmlSource

ROTORS = "motorInertia", "rotorInertia"
"""Elements for the inertia of a motor's rotor."""


def driven_joints(document: XmlSource, movable: set[str]) -> tuple[str, ...]:
    """Joints with a command interface in `<ros2_control>`, or in a `<transmission>`, in order.

    movable : names of the joints that can be driven; others are left out.
    """
    return tuple(dict.fromkeys(name for name in _named(document) if name in movable))


def _named(document: XmlSource) -> Iterator[str | None]:
    for control in document.root.iter("ros2_control"):
        for joint in control.iter("joint"):
            if joint.find("command_interface") is not None:
                yield joint.get("name")
    for transmission in document.root.iterchildren("transmission"):
        for joint in transmission.iterchildren("joint"):
            yield joint.get("name")


def remark_rotors(document: XmlSource, remarks: Remarks) -> None:
    """Remark on transmissions that tell the inertia of a motor, which nothing here adds."""
    for transmission in document.root.iterchildren("transmission"):
        told = [tag for tag in ROTORS if transmission.find(f".//{tag}") is not None]
        if told:
            remarks.add(
                transmission,
                f"<{told[0]}> is not used: forward dynamics and efforts leave the rotor out. It "
                "counts as a link of its own with that inertia, tied to the joint by a coupling "
                "with the reduction as ratio",
            )
