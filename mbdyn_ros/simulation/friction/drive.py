"""What the efforts of the actuated joints do to the independent coordinates."""

from __future__ import annotations

import numpy as np

from ...model.model import Array
from ...robot import Robot


class Drive:
    """Power and generalized forces of efforts: Q = G_act^T effort, P = Q v.

    direct : whether the efforts act on the independent coordinates, in their order.
    """

    def __init__(self, robot: Robot) -> None:
        coordinates = robot.system.coordinates
        self.direct = coordinates.effort == coordinates.v
        self._rows = list(coordinates.effort)
        self._velocity = None if self.direct else robot.bind("joint_velocity")

    def power(self, q: Array, v: Array, effort: Array) -> float:
        """Power of the efforts, W."""
        velocity = self._velocity
        if velocity is None:
            return float(effort @ v)
        velocity.q[:] = q
        velocity.v[:] = v
        velocity()
        return float(effort @ velocity.result[self._rows])

    def generalized(self, q: Array, effort: Array) -> Array:
        """Forces (nv,) on the independent coordinates that do the work of the efforts."""
        velocity = self._velocity
        if velocity is None:
            return effort
        velocity.q[:] = q
        result = np.zeros(len(velocity.v))
        for k in range(len(result)):
            velocity.v[:] = 0.0
            velocity.v[k] = 1.0
            velocity()
            result[k] = effort @ velocity.result[self._rows]
        return result
