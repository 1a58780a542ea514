"""Points at which two convex shapes touch: of face on face several, so that boxes stand.

The nearest points and the normal between two shapes say where they touch. Where the normal is that
of a face, the feature of the other shape that looks at it is clipped by the sides of that face
(Sutherland and Hodgman 1974): each corner of what is left is a point of the one link against the
plane of the other. Else the nearest points are the only pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...model.model import Array
from .convex_shapes import Feature

ALIGNED = 1 - 1e-5
"""Cosine between the normal of a face and that of the contact from which they are one."""

MOST_POINTS = 4
"""Points of one pair of shapes: as many as hold a face."""

SAME_DEPTH = 6
"""Digits of metres by which points are deeper than others."""


class Touch(NamedTuple):
    """A point of one shape against a plane of the other, in the world.

    turned : whether the point is the second shape's and the plane the first's.
    point : (3,) m. radius : m, of a ball about it that touches.
    foot, normal : (3,) m on the plane, and the unit vector from it to the point.
    """

    turned: bool
    point: Array
    radius: float
    foot: Array
    normal: Array

    @property
    def gap(self) -> float:
        """Distance (m) of the point from the plane."""
        return float(self.normal @ (self.point - self.foot)) - self.radius


def manifold(
    one: Feature, other: Feature, normal: Array, nearest: tuple[Array, Array], margin: float
) -> list[Touch]:
    """Where two shapes touch, or will soon; up to `MOST_POINTS`.

    Parameters
    ----------
    one, other : the features that look at each other, in the world.
    normal : (3,) from the other to the one. nearest : their nearest points (3,).
    margin : m; points that are farther apart are left out.
    """
    way = {True: -normal, False: normal}  # by whether the plane is that of the one
    aligned = {
        turned: -1.0 if face.normal is None else float(face.normal @ way[turned])
        for turned, face in ((False, other), (True, one))
    }
    turned = aligned[True] > aligned[False]
    face, feature = (one, other) if turned else (other, one)
    if aligned[turned] > ALIGNED and face.normal is not None:
        found = [
            Touch(turned, point, feature.radius, face.points[0], face.normal)
            for point in _clipped(feature.points, face)
        ]
        near = [touch for touch in found if touch.gap < margin]
        if near:
            return _fewest(near)
    turned = one.radius == 0.0 < other.radius  # what is round is the point
    points = nearest[::-1] if turned else nearest
    radius = other.radius if turned else one.radius
    return [Touch(turned, points[0] + radius * way[turned], radius, points[1], way[turned])]


def _clipped(points: Array, face: Feature) -> Array:
    """The part of a point, an edge or a polygon (k, 3) that lies over a face."""
    assert face.normal is not None
    starts = face.points
    outward = np.cross(np.roll(starts, -1, axis=0) - starts, face.normal)
    limit = (outward * starts).sum(axis=1) + 1e-9 * np.abs(outward).sum(axis=1)
    for side, most in zip(outward, limit.tolist(), strict=True):
        beyond = points @ side - most
        if (beyond <= 0).all():
            continue
        kept = []
        pairs = range(len(points)) if len(points) > 2 else range(len(points) - 1)
        for i in pairs:
            k = (i + 1) % len(points)
            if beyond[i] <= 0:
                kept.append(points[i])
            if (beyond[i] <= 0) != (beyond[k] <= 0):
                share = beyond[i] / (beyond[i] - beyond[k])
                kept.append(points[i] + share * (points[k] - points[i]))
        if 0 < len(points) <= 2 and beyond[-1] <= 0:
            kept.append(points[-1])
        points = np.array(kept).reshape(-1, 3)
        if not len(points):
            break
    return points


def _fewest(touches: list[Touch]) -> list[Touch]:
    """The deepest, and those that span the widest area with it."""
    if len(touches) <= MOST_POINTS:
        return touches
    points = np.array([touch.point for touch in touches])
    first = int(np.round([touch.gap for touch in touches], SAME_DEPTH).argmin())
    second = int(np.linalg.norm(points - points[first], axis=1).argmax())
    along = points[second] - points[first]
    area = np.cross(along, points - points[first]) @ touches[0].normal
    chosen = dict.fromkeys((first, second, int(area.argmax()), int(area.argmin())))
    return [touches[k] for k in chosen]
