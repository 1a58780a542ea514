"""A JointTrajectory along the path of another, in the least time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...motion import MotionLimits, TimedPath, time_optimal
from ...robot import Robot
from .layout import Layout
from .trajectory_efforts import read_points, write_efforts, write_points

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
