"""The joints that a description says are driven, though no dynamics is written there."""

from __future__ import annotations

from collections.abc import Iterator

from .xml_source import XmlSource


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
