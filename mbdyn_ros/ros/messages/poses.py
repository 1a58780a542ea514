"""Poses in messages, and as homogeneous matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped

from ...errors import InputError
from ...model.model import Array
from ...motion.poses import pose_numbers, rotation_of
from ...robot import Robot
from .base_pose import fill_pose
from .named_numbers import require_reasonable


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


UNIT_LENGTH = 1e-3
"""How far the length of a quaternion may be from 1."""


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
        raise InputError("the target is an empty message: it says neither where nor in what frame")
    point = message.pose.position
    place = np.array([point.x, point.y, point.z])
    require_reasonable("the target's position", place, "xyz")
    return place


def target_turn(message: PoseStamped) -> Array:
    """The orientation as a unit quaternion (x, y, z, w); anything else is refused."""
    turn = message.pose.orientation
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1) <= UNIT_LENGTH:
        raise InputError(
            f"the target's orientation {quaternion.tolist()} has length {length:.6g}: it must be "
            "a unit quaternion (x, y, z, w)"
        )
    return quaternion / length
