"""Points added to a JointTrajectory, on its motion, for efforts that run straight between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...errors import InputError
from ...model.model import Array
from ...motion import EffortTrajectory, resample_efforts
from ...motion.resampling import TooManyPointsError
from .conversions import doubles, fill_time, seconds
from .layout import Layout


def add_points(
    layout: Layout,
    trajectory: JointTrajectory,
    states: tuple[Array, Array, Array],
    wrenches: Mapping[str, Sequence[float]] | None,
    tolerance: float,
    most: int,
) -> EffortTrajectory:
    """Add points to a message until straight efforts are within a tolerance (N m or N).

    Parameters
    ----------
    layout : of its joints. states : q (N, nq), v and a (N, nv) of its points.
    most : points at most, the parameter `largest_request`.

    Returns
    -------
    The motion at all points, with efforts.

    Raises
    ------
    InputError
        Points without velocities, or with accelerations at some only; or what `resample_efforts`
        refuses.
    """
    points, robot = trajectory.points, layout.robot
    curved = [len(point.accelerations) > 0 for point in points]
    for k, point in enumerate(points):
        if not len(point.velocities):
            raise InputError(
                f"point {k} has no velocities, and effort_tolerance needs them: between positions "
                "alone joint_trajectory_controller moves on straight lines, at whose corners "
                "efforts jump"
            )
        if curved[k] != curved[0]:
            raise InputError(f"point {curved.index(False)} has no accelerations, but others have")
    q, v, a = states
    try:
        made = resample_efforts(
            robot, np.array([seconds(point.time_from_start) for point in points]), q, v,
            a if curved[0] else None, tolerance, wrenches, most,
        )  # fmt: skip
    except TooManyPointsError as error:
        raise InputError(
            f"{error}, the parameter largest_request: set it, or effort_tolerance, higher"
        ) from None
    if made.added:
        _write(layout, trajectory, made)
    return made


def _write(
    layout: Layout, trajectory: JointTrajectory, made: EffortTrajectory
) -> None:
    """Replace the points of a message by those of a motion."""
    known = {seconds(point.time_from_start): point.time_from_start for point in trajectory.points}
    state = layout.robot.joint_state(made.position, made.velocity, made.acceleration)
    rows = [layout.numbers(k, one) for k, one in enumerate(state) if one is not None]
    trajectory.points = []
    for k, time in enumerate(made.time.tolist()):
        point = JointTrajectoryPoint()
        point.positions, point.velocities = doubles(rows[0][k]), doubles(rows[1][k])
        if len(rows) == 3:
            point.accelerations = doubles(rows[2][k])
        if time in known:
            point.time_from_start = known[time]
        else:
            fill_time(point.time_from_start, round(time * 1e9))  # type: ignore[arg-type]
        trajectory.points.append(point)
