"""The walls of an environment in a scene, and the balls and curved rods that touch them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...model.model import Array, Pose
from ...model.shapes import Box, Cylinder, Sphere
from ...simulation.contact.environment import Environment
from ...simulation.contact.points import Point
from ...simulation.contact.surfaces import Shape as WallShape
from ..figure import Color
from .scene import WORLD, Item, Lines

EXTENT = 6.0
"""Length (m) that is shown of what has no end."""

THICKNESS = 0.01
"""Thickness of a plane, m, which lies behind the wall, and of lines on walls."""

WALL_COLOR: Color = (0.55, 0.65, 0.80, 0.25)
RING_COLOR: Color = (0.40, 0.52, 0.72, 0.8)
TOUCHING_COLOR: Color = (0.77, 0.12, 0.23, 0.8)

RING = np.linspace(0, 2 * math.pi, 65)

ROD_PLACES = 17
"""Places along a piece of a curved rod between which it is drawn."""


def wall_items(environment: Environment) -> Iterator[tuple[str, Item]]:
    """Names and items: of the walls that have a shape, translucent, round ones with rings; and, on
    their links, of the curved rods and balls that were given as points."""
    for k, surface in enumerate(environment.surfaces):
        if surface.shape is not None:
            yield surface.name, _wall(surface.shape, f"wall_{k}")
            if rings := _rings(surface.shape):
                pose = Pose(surface.shape.axes, surface.shape.center)
                lines = Lines(_segments(rings), THICKNESS)
                yield (
                    surface.name,
                    Item(f"rings_{k}", WORLD, lines, RING_COLOR, pose, group="wall_rings"),
                )
    for k, one in enumerate(environment.points or ()):
        if one.radius <= 0:
            continue
        if one.half:
            rod = Lines(_segments([one.line(ROD_PLACES)]), 2 * one.radius)
            yield str(one), Item(f"rod_{k}", one.link, rod, TOUCHING_COLOR, group="curved_rods")
        elif one.axis is None:
            yield str(one), _ball(one, f"ball_{k}")


def _ball(one: Point, name: str) -> Item:
    at = Pose(translation=np.array(one.xyz))
    return Item(name, one.link, Sphere(one.radius), TOUCHING_COLOR, at, group="balls")


def _wall(shape: WallShape, name: str) -> Item:
    size = np.where(np.isfinite(shape.size), shape.size, EXTENT)
    center = shape.center
    solid: Box | Cylinder | Sphere = Box((1.0, 1.0, 1.0))
    if shape.kind == "plane":
        size[2] = THICKNESS
        center = center - 0.5 * THICKNESS * shape.axes[:, 2]
    elif shape.kind == "cylinder":
        size[2] = min(EXTENT, 0.5 * float(size[:2].min()))
        solid = Cylinder(0.5, 1.0)
    elif shape.kind == "sphere":
        solid = Sphere(0.5)
    x, y, z = size.tolist()
    return Item(name, WORLD, solid, WALL_COLOR, Pose(shape.axes, center), (x, y, z), "walls")


def _rings(shape: WallShape) -> list[Array]:
    """Closed lines (N, 3) on a wall, in its own axes."""
    circle = np.column_stack([np.cos(RING), np.sin(RING), 0 * RING])
    if shape.kind == "cylinder":
        return [circle * [shape.size[0] / 2, shape.size[1] / 2, 0]]
    if shape.kind == "sphere":
        return [shape.size[0] / 2 * np.roll(circle, k, axis=1) for k in range(3)]
    return []


def _segments(lines: Sequence[Array]) -> Array:
    """Lines through places (N, 3), as their segments (n, 2, 3)."""
    return np.concatenate([np.stack([one[:-1], one[1:]], axis=1) for one in lines])
