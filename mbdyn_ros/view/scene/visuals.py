"""Shapes and colours of links: the `<visual>` elements of a URDF, and what others have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...model.model import Model, Pose
from ...model.read.description import FORMATS, described, outermost, read_description
from ...model.read.placement import read_pose
from ...model.read.shape import read_shape
from ...model.read.source_text import NamedText, Source
from ...model.read.xml_source import XmlSource
from ...model.shapes import Geometry
from ..figure import Color

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

PLAIN: Color = (0.62, 0.66, 0.71, 1.0)
"""Colour of visuals that name none."""


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """A shape on a link: `origin` places it there. `colored`: by the description, not by us."""

    link: str
    origin: Pose
    geometry: Geometry
    color: Color = PLAIN
    colored: bool = False


def read_visuals(source: Source) -> tuple[PlacedShape, ...]:
    """The visuals of a robot in document order; none of a DH table.

    Raises
    ------
    ModelError
        A visual without geometry or with numbers that no shape has; file and line are named.

    Examples
    --------
    >>> (ball,) = read_visuals('''<robot name="r"><link name="stone"><visual>
    ...   <geometry><sphere radius="0.2"/></geometry></visual></link></robot>''')
    >>> ball.link, ball.geometry
    ('stone', Sphere(radius=0.2))
    """
    found = described(source)
    if not isinstance(found, NamedText):
        return ()
    if outermost(found.text) in FORMATS.keys() - {"robot"}:
        return tuple(_visuals(read_description(found)))
    document = XmlSource(found)
    named = {}
    for material in document.root.iterchildren("material"):
        color = _color(document, material)
        if color is not None:
            named[material.get("name", "")] = color
    return tuple(
        _visual(document, element, document.read_name(link), named)
        for link in document.root.iterchildren("link")
        for element in link.iterchildren("visual")
    )


def _visuals(model: Model) -> Iterator[PlacedShape]:
    """The visuals that a model has kept."""
    for link in model.links:
        for one in link.visuals:
            if one.geometry is not None:
                r, g, b, a = one.color or PLAIN
                yield PlacedShape(
                    link.name, one.origin, one.geometry, (r, g, b, a), bool(one.color)
                )


def _visual(
    document: XmlSource, element: Element, link: str, named: dict[str, Color]
) -> PlacedShape:
    color = None
    material = document.child(element, "material")
    if material is not None:
        color = _color(document, material) or named.get(material.get("name", ""))
    geometry = read_shape(document, element)
    return PlacedShape(
        link, read_pose(document, element), geometry, color or PLAIN, color is not None
    )


def _color(document: XmlSource, material: Element) -> Color | None:
    element = document.child(material, "color")
    if element is None or element.get("rgba") is None:
        return None
    r, g, b, a = document.vector(element, "rgba", PLAIN)
    return min(max(r, 0), 1), min(max(g, 0), 1), min(max(b, 0), 1), min(max(a, 0), 1)
