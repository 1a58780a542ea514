"""Shapes and colours of links, from URDF and from others, and where joints put them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...model.model import Array, Joint, Model, Pose
from ...model.read.description import FORMATS, described, outermost, read_description
from ...model.read.shape import read_shape
from ...model.read.source_text import NamedText, Source
from ...model.read.xml_source import XmlSource, read_pose
from ...model.shapes import Geometry
from ...prepare.coordinates import joint_blocks
from ..figure import Color

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def outwards(model: Model) -> Iterator[Joint]:
    """The joints in any order of the description, each after the one that moves its parent."""
    links = [model.root]
    for link in links:  # grows as it is read
        for joint in model.joints:
            if joint.parent == link:
                links.append(joint.child)
                yield joint


def link_poses(model: Model, position: Array) -> dict[str, Pose]:
    """The pose of every link in the root's frame at a full joint state (n,)."""
    places = {name: block.q for name, block in joint_blocks(model.joints).items()}
    poses = {model.root: Pose()}
    for joint in outwards(model):
        moved = joint.pose(position[places.get(joint.name, slice(0))])
        poses[joint.child] = poses[joint.parent] @ joint.origin @ moved
    return poses


def quaternion(matrix: Array) -> Array:
    """The quaternion (w, x, y, z), as viewers take it, of a rotation matrix (Shepperd 1978).

    Examples
    --------
    >>> quaternion(np.diag([-1.0, -1.0, 1.0]))
    array([0., 0., 0., 1.])
    """
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)  # of w, x, y, z, by 4
    products = (
        (squares[0], h - f, c - g, d - b), (h - f, squares[1], d + b, c + g),
        (c - g, d + b, squares[2], h + f), (d - b, c + g, h + f, squares[3]),
    )  # fmt: skip
    largest = squares.index(max(squares))
    return np.array(products[largest]) / (2 * math.sqrt(squares[largest]))


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
