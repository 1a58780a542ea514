"""Power and forces of the actuated joints' efforts in the independent coordinates."""

from __future__ import annotations

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ..charts import VelocityMap


class Drive:
    """Power and generalized forces of efforts: Q = G_act^T effort, P = Q v.

    direct : whether the efforts act on the independent coordinates, in their order.
    """

    def __init__(self, robot: Robot) -> None:
        coordinates = robot.system.coordinates
        self.direct = coordinates.effort == coordinates.v
        self._rows = list(coordinates.effort)
        self._map = None if self.direct else VelocityMap(robot)

    def power(self, q: Array, v: Array, effort: Array) -> float:
        """Power of the efforts, W."""
        if self._map is None:
            return float(effort @ v)
        return float(effort @ self._map.velocity(q, v)[self._rows])

    def generalized(self, q: Array, effort: Array) -> Array:
        """Forces (nv,) on the independent coordinates that do the work of the efforts."""
        if self._map is None:
            return effort
        columns = self._map.at(q)[self._rows].T
        return np.array([effort @ np.ascontiguousarray(column) for column in columns])
