"""The matrix G(q) of v_tree = G v: how fast all joints move by the independent ones."""

from __future__ import annotations

import numpy as np

from ..array import Array
from ..robot import Robot


class VelocityMap:
    """G of one robot, by its program of joint velocities."""

    def __init__(self, robot: Robot) -> None:
        self._velocity = robot.bind("joint_velocity")

    def velocity(self, q: Array, v: Array) -> Array:
        """Velocities of the whole tree; the next call overwrites them."""
        self._velocity.q[:], self._velocity.v[:] = q, v
        self._velocity()
        return self._velocity.result

    def at(self, q: Array) -> Array:
        """G (tree nv, nv): a column for every unit velocity."""
        units = np.eye(len(self._velocity.v))
        result = np.empty((len(self._velocity.result), len(units)))
        for k, unit in enumerate(units):
            result[:, k] = self.velocity(q, unit)
        return result
