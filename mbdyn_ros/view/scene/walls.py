"""The walls around a robot, translucent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.model import Array, Pose
from ...model.shapes import Box, Cylinder, Sphere
from ...simulation.contact.surfaces import Shape, Surface
from .scene import WORLD, Item

COLOR = (0.55, 0.65, 0.8, 0.25)
ENDLESS, PLATE = 3.0, 0.002
"""Of what has no end, its size and thickness in sizes of the subject."""


def wall_items(surfaces: Sequence[Surface], low: Array, high: Array) -> list[Item]:
    """The walls that have a shape, around a subject between `low` and `high` (3,), m."""
    middle, size = 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-3)
    return [
        _item(surface.name, surface.shape, middle, size)
        for surface in surfaces
        if surface.shape is not None
    ]


def _item(name: str, wall: Shape, middle: Array, size: float) -> Item:
    axes, center = wall.axes, wall.center
    offset = axes.T @ (middle - center)
    if wall.kind == "plane":
        thick, offset[2] = PLATE * size, -0.5 * PLATE * size
        plate = Box((ENDLESS * size, ENDLESS * size, thick))
        return Item(name, WORLD, plate, COLOR, Pose(axes, center + axes @ offset))
    if wall.kind == "cylinder":
        first, second = (0.5 * wall.size[:2]).tolist()
        place = center + axes[:, 2] * offset[2]
        tube = Cylinder(first, ENDLESS * size)
        return Item(name, WORLD, tube, COLOR, Pose(axes, place), (1.0, second / first, 1.0))
    if wall.kind == "sphere":
        return Item(name, WORLD, Sphere(0.5 * wall.size[0]), COLOR, Pose(axes, center))
    return Item(name, WORLD, Box(tuple(wall.size.tolist())), COLOR, Pose(axes, center))
