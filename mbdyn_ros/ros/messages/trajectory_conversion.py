"""A JointTrajectory in other joints, or passed in the least time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...errors import InputError
from ...model.model import Array
from ...motion import MotionLimits, TimedPath, Violation, convert_trajectory, time_optimal
from ...robot import Robot
from .conversions import doubles
from .layout import Layout
from .named_numbers import LARGEST_SENT
from .trajectory_efforts import read_points, write_efforts, write_points

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


ANSWER_RATE = 100.0
"""Hz of an answer, unless the request says otherwise."""


def timed(
    robot: Robot,
    path: JointTrajectory,
    most: int,
    limits: MotionLimits | None = None,
    blend: float | None = None,
    jerk: float | None = None,
    rate: float = ANSWER_RATE,
) -> tuple[JointTrajectory, TimedPath]:
    """The motion through the points of a path, with efforts, in the caller's joint order.

    most : points of the answer. Other parameters are those of `time_optimal`.

    Raises
    ------
    InputError
        Wrong points or limits, a path that cannot be moved along, or more points than allowed.
    """
    layout = Layout(robot, path.joint_names)
    q, _, _ = read_points(layout, path)
    found = time_optimal(robot, q, limits, blend=blend, jerk=jerk)
    if found.duration * rate > most:
        raise InputError(
            f"the motion takes {found.duration:.4g} s, which is {found.duration * rate:.0f} points "
            f"at {rate:g} Hz, and the parameter largest_request is {most}: ask for a lower rate, "
            "or set it higher"
        )
    made = found.trajectory(rate)
    assert made.acceleration is not None
    made.velocity[[0, -1]] = 0.0  # which rounding leaves at 1e-17, and a controller refuses
    answer = JointTrajectory(header=path.header, joint_names=list(layout.names))
    write_points(layout, answer, made)
    write_efforts(layout, answer, made.effort)
    return answer, found


def requested_limits(request: Any) -> MotionLimits:
    """The limits of a request."""
    return MotionLimits(
        velocity=_table(request, "max_velocity"),
        acceleration=_table(request, "max_acceleration"),
        effort=_table(request, "max_effort"),
        power=_table(request, "max_power"),
    )


def _table(request: Any, field: str) -> dict[str, float]:
    numbers: Sequence[float] = getattr(request, field)
    names: Sequence[str] = request.limit_names
    if not len(numbers):
        return {}
    if len(numbers) != len(names):
        raise InputError(f"{field} has {len(numbers)} numbers for {len(names)} limit_names")
    if not np.isfinite(numbers).all() or min(numbers) < 0:
        raise InputError(f"{field} is {list(numbers)}: every number must be finite, 0 or more")
    return {name: one for name, one in zip(names, numbers, strict=True) if one}
