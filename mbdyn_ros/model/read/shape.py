"""Shapes in a URDF: the `<geometry>` of a `<visual>` or a `<collision>`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import ModelError
from ..shapes import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere, Visual
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
        f"<{shape.tag}> is not a shape of a URDF: give box, cylinder, sphere, capsule or mesh",
    )


def read_collisions(document: XmlSource, link: Element) -> tuple[Collision, ...]:
    """The shapes with which a link collides; what cannot be read matters only to who asks."""
    return tuple(_collision(document, element) for element in link.iterchildren("collision"))


def _collision(document: XmlSource, element: Element) -> Collision:
    name, line = element.get("name", ""), element.sourceline
    try:
        shape = read_shape(document, element)
        lengths = {"radius": 1.0, "length": 1.0, **vars(shape)}
        for key in ("radius", "length"):
            if not lengths[key] > 0:
                raise document.error(element, f"its {key} is {lengths[key]:g}; give metres above 0")
        return Collision(shape, read_pose(document, element), line, name=name)
    except ModelError as error:
        return Collision(None, line=line, problem=str(error), name=name)


Material = tuple[tuple[float, ...] | None, str]
"""A colour, if there is one, and the file of a texture."""


def read_materials(document: XmlSource) -> dict[str, Material]:
    """The `<material>` elements of a robot, by name; what cannot be read has no colour."""
    return {
        material.get("name", ""): _material(document, material)
        for material in document.root.iterchildren("material")
    }


def read_visuals(
    document: XmlSource, link: Element, materials: Mapping[str, Material]
) -> tuple[Visual, ...]:
    """The looks of a link; what cannot be read matters only to who asks."""
    return tuple(_visual(document, one, materials) for one in link.iterchildren("visual"))


def _visual(document: XmlSource, element: Element, materials: Mapping[str, Material]) -> Visual:
    name, line = element.get("name", ""), element.sourceline
    try:
        shape, origin = read_shape(document, element), read_pose(document, element)
        material = document.child(element, "material")
    except ModelError as error:
        return Visual(None, line=line, problem=str(error), name=name)
    color, called, texture = None, "", ""
    if material is not None:
        called = material.get("name", "")
        color, texture = _material(document, material)
        if color is None and not texture:
            color, texture = materials.get(called, (None, ""))
    return Visual(shape, origin, line, "", name, color, called, texture)


def _material(document: XmlSource, material: Element) -> Material:
    color, texture = material.find("color"), material.find("texture")
    rgba = None
    if color is not None and color.get("rgba") is not None:
        try:
            rgba = document.vector(color, "rgba", (0.0, 0.0, 0.0, 1.0))
        except ModelError:
            rgba = None  # a picture asks for it, and says so
    return rgba, "" if texture is None else texture.get("filename", "")
