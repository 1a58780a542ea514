"""The robot of a running ROS system in the browser: joint states and markers, live."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from ...errors import MbdynError
from ...model.model import Array, Model, Pose
from ...model.read.description import read_description
from ...model.shapes import Box, Cylinder, Sphere
from ...model.split_joints import quaternions_in_loops, split_joints
from ...motion.free_bodies import FreeBody, free_joints
from ...motion.poses import rotation_of
from ...names import in_markdown
from ...prepare.coordinates import joint_blocks, scalar_motions
from ...view.page.page import Page
from ...view.scene.camera import ABOVE
from ...view.scene.scene import WORLD, Arrows, Item, Lines, Scene, Shape
from ...view.scene.shown_robot import ShownRobot
from ...view.scene.visuals import read_visuals
from ..node.description import LATCHED
from ..node.refusals import one_line

MARKERS = "visualization_msgs/msg/MarkerArray"
ODOMETRY = "nav_msgs/msg/Odometry"
SEARCH = 1.0
"""Seconds between two looks for new topics with markers."""

WAITING = (
    "Waiting for the URDF on topic `robot_description` (transient local); or give its file: "
    "`mbdyn view --ros robot.urdf`."
)


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


class Viewer(Node):
    """Follows `robot_description`, `joint_states` and every topic with markers or odometry.

    Messages are kept as they come; `draw` shows the newest, in the page's thread.

    Parameters
    ----------
    source : path of the URDF; None for the one on the topic. options : of the node.
    """

    def __init__(self, page: Page, source: str | None, **options: Any) -> None:
        super().__init__("mbdyn_view", **options)
        self._page = page
        page.say(WAITING)
        self._lock = threading.Lock()
        self._model: Model | None = None
        self._shown: ShownRobot | None = None
        self._markers: MarkerScene | None = None
        self._description: str | None = None
        self._positions: dict[str, float] = {}
        self._poses: dict[str, Array] = {}
        """Poses of links that float, (7,)."""
        self._arrays: dict[str, MarkerArray] = {}
        self._marker_topics: set[str] = set()
        self._odometry_topics: set[str] = set()
        self._free: list[FreeBody] = []
        self._heard = 0
        page.playing = True  # draws FRAMES pictures a second, however fast messages come
        if source is not None:
            self._show_robot(source, Path(source).resolve().parent)
        else:
            self.create_subscription(String, "robot_description", self._describe, LATCHED)
        self.create_subscription(JointState, "joint_states", self._hear, qos_profile_sensor_data)
        self.create_timer(SEARCH, self._look_for_markers)

    def draw(self, _passed: float, _woken: bool) -> None:
        """Show what has come since the last call."""
        with self._lock:
            description, self._description = self._description, None
            positions, heard = dict(self._positions), self._heard
            poses = dict(self._poses)
            arrays, self._arrays = self._arrays, {}
        if description is not None:
            try:
                self._show_robot(description, None)
            except MbdynError as error:
                self._page.say(f"**Refused the robot_description.** {in_markdown(one_line(error))}")
        if self._shown is None or self._model is None or self._markers is None:
            with self._lock:
                self._arrays = arrays | self._arrays
            return
        position = _at_zero(self._model)
        labels, rows, _ = scalar_motions(joint_blocks(self._model.joints))
        position[rows] = [positions.get(label, 0.0) for label in labels]
        base = poses.get(self._model.root)
        if base is not None:
            self._shown.move_base(base)
        for body in self._free:
            if body.link in poses:
                body.place(position, poses[body.link])
        with self._page.host.atomic():
            self._shown.move(position)
            for topic, message in arrays.items():
                self._markers.show(topic, message)
        self._tell(positions, heard)

    def _show_robot(self, source: str, folder: Path | None) -> None:
        model = read_description(source)
        self._model = split_joints(model, quaternions_in_loops(model))
        self._free = free_joints(self._model)
        start = _at_zero(self._model)
        scene = self._page.scene
        scene.clear()
        shown = self._shown = ShownRobot(scene, self._model, read_visuals(source), folder, start)
        self._page.look(shown.low, shown.high, ABOVE)
        self._markers = MarkerScene(scene, [link.name for link in self._model.links])

    def _tell(self, positions: dict[str, float], heard: int) -> None:
        assert self._model is not None and self._shown is not None
        lines = [f"**{in_markdown(self._model.name)}**", *map(in_markdown, self._shown.remarks)]
        if heard:
            lines.append(f"{len(positions)} joints on `joint_states`")
            heard_of = {label.partition("/")[0] for label in positions}
            heard_of |= {one.name for one in self._model.joints if one.child in self._poses}
            missing = [name for name in joint_blocks(self._model.joints) if name not in heard_of]
            if missing:
                lines.append(f"not published: {', '.join(missing)}")
        else:
            lines.append("Waiting for `joint_states`.")
        if self._marker_topics:
            lines.append("markers: " + ", ".join(f"`{one}`" for one in sorted(self._marker_topics)))
        self._page.say(*lines)

    def _describe(self, message: String) -> None:
        with self._lock:
            self._description = message.data

    def _hear(self, message: JointState) -> None:
        with self._lock:
            self._positions.update(zip(message.name, message.position, strict=False))
            self._heard += 1

    def _place(self, message: Odometry) -> None:
        place, turn = message.pose.pose.position, message.pose.pose.orientation
        pose = np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])
        if np.isfinite(pose).all() and pose[3:].any():
            with self._lock:
                self._poses[message.child_frame_id] = pose

    def _look_for_markers(self) -> None:
        for topic, types in self.get_topic_names_and_types():
            if ODOMETRY in types and topic not in self._odometry_topics:
                self._odometry_topics.add(topic)
                quality = qos_profile_sensor_data
                self.create_subscription(Odometry, topic, self._place, quality)
            if MARKERS in types and topic not in self._marker_topics:
                self._marker_topics.add(topic)
                latched = any(
                    one.qos_profile.durability == LATCHED.durability
                    for one in self.get_publishers_info_by_topic(topic)
                )
                self.create_subscription(
                    MarkerArray, topic, lambda message, at=topic: self._mark(at, message),
                    LATCHED if latched else qos_profile_sensor_data,
                )  # fmt: skip

    def _mark(self, topic: str, message: MarkerArray) -> None:
        with self._lock:
            self._arrays[topic] = message


def _at_zero(model: Model) -> Array:
    """A full joint state of zeros, with unit quaternions."""
    return np.array([number for joint in model.joints for number in joint.kind.neutral()])


def view(page: Page, source: str | None, ready: Callable[[], None]) -> None:
    """Follow a ROS system on a page until `Page.end`; `ready` is called when the page is up."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = Viewer(page, source)
        executor = SingleThreadedExecutor()
        executor.add_node(node)

        def spin() -> None:
            while rclpy.ok():
                try:
                    executor.spin_once(timeout_sec=0.1)
                except ExternalShutdownException:
                    return

        thread = threading.Thread(target=spin)
        thread.start()
        try:
            ready()
            page.run(node.draw)
        finally:
            rclpy.try_shutdown()
            thread.join()
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
