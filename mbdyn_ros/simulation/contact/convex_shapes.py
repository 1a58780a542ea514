"""Convex shapes of links as those see them who look for where two of them touch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from ...model.model import Array
from ...model.pose import Pose
from .collision_points import RIM

STEEP = np.sqrt(0.5)
"""Cosine between a direction and the axis of a cylinder from which its end looks that way."""

COPLANAR = 1e-6
"""Difference of the planes of triangles that are one face, of unit normals and sizes."""


@dataclass(frozen=True, eq=False)
class Feature:
    """The flat part of a shape that looks into a direction: a face, an edge or a point.

    points : (k, 3) m: corners in order, the ends of an edge, or one point.
    normal : (3,) outwards; None for what is no face.
    radius : m, of what is round: the points are within it, that far from the surface.
    """

    points: Array
    normal: Array | None = None
    radius: float = 0.0

    def moved(self, pose: Pose) -> Feature:
        """The same in another frame."""
        points = self.points @ pose.rotation.T + pose.translation
        normal = None if self.normal is None else pose.rotation @ self.normal
        return Feature(points, normal, self.radius)


class ConvexShape(ABC):
    """A shape about its own origin; `reach` (m) is the radius of a ball there that holds it."""

    reach: float

    @abstractmethod
    def towards(self, direction: Array) -> Feature:
        """The feature that looks into a direction (3,), a unit vector."""

    @abstractmethod
    def collider(self, coal: Any) -> Any:
        """The shape as the library `coal` has it."""


class Polytope(ConvexShape):
    """A box, or the hull of corners (n, 3), m."""

    def __init__(self, corners: Array) -> None:
        hull = ConvexHull(corners)
        self.corners = corners[hull.vertices]
        self.reach = float(np.linalg.norm(self.corners, axis=1).max())
        planes: list[Array] = []
        for plane in hull.equations:
            if not any(np.abs(plane - other).max() < COPLANAR for other in planes):
                planes.append(plane)
        self._normals = np.array([plane[:3] for plane in planes])
        self._faces = [_ordered(self.corners, plane, COPLANAR * self.reach) for plane in planes]

    @classmethod
    def box(cls, size: tuple[float, ...]) -> Polytope:
        """One with these edges (m)."""
        return cls(np.array(list(product((-0.5, 0.5), repeat=3))) * size)

    def towards(self, direction: Array) -> Feature:
        """The face that looks most into a direction."""
        k = int((self._normals @ direction).argmax())
        return Feature(self._faces[k], self._normals[k])

    def collider(self, coal: Any) -> Any:
        """A hull."""
        points = coal.StdVec_Vec3s()
        for corner in self.corners:
            points.append(corner)
        return coal.Convex.convexHull(points, True, "Qt")


class Drum(ConvexShape):
    """A cylinder along z (m)."""

    def __init__(self, radius: float, length: float) -> None:
        self._radius, self._length = radius, length
        self.reach = float(np.hypot(radius, length / 2))

    def towards(self, direction: Array) -> Feature:
        """An end, by points of its rim, the foremost of them first; or a line along its side."""
        across = np.array([direction[0], direction[1], 0.0])
        size = float(np.linalg.norm(across))
        first = across / size if size > 0 else np.array([1.0, 0.0, 0.0])
        half = np.array([0.0, 0.0, self._length / 2])
        if abs(direction[2]) < STEEP:
            return Feature(np.array([-half, half]) + self._radius * first)
        side = np.copysign(1.0, direction[2])
        angles = side * 2 * np.pi * np.arange(RIM)[:, None] / RIM
        second = np.cross([0.0, 0.0, 1.0], first)
        rim = self._radius * (np.cos(angles) * first + np.sin(angles) * second)
        return Feature(rim + side * half, np.array([0.0, 0.0, side]))

    def collider(self, coal: Any) -> Any:
        """A cylinder."""
        return coal.Cylinder(self._radius, self._length)


class Rounded(ConvexShape):
    """A ball, or a capsule along z of a length (m) between the centres of its ends."""

    def __init__(self, radius: float, length: float = 0.0) -> None:
        self._radius, self._length = radius, length
        self.reach = radius + length / 2

    def towards(self, direction: Array) -> Feature:
        """Its centre, or the centres of its ends."""
        ends = [-self._length / 2, self._length / 2] if self._length else [0.0]
        return Feature(np.array([[0.0, 0.0, z] for z in ends]), None, self._radius)

    def collider(self, coal: Any) -> Any:
        """A sphere or a capsule."""
        if not self._length:
            return coal.Sphere(self._radius)
        return coal.Capsule(self._radius, self._length)


def _ordered(corners: Array, plane: Array, within: float) -> Array:
    """The corners on a plane (a, b, c, d) of a hull, in order about its normal."""
    normal = plane[:3]
    found = corners[np.abs(corners @ normal + plane[3]) <= within]
    way = found - found.mean(axis=0)
    first = way[0] / np.linalg.norm(way[0])
    turned: Array = found[np.argsort(np.arctan2(way @ np.cross(normal, first), way @ first))]
    return turned
