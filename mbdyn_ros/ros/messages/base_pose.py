"""Poses that joint states cannot say: of a floating base, and of joints that URDF does not know
or that have several coordinates."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Transform, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node

from ...model.model import Array, Joint, Model
from ...motion.poses import pose_numbers, relative_pose
from ...robot import Robot
from .conversions import fill_time

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # not among the PyPI wheels
    TFMessage = None

WORLD_FRAME = "world"


class PosePublisher:
    """Publishes odometry of a floating base, and transforms where tf2_msgs is installed.

    The twist is in base axes, as in `Robot`.
    """

    def __init__(self, node: Node, robot: Robot) -> None:
        self._node, self._robot = node, robot
        self._pairs = [
            (joint.parent, joint.child)
            for joint in robot.model.joints
            if joint.nv > 1 or (joint.nv and not joint.kind.in_urdf)
        ]
        self._pairs += _taken_apart(robot.model)
        self.needed = bool(robot.floating_base or self._pairs)
        self._odometry: Any = None
        self._transforms: Any = None
        if not self.needed:
            return
        if robot.floating_base:
            self._odometry = node.create_publisher(Odometry, "~/odometry", 10)
            self._message = Odometry(child_frame_id=robot.model.root)
            self._message.header.frame_id = WORLD_FRAME
        if TFMessage is not None:
            self._transforms = node.create_publisher(TFMessage, "/tf", 100)
        else:
            node.get_logger().warning(
                "tf2_msgs is not installed: no transform of what floats is published on /tf"
            )

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for publisher in (self._odometry, self._transforms):
            if publisher is not None:
                self._node.destroy_publisher(publisher)

    def publish(self, q: Array, v: Array, stamp: int) -> None:
        """Send the poses of one state; `stamp` in nanoseconds."""
        if self._odometry is not None:
            header, pose, twist = self._message.header, self._message.pose, self._message.twist
            fill_time(header.stamp, stamp)
            fill_pose(pose.pose.position, pose.pose.orientation, q[:7])
            linear, angular = twist.twist.linear, twist.twist.angular
            linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = v[:6].tolist()
            self._odometry.publish(self._message)
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
