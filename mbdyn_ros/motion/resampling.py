"""Points at which efforts that run straight between them stay near those of the motion.

joint_trajectory_controller moves between points on polynomials (of degree 5 where points have
accelerations, 3 where they have velocities), and lets given efforts run straight. Points are added
on the same polynomials, so the motion stays, until the straight lines are near enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import (
    Wrenches,
    checked_count,
    checked_numbers,
    coordinate_array,
    positive_number,
)
from ..array import Array
from ..errors import InputError, MbdynError
from ..robot import Robot, checked_robot
from .path_motion import repeated

SAMPLES_BETWEEN = 12
"""Parts of an interval at whose ends efforts are compared with the straight line."""

SHORTEST_INTERVAL = 1e-6
"""s: efforts that jump (accelerations do at points of cubics, dry friction where a joint turns
back) go from the one to the other in such an interval."""

MOST_CUTS = 8
"""Parts that an interval is cut into at most, in one go."""

MOST_RESAMPLED = 1_000_000
"""Points at which resampling is given up."""


class TooManyPointsError(InputError):
    """A tolerance takes more points than are allowed."""


@dataclass(frozen=True, eq=False)
class EffortTrajectory:
    """A motion whose efforts may be interpolated linearly between its points.

    time (N,) s, increasing; position, velocity (N, n), acceleration (N, n) or None where none
    were given; effort (N, m) N or N m.
    added : how many of the points are new.
    bound : largest distance (N or N m) between the straight efforts and those of the motion, as
        estimated: at `SAMPLES_BETWEEN` parts of every interval, and by second differences between
        them. Jumps, which take 1e-6 s, are left out.
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array | None
    effort: Array
    added: int
    bound: float


def resample_efforts(
    robot: Robot,
    time: Array,
    position: Array,
    velocity: Array,
    acceleration: Array | None = None,
    tolerance: float = 1.0,
    wrenches: Wrenches | None = None,
    most: int = MOST_RESAMPLED,
) -> EffortTrajectory:
    """Add points to a motion until linearly interpolated efforts are within a tolerance.

    Parameters
    ----------
    time : (N,) s, increasing.
    position, velocity, acceleration : (N, nv) of the independent joints. Without accelerations
        the motion between points is a cubic, else of degree 5, as joint_trajectory_controller has
        it.
    tolerance : N or N m: largest distance of straight efforts from those of the motion.
    wrenches : from outside on links all the time, as in `inverse_dynamics`.
    most : points at most.

    Raises
    ------
    InputError
        Times that do not increase, numbers that do not fit, or a motion whose loops cannot be
        closed between its points.
    TooManyPointsError
        A tolerance that takes more points than `most`.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> made = resample_efforts(mbdyn_ros.load(CART), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]])
    >>> made.effort.ravel().tolist()
    [12.0, -12.0]
    """
    tolerance, most = positive_number("tolerance", tolerance), checked_count("most", most, 2)
    motion = _Polynomials(robot, time, position, velocity, acceleration)
    efforts = _Efforts(robot, motion, wrenches, tolerance)
    cuts = np.unique(np.concatenate([motion.time, *_jumps(motion, efforts)]))
    done: list[Array] = []
    bound = 0.0
    left = np.stack([cuts[:-1], cuts[1:]], axis=1)
    while len(left):
        worst = efforts.worst(left)
        span = left[:, 1] - left[:, 0]
        good = (worst <= tolerance) | (span <= 1.5 * SHORTEST_INTERVAL)
        smooth = good & (span > 1.5 * SHORTEST_INTERVAL)
        bound = max(bound, float(worst[smooth].max(initial=0.0)))
        done.append(left[good])
        left = _cut(left[~good], worst[~good] / tolerance)
        if len(left) + sum(map(len, done)) > most:
            raise TooManyPointsError(
                f"efforts within {tolerance:g} (N or N m) take more than {most} points"
            )
    begins = np.sort(np.concatenate([one[:, 0] for one in done]))
    times = np.append(begins, motion.time[-1])
    states = motion.at(times, np.append(begins, begins[-1]))
    for state, given in zip(states, motion.given, strict=False):
        state[np.searchsorted(times, motion.time)] = given  # to the last digit
    q, v, a = states
    return EffortTrajectory(
        times, q, v, None if acceleration is None else a, efforts.at_points(times),
        len(times) - len(motion.time), bound,
    )  # fmt: skip


class _Polynomials:
    """The motion between points, as joint_trajectory_controller has it."""

    def __init__(
        self,
        robot: Robot,
        time: Array,
        position: Array,
        velocity: Array,
        acceleration: Array | None,
    ) -> None:
        labels = checked_robot(robot).velocity_labels
        if robot.system.coordinates.quaternions:
            raise InputError("the robot has a joint that no trajectory of joints can describe")
        self.time = checked_numbers("time", time)
        rows = [
            np.atleast_2d(coordinate_array(what, one, labels))
            for what, one in (
                ("position", position), ("velocity", velocity), ("acceleration", acceleration),
            )
            if one is not None
        ]  # fmt: skip
        if self.time.ndim != 1 or any(len(one) != len(self.time) for one in rows):
            raise InputError(
                f"there are {self.time.size} times, but {[len(one) for one in rows]} positions, "
                "velocities and accelerations"
            )
        if len(self.time) < 2:
            raise InputError("a motion between points has two points or more")
        if not np.isfinite(self.time[0]):
            raise InputError(f"point 0 is at {self.time[0]} s")
        behind = np.flatnonzero(~(np.diff(self.time) > 0))
        if len(behind):
            k = int(behind[0])
            raise InputError(
                f"point {k + 1} is at {self.time[k + 1]:g} s, not after the {self.time[k]:g} s of "
                "the point before"
            )
        for what, one in zip(("position", "velocity", "acceleration"), rows, strict=False):
            bad = np.argwhere(~np.isfinite(one))
            if len(bad):
                point, joint = bad[0].tolist()
                raise InputError(f"point {point}: {what} of {labels[joint]} is {one[point, joint]}")
        from scipy.interpolate import BPoly, PPoly  # slow to import, and nodes start with this file

        self.given = rows
        values = np.stack(rows, axis=1)
        self._whole = PPoly.from_bernstein_basis(BPoly.from_derivatives(self.time, values))
        self._pieces = self._whole.c

    def turning_points(self) -> Array:
        """Times at which a joint turns back."""
        roots = self._whole.derivative().roots(discontinuity=False, extrapolate=False)
        times = np.concatenate([*roots.ravel(), np.zeros(0)])
        return np.unique(times[np.isfinite(times)])

    def at(self, moments: Array, within: Array | None = None) -> tuple[Array, Array, Array]:
        """States (..., n) at some times: of the pieces that begin at or before `within`."""
        pieces = np.searchsorted(self.time, moments if within is None else within, side="right")
        k = np.clip(pieces - 1, 0, len(self.time) - 2)
        since = (moments - self.time[k])[..., None]
        c = self._pieces[:, k]
        found = []
        for order in range(3):
            degree = len(c) - 1
            value = np.zeros(c.shape[1:])
            for row in range(degree - order + 1):
                power = degree - row
                factor = float(np.prod([power - j for j in range(order)])) if order else 1.0
                value = value * since + factor * c[row]
            found.append(value)
        return found[0], found[1], found[2]


class _Efforts:
    """Efforts of a motion at its own times."""

    def __init__(
        self, robot: Robot, motion: _Polynomials, wrenches: Wrenches | None, tolerance: float
    ) -> None:
        self._robot, self._motion, self._wrenches = robot, motion, wrenches
        self._tolerance = tolerance
        self._points: dict[float, Array] = {}

    def at(self, moments: Array, within: Array) -> Array:
        """Efforts (..., m) at some times (...), of the pieces that `within` lies in."""
        q, v, a = (one.reshape(-1, one.shape[-1]) for one in self._motion.at(moments, within))
        found = self._robot.inverse_dynamics(q, v, a, repeated(self._wrenches, len(q)))
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if len(bad):
            k, when = int(bad[0]), moments.ravel()[bad[0]]
            try:
                self._robot.inverse_dynamics(q[k], v[k], a[k], self._wrenches)
            except MbdynError as error:
                raise InputError(f"between points, at {when:.6g} s: {error}") from error
        return found.reshape(*moments.shape, -1)

    def worst(self, intervals: Array) -> Array:
        """Largest distances (M,) of the straight lines from the efforts in intervals (M, 2)."""
        part = np.linspace(0.0, 1.0, SAMPLES_BETWEEN + 1)
        starts, spans = intervals[:, :1], np.diff(intervals, axis=1)
        inside = self.at(starts + spans * part, np.repeat(starts, len(part), axis=1))
        ends = self.at_points(intervals.ravel()).reshape(len(intervals), 2, -1)
        line = ends[:, :1] + part[:, None] * (ends[:, 1:] - ends[:, :1])
        apart = np.abs(inside - line).max(axis=(1, 2))
        # Between samples a parabola leaves its chord by an eighth of its second difference.
        curved = np.abs(np.diff(inside, 2, axis=1)).max(axis=(1, 2)) / 8
        return np.asarray(apart + curved)

    def at_points(self, times: Array) -> Array:
        """Efforts (M, m) that a point at each time has: the mean of those on both sides of it.

        Where they jump there, those after it.
        """
        unknown = np.array([t for t in dict.fromkeys(times.tolist()) if t not in self._points])
        if len(unknown):
            before, behind = self.beside(unknown)
            jumps = self.apart(before, behind)[:, None]
            found = np.where(jumps, behind, (before + behind) / 2)
            self._points.update(zip(unknown.tolist(), found, strict=True))
        return np.array([self._points[t] for t in times.tolist()])

    def beside(self, times: Array) -> tuple[Array, Array]:
        """Efforts (M, m) at some times, of the pieces before and after them."""
        before = np.nextafter(times, -np.inf)
        sides = self.at(np.stack([times, times]), np.stack([before, times]))
        return sides[0], sides[1]

    def apart(self, one: Array, other: Array) -> Array:
        """Whether efforts (M, m) differ too much for one point (M,)."""
        return np.asarray(np.abs(one - other).max(axis=1) > self._tolerance / 2)


def _jumps(motion: _Polynomials, efforts: _Efforts) -> list[Array]:
    """Times next to jumps: of accelerations at given points, of friction where joints turn back."""
    found = []
    for knots, offset in (
        (motion.time[1:], -SHORTEST_INTERVAL), (motion.time[:-1], SHORTEST_INTERVAL),
    ):  # fmt: skip
        moments = knots + offset
        near = efforts.at(moments, moments)
        found.append(moments[efforts.apart(near, efforts.at_points(knots))])
    turns = motion.turning_points()
    turns = turns[
        np.abs(turns[:, None] - motion.time).min(axis=1, initial=np.inf) > 2 * SHORTEST_INTERVAL
    ]
    if len(turns):
        sides = [turns - SHORTEST_INTERVAL / 2, turns + SHORTEST_INTERVAL / 2]
        some = efforts.apart(*(efforts.at(one, one) for one in sides))
        found += [one[some] for one in sides]
    return found


def _cut(intervals: Array, excess: Array) -> Array:
    """Intervals (M, 2) in equal parts: distances fall with the square of their number."""
    count = np.clip(np.ceil(np.sqrt(excess)), 2, MOST_CUTS).astype(int)
    spans = np.diff(intervals, axis=1)[:, 0]
    count = np.minimum(count, np.maximum(2, (spans / SHORTEST_INTERVAL).astype(int)))
    made = [
        np.linspace(start, end, n + 1) for (start, end), n in zip(intervals, count, strict=True)
    ]
    if not made:
        return np.zeros((0, 2))
    return np.concatenate([np.stack([one[:-1], one[1:]], axis=1) for one in made])
