"""A JointTrajectory with the efforts that its motion takes."""

from __future__ import annotations

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .conversions import doubles
from .layout import Layout


def read_points(
    layout: Layout, trajectory: JointTrajectory
) -> tuple[Array, Array, Array]:
    """Positions (N, nq), velocities and accelerations (N, nv) in the robot's order.

    Raises
    ------
    InputError
        No points, or wrong lengths or numbers; the message gives point, joint and number.
    """
    if not trajectory.points:
        raise InputError("the trajectory has no points")
    rows: list[tuple[Array, Array, Array]] = []
    for k, point in enumerate(trajectory.points):
        try:
            state = layout.state(point.positions, point.velocities, point.accelerations, True)
            rows.append(state)
        except InputError as error:
            raise InputError(f"point {k}: {error}") from None
    q, v, a = (np.array(column) for column in zip(*rows, strict=True))
    if layout.robot.model.loops:
        positions, _, _ = layout.robot.joint_state(q)  # all points in one call
        for k in np.flatnonzero(~np.isfinite(positions).all(axis=1)).tolist():
            try:
                layout.robot.joint_state(q[k])  # says why not
            except InputError as error:
                raise InputError(f"point {k}: {error}") from None
    return q, v, a


def with_efforts(robot: Robot, trajectory: JointTrajectory) -> JointTrajectory:
    """A copy with `effort` at every point, in the caller's joint order, by one batch call."""
    layout = Layout(robot, trajectory.joint_names)
    q, v, a = read_points(layout, trajectory)
    efforts = robot.inverse_dynamics(q, v, a)
    bad = np.argwhere(~np.isfinite(efforts))
    if len(bad):
        point, column = bad[0].tolist()
        raise InputError(
            f"point {point}: the effort of {robot.effort_labels[column]} is "
            f"{efforts[point, column]}: a number of the point is too large"
        )
    result = JointTrajectory(header=trajectory.header, joint_names=list(layout.names))
    for point, effort in zip(trajectory.points, layout.from_robot(efforts), strict=True):
        result.points.append(
            JointTrajectoryPoint(
                positions=point.positions,
                velocities=point.velocities,
                accelerations=point.accelerations,
                effort=doubles(effort),
                time_from_start=point.time_from_start,
            )
        )
    return result
