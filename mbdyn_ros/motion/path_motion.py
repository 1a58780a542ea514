"""Motions through points of a path: joints that follow in loops, and efforts."""

from __future__ import annotations

import numpy as np

from ..arguments import WRENCH_LABELS, Wrenches, checked_mapping, single_vector
from ..array import Array
from ..equations import programs
from ..errors import InputError, MbdynError
from ..program.declaration import Declaration
from ..robot import Robot
from .followed import UnclosedError, followed, homes_of
from .joint_path import JointPath


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
        self._homes = homes_of(robot, self._tree) if robot.system.nz else self._tree

    def joints(self, way: Array, curve: Array) -> tuple[Array, Array, Array]:
        """Positions of all joints, and their derivatives by s, from those of the independent."""
        rows_q, rows_v = self._robot.system.coordinates.joint_rows
        first = self._along(programs.joint_velocity, way)
        second = self._along(programs.joint_acceleration, way, curve)
        return self._tree[:, rows_q], first[:, rows_v], second[:, rows_v]

    def efforts(self, rates: Array, curves: Array, friction: bool) -> Array:
        """Efforts (k, N, m) of several motions (k, N, nv) through the points."""
        count = len(rates)
        v, a = (one.reshape(-1, one.shape[-1]) for one in (rates, curves))
        wrenches = repeated(self._wrenches, len(v))
        if wrenches is None:
            found = self._along(programs.inverse_dynamics, v, a, friction=friction)
        else:
            q = np.concatenate([self._q] * count)
            found = self._finite(self._robot.inverse_dynamics(q, v, a, wrenches, friction))
        return np.asarray(found.reshape(count, len(self._q), -1))

    def _along(self, program: Declaration, *values: Array, friction: bool = True) -> Array:
        """A program at the points, once or several times over."""
        times = len(values[0]) // len(self._q)
        q, homes = (np.concatenate([one] * times) for one in (self._q, self._homes))
        return self._finite(self._robot.calls.along(program, (q, *values), homes, friction))

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
    """Wrenches on links (6,) for so many states."""
    if wrenches is None:
        return None
    return {
        link: np.tile(single_vector(f"the wrench on {link}", one, WRENCH_LABELS), (count, 1))
        for link, one in checked_mapping("wrenches", wrenches).items()
    }
