"""A JointTrajectory told in other joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...errors import InputError
from ...model.model import Array
from ...motion import Violation, convert_trajectory
from ...robot import Robot
from .conversions import doubles
from .named_numbers import LARGEST_SENT

FIELDS_CONVERTED = ("positions", "velocities", "accelerations", "effort")


def converted(
    robot: Robot, trajectory: JointTrajectory, joints: Sequence[str]
) -> tuple[JointTrajectory, Violation | None]:
    """The trajectory in other joints, and the first limit that is passed in either.

    Header and times stay. Fields are converted that all points have.

    Parameters
    ----------
    joints : of the answer; empty for the actuated ones.

    Raises
    ------
    InputError
        No points, fields that some points have only, wrong numbers, or what
        `convert_trajectory` refuses.
    """
    given = tuple(trajectory.joint_names) or robot.independent_joints
    fields = [_field(trajectory.points, name, len(given)) for name in FIELDS_CONVERTED]
    position, velocity, acceleration, effort = fields
    if position is None:
        raise InputError("point 0 has no positions" if trajectory.points else
                         "the trajectory has no points")  # fmt: skip
    found = convert_trajectory(
        robot, given, position, velocity, acceleration, effort, tuple(joints) or None
    )
    answer = JointTrajectory(header=trajectory.header, joint_names=list(found.joints))
    answer.points = [
        JointTrajectoryPoint(time_from_start=point.time_from_start) for point in trajectory.points
    ]
    arrays = found.position, found.velocity, found.acceleration, found.effort
    for name, numbers in zip(FIELDS_CONVERTED, arrays, strict=True):
        if numbers is not None:
            size, flat = numbers.shape[1], doubles(numbers)
            for k, point in enumerate(answer.points):
                setattr(point, name, flat[k * size : (k + 1) * size])
    return answer, found.violation


def _field(points: Sequence[Any], name: str, joints: int) -> Array | None:
    """Numbers (N, k) of a field of all points; None where no point has it."""
    rows = [getattr(point, name) for point in points]
    lengths = [len(row) for row in rows]
    if not any(lengths):
        return None
    wanted = lengths[0] or max(lengths)
    for k, length in enumerate(lengths):
        if length != wanted:
            raise InputError(
                f"point {k} has {length} {name}, but others have {wanted}, for {joints} joints"
            )
    if wanted < joints:
        raise InputError(f"point 0 has {wanted} {name} for {joints} joints")
    numbers = np.frombuffer(b"".join(np.asarray(row, dtype=float).tobytes() for row in rows))
    table = numbers.reshape(len(rows), wanted)
    bad = np.argwhere(np.abs(table) > LARGEST_SENT)
    if len(bad):
        point, column = bad[0].tolist()
        raise InputError(
            f"point {point}: {name}[{column}] is {table[point, column]:g}: every number must be at "
            f"most {LARGEST_SENT:g} in size"
        )
    return table
