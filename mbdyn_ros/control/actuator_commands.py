"""Commands of actuators for wanted efforts and speeds: openings of valves, voltages of motors.

A cylinder that goes out at the steady speed w > 0 under the force f passes, by the orifice law at
both edges of its valve, u K sqrt(p_s - p_a) = A w and u K sqrt(p_b - p_t) = B w. With
y = (w / (u K))^2 the pressures are p_s - A^2 y and p_t + B^2 y, and the balance of forces gives

    y = (A p_s - B p_t - f) / (A^3 + B^3),   u = w / (K sqrt(y)),

when retracting likewise with p_s and p_t exchanged. A motor needs V = R i + k w, i = torque / k.
What their states lag behind (spools, oil, currents) is left to the feedback.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import InputError
from ..model.actuators import ElectricDrive, HydraulicCylinder
from ..model.model import Array
from ..robot import Robot

ATMOSPHERIC = 101325.0
"""Pa, on the rod."""

LEAST_DROP_SHARE = 0.01
"""Share of the largest y that one out of reach is taken for."""


class ActuatorCommands:
    """Commands of all actuators of a robot, in their order.

    Raises
    ------
    InputError
        There are no actuators, or one moves a joint that is not independent or not actuated.
    """

    def __init__(self, robot: Robot) -> None:
        self._actuators = robot.model.actuators
        source = robot.model.source
        if not self._actuators:
            raise InputError(f"{source}: there are no actuators; see docs/actuators.md")
        efforts, speeds = list(robot.effort_labels), list(robot.velocity_labels)
        for one in self._actuators:
            if one.joint not in efforts or one.joint not in speeds:
                raise InputError(
                    f"{source}: actuator {one.name!r} moves joint {one.joint!r}, which is not both "
                    "independent and actuated"
                )
        self._places = [(efforts.index(a.joint), speeds.index(a.joint)) for a in self._actuators]

    def at(self, effort: Array, speed: Array) -> Array:
        """Commands (n,) for efforts (efforts,) at speeds of the joints (nv,), within their limits.

        Friction of the actuators is overcome at these speeds.
        """
        return np.array([
            _command(one, float(effort[force]), float(speed[place]))
            for one, (force, place) in zip(self._actuators, self._places, strict=True)
        ])  # fmt: skip


def _command(one: HydraulicCylinder | ElectricDrive, effort: float, speed: float) -> float:
    force = effort + one.friction.force(speed)
    if isinstance(one, ElectricDrive):
        current = force / (one.ratio * one.torque_constant)
        voltage = one.resistance * current + one.torque_constant * one.ratio * speed
        return min(max(voltage, -one.voltage), one.voltage)
    area = math.pi / 4 * one.bore**2
    ring = math.pi / 4 * (one.bore**2 - one.rod**2)
    force += ATMOSPHERIC * (area - ring)
    cubes = area**3 + ring**3
    if speed >= 0:
        most = area * one.supply - ring * one.tank
        y = (most - force) / cubes
    else:
        most = ring * one.supply - area * one.tank
        y = (force + most) / cubes
    y = max(y, LEAST_DROP_SHARE * most / cubes)
    opening = speed / (one.valve.flow / math.sqrt(one.valve.drop) * math.sqrt(y))
    return min(max(opening, -1.0), 1.0)
