"""A JointTrajectory with the efforts of its motion, in other joints, or in the least time."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ...errors import InputError
from ...model.model import Array
from ...motion import (
    EffortTrajectory,
    MotionLimits,
    TimedPath,
    Violation,
    convert_trajectory,
    first_violation,
    resample_efforts,
    time_optimal,
)
from ...motion.resampling import MOST_RESAMPLED, TooManyPointsError
from ...program.program import UNIT_TOLERANCE
from ...robot import Robot
from .conversions import doubles, fill_time, seconds
from .layout import Layout
from .limits import require_answers
from .named_numbers import LARGEST_SENT

FIELDS = (("positions", "q"), ("velocities", "v"), ("accelerations", "v"))
"""Fields of a point, and whose coordinates they are."""


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
        write_points(layout, trajectory, made)
    return made


def write_points(layout: Layout, trajectory: JointTrajectory, made: EffortTrajectory) -> None:
    """Replace the points of a message by those of a motion, without efforts."""
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


def read_points(layout: Layout, trajectory: JointTrajectory) -> tuple[Array, Array, Array]:
    """Positions (N, nq), velocities and accelerations (N, nv) in the robot's order.

    Raises
    ------
    InputError
        No points, or wrong lengths or numbers; the message gives point, joint and number.
    """
    points, robot = trajectory.points, layout.robot
    if not points:
        raise InputError("the trajectory has no points")
    given, stated = [], []
    doubtful = np.zeros(len(points), dtype=bool)
    for field, kind in FIELDS:
        numbers, lengths = _rows([getattr(point, field) for point in points], layout.size(kind))
        left_out = (lengths == 0) & (field != "positions")
        doubtful |= (lengths != layout.size(kind)) & ~left_out
        doubtful |= ~(np.abs(numbers) <= LARGEST_SENT).all(axis=1)
        given.append(numbers)
        stated.append(~left_out)
    q, v, a = (layout.to_robot(kind, one) for (_, kind), one in zip(FIELDS, given, strict=True))
    for start in robot.system.coordinates.quaternions:
        doubtful |= np.abs((q[:, start : start + 4] ** 2).sum(axis=1) - 1) > UNIT_TOLERANCE
    _look_at(doubtful, layout, points)
    if layout.dependent or robot.model.loops:
        implied = robot.joint_state(q, v, a)  # all points in one call
        doubtful |= ~np.isfinite(implied[0]).all(axis=1)
        for k, (numbers, said) in enumerate(zip(given, stated, strict=True)):
            for _, _, _, apart in layout.comparisons(k, numbers, implied[k]):
                doubtful |= said & apart
        _look_at(doubtful, layout, points)
    return q, v, a


def _rows(fields: Sequence[array[float]], size: int) -> tuple[Array, NDArray[np.int_]]:
    """Numbers (N, size) of all points, and how many each has (N,); 0 where that is not `size`."""
    lengths = np.array([len(field) for field in fields])
    numbers = np.zeros((len(fields), size))
    chosen = [field for field in fields if len(field) == size]
    numbers[lengths == size] = np.frombuffer(b"".join(chosen)).reshape(len(chosen), size)
    return numbers, lengths


def _look_at(
    doubtful: NDArray[np.bool_], layout: Layout, points: Sequence[JointTrajectoryPoint]
) -> None:
    """Read points one by one, which says what is wrong with them."""
    for k in np.flatnonzero(doubtful).tolist():
        point = points[k]
        try:
            layout.state(point.positions, point.velocities, point.accelerations)
        except InputError as error:
            raise InputError(f"point {k}: {error}") from None


def with_efforts(
    robot: Robot,
    trajectory: JointTrajectory,
    wrenches: Mapping[str, Sequence[float]] | None = None,
    tolerance: float = 0.0,
    most: int = MOST_RESAMPLED,
) -> tuple[JointTrajectory, Violation | None]:
    """The trajectory, with `effort` at every point, in the caller's joint order.

    Parameters
    ----------
    wrenches : from outside on links all the time.
    tolerance : N m or N; above 0 points are added until efforts that run straight between them
        are within it (`motion.resample_efforts`), `most` in all.

    Returns
    -------
    The trajectory, and the first limit that it passes, at its points.
    """
    layout = Layout(robot, trajectory.joint_names)
    q, v, a = read_points(layout, trajectory)
    if tolerance:
        made = add_points(layout, trajectory, (q, v, a), wrenches, tolerance, most)
        q, v, efforts = made.position, made.velocity, made.effort
    else:
        efforts = robot.inverse_dynamics(q, v, a, wrenches)
    bad = np.argwhere(~np.isfinite(efforts))
    if len(bad):
        point, column = bad[0].tolist()
        require_answers(robot, q, v, a, efforts, "point {}: ")
        raise InputError(
            f"point {point}: the effort of {robot.effort_labels[column]} is "
            f"{efforts[point, column]}: a number of the point is too large"
        )
    write_efforts(layout, trajectory, efforts)
    trajectory.joint_names = list(layout.names)
    return trajectory, _violation(robot, q, v, efforts)


def write_efforts(layout: Layout, trajectory: JointTrajectory, efforts: Array) -> None:
    """Fill the efforts (N, m) of the points."""
    rows = layout.from_robot(efforts)
    size, flat = rows.shape[1], doubles(rows)
    for k, one in enumerate(trajectory.points):
        one.effort = flat[k * size : (k + 1) * size]


def _violation(robot: Robot, q: Array, v: Array, efforts: Array) -> Violation | None:
    """The first limit that is passed at some points, of joints that follow others too."""
    coordinates = robot.system.coordinates
    position, velocity, _ = robot.joint_state(q, v)
    return first_violation(
        robot,
        {
            "position": (coordinates.joint_labels, position),
            "velocity": (coordinates.joint_rate_labels, velocity),
            "effort": (robot.effort_labels, efforts),
        },
    )


def unfit_for_a_controller(trajectory: JointTrajectory) -> str:
    """Why joint_trajectory_controller would refuse a trajectory; empty where it would not."""
    times = [seconds(point.time_from_start) for point in trajectory.points]
    if times[0] < 0:
        return f"point 0 is at {times[0]:g} s, before the start"
    for k, (before, time) in enumerate(zip(times, times[1:], strict=False), start=1):
        if time <= before:
            return f"point {k} is at {time:g} s, not after the {before:g} s of the point before"
    for field in ("velocities", "accelerations"):
        given = [len(getattr(point, field)) > 0 for point in trajectory.points]
        if any(given) and not all(given):
            return f"point {given.index(False)} has no {field}, but others have"
    for name, velocity in zip(
        trajectory.joint_names, trajectory.points[-1].velocities, strict=False
    ):
        if velocity != 0:
            return f"{name} still moves at the last point, at {velocity:g}"
    return ""


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
