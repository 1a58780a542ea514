"""Elements of a description that are other programs' business, kept as text."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

OWNERS = ("robot", "link", "joint")
"""Elements that contain others, in the order in which these are read."""

BY_TAG = {"link": "link", "joint": "joint", "parent": "link", "child": "link"}
"""Elements whose `name`, or text, is the name of a link or a joint."""
BY_ATTRIBUTE = {"link": "link", "joint": "joint", "link1": "link", "link2": "link"}
"""Attributes that are the name of a link or a joint."""
EITHER = ("reference", "frame", "frame_id")
"""Attributes that may name a link or a joint."""

Renaming = Callable[[str, str], str]
"""From what is named ("link" or "joint") and its name to its new name."""


@dataclass(frozen=True)
class Foreign:
    """An element, as `text`, that is in the robot, or in the `owner` of that `name`.

    owner : one of `OWNERS`.
    """

    owner: str
    name: str
    text: str

    def element(self) -> Element:
        """The element itself."""
        found: Element = etree.fromstring(self.text)
        return found

    @property
    def tag(self) -> str:
        """The name of the element."""
        return str(self.element().tag)

    def names(self) -> set[tuple[str, str]]:
        """The links and joints that it names, each with what it is; its owner too."""
        found = {(what, name) for _, _, what, name in _places(self.element())}
        return found | {(self.owner, self.name)}

    def renamed(self, new: Renaming) -> Foreign:
        """The same about links and joints of other names."""
        owner = self.name if self.owner == "robot" else new(self.owner, self.name)
        element, changed = self.element(), False
        for place, attribute, what, name in list(_places(element)):
            other = new(what, name)
            if other != name:
                changed = True
                if attribute:
                    place.set(attribute, other)
                else:
                    place.text = other
        text = etree.tostring(element, encoding="unicode") if changed else self.text
        return replace(self, name=owner, text=text)

    def without(self, gone: set[tuple[str, str]]) -> Foreign | None:
        """The same without what is about links and joints that are gone; None: nothing is left.

        A joint of a `<ros2_control>` goes alone, other elements whole.
        """
        if (self.owner, self.name) in gone:
            return None
        if not self.names() & gone:
            return self
        element = self.element()
        if element.tag != "ros2_control":
            return None
        for joint in list(element.iter("joint")):
            if ("joint", joint.get("name")) in gone:
                joint.getparent().remove(joint)
        if element.find(".//joint") is None:
            return None
        return replace(self, text=etree.tostring(element, encoding="unicode"))


def foreign_of(element: Element, owner: str, name: str) -> Foreign:
    """An element of a document; `owner` and `name` are of what it stands in.

    Spaces between its elements, and namespaces that it does not use, are not kept.
    """
    whole = copy.deepcopy(element)
    for one in whole.iter():
        one.tail = None
        if len(one) and not (one.text or "").strip():
            one.text = None
    etree.cleanup_namespaces(whole)
    return Foreign(owner, name, etree.tostring(whole, encoding="unicode"))


def _places(element: Element) -> Iterator[tuple[Element, str, str, str]]:
    """Every place that may name a link or a joint: element, attribute (or text), what, name."""
    for one in element.iter():
        what = BY_TAG.get(str(one.tag))
        if what is not None:
            if "name" in one.keys():
                yield one, "name", what, str(one.get("name"))
            elif len(one) == 0 and one.text and one.text.strip():
                yield one, "", what, one.text.strip()
        for attribute, value in one.attrib.items():
            if str(attribute) in BY_ATTRIBUTE:
                yield one, str(attribute), BY_ATTRIBUTE[str(attribute)], str(value)
            elif str(attribute) in EITHER:
                yield one, str(attribute), "link", str(value)
                yield one, str(attribute), "joint", str(value)
        if one.tag == "param" and one.get("name") in ("mimic",) and one.text:
            yield one, "", "joint", one.text.strip()
