"""Remarks on what looked wrong in a description but could be computed; each made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import listed
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


class Remarks:
    """Remarks on elements of one document, in the order in which they were first made."""

    def __init__(self, document: XmlSource) -> None:
        self._document = document
        self._elements: dict[str, list[Element]] = {}

    def add(self, element: Element, problem: str) -> None:
        """Note a problem of an element; the same text on others joins them in one warning."""
        self._elements.setdefault(problem, []).append(element)

    def warnings(self) -> list[str]:
        """One line a problem: the first place in full, the others by name and line."""
        lines = []
        for problem, (first, *others) in self._elements.items():
            text = f"{self._document.place(first)}: {problem}"
            if others:
                text += f"; likewise {listed(self._document.short_place(one) for one in others)}"
            lines.append(text)
        return lines
