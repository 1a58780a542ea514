"""Convex shapes of links, placed on their bodies, as compiled code asks them where two touch."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...equations.contact.deepest_points import SPREAD_UNKNOWN, bends_anew
from ...equations.contact.steepness import Steepness, steepness_of
from ...errors import InputError
from ...model.model import Array
from ...model.pose import Pose
from ...model.shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Mesh, Sphere
from .mesh_hull import MeshHull, warn_of_hollows
from .points import LinkFrames

if TYPE_CHECKING:
    from ...robot import Robot

COPLANAR = 1e-6
"""Difference of the planes of triangles that are one face, of unit normals and sizes."""

POLYTOPE, DRUM, ROUNDED, ELLIPSOID, WALL = range(5)
"""Kinds of shapes, as `runtime/contact/convex_shapes.hpp` numbers them."""


class ConvexShape(ABC):
    """A shape about its own origin.

    Attributes
    ----------
    kind : one of the kinds above. reach : m, radius of a ball about the origin that holds it.
    half_axes : m, of an ellipsoid. radius, half : m, of what is round, and half of the length
        along z of what has one; of a capsule between the centres of its ends.
    corners : (n, 3) m. normals : (k, 3) outwards. faces : of each the numbers of its corners, in
        order about its normal. Of a polytope; none of others.
    """

    kind: int
    reach: float
    radius = 0.0
    half = 0.0
    half_axes: tuple[float, ...] = (0.0, 0.0, 0.0)
    corners: Array = np.zeros((0, 3))
    normals: Array = np.zeros((0, 3))
    faces: tuple[tuple[int, ...], ...] = ()


class Polytope(ConvexShape):
    """A box, or the hull of corners (n, 3), m."""

    kind = POLYTOPE

    def __init__(self, corners: Array) -> None:
        from scipy.spatial import ConvexHull  # its import takes long

        hull = ConvexHull(corners)
        self.corners = corners[hull.vertices]
        self.reach = float(np.linalg.norm(self.corners, axis=1).max())
        planes: list[Array] = []
        for plane in hull.equations:
            if not any(np.abs(plane - other).max() < COPLANAR for other in planes):
                planes.append(plane)
        self.normals = np.array([plane[:3] for plane in planes])
        within = COPLANAR * self.reach
        self.faces = tuple(_ordered(self.corners, plane, within) for plane in planes)

    @classmethod
    def box(cls, size: tuple[float, ...]) -> Polytope:
        """One with these edges (m)."""
        return cls(np.array(list(product((-0.5, 0.5), repeat=3))) * size)


class Drum(ConvexShape):
    """A cylinder along z (m)."""

    kind = DRUM

    def __init__(self, radius: float, length: float) -> None:
        self.radius, self.half = radius, length / 2
        self.reach = float(np.hypot(radius, length / 2))


class Rounded(ConvexShape):
    """A ball, or a capsule along z of a length (m) between the centres of its ends."""

    kind = ROUNDED

    def __init__(self, radius: float, length: float = 0.0) -> None:
        self.radius, self.half = radius, length / 2
        self.reach = radius + length / 2


class Egg(ConvexShape):
    """An ellipsoid with these half axes (m)."""

    kind = ELLIPSOID

    def __init__(self, half_axes: tuple[float, ...]) -> None:
        self.half_axes, self.reach = half_axes, max(half_axes)


class CurvedWall(ConvexShape):
    """One face of a curved wall, which shapes touch as wholes.

    Attributes
    ----------
    face : of the wall, as `face_of` has it. steep : |grad g| at most.
    spread : m, how far apart places are from which what is least along an edge or a face is sought.
    """

    kind = WALL
    reach = 0.0

    def __init__(self, face: ca.Function, steepness: Steepness | None, least: float) -> None:
        """least : m, radius of the smallest ball that holds a shape."""
        self.face, steepness = face, steepness or steepness_of(face)
        self.steep = np.inf if steepness is None else float(np.linalg.norm(steepness.slopes))
        ways = [0.0 if steepness is None else bends_anew(steepness, k) for k in range(3)]
        self.spread = min(ways) or SPREAD_UNKNOWN * least


def _ordered(corners: Array, plane: Array, within: float) -> tuple[int, ...]:
    """The numbers of the corners on a plane (a, b, c, d) of a hull, in order about its normal."""
    normal = plane[:3]
    on_plane = np.flatnonzero(np.abs(corners @ normal + plane[3]) <= within)
    arms = corners[on_plane] - corners[on_plane].mean(axis=0)
    first = arms[0] / np.linalg.norm(arms[0])
    order = np.argsort(np.arctan2(arms @ np.cross(normal, first), arms @ first))
    return tuple(on_plane[order].tolist())


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex shape of a link, placed in a frame as `LinkFrames` counts them."""

    link: str
    body: int
    pose: Pose
    shape: ConvexShape

    @property
    def is_round(self) -> bool:
        """Whether it is a ball or a capsule."""
        return isinstance(self.shape, Rounded)

    @property
    def is_wall(self) -> bool:
        """Whether it is a wall, whose name stands for that of a link."""
        return isinstance(self.shape, CurvedWall)

    @property
    def touches_as_whole(self) -> bool:
        """Whether it touches curved walls with more than balls."""
        return not self.is_round or self.shape.half > 0


SolidPair = tuple[Solid, Solid]


def solids_of(robot: Robot) -> list[Solid]:
    """The `<collision>` shapes of all links, meshes as their hulls or convex pieces.

    Raises
    ------
    InputError
        A shape that cannot be used: by link, line and file.
    """
    found: list[Solid] = []
    hulls: list[MeshHull] = []
    frames = LinkFrames.of_robot(robot)
    source = robot.model.source
    for link in robot.model.links:
        body, pose = frames.of[link.name]
        for collision in link.collisions:
            placed = pose @ collision.origin
            if not isinstance(collision.geometry, Mesh):
                found.append(Solid(link.name, body, placed, _shape(collision)))
                continue
            hulls.append(MeshHull(collision, source, link.name))
            for corners in hulls[-1].pieces or [hulls[-1].corners]:
                middle = Pose(translation=0.5 * (corners.min(axis=0) + corners.max(axis=0)))
                shape = Polytope(corners - middle.translation)
                found.append(Solid(link.name, body, placed @ middle, shape))
    warn_of_hollows(source, hulls)
    return found


def _shape(collision: Collision) -> ConvexShape:
    shape = collision.geometry
    if isinstance(shape, Sphere):
        return Rounded(shape.radius)
    if isinstance(shape, Capsule):
        return Rounded(shape.radius, shape.length)
    if isinstance(shape, Cylinder):
        return Drum(shape.radius, shape.length)
    if isinstance(shape, Ellipsoid):
        return Egg(shape.half_axes)
    if isinstance(shape, Box):
        return Polytope.box(shape.size)
    raise InputError(f"{collision.problem}. Correct it, or let links not touch each other")
