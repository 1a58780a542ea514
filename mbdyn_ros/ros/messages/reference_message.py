"""The wanted motion in a `JointTrajectory`."""

from __future__ import annotations

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...motion.reference import Reference
from ...robot import Robot
from .conversions import seconds
from .layout import Layout
from .trajectory_efforts import read_points


def read_reference(robot: Robot, message: JointTrajectory) -> Reference:
    """The motion that a message describes; InputError names point, joint and number."""
    layout = Layout(robot, message.joint_names)
    q, v, a = read_points(layout, message)
    times = np.array([seconds(point.time_from_start) for point in message.points])
    given = {
        "velocities": [len(point.velocities) > 0 for point in message.points],
        "accelerations": [len(point.accelerations) > 0 for point in message.points],
    }
    for what, flags in given.items():
        if any(flags) and not all(flags):
            raise InputError(
                f"point {flags.index(False)} has no {what}, but others have: give them at "
                "every point, or at none"
            )
    return Reference(
        times,
        q,
        v if all(given["velocities"]) else None,
        a if all(given["accelerations"]) else None,
    )
