"""The motion to a target pose of a link."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PoseStamped

from ...model.model import Array
from ...motion.poses import rotation_of
from ...motion.reference import Reference
from ...motion.turns import Turns
from ...robot import Robot
from ...ros.messages.poses import target_place, target_turn

PEAK_SPEED = 1.875
"""Highest speed of a polynomial of degree 5 from rest to rest, over its mean speed."""

SHORTEST_MOTION = 0.1
"""s that the shortest motion takes."""


def motion_to_target(
    robot: Robot,
    link: str,
    message: PoseStamped,
    present: Array,
    orientation: bool,
    speed: float,
) -> Reference:
    """The motion from the present positions to a pose, from rest to rest, joint by joint.

    Parameters
    ----------
    message : the pose in the frame of the root link.
    orientation : whether the pose's orientation counts.
    speed : of the fastest joint, rad/s or m/s.

    Raises
    ------
    InputError
        An empty message, another frame, bad numbers, or a pose out of reach, with the gap that is
        left.
    """
    pose = np.eye(4)
    pose[:3, 3] = target_place(robot, message)
    if orientation:
        pose[:3, :3] = rotation_of(target_turn(message))
    goal = robot.inverse_kinematics(
        link, pose, position_only=not orientation, start=present, starts=1
    ).require()
    displacement = Turns(robot, robot.velocity_labels).shortest(
        goal - present
    )  # not round and round
    duration = max(
        SHORTEST_MOTION, PEAK_SPEED * float(np.abs(displacement).max(initial=0.0)) / speed
    )
    rest = np.zeros((2, robot.nv))
    return Reference(
        np.array([0.0, duration]), np.array([present, present + displacement]), rest, rest
    )
