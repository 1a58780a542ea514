"""The speed along a path: the fastest one, and its average over time, whose jerk is limited.

The fastest one is found by reachability analysis (Pham and Pham 2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..array import Array
from ..errors import InputError
from .joint_path import JointPath
from .path_limits import PathLimits, Rows

WITHOUT_LIMIT = 1e8
"""1/s: ds/dt, in parts of the path, that counts as without a limit."""

LEAST_TANGENT = 1e-7
"""Part of the largest x at which tangents of its root are laid where the robot is slower."""

MOST_TANGENTS = 20
"""How often roots are replaced by their tangents at the last answer."""

DURATION_SETTLED = 1e-5
"""Relative change of the duration at which tangents are good enough."""

LARGEST_CHANGE = 0.02
"""Part of the largest x by which x changes in an interval at most."""

MOST_REFINEMENTS = 14
"""How often intervals are halved at most."""

TIMES_LOOKED_AT = 3000
"""Times at which jerk and limits of a smoothed motion are looked at."""

WINDOWS_TRIED = 14
"""Windows that are tried, between a five-hundredth and half of the fastest duration."""


@dataclass(frozen=True, eq=False)
class PathSpeed:
    """The speed along a path.

    rows : limits at the points of the grid. x : (ds/dt)^2 there (N,). u : d2s/dt2 (N - 1,), the
        same in all of an interval. excess : by how much a limit is passed between the points, as
        a share of it, as seen in their middle.
    """

    path: JointPath
    rows: Rows
    x: Array
    u: Array
    excess: float

    @property
    def time(self) -> Array:
        """When each point is passed (N,), s."""
        root = np.sqrt(self.x)
        spans = 2 * np.diff(self.rows.s) / (root[:-1] + root[1:])
        return np.concatenate([[0.0], np.cumsum(spans)])

    @property
    def duration(self) -> float:
        """Of the motion, s."""
        return float(self.time[-1])

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """s and its first and second derivatives by time (M,), at some times."""
        times = self.time
        k = np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(self.u) - 1)
        since, speed = time - times[k], np.sqrt(self.x[k])
        s = self.rows.s[k] + speed * since + self.u[k] * since**2 / 2
        rate = np.maximum(speed + self.u[k] * since, 0.0)
        return np.minimum(s, self.rows.s[k + 1]), rate, self.u[k]


def fastest(
    limits: PathLimits, path: JointPath, grid: Array, first: float, last: float, tolerance: float
) -> PathSpeed:
    """The fastest speed along a path that keeps all limits.

    Intervals of the grid are halved until no limit is passed in their middle by more than a share,
    and until no speed changes much in one of them: an interval keeps its limits at both ends, and
    is slower than it had to be by what changes in between.

    Parameters
    ----------
    grid : s of the points at first (N,). first, last : ds/dt at the ends.
    tolerance : the share; infinite for the first grid as it is.

    Raises
    ------
    InputError
        What `PathLimits.rows` refuses; a speed that cannot be had at an end; or nothing that limits
        the motion.
    SimulationError
        There is no C++ compiler.
    """
    rows = limits.rows(path, grid)
    for _ in range(MOST_REFINEMENTS):
        x, u = _settled(limits, path, rows, first, last)
        if not math.isfinite(tolerance):
            return PathSpeed(path, rows, x, u, math.nan)
        between = limits.rows(path, (rows.s[1:] + rows.s[:-1]) / 2)
        used = limits.usage(between, (x[1:] + x[:-1]) / 2, u).max(axis=1, initial=0.0) - 1
        beyond = (used > tolerance / 2) | (np.abs(np.diff(x)) > LARGEST_CHANGE * x.max())
        if not beyond.any():
            break
        rows = rows.merged(between, beyond)
    return PathSpeed(path, rows, x, u, float(used.max()))


def _settled(
    limits: PathLimits, path: JointPath, rows: Rows, first: float, last: float
) -> tuple[Array, Array]:
    """x and u with roots of x as they are, by tangents at the last answer."""
    x, u = _solved(limits, path, rows, None, first, last)
    before = 0.0
    for _ in range(MOST_TANGENTS if limits.has_roots else 0):
        x, u = _solved(limits, path, rows, x, first, last)
        duration = float(np.sum(np.diff(rows.s) / (np.sqrt(x[1:]) + np.sqrt(x[:-1]))))
        if abs(duration - before) <= DURATION_SETTLED * duration:
            break
        before = duration
    return x, u


def _solved(
    limits: PathLimits, path: JointPath, rows: Rows, near: Array | None, first: float, last: float
) -> tuple[Array, Array]:
    """x and u of linear limits: roots replaced by their tangents at `near`, or left out."""
    count, _, width = rows.rows.shape
    if near is not None:
        near = np.maximum(near, LEAST_TANGENT * near.max())
    x, u, reach = np.empty(count), np.empty(count - 1), np.empty(count)
    largest = (WITHOUT_LIMIT * path.length) ** 2
    place = limits.pass_limits(
        points=count, s=rows.s, row=rows.rows, cone=rows.cones, near=near,
        most=np.minimum(rows.most, largest), first=first**2, last=last**2,
        room=np.empty((count - 1, 3, 2 * width + 1)), K=reach, x=x, u=u,
    )  # fmt: skip
    if place < 0 and x[1:-1].min() <= 0:
        place = 1 + int(np.argmin(x[1:-1]))
    if place >= 0:
        raise InputError(
            f"{path.place(rows.s[place])}: no speed keeps all limits there and on the way that "
            "follows"
        )
    _require_ends(path, x, reach, first, last)
    if x.max() >= largest / 4:
        raise InputError("nothing limits the motion: give velocities, accelerations or efforts")
    return x, u


def _require_ends(path: JointPath, x: Array, reach: Array, first: float, last: float) -> None:
    """Refuse speeds at the ends that cannot be had."""
    if first**2 > reach[0] * (1 + 1e-9):
        raise InputError(
            f"the path cannot begin at a speed of {first:g}: beyond {math.sqrt(reach[0]):.6g} some "
            "limit is passed there or further on"
        )
    if last**2 > x[-1] * (1 + 1e-9):
        raise InputError(
            f"the path cannot end at a speed of {last:g}: at most {math.sqrt(x[-1]):.6g} can be "
            "reached there"
        )


@dataclass(frozen=True, eq=False)
class SmoothSpeed:
    """The moving average of a motion s(t), `stretch` times as slow.

    fast : what is averaged. window : s, of its own time. Derivatives of averages are differences:
    ds/dt = (s(t + T/2) - s(t - T/2)) / T, and so on; before its start and after its end the fast
    motion goes on at the speed it has there.
    """

    fast: PathSpeed
    window: float
    stretch: float = 1.0
    _sums: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        fast, time = self.fast, self.fast.time
        span, root = np.diff(time), np.sqrt(fast.x)
        parts = fast.rows.s[:-1] * span + root[:-1] * span**2 / 2 + fast.u * span**3 / 6
        object.__setattr__(self, "_sums", np.concatenate([[0.0], np.cumsum(parts)]))

    @property
    def duration(self) -> float:
        """Of the motion, s."""
        return self.stretch * (self.fast.duration + self.window)

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """s and its first and second derivatives by time (M,)."""
        return self.with_jerk(time)[:3]

    def with_jerk(self, time: Array) -> tuple[Array, Array, Array, Array]:
        """The same and the third derivative."""
        own = time / self.stretch
        before, after = self._extended(own - self.window), self._extended(own)
        s, speed, curve, jerk = (
            (late - early) / self.window for early, late in zip(before, after, strict=True)
        )
        k = self.stretch
        return np.clip(s, 0, self.fast.path.length), speed / k, curve / k**2, jerk / k**3

    def _extended(self, time: Array) -> tuple[Array, Array, Array, Array]:
        """The integral of s, and s, ds/dt, d2s/dt2 of the fast motion, at any time."""
        fast, times = self.fast, self.fast.time
        inside = np.clip(time, 0.0, times[-1])
        s, speed, curve = fast.at(inside)
        k = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(fast.u) - 1)
        since = inside - times[k]
        whole = (
            self._sums[k] + fast.rows.s[k] * since + np.sqrt(fast.x[k]) * since**2 / 2
            + fast.u[k] * since**3 / 6
        )  # fmt: skip
        beyond = time - inside
        curve = np.where(beyond == 0, curve, 0.0)
        return whole + s * beyond + speed * beyond**2 / 2, s + speed * beyond, speed, curve


def smoothed(fast: PathSpeed, worst: Callable[[SmoothSpeed, Array], float]) -> SmoothSpeed:
    """The shortest smoothed motion that keeps all limits.

    worst : how much of some limit a motion uses at some times, at most; 1 at the limit. It falls
        with the stretch.
    """
    found: SmoothSpeed | None = None
    for share in np.geomspace(0.002, 0.5, WINDOWS_TRIED):
        window = float(share) * fast.duration
        low, high = 1.0, 1.0
        while not _keeps(tried := SmoothSpeed(fast, window, high), worst) and high < 100:
            low, high = high, 1.3 * high
        while high - low > 1e-3:
            middle = (low + high) / 2
            tried = SmoothSpeed(fast, window, middle)
            low, high = (low, middle) if _keeps(tried, worst) else (middle, high)
        tried = SmoothSpeed(fast, window, high)
        if found is None or tried.duration < found.duration:
            found = tried
    assert found is not None
    return found


def _keeps(speed: SmoothSpeed, worst: Callable[[SmoothSpeed, Array], float]) -> bool:
    return worst(speed, np.linspace(0.0, speed.duration, TIMES_LOOKED_AT)) <= 1.0
