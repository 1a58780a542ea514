"""Shapes in a URDF: the `<geometry>` of a `<visual>` or a `<collision>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ModelError
from ..shapes import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere
from .placement import read_pose
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def read_shape(document: XmlSource, element: Element) -> Geometry:
    """The shape of a `<visual>` or `<collision>`.

    Raises
    ------
    ModelError
        There is none, or not one; file and line are named.
    """
    geometry = document.child(element, "geometry")
    shapes = [] if geometry is None else list(geometry.iterchildren())
    if len(shapes) != 1:
        raise document.error(
            element, f"a {element.tag} has one shape in its <geometry>, this one has {len(shapes)}"
        )
    (shape,) = shapes
    if shape.tag == "box":
        size = document.vector(shape, "size", (0.0, 0.0, 0.0))
        return Box(tuple(abs(edge) for edge in size))
    if shape.tag in ("cylinder", "capsule"):
        kind = Cylinder if shape.tag == "cylinder" else Capsule
        return kind(document.number(shape, "radius"), document.number(shape, "length"))
    if shape.tag == "sphere":
        return Sphere(document.number(shape, "radius"))
    if shape.tag == "mesh":
        file = shape.get("filename")
        if not file:
            raise document.error(element, "its <mesh> has no filename; give one")
        return Mesh(file, document.vector(shape, "scale", (1.0, 1.0, 1.0)))
    raise document.error(
        element,
        f"<{shape.tag}> is no shape of a URDF: there are box, cylinder, sphere, capsule and mesh",
    )


def read_collisions(document: XmlSource, link: Element) -> tuple[Collision, ...]:
    """The shapes with which a link collides; what cannot be read matters only to who asks."""
    return tuple(_collision(document, element) for element in link.iterchildren("collision"))


def _collision(document: XmlSource, element: Element) -> Collision:
    try:
        shape = read_shape(document, element)
        lengths = {"radius": 1.0, "length": 1.0, **vars(shape)}
        for name in ("radius", "length"):
            if not lengths[name] > 0:
                raise document.error(
                    element, f"its {name} is {lengths[name]:g}; give metres above 0"
                )
        return Collision(shape, read_pose(document, element), element.sourceline)
    except ModelError as error:
        return Collision(None, line=element.sourceline, problem=str(error))
