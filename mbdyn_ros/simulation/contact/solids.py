"""Pairs of convex shapes of different links, and how near they are: by the library `coal`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...model.model import Array, Pose
from ...model.shapes import Box, Capsule, Collision, Cylinder, Sphere
from ...model.tree import WORLD
from ...robot import Robot
from .collision_points import mesh_corners
from .convex_shapes import ConvexShape, Drum, Polytope, Rounded
from .manifold import Touch, manifold

ALWAYS_NEAR = 1e-3
"""m within which shapes are near each other, however slow they are."""


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


class Nearness:
    """Where pairs of solids touch, or will within a time.

    Raises
    ------
    InputError
        The library is not installed.
    """

    def __init__(self, pairs: tuple[SolidPair, ...]) -> None:
        try:
            import coal
        except ImportError:
            raise InputError(
                "boxes, cylinders and meshes of links touch each other by the library coal, which "
                "is not installed: pip install 'mbdyn_ros[contact]'"
            ) from None
        self.pairs, self._coal = pairs, coal
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()
        solids = {id(solid): solid for pair in pairs for solid in pair}
        self.solids = tuple(solids.values())
        places = {key: k for k, key in enumerate(solids)}
        self._ends = np.array([[places[id(solid)] for solid in pair] for pair in pairs])
        self._colliders = [solid.shape.collider(coal) for solid in self.solids]
        self._reach = np.array([solid.shape.reach for solid in self.solids])

    def near(
        self, bodies: Mapping[int, tuple[Array, Array]], speeds: Array, span: float
    ) -> list[tuple[int, list[Touch]]]:
        """The pairs that may touch within a time, each with the points at which they would.

        Parameters
        ----------
        bodies : rotation (3, 3) and origin (3,) in the world of every body.
        speeds : (solids,) m/s that no point of a solid exceeds. span : s.
        """
        poses = [Pose(*bodies[solid.body]) @ solid.pose for solid in self.solids]
        centers = np.array([pose.translation for pose in poses])
        one, other = self._ends.T
        margins = ALWAYS_NEAR + span * (speeds[one] + speeds[other])
        apart = np.linalg.norm(centers[one] - centers[other], axis=1)
        close = apart - self._reach[one] - self._reach[other] < margins
        found = []
        for k in np.flatnonzero(close).tolist():
            i, j = self._ends[k].tolist()
            distance, normal, points = self._nearest(i, j, poses)
            if distance > margins[k]:
                continue
            first, second = (
                self.solids[end].shape.towards(poses[end].rotation.T @ way).moved(poses[end])
                for end, way in ((i, -normal), (j, normal))
            )
            found.append((k, manifold(first, second, normal, points, float(margins[k]))))
        return found

    def _nearest(
        self, i: int, j: int, poses: list[Pose]
    ) -> tuple[float, Array, tuple[Array, Array]]:
        """Distance (m), normal (3,) from the second to the first, and their nearest points."""
        result = self._result
        result.clear()
        at = [self._coal.Transform3s(poses[k].rotation, poses[k].translation) for k in (i, j)]
        ends = self._colliders[i], at[0], self._colliders[j], at[1]
        distance = self._coal.distance(*ends, self._request, result)
        points = result.getNearestPoint1().copy(), result.getNearestPoint2().copy()
        return float(distance), -result.normal, points
