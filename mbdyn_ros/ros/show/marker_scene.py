"""Markers in a 3-D scene: each hangs on the link that its frame_id names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ...model.model import Array, Model
from ...view.scene.robot_scene import RobotScene

if TYPE_CHECKING:
    import viser

class MarkerScene:
    """Draws balls, boxes, cylinders, arrows and lines; others are left out."""

    def __init__(self, server: viser.ViserServer, scene: RobotScene, model: Model) -> None:
        self._scene, self._robot, self._model = server.scene, scene, model
        self._links = {link.name for link in model.links}
        self._nodes: dict[str, Any] = {}

    def show(self, topic: str, message: MarkerArray) -> None:
        """Show, move or delete the markers of a message."""
        for marker in message.markers:
            key = f"{topic}/{marker.ns}/{marker.id}"
            if marker.action == Marker.DELETEALL:
                for name in [one for one in self._nodes if one.startswith(f"{topic}/")]:
                    self._nodes.pop(name).remove()
            elif marker.action == Marker.DELETE:
                if key in self._nodes:
                    self._nodes.pop(key).remove()
            else:
                self._draw(key, marker)

    def _draw(self, key: str, marker: Marker) -> None:
        frame = marker.header.frame_id.lstrip("/")
        above = self._robot.node(frame) if frame in self._links else ""
        name = f"{above}/marker_{key.replace('/', '_')}"
        rgb = tuple(round(255 * one) for one in (marker.color.r, marker.color.g, marker.color.b))
        look: dict[str, Any] = {"color": rgb, "opacity": float(marker.color.a)}
        place, turn, scale = marker.pose.position, marker.pose.orientation, marker.scale
        pose: dict[str, Any] = {
            "position": (place.x, place.y, place.z),
            "wxyz": _unit((turn.w, turn.x, turn.y, turn.z)),
        }
        node: Any = None
        if marker.type == Marker.SPHERE:
            node = self._scene.add_icosphere(
                name, 0.5, scale=(scale.x, scale.y, scale.z), subdivisions=2, **look, **pose
            )
        elif marker.type == Marker.CUBE:
            node = self._scene.add_box(
                name, dimensions=(scale.x, scale.y, scale.z), **look, **pose
            )
        elif marker.type == Marker.CYLINDER:
            node = self._scene.add_cylinder(name, scale.x / 2, scale.z, **look, **pose)
        elif marker.type in (Marker.ARROW, Marker.LINE_LIST):
            points = np.array([(one.x, one.y, one.z) for one in marker.points]).reshape(-1, 3)
            if not len(points):  # an arrow by its pose and length
                points = np.array([[0.0, 0.0, 0.0], [scale.x, 0.0, 0.0]])
            pairs = points[: len(points) // 2 * 2].reshape(-1, 2, 3).astype(np.float32)
            long = np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1).max(initial=0.0)
            if marker.type == Marker.ARROW and long > 0:
                width = scale.x if marker.points else scale.y
                node = self._scene.add_arrows(
                    name, pairs, rgb, shaft_radius=width / 2, head_radius=width,
                    head_length=min(3 * width, 0.5 * long), **pose,
                )  # fmt: skip
            elif marker.type == Marker.LINE_LIST:
                node = self._scene.add_line_segments(
                    name, pairs, rgb, thickness=scale.x, **pose
                )
        if node is not None:
            self._nodes[key] = node
        elif key in self._nodes:
            self._nodes.pop(key).remove()


def _unit(turn: tuple[float, float, float, float]) -> Array:
    """A quaternion of length one; (0, 0, 0, 0), which some send, is no turn."""
    length = float(np.linalg.norm(turn))
    return np.array(turn) / length if length else np.array([1.0, 0.0, 0.0, 0.0])
