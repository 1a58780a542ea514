"""The state of a whole tree next to one that moves in steps: loops closed, home taken along."""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...errors import SimulationError
from ...robot import Robot


class TreeState:
    """Positions and velocities of all joints of a robot in motion."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._position, self._velocity = robot.bind("joint_position"), robot.bind("joint_velocity")

    def at(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions and velocities of the whole tree; the next call overwrites them."""
        self._velocity.q[:], self._velocity.v[:] = q, v
        self._velocity()
        return self._position_at(q), self._velocity.result

    def take_home_along(self, q: Array) -> None:
        """Let other calls of the robot, which is the motion's own, find its loops closed so."""
        system = self._robot.system
        home = self._position_at(q)[
            [*system.numerical_independent_rows, *system.numerical_dependent_rows]
        ]
        if np.isfinite(home).all():
            self._robot.calls.home[:] = home

    def _position_at(self, q: Array) -> Array:
        self._position.q[:] = q
        self._position()
        return self._position.result


def diverged(robot: Robot, q: Array, v: Array, time: float, step: float) -> SimulationError:
    """The error of a state that is no longer finite, by joint."""
    labels = (*robot.position_labels, *robot.velocity_labels)
    worst = int(np.argmax(np.nan_to_num(np.abs([*q, *v]), nan=np.inf)))
    return SimulationError(
        f"{robot.model.source}: the motion of {labels[worst]} left the finite numbers "
        f"at t = {time:.6g} s: an effort too large, or steps of {step:g} s too long"
    )
