"""Motions along a path in the least time that the limits of a robot allow, and by other rules.

Durations by other rules of timing: constant speed, and limits lowered until efforts fit.

Trajectory processing in MoveIt knows limits of velocities and accelerations; with torque limits it
lowers accelerations by a tenth, of each joint whose torque passes its limit, until none does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arguments import Wrenches, checked_count, coordinate_array
from ..array import Array, ArrayLike, as_numbers
from ..errors import InputError
from ..robot import Robot, checked_robot
from .conversion import convert_trajectory
from .joint_path import JointPath, blended_path, path_of, path_through, straight_parts
from .path_limits import MotionLimits, PathLimits
from .path_motion import repeated
from .path_speed import PathSpeed, SmoothSpeed, fastest, smoothed
from .resampling import SHORTEST_INTERVAL, EffortTrajectory, resample_efforts

INTERVALS = 1000
"""Of the grid at first: the duration is then within a thousandth of the least."""

EXCESS = 1e-3
"""Share of a limit by which it may be passed between points of the grid."""


NEXT_TO_REST = 1e-7
"""s after the start and before the end, when the efforts of the first and last points act."""


ACCELERATION_JUMP = 0.02
"""Part of the largest acceleration by which accelerations jump rather than change."""


class Limiting(NamedTuple):
    """The limit that is used most from one time to another, s, and the largest share of it."""

    start: float
    end: float
    limit: str
    used: float


@dataclass(frozen=True, eq=False)
class TimedPath:
    """A motion along a path.

    parts : the speed on each part of the path; at the ends of parts the robot is at rest.
    limits : what limits it. least_duration : s, without limits of jerk.
    """

    robot: Robot
    limits: PathLimits
    parts: tuple[PathSpeed | SmoothSpeed, ...]
    least_duration: float

    def __repr__(self) -> str:
        name, count = self.robot.model.name, len(self.parts)
        parts = f"{count} part{'s' * (count > 1)}"
        return f"TimedPath({name!r}: {self.duration:.6g} s in {parts}, excess {self.excess:.1e})"

    @property
    def duration(self) -> float:
        """Of the motion, s."""
        return sum(part.duration for part in self.parts)

    @property
    def fastest(self) -> tuple[PathSpeed, ...]:
        """The parts without limits of jerk."""
        return tuple(one.fast if isinstance(one, SmoothSpeed) else one for one in self.parts)

    @property
    def excess(self) -> float:
        """The largest share of a limit by which it is passed between points of the grid."""
        return max(max(part.excess, 0.0) for part in self.fastest)

    def state(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations (M, nv) at times (M,), s."""
        moments = np.clip(np.atleast_1d(as_numbers(time)), 0.0, self.duration)
        ends = np.cumsum([part.duration for part in self.parts])
        which = np.minimum(np.searchsorted(ends, moments), len(ends) - 1)
        found = np.empty((3, len(moments), self.robot.nv))
        for k, (part, fast) in enumerate(zip(self.parts, self.fastest, strict=True)):
            here = which == k
            s, speed, curve = part.at(moments[here] - ends[k] + part.duration)
            q, way, bend = fast.path.at(s)
            found[:, here] = (
                q, way * speed[:, None], way * curve[:, None] + bend * speed[:, None] ** 2,
            )  # fmt: skip
        return found[0], found[1], found[2]

    def trajectory(self, rate: float = 250.0, tolerance: float | None = None) -> EffortTrajectory:
        """The motion at a rate (Hz) and on both sides of where accelerations jump, with efforts.

        tolerance : N m or N: points are added until efforts that run straight between them are
            within it, as in `resample_efforts`.
        """
        count = max(2, int(np.ceil(self.duration * rate)) + 1)
        even, jumps = np.linspace(0.0, self.duration, count), self._jumps()
        apart = np.abs(even[1:-1, None] - jumps).min(axis=1, initial=np.inf)
        even = even[[True, *(apart > 2 * SHORTEST_INTERVAL), True]]
        sides = [jumps - SHORTEST_INTERVAL / 2, jumps + SHORTEST_INTERVAL / 2]
        time = np.sort(np.concatenate([even, *sides]))
        q, v, a = self.state(time)
        wrenches = self.limits.wrenches
        if tolerance is not None:
            return resample_efforts(self.robot, time, q, v, a, tolerance, wrenches)
        inside = np.clip(time, NEXT_TO_REST, self.duration - NEXT_TO_REST)  # dry friction acts
        effort = self.robot.inverse_dynamics(*self.state(inside), repeated(wrenches, len(time)))
        return EffortTrajectory(time, q, v, a, effort, 0, float("nan"))

    def _jumps(self) -> Array:
        """Times at which accelerations jump."""
        found, start = [], 0.0
        for part in self.parts:
            if isinstance(part, PathSpeed):
                way = np.linalg.norm(part.path.at(part.rows.s[1:-1])[1], axis=1)
                jumps = way * np.abs(np.diff(part.u))
                largest = float((way * np.abs(part.u[1:])).max())
                found.append(start + part.time[1:-1][jumps > ACCELERATION_JUMP * largest])
            start += part.duration
            found.append(np.array([start]))
        return np.concatenate(found)[:-1]

    def used(self) -> tuple[Array, Array]:
        """Times (M,) s, and how much of each limit of `limits.labels` (M, n) is used then."""
        times, shares, start = [], [], 0.0
        for part, fast in zip(self.parts, self.fastest, strict=True):
            own = fast.time
            if isinstance(part, SmoothSpeed):
                own = np.linspace(0.0, part.duration, len(own))
            middle = (own[1:] + own[:-1]) / 2
            s, speed, curve = part.at(middle)
            rows = self.limits.rows(fast.path, s)
            times.append(start + middle)
            shares.append(self.limits.usage(rows, speed**2, curve))
            start += part.duration
        return np.concatenate(times), np.concatenate(shares)

    def limiting(self) -> list[Limiting]:
        """The limits that are used most, one after the other."""
        times, shares = self.used()
        worst = shares.argmax(axis=1)
        cuts = [0, *(np.flatnonzero(np.diff(worst)) + 1), len(worst)]
        ends = [0.0, *((times[k - 1] + times[k]) / 2 for k in cuts[1:-1]), self.duration]
        return [
            Limiting(
                float(ends[k]), float(ends[k + 1]), self.limits.labels[worst[first]],
                float(shares[first:last, worst[first]].max()),
            )
            for k, (first, last) in enumerate(pairwise(cuts))
        ]  # fmt: skip


def time_optimal(
    robot: Robot,
    path: ArrayLike | Callable[[float], Sequence[float]],
    limits: MotionLimits | None = None,
    *,
    joints: Sequence[str] | None = None,
    link: str | None = None,
    blend: float | None = None,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    jerk: Mapping[str, float] | float | None = None,
    wrenches: Wrenches | None = None,
    intervals: int = INTERVALS,
    excess: float = EXCESS,
) -> TimedPath:
    """The fastest motion along a path within all limits, with the exact dynamics of the robot.

    Reachability analysis (Pham and Pham, 2018) with efforts of the robot as it is: loops, friction,
    springs and payload included.

    Parameters
    ----------
    path : waypoints (N, k), splined by the lengths of their chords in the independent joints;
        or a function of s between 0 and 1 that gives positions (nq,).
    limits : in addition to those of the description, of velocities, positions and efforts.
    joints : whose positions the waypoints are: any that determine the robot; the independent ones
        by default.
    link : a link whose poses (N, 4, 4), or positions (N, 3), the waypoints are, in the world:
        reached by inverse kinematics, each from the one before.
    blend : straight lines between the waypoints, whose corners are rounded within this distance
        (rad or m, as a norm over the joints); 0: with a stop at every waypoint.
    start_speed, end_speed : ds/dt, with s the length of the path in the joints.
    jerk : rad/s^3 or m/s^3, of independent joints, each or all. The motion is smoothed, not
        optimal any more: `duration` against `least_duration` is what it costs.
    wrenches : from outside on links all the time, as in `inverse_dynamics`.
    intervals : of the grid at first. excess : share of a limit that may be passed in between, for
        which intervals are halved; infinite for the first grid as it is.

    Raises
    ------
    InputError
        A path that cannot be moved along: equal waypoints, jumps, points beyond reach or limits, a
        dead point, or one at which the robot cannot be held; with place, joint and number.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> cart = mbdyn_ros.load(CART)
    >>> limits = MotionLimits(effort={"rail": 2.0}, velocity={"rail": 10.0})
    >>> timed = time_optimal(cart, [[0.0], [0.5]], limits)
    >>> round(timed.duration, 4)  # 2 sqrt(distance mass / force), of 2 kg
    1.4142
    """
    robot, limits = checked_robot(robot), limits or MotionLimits()
    checked_count("intervals", intervals, 2)
    if robot.floating_base or robot.nq != robot.nv or not robot.nv:
        raise InputError(
            f"{robot.model.source}: a path is of joints of one coordinate; this robot has "
            + ("none" if not robot.nv else "a base or a joint that turns by a quaternion")
        )
    bounds = PathLimits(robot, limits, wrenches)
    paths = _paths(robot, path, joints, link, blend)
    parts = [
        fastest(
            bounds, one, one.grid(intervals), start_speed if one is paths[0] else 0.0,
            end_speed if one is paths[-1] else 0.0, excess,
        )
        for one in paths
    ]  # fmt: skip
    least = sum(part.duration for part in parts)
    if jerk is None:
        return TimedPath(robot, bounds, tuple(parts), least)
    most = bounds.by_joint("jerk", jerk)

    def worst(speed: SmoothSpeed, time: Array) -> float:
        s, first, second, third = (one[:, None] for one in speed.with_jerk(time))
        way, bend, twist = speed.fast.path.rates(s[:, 0])
        jerks = twist * first**3 + 3 * bend * first * second + way * third
        rows = bounds.rows(speed.fast.path, s[:, 0])
        used = bounds.usage(rows, first[:, 0] ** 2, second[:, 0]).max()
        return float(max(used, (np.abs(jerks) / most).max()))

    smooth = tuple(smoothed(part, worst) for part in parts)
    return TimedPath(robot, bounds, smooth, least)


def _paths(
    robot: Robot,
    path: ArrayLike | Callable[[float], Sequence[float]],
    joints: Sequence[str] | None,
    link: str | None,
    blend: float | None,
) -> list[JointPath]:
    """The path in the independent joints, in parts that begin and end at rest."""
    if callable(path):
        return [path_of(path, robot.position_labels)]
    if link is not None:
        points = _reached(robot, link, as_numbers(path))
    elif joints is not None:
        points = convert_trajectory(
            robot, joints, as_numbers(path), to=robot.independent_joints
        ).position
    else:
        points = np.atleast_2d(coordinate_array("path", path, robot.position_labels))
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise InputError(f"waypoint {bad[0]} is {points[bad[0]].tolist()}; numbers must be finite")
    if len(points) < 2:
        raise InputError(f"a path has two waypoints or more; {len(points)} is given")
    if blend is None:
        return [path_through(points)]
    if not blend >= 0:
        raise InputError(f"blend is {blend}; it must be a distance, 0 or more")
    return [blended_path(points, blend)] if blend else straight_parts(points)


def _reached(robot: Robot, link: str, poses: Array) -> Array:
    """Joints (N, nq) that bring a link to poses, each near those before."""
    q, found = robot.home_position, []
    for k, pose in enumerate(poses):
        try:
            q = robot.inverse_kinematics(
                link, pose, position_only=pose.shape == (3,), start=q
            ).require()
        except InputError as error:
            raise InputError(f"waypoint {k}: {error}") from None
        found.append(q)
    return np.array(found)


LOWERING = 0.9
"""By which the acceleration of a joint is lowered in one go."""

MOST_LOWERINGS = 200
"""How often accelerations are lowered."""

INTERVALS_COMPARED = 300
"""Of the grid on which limits are lowered."""


def constant_speed(timed: TimedPath) -> float:
    """The duration, s, at the greatest constant speed by path, which begins and ends with a jump.

    Parts of the path, between stops, have each their own.
    """
    duration = 0.0
    for fast in timed.fastest:
        zero = np.zeros(len(fast.rows.s))
        low, high = 0.0, float(min(fast.rows.most.min(), 4 * fast.x.max()))
        for _ in range(60):
            middle = (low + high) / 2
            used = timed.limits.usage(fast.rows, zero + middle, zero).max()
            low, high = (middle, high) if used <= 1.0 else (low, middle)
        duration += fast.path.length / np.sqrt(low)
    return duration


def lowered_limits(timed: TimedPath) -> float:
    """The duration, s, by velocities and accelerations alone, these lowered until all limits hold.

    Accelerations begin at their limits, and where there is none, at the greatest of the
    time-optimal motion.

    Raises
    ------
    InputError
        Lowering does not help.
    """
    robot, given = timed.robot, timed.limits.limits
    labels = robot.independent_joints
    reached = np.abs(timed.state(np.linspace(0, timed.duration, 2000))[2]).max(axis=0)
    most = np.minimum(np.maximum(reached, 1e-9), timed.limits.accelerations)
    for _ in range(MOST_LOWERINGS):
        kinematic = MotionLimits(
            given.velocity, dict(zip(labels, most.tolist(), strict=True)),
            dict.fromkeys(robot.effort_labels, np.inf),
        )  # fmt: skip
        limits = PathLimits(robot, kinematic)
        duration, passed = 0.0, np.zeros(len(labels), dtype=bool)
        for fast in timed.fastest:
            grid = fast.path.grid(INTERVALS_COMPARED)
            found = fastest(limits, fast.path, grid, 0.0, 0.0, np.inf)
            duration += found.duration
            passed |= _passed(timed, found)
        if not passed.any():
            return duration
        most = np.where(passed, LOWERING * most, most)
    raise InputError("lowering accelerations does not bring the motion within its limits")


def _passed(timed: TimedPath, found: PathSpeed) -> Array:
    """Which independent joints (n,) are lowered: those whose effort is too large, or else all."""
    rows = timed.limits.rows(found.path, found.rows.s)
    used = np.maximum(
        timed.limits.usage(rows.chosen(slice(None, -1)), found.x[:-1], found.u),
        timed.limits.usage(rows.chosen(slice(1, None)), found.x[1:], found.u),
    ).max(axis=0)
    beyond = {
        label.removeprefix("effort of ")
        for label, one in zip(timed.limits.labels, used, strict=True)
        if one > 1 + 1e-6
    }
    joints = timed.robot.independent_joints
    mine = np.array([name in beyond for name in joints])
    return mine if mine.any() or not beyond else np.ones(len(joints), dtype=bool)
