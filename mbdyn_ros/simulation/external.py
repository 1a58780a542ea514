"""Forces from outside on links, as what the actuated joints would feel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..arguments import Wrenches
from ..equations.position_rate import PositionRate
from ..errors import InputError
from ..model.model import Array
from ..robot import Robot
from .effort import EffortFunction
from .trajectory import Trajectory

External = Wrenches | Callable[[float], Wrenches]
"""Wrenches on links: constant, or of the time (s)."""


class ExternalWrenches:
    """Wrenches on links, turned into the efforts that move the robot in the same way.

    Parameters
    ----------
    wrenches : link name -> [force, torque] (6,) at the link's origin in its axes (N, N m), or a
        function of the time (s) that returns them.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> pushed = ExternalWrenches(mbdyn_ros.load(CART), {"cart": [3.0, 0, 0, 0, 0, 0]})
    >>> pushed.efforts(0.0, np.zeros(1))
    array([3.])
    """

    def __init__(self, robot: Robot, wrenches: External) -> None:
        self._robot = robot
        self._at: Callable[[float], Wrenches]
        self._at = wrenches if callable(wrenches) else lambda time: wrenches
        self._still = np.zeros(robot.nv)
        self._position_rate = PositionRate(robot.system.coordinates)
        home = robot.system.home[list(robot.system.coordinates.q)]
        self._difference(home, {robot.model.links[-1].name: np.zeros(6)})  # compiles now
        self.efforts(0.0, home)  # refuses now

    def efforts(self, t: float, q: Array) -> Array:
        """The efforts (n,) of the actuated joints that do what the wrenches do."""
        wrenches = self._at(t)
        if isinstance(wrenches, Mapping) and not wrenches:
            return np.zeros(len(self._robot.effort_labels))
        return self._difference(q, wrenches)

    def _difference(self, q: Array, wrenches: Wrenches) -> Array:
        still, q = self._still, q.copy()
        self._position_rate.normalize(q)  # stages of a step leave the unit sphere
        without = self._robot.inverse_dynamics(q, still, still, friction=False)
        with_them = self._robot.inverse_dynamics(q, still, still, wrenches, friction=False)
        if with_them.ndim != 1:
            raise InputError("wrenches has many rows; a simulation takes one (6,) for a link")
        result: Array = without - with_them
        return result

    def added_to(self, motors: EffortFunction) -> EffortFunction:
        """The efforts of motors and wrenches together."""

        def both(t: float, q: Array, v: Array) -> Array:
            total: Array = motors(t, q, v) + self.efforts(t, q)
            return total

        return both

    def without(self, trajectory: Trajectory) -> Trajectory:
        """A trajectory with the efforts of its motors alone."""
        times: Sequence[float] = trajectory.time.tolist()
        outside = [self.efforts(t, q) for t, q in zip(times, trajectory.q, strict=True)]
        return replace(trajectory, effort=trajectory.effort - np.array(outside))
