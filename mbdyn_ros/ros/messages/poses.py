"""Poses in messages, and as homogeneous matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped

from ...model.model import Array
from ...motion.poses import pose_numbers, rotation_of
from .base_pose import fill_pose
from .named_numbers import require_reasonable
from .target_pose import target_turn


def pose_message(message: Any, matrix: Array) -> Any:
    """The pose of a homogeneous matrix (4, 4), written into a `Pose`."""
    fill_pose(message.position, message.orientation, pose_numbers(matrix))
    return message


def pose_matrix(message: Any, orientation: bool = True) -> Array:
    """The homogeneous matrix (4, 4) of a `Pose`; without a turn where that does not count.

    Raises
    ------
    InputError
        Numbers that are none, or an orientation that is no unit quaternion.
    """
    place, matrix = message.position, np.eye(4)
    matrix[:3, 3] = place.x, place.y, place.z
    require_reasonable("position", matrix[:3, 3], "xyz")
    if orientation:
        matrix[:3, :3] = rotation_of(target_turn(PoseStamped(pose=message)))
    return matrix
