"""Actuators of joints, as descriptions give them: hydraulic cylinders, electric drives, gears."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .pose import Array, constant


@dataclass(frozen=True)
class Slide:
    """Friction of seals and screws: static at rest, falling to dry with the speed, and viscous.

    (dry + (static - dry) exp(-(v / stribeck)^2)) tanh(v / slip) + viscous v, N and m/s (N m and
    rad/s at joints that turn). At rest it creeps: `slip` is the speed where it is nearly whole.
    """

    dry: float = 0.0
    static: float = 0.0
    stribeck: float = 0.01
    slip: float = 0.001
    viscous: float = 0.0

    def force(self, speed: float) -> float:
        """Resistance at a speed, N or N m."""
        peak = (self.static - self.dry) * math.exp(-((speed / self.stribeck) ** 2))
        return (self.dry + peak) * math.tanh(speed / self.slip) + self.viscous * speed


@dataclass(frozen=True)
class Valve:
    """A four-way servo valve: `flow` (m^3/s) at a pressure drop (Pa) over each edge, wide open.

    bandwidth : Hz, of the spool's first-order lag; 0: it follows at once.
    """

    flow: float
    drop: float = 3.5e6
    bandwidth: float = 0.0


@dataclass(frozen=True)
class HydraulicCylinder:
    """A double-acting cylinder, closed-centre valve, supply and tank; pressures are absolute.

    name, joint : its name, and the joint whose position grows as the rod goes out.
    bore, rod, stroke : m; `rod` is 0 where it has none on that side.
    extension : way (m) of the piston from its bottom where the joint is at 0.
    dead_volume : m^3 at either end, hoses included.
    supply, tank, relief : Pa; either chamber opens to the tank above `relief`.
    bulk_modulus : Pa, of the oil; air : share of its volume that is air, at 1 bar.
    leakage : m^3/(s Pa) from one chamber to the other.
    """

    name: str
    joint: str
    bore: float
    rod: float
    stroke: float
    valve: Valve
    extension: float = 0.0
    dead_volume: float = 1e-4
    supply: float = 2e7
    tank: float = 2e5
    relief: float = 2.5e7
    bulk_modulus: float = 1.4e9
    air: float = 0.005
    leakage: float = 0.0
    friction: Slide = field(default_factory=Slide)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ElectricDrive:
    """A motor with a screw on a joint that slides, or with a gear on one that turns.

    torque_constant : N m/A, and V s/rad of the back EMF. resistance, inductance : ohm, H.
    lead : m a turn. reduction : turns of the motor by those of the joint. Either of them.
    rotor_inertia : kg m^2, of the motor and its screw. voltage : V, the largest.
    """

    name: str
    joint: str
    torque_constant: float
    resistance: float
    voltage: float
    lead: float = 0.0
    reduction: float = 0.0
    inductance: float = 0.0
    rotor_inertia: float = 0.0
    friction: Slide = field(default_factory=Slide)
    line: int | None = field(default=None, compare=False)

    @property
    def ratio(self) -> float:
        """Turns of the motor by those of the joint, rad/rad, or by its way, rad/m."""
        return 2 * math.pi / self.lead if self.lead else self.reduction

    @property
    def armature(self) -> float:
        """Inertia of the rotor as the joint feels it, kg m^2 or kg."""
        return self.rotor_inertia * self.ratio**2


Actuator = HydraulicCylinder | ElectricDrive

TYPES: dict[str, type[Any]] = {"hydraulic": HydraulicCylinder, "electric": ElectricDrive}
"""Actuators by the word for them in files."""


@dataclass(frozen=True, eq=False)
class Transmission:
    """Motors that drive joints: velocities of motors = `rates` @ velocities of joints.

    By the work that both do, efforts of joints = `rates`^T @ efforts of motors. `rates` is
    (motors, joints), regular; of one motor and one joint it is the reduction.
    """

    name: str
    motors: tuple[str, ...]
    joints: tuple[str, ...]
    rates: Array
    line: int | None = None

    def __post_init__(self) -> None:
        shape = (len(self.motors), len(self.joints))
        object.__setattr__(self, "rates", constant(self.rates, shape))

    def reflected(self, rotors: Array) -> Array:
        """Share of rotors (motors,) kg m^2 in the mass matrix (joints, joints)."""
        result: Array = self.rates.T @ (np.asarray(rotors)[:, None] * self.rates)
        return result


def simple(reduction: float) -> Array:
    """Rates of one motor that turns `reduction` times as fast as its joint."""
    return np.array([[reduction]])


def differential(motors: Array, joints: Array) -> Array:
    """Rates of a differential, by the reductions (2,) at its motors and at its joints.

    joint 1 = (motor 1 / n1 + motor 2 / n2) / (2 m1), joint 2 = (motor 1 / n1 - motor 2 / n2) /
    (2 m2), as ros2_control has it.
    """
    (n1, n2), (m1, m2) = motors, joints
    return np.array([[n1 * m1, n1 * m2], [n2 * m1, -n2 * m2]])


def four_bar(motors: Array, joints: Array) -> Array:
    """Rates of a four-bar linkage, by the reductions (2,) at its motors and at its joints.

    joint 1 = motor 1 / (n1 m1), joint 2 = (motor 2 / n2 - motor 1 / (n1 m1)) / m2, as
    ros2_control has its positions.
    """
    (n1, n2), (m1, m2) = motors, joints
    return np.array([[n1 * m1, 0.0], [n2, n2 * m2]])
