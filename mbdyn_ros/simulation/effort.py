"""Efforts that drive the joints, what they do, and forces from outside on links."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..arguments import Wrenches, coordinate_array, require_finite, whole_efforts
from ..array import Array, NoNumbers, as_numbers, shared_places
from ..errors import InputError, SimulationError
from ..prepare.coordinates import PositionRate
from ..robot import Robot
from .charts import VelocityMap
from .trajectory import Trajectory

EffortFunction = Callable[[float, Array, Array], Array]
"""Efforts of the actuated joints, N m or N, at the time (s) and the state q (nq,), v (nv,).

With a floating base those of the joints alone will do: its own are zeros then.
"""


def effort_function(robot: Robot, effort: Array | EffortFunction | None) -> EffortFunction:
    """The efforts as a function that is safe to call at any stage of a step.

    Raises
    ------
    InputError
        A constant of the wrong shape, or not finite.
    """
    labels = robot.effort_labels
    if callable(effort):
        return _Checked(effort, labels)
    if effort is None:
        constant = np.zeros(len(labels))
    else:
        constant = coordinate_array("effort", whole_efforts(effort, labels), labels).copy()
        if constant.ndim != 1:
            raise InputError(
                f"effort has shape {constant.shape}; efforts that change in time are given as a "
                "function effort(t, q, v)"
            )
        require_finite("effort", constant, labels)
    constant.setflags(write=False)
    return Constant(constant)


class Constant:
    """An effort (n,) that never changes."""

    def __init__(self, effort: Array) -> None:
        self.effort = effort

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The effort."""
        return self.effort


class _Checked:
    """A user's function, with what it returns checked on every call."""

    def __init__(self, function: EffortFunction, labels: tuple[str, ...]) -> None:
        self._function = function
        self._labels = labels

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Copies go in, so that the function may keep or change them."""
        if not math.isfinite(q.sum() + v.sum()):  # a trial beyond what can be reached
            return np.full(len(self._labels), np.nan)
        try:
            effort = self._function(float(t), q.copy(), v.copy())
        except Exception as error:
            raise SimulationError(
                f"the effort function failed: {type(error).__name__}: {error}"
            ) from error
        try:
            array = as_numbers(effort)
            if array.shape != (len(self._labels),):
                array = as_numbers(whole_efforts(array, self._labels))
        except NoNumbers:
            array = np.empty(())
        if array.shape != (len(self._labels),):
            raise SimulationError(
                f"the effort function returned {effort!r}; expected {len(self._labels)} numbers "
                f"in the order {', '.join(self._labels) or '(none)'}"
            )
        if not math.isfinite(array.sum()):
            for label, number in zip(self._labels, array.tolist(), strict=True):
                if not math.isfinite(number):
                    raise SimulationError(
                        f"the effort function returned {number} for {label}; every number must "
                        "be finite"
                    )
        return array


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


def effort_work(robot: Robot) -> Callable[[Array, Array], float]:
    """The work (J) of constant efforts over a displacement (n,) of all joints (rad or m)."""
    efforts, joints = shared_places(robot.effort_labels, robot.system.coordinates.joint_labels)

    def work(effort: Array, displacement: Array) -> float:
        return float(effort[efforts] @ displacement[joints])

    return work
