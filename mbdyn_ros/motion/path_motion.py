"""Motions through points of a path: positions of joints that follow in loops, and efforts."""

from __future__ import annotations

import numpy as np

from ..arguments import WRENCH_LABELS, Wrenches, checked_mapping, single_vector
from ..array import Array
from ..equations import programs
from ..errors import InputError, MbdynError
from ..program.program import Declaration
from ..robot import Robot
from .joint_path import JointPath

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


class PathMotion:
    """Points s (N,) of a path at positions q (N, nq), loops closed along it."""

    def __init__(
        self, robot: Robot, path: JointPath, s: Array, q: Array, wrenches: Wrenches | None = None
    ) -> None:
        self._robot, self._path, self._s, self._q = robot, path, s, q
        self._wrenches = wrenches
        self._tree = np.zeros((len(q), 0))
        if robot.dependent_joints:
            try:
                self._tree = followed(robot, q)
            except UnclosedError as error:
                raise InputError(f"{path.place(s[error.point])}: {error}") from None
        self._homes = homes_of(robot, self._tree) if robot.system.nz else np.zeros((len(q), 0))

    def joints(self, way: Array, curve: Array) -> tuple[Array, Array, Array]:
        """Positions of all joints, and their derivatives by s, from those of the independent."""
        rows_q, rows_v = self._robot.system.coordinates.joint_rows
        first = self._along(programs.joint_velocity, self._q, way)
        second = self._along(programs.joint_acceleration, self._q, way, curve)
        return self._tree[:, rows_q], first[:, rows_v], second[:, rows_v]

    def efforts(self, states: Array, friction: bool) -> Array:
        """Efforts (k, N, m) of several motions (3, k, N, n) through the points: q, v and a."""
        _, count, points, size = states.shape
        q, v, a = states.reshape(3, count * points, size)
        wrenches = repeated(self._wrenches, len(v))
        if wrenches is None:
            found = self._along(programs.inverse_dynamics, q, v, a, friction=friction)
        else:
            found = self._finite(self._robot.inverse_dynamics(q, v, a, wrenches, friction))
        return found.reshape(count, points, -1)

    def _along(self, program: Declaration, *values: Array, friction: bool = True) -> Array:
        """A program at the points, once or several times over."""
        times, homes = len(values[0]) // len(self._q), self._homes
        if homes.size:
            homes = np.concatenate([homes] * times)
        return self._finite(self._robot.calls.along(program, values, homes, friction))

    def _finite(self, found: Array) -> Array:
        """Numbers (M, n) as they are; where one is not finite, why."""
        if np.isfinite(found).all():
            return found
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        k, rest = int(bad[0]) % len(self._q), np.zeros(self._robot.nv)
        where = self._path.place(self._s[k])
        try:
            self._robot.inverse_dynamics(self._q[k], rest, rest)
        except MbdynError as error:
            raise InputError(f"{where}: {error}") from None
        raise InputError(
            f"{where}: the robot has no finite accelerations or efforts there: it passes a dead "
            "point or a singularity; lead the path around it"
        )


def repeated(wrenches: Wrenches | None, count: int) -> Wrenches | None:
    """Wrenches on links (6,) for a number of states."""
    if wrenches is None:
        return None
    return {
        link: np.tile(single_vector(f"the wrench on {link}", one, WRENCH_LABELS), (count, 1))
        for link, one in checked_mapping("wrenches", wrenches).items()
    }
