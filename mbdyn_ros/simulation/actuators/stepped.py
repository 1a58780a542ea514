"""Actuators beside a motion in equal steps: their states over each step, and their forces in it.

The states go over a step at the joints' speeds as they are at its start, by a linearly implicit
method of order 2 (Rosenbrock, L-stable), and the forces that follow act in the whole step. So
pressures and speeds take turns, as positions and velocities do in the semi-implicit method: a
column of oil swings without gaining energy while the step is below a third of its period.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ...model.model import Array
from ...robot import Robot
from .actuation import Equations, equations

GAMMA = 1.0 - math.sqrt(0.5)
"""Of the method, for which it is L-stable."""

NUDGE = 1e-7
"""Difference of a scaled state from which slopes are taken."""


class SteppedActuation:
    """The actuators of a robot that moves in steps.

    Attributes
    ----------
    labels : of the states. largest : (n,) of the commands, by the efforts of the robot; infinite
        where a joint has no actuator.
    """

    def __init__(self, robot: Robot) -> None:
        self._parts = equations(robot)
        efforts, joints = robot.effort_labels, robot.system.coordinates.joint_labels
        self._places = [efforts.index(part.joint) for part in self._parts]
        self._joints = [joints.index(part.joint) for part in self._parts]
        self.labels = tuple(label for part in self._parts for label in part.labels)
        self._states: list[list[float]] = [part.start(0.0) for part in self._parts]
        self.largest = np.full(len(efforts), np.inf)
        for part, place in zip(self._parts, self._places, strict=True):
            self.largest[place] = part.largest

    @property
    def values(self) -> list[float]:
        """The states in SI units: pressures (Pa), openings, currents (A)."""
        return [
            one * unit
            for part, own in zip(self._parts, self._states, strict=True)
            for one, unit in zip(own, part.scale, strict=True)
        ]

    def rest(self, robot: Robot, q: Array) -> None:
        """Take states that hold the robot at rest, as far as they can."""
        needed = np.zeros(len(robot.effort_labels))
        if len(needed) >= robot.nv:
            still = np.zeros(robot.nv)
            needed = robot.inverse_dynamics(q, still, still)
        held = zip(self._parts, self._places, strict=True)
        self._states = [part.start(float(needed[place])) for part, place in held]

    def drive(self, efforts: Array, positions: Array, speeds: Array, span: float) -> None:
        """Go on by a step (s), and put forces in the place of the commands among `efforts`.

        Parameters
        ----------
        efforts : (n,) commands of joints with actuators, efforts of all others; changed.
        positions, speeds : (m,) of all joints.
        """
        for k, (part, place, joint) in enumerate(
            zip(self._parts, self._places, self._joints, strict=True)
        ):
            command = min(max(float(efforts[place]), -part.largest), part.largest)
            x, v = float(positions[joint]), float(speeds[joint])

            if part.size:
                rates = partial(_rates, part, x, v, command)
                self._states[k] = _over(rates, np.array(self._states[k]), span).tolist()
            efforts[place] = part.force(self._states[k], v, command)


def _rates(part: Equations, x: float, v: float, command: float, states: Array) -> Array:
    return np.array(part.rates(states.tolist(), x, v, command))


def _over(rates: Callable[[Array], Array], y: Array, span: float) -> Array:
    """States after a step."""
    f = rates(y)
    slopes = np.empty((len(y), len(y)))
    for k in range(len(y)):
        moved = y.copy()
        moved[k] += NUDGE
        slopes[:, k] = (rates(moved) - f) / NUDGE
    matrix = np.eye(len(y)) - GAMMA * span * slopes
    first = np.linalg.solve(matrix, f)
    second = np.linalg.solve(matrix, rates(y + span * first) - 2 * first)
    result: Array = y + span * (1.5 * first + 0.5 * second)
    return result
