"""Records in XML: attributes for numbers and names, elements for records in records."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ModelError, suggestion
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


class Attribute(NamedTuple):
    """An attribute, and the element that has it."""

    element: Element
    key: str


class XmlRecords:
    """The records of a document in XML, as `actuator_records.Records` reads them."""

    def __init__(self, document: XmlSource) -> None:
        self._document = document

    def mapping(
        self, node: Element | Attribute, what: str, known: Collection[str] | None = None
    ) -> dict[str, Element | Attribute]:
        """Attributes and elements of an element by their names."""
        if isinstance(node, Attribute):
            raise self.error(node, f"{what} is an element of its own, not an attribute")
        found: dict[str, Element | Attribute] = {
            str(key): Attribute(node, str(key)) for key in node.attrib
        }
        for child in node:
            tag = str(child.tag)
            if tag in found:
                raise self.error(child, f'{what} has "{tag}" twice; keep one')
            found[tag] = child
        for key in found:
            if known is not None and key not in known:
                raise self.error(
                    found[key],
                    f'{what} has no "{key}"{suggestion(key, known)}; it has {", ".join(known)}',
                )
        return found

    def text(self, node: Element | Attribute, what: str) -> str:
        """The text of an attribute, which is not empty."""
        if not isinstance(node, Attribute):
            raise self.error(node, f"{what} is an attribute, not an element")
        text = str(node.element.get(node.key))
        if not text:
            raise self.error(node, f"{what} is empty; give a name")
        return text

    def number(self, node: Element | Attribute, what: str) -> float:
        """The finite number in an attribute."""
        if not isinstance(node, Attribute):
            raise self.error(node, f"{what} is an attribute, not an element")
        return self._document.number(node.element, node.key)

    def line(self, node: Element | Attribute) -> int:
        """The line of the element."""
        element = node.element if isinstance(node, Attribute) else node
        return int(element.sourceline or 0)

    def error(self, node: Element | Attribute, problem: str) -> ModelError:
        """The error to raise for an element, or for an attribute of it."""
        element = node.element if isinstance(node, Attribute) else node
        return self._document.error(element, problem)
