"""Poses in messages, and those that joint states cannot say: of a floating base, and of joints
that URDF does not know or that have several coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, Transform, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node

from ...arguments import unit_quaternion
from ...errors import InputError
from ...model.model import Array, Joint, Model
from ...motion.free_bodies import FreeBody
from ...motion.poses import pose_numbers, relative_pose, rotation_of
from ...robot import Robot
from .conversions import fill_time
from .named_numbers import require_reasonable

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # not among the PyPI wheels
    TFMessage = None

WORLD_FRAME = "world"


def topic_word(name: str) -> str:
    """A name as a part of a topic; what these may not have in them becomes an underscore."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return word if not word[:1].isdigit() else "_" + word


class PosePublisher:
    """Publishes odometry of what floats, and transforms where tf2_msgs is installed.

    Twists are in base axes, as in `Robot`.

    Parameters
    ----------
    members : of a world the root link of each by name; there all links have transforms.
    """

    def __init__(self, node: Node, robot: Robot, members: Mapping[str, str] | None = None) -> None:
        self._node, self._robot = node, robot
        self._pairs = [
            (joint.parent, joint.child)
            for joint in robot.model.joints
            if members or joint.nv > 1 or (joint.nv and not joint.kind.in_urdf)
        ]
        if not members:
            self._pairs += _taken_apart(robot.model)
        self.needed = bool(robot.floating_base or self._pairs)
        self._odometry: list[tuple[Any, Odometry, FreeBody]] = []
        self._transforms: Any = None
        if not self.needed:
            return
        free = {"~/odometry": robot.model.root} if robot.floating_base else {}
        for name, link in (members or {}).items():
            free[f"~/{topic_word(name)}/odometry"] = link
        for topic, link in free.items():
            body = FreeBody.of(robot, link)
            if body is not None:
                message = Odometry(child_frame_id=link)
                message.header.frame_id = WORLD_FRAME
                self._odometry.append((node.create_publisher(Odometry, topic, 10), message, body))
        if TFMessage is not None:
            self._transforms = node.create_publisher(TFMessage, "/tf", 100)
        else:
            node.get_logger().warning(
                "tf2_msgs is not installed: transforms of floating bodies are not published on /tf",
                once=True,
            )

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for publisher, _, _ in self._odometry:
            self._node.destroy_publisher(publisher)
        if self._transforms is not None:
            self._node.destroy_publisher(self._transforms)

    def publish(self, q: Array, v: Array, stamp: int) -> None:
        """Send the poses of one state; `stamp` in nanoseconds."""
        for publisher, message, body in self._odometry:
            header, pose, twist = message.header, message.pose, message.twist
            fill_time(header.stamp, stamp)
            fill_pose(pose.pose.position, pose.pose.orientation, body.pose(q))
            linear, angular = twist.twist.linear, twist.twist.angular
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = v[body.v].tolist()
            publisher.publish(message)
        if self._transforms is not None:
            self._transforms.publish(TFMessage(transforms=self._stamped(q, stamp)))

    def _stamped(self, q: Array, stamp: int) -> list[TransformStamped]:
        result = []
        if self._robot.floating_base:
            result.append(stamped(WORLD_FRAME, self._robot.model.root, q[:7], stamp))
        for parent, child in self._pairs:
            pose = pose_numbers(relative_pose(self._robot, q, parent, child))
            result.append(stamped(parent, child, pose, stamp))
        return result


def _taken_apart(model: Model) -> list[tuple[str, str]]:
    """Parent and child of the joints of several coordinates that loops took apart."""
    parts: dict[str, list[Joint]] = {}
    for joint in model.joints:
        if joint.part_of is not None:
            parts.setdefault(joint.part_of, []).append(joint)
    return [(several[0].parent, several[-1].child) for several in parts.values()]


def stamped(parent: str, child: str, pose: Array, stamp: int) -> TransformStamped:
    """A transform from x y z qx qy qz qw at a time in nanoseconds."""
    transform = Transform()
    fill_pose(transform.translation, transform.rotation, pose)
    message = TransformStamped(child_frame_id=child, transform=transform)
    message.header.frame_id = parent
    fill_time(message.header.stamp, stamp)
    return message


def fill_pose(place: object, turn: object, pose: Array) -> None:
    """Write x y z qx qy qz qw into messages."""
    for name, number in zip("xyz", pose[:3].tolist(), strict=True):
        setattr(place, name, number)
    for name, number in zip("xyzw", pose[3:7].tolist(), strict=True):
        setattr(turn, name, number)


def pose_message(message: Any, matrix: Array) -> Any:
    """The pose of a homogeneous matrix (4, 4), written into a `Pose`."""
    fill_pose(message.position, message.orientation, pose_numbers(matrix))
    return message


def pose_matrix(message: Any, orientation: bool = True) -> Array:
    """The homogeneous matrix (4, 4) of a `Pose`; without a turn where that does not count.

    Raises
    ------
    InputError
        Not numbers, or an orientation that is not a unit quaternion.
    """
    place, matrix = message.position, np.eye(4)
    matrix[:3, 3] = place.x, place.y, place.z
    require_reasonable("position", matrix[:3, 3], "xyz")
    if orientation:
        matrix[:3, :3] = rotation_of(target_turn(PoseStamped(pose=message)))
    return matrix


def target_place(robot: Robot, message: PoseStamped) -> Array:
    """The place (3,) in the world, m.

    Raises
    ------
    InputError
        An empty message, another frame than that of the root link, or bad numbers.
    """
    frame = message.header.frame_id.lstrip("/")
    if frame not in ("", robot.model.root):
        raise InputError(
            f"the target is in frame {frame!r}; give it in that of the root link "
            f"{robot.model.root!r}"
        )
    if message == PoseStamped():
        raise InputError("the target is an empty message: it has neither a position nor a frame")
    point = message.pose.position
    place = np.array([point.x, point.y, point.z])
    require_reasonable("the target's position", place, "xyz")
    return place


def target_turn(message: PoseStamped) -> Array:
    """The orientation as a unit quaternion (x, y, z, w); anything else is refused."""
    turn = message.pose.orientation
    return unit_quaternion("the target's orientation", np.array([turn.x, turn.y, turn.z, turn.w]))
