"""Convex shapes of links, placed on their bodies."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError
from ...model.pose import Pose
from ...model.shapes import Box, Capsule, Collision, Cylinder, Sphere
from ...prepare.tree import WORLD
from ...robot import Robot
from .collision_points import mesh_corners
from .convex_shapes import ConvexShape, Drum, Polytope, Rounded


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex shape of a link, placed in the frame of its body."""

    link: str
    body: int
    pose: Pose
    shape: ConvexShape

    @property
    def is_round(self) -> bool:
        """Whether it is a ball or a capsule."""
        return isinstance(self.shape, Rounded)


SolidPair = tuple[Solid, Solid]


def solids_of(robot: Robot) -> list[Solid]:
    """The `<collision>` shapes of the links that move.

    Raises
    ------
    InputError
        A shape that cannot be used, a mesh that is not convex: by link, line and file.
    """
    found = []
    for link in robot.model.links:
        body, pose = robot.system.tree.frames[link.name]
        for collision in link.collisions if body != WORLD else ():
            shape = _shape(robot.model.source, link.name, collision)
            found.append(Solid(link.name, body, pose @ collision.origin, shape))
    return found


def _shape(source: str, link: str, collision: Collision) -> ConvexShape:
    shape = collision.geometry
    if shape is None:
        raise InputError(f"{collision.problem}. Correct it, or let links not touch each other")
    if isinstance(shape, Sphere):
        return Rounded(shape.radius)
    if isinstance(shape, Capsule):
        return Rounded(shape.radius, shape.length)
    if isinstance(shape, Cylinder):
        return Drum(shape.radius, shape.length)
    if isinstance(shape, Box):
        return Polytope.box(shape.size)
    where = f'{source}:{collision.line}: <link name="{link}"> <collision>'
    return Polytope(mesh_corners(shape, source, where, flat=False))
