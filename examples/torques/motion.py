"""The motion that every robot makes: to its goal and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mbdyn_ros.model.model import Array
from mbdyn_ros.robot import Robot
from mbdyn_ros.ros.messages.conversions import doubles, fill_time

POINTS = 221
MOTION, REST, LEAD = 2.2, 0.3, 0.2
"""s: the motion, rest before and after it, and the time that nodes have to read a trajectory."""


def wanted_motion(times: Array, home: Array, goal: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations (N, n): to the goal and back, resting at the ends."""
    half = MOTION / 2
    s = np.clip(1 - np.abs(times - half) / half, 0, 1)[:, None]
    sign = np.sign(half - times)[:, None]
    inside = ((times > 0) & (times < MOTION))[:, None]
    way = goal - home
    q = home + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    v = inside * way * sign / half * (30 * s**2 - 60 * s**3 + 30 * s**4)
    a = inside * way / half**2 * (60 * s - 180 * s**2 + 120 * s**3)
    return q, v, a


def trajectory_message(
    robot: Robot, home: Array, goal: Array, joints: Sequence[str] = ()
) -> JointTrajectory:
    """The motion as a message, of the independent joints unless others are named."""
    times = np.linspace(0, MOTION, POINTS)
    q, v, a = wanted_motion(times, home, goal)
    message = JointTrajectory(joint_names=list(joints or robot.independent_joints))
    for k, moment in enumerate(times.tolist()):
        point = JointTrajectoryPoint()
        point.positions, point.velocities = doubles(q[k]), doubles(v[k])
        point.accelerations = doubles(a[k])
        fill_time(point.time_from_start, round(moment * 1e9))  # type: ignore[arg-type]
        message.points.append(point)
    return message
