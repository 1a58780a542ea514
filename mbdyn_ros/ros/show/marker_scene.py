"""Markers in the scene of a page: each hangs on the link that its frame_id names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ...model.model import Array, Pose
from ...model.shapes import Box, Cylinder, Sphere
from ...motion.poses import rotation_of
from ...view.scene.scene import WORLD, Arrows, Item, Lines, Scene, Shape


class MarkerScene:
    """Draws balls, boxes, cylinders, arrows and lines; others are left out."""

    def __init__(self, scene: Scene, links: Collection[str]) -> None:
        self._scene, self._links = scene, links
        self._drawn: dict[str, Item] = {}

    def show(self, topic: str, message: MarkerArray) -> None:
        """Show, move or delete the markers of a message."""
        for marker in message.markers:
            name = f"{topic}/{marker.ns}/{marker.id}"
            if marker.action == Marker.DELETEALL:
                for one in [one for one in self._drawn if one.startswith(f"{topic}/")]:
                    self._remove(one)
            elif marker.action == Marker.DELETE:
                self._remove(name)
            else:
                self._draw(name, marker)

    def _remove(self, name: str) -> None:
        item = self._drawn.pop(name, None)
        if item is not None:
            self._scene.remove(item.body, item.name)

    def _draw(self, name: str, marker: Marker) -> None:
        frame = marker.header.frame_id.lstrip("/")
        body, shape = frame if frame in self._links else WORLD, _shape(marker)
        if shape is None or name in self._drawn and self._drawn[name].body != body:
            self._remove(name)
        if shape is not None:
            color, round_ = marker.color, isinstance(shape, Sphere)
            scale = (marker.scale.x, marker.scale.y, marker.scale.z) if round_ else (1.0,) * 3
            self._drawn[name] = Item(
                f"marker_{name}", body, shape, (color.r, color.g, color.b, color.a),
                _pose(marker.pose), scale,
            )  # fmt: skip
            self._scene.draw([self._drawn[name]])


def _shape(marker: Marker) -> Shape | None:
    scale = marker.scale
    if marker.type == Marker.SPHERE:
        return Sphere(0.5)
    if marker.type == Marker.CUBE:
        return Box((scale.x, scale.y, scale.z))
    if marker.type == Marker.CYLINDER:
        return Cylinder(scale.x / 2, scale.z)
    points = np.array([(one.x, one.y, one.z) for one in marker.points]).reshape(-1, 3)
    if marker.type == Marker.LINE_LIST:
        return Lines(_pairs(points), scale.x)
    if marker.type == Marker.ARROW:
        if len(points):
            return Arrows(_pairs(points), scale.x / 2)
        return Arrows(np.array([[[0.0, 0.0, 0.0], [scale.x, 0.0, 0.0]]]), scale.y / 2)
    return None


def _pairs(points: Array) -> Array:
    return points[: len(points) // 2 * 2].reshape(-1, 2, 3)


def _pose(pose: Any) -> Pose:
    """The pose of a message; of the quaternion (0, 0, 0, 0), which some send, no turn."""
    place, turn = pose.position, pose.orientation
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
    rotation = rotation_of(quaternion) if quaternion.any() else np.eye(3)
    return Pose(rotation, np.array([place.x, place.y, place.z]))
