"""Gears between motors and joints, linear: rates of motors by rates of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pose import Array, constant


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
