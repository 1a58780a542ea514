"""Positions of all joints along points of a motion, loops closed from each point to the next."""

from __future__ import annotations

import numpy as np

from ..array import Array
from ..equations import programs
from ..errors import InputError
from ..robot import Robot

LONGEST_FOLLOWED = 0.2
"""Way (rad or m) in one step along which loops without closed form are followed."""


class UnclosedError(InputError):
    """Loops cannot be closed at a point of a motion (`point`, from 0 on)."""

    def __init__(self, point: int, reason: str) -> None:
        super().__init__(reason)
        self.point = point


def followed(robot: Robot, q: Array) -> Array:
    """Tree positions (N, nq_tree) at points (N, nq); loops with closed form all at once.

    Raises
    ------
    UnclosedError
        The first point at which loops cannot be closed.
    """
    if robot.system.nz:
        return _in_strides(robot, q)
    tree = robot.calls.call(programs.joint_position, (q,))
    bad = np.flatnonzero(~np.isfinite(tree).all(axis=1))
    if len(bad):
        _refuse(robot, q, int(bad[0]))
    return tree


def homes_of(robot: Robot, tree: Array) -> Array:
    """Homes (N, n) from which `Calls.along` reaches points at tree positions (N, nq_tree)."""
    system = robot.system
    return tree[:, [*system.numerical_independent_rows, *system.numerical_dependent_rows]]


def _in_strides(robot: Robot, q: Array) -> Array:
    """From point to point, beginning at home."""
    bound = robot.bind("joint_position")
    bound.q[:] = present = robot.home_position
    bound()
    tree = np.empty((len(q), len(bound.result)))
    for k, goal in enumerate(q):
        start, displacement = present, goal - present
        count = max(1, int(np.ceil(np.abs(displacement).max(initial=0.0) / LONGEST_FOLLOWED)))
        for part in range(1, count + 1):
            bound.q[:] = start + part / count * displacement
            bound()
        if not np.isfinite(bound.result).all():
            _refuse(robot, q, k)
        tree[k], present = bound.result, goal
    return tree


def _refuse(robot: Robot, q: Array, point: int) -> None:
    try:
        robot.joint_state(q[point])
    except InputError as error:
        raise UnclosedError(point, str(error)) from None
    raise UnclosedError(
        point,
        "the loops cannot be closed on the path from the previous point: a singularity lies "
        "between",
    )
