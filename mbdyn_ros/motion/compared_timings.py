"""Durations by other rules of timing: constant speed, and limits lowered until efforts fit.

Trajectory processing in MoveIt knows limits of velocities and accelerations; with torque limits it
lowers accelerations by a tenth, of each joint whose torque passes its limit, until none does.
"""

from __future__ import annotations

import numpy as np

from ..array import Array
from ..errors import InputError
from .path_limits import MotionLimits, PathLimits
from .path_speed import PathSpeed, fastest
from .timed_path import TimedPath

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
