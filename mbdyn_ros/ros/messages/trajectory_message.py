"""A JointTrajectory: read from its bytes, and the wanted motion in it.

rclpy turns a message into Python's objects in one go, and no other thread runs meanwhile: a
quarter of a second for 100 000 points, in which a control loop stands still. Here points are read
one by one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from trajectory_msgs.msg import JointTrajectory

from ...array import Array
from ...errors import InputError
from ...motion.reference import Reference
from ...robot import Robot
from .conversions import seconds
from .joint_state_bytes import PlainBytes, Span
from .layout import Layout
from .trajectory_efforts import read_points


class Point(NamedTuple):
    """As `JointTrajectoryPoint`, with arrays."""

    positions: Array
    velocities: Array
    accelerations: Array
    effort: Array
    time_from_start: Span


@dataclass
class Stamped:
    """As `Header`."""

    stamp: Time
    frame_id: str


@dataclass
class Trajectory:
    """As `JointTrajectory`."""

    header: Stamped
    joint_names: list[str]
    points: list[Point] = field(default_factory=list)


def read_trajectory(data: bytes) -> Trajectory:
    """The trajectory of a serialized message.

    Raises
    ------
    InputError
        These are not the bytes of a trajectory.
    """
    try:
        place = PlainBytes(data)
        header = Stamped(Time(**place.span()._asdict()), place.text())
        trajectory = Trajectory(header, [place.text() for _ in range(place.size(4))])
        for _ in range(place.size(4)):
            q, v, a, effort = (place.numbers() for _ in range(4))
            trajectory.points.append(Point(q, v, a, effort, place.span()))
        return trajectory
    except (struct.error, KeyError, ValueError) as error:
        raise InputError(f"the message holds no trajectory: {error}") from None


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
