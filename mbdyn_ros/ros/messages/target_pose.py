"""The wanted pose of a link in a `PoseStamped`."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PoseStamped

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .named_numbers import require_reasonable

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
