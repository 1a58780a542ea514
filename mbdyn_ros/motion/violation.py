"""The first limit of the description that a motion passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_mapping, checked_names, coordinate_array
from ..array import Array
from ..errors import InputError, shown
from ..robot import Robot, checked_robot
from ..units import effort_unit, position_unit, velocity_unit

LEEWAY_OF_LIMITS = 1e-6
"""How far beyond a limit is rounding, relative to 1 or to the limit."""

UNITS = {"position": position_unit, "velocity": velocity_unit, "effort": effort_unit}
"""Units of quantities with limits, by the model and the label."""


@dataclass(frozen=True)
class Violation:
    """A number beyond its limit: at a point of a motion (from 0 on), of a joint.

    quantity : "position", "velocity" or "effort". limit : the one that is passed, by its sign.
    unit : of both numbers.
    """

    point: int
    joint: str
    quantity: str
    number: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return (
            f"point {self.point}: {self.quantity} of {self.joint} is {self.number:.6g} "
            f"{self.unit}, beyond its limit {self.limit:.6g} {self.unit}"
        )


def first_violation(
    robot: Robot, given: Mapping[str, tuple[Sequence[str], Array | None]]
) -> Violation | None:
    """The first point at which a number is beyond its limit; None if there is none.

    A velocity limit of 0 is none: descriptions give it where it is unknown. Joints of several
    coordinates, and efforts of joints that no motor drives, have no limits.

    Parameters
    ----------
    given : by quantity ("position", "velocity", "effort") the labels (n,) and numbers (N, n).
    """
    found: Violation | None = None
    checked_robot(robot)
    for quantity, pair in checked_mapping("given", given).items():
        if quantity not in UNITS or not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(
                f"{', '.join(UNITS)} have labels and numbers each; {quantity!r} has "
                f"{shown(pair)}"
            )
        labels = checked_names(f"labels of {quantity}", pair[0])
        if pair[1] is None:
            continue
        numbers = np.atleast_2d(coordinate_array(quantity, pair[1], labels))
        low, high = described_limits(robot, quantity, labels)
        leeway = [
            np.where(np.isfinite(one), LEEWAY_OF_LIMITS * np.maximum(1.0, np.abs(one)), 0.0)
            for one in (low, high)
        ]
        beyond = np.argwhere((numbers < low - leeway[0]) | (numbers > high + leeway[1]))
        if len(beyond) and (found is None or beyond[0, 0] < found.point):
            point, k = beyond[0].tolist()
            number = float(numbers[point, k])
            limit = float(low[k] if number < low[k] else high[k])
            unit = UNITS[quantity](robot.model, labels[k])
            found = Violation(point, labels[k], quantity, number, limit, unit)
    return found


def described_limits(robot: Robot, quantity: str, labels: Sequence[str]) -> tuple[Array, Array]:
    """Lower and upper limits (n,) of a quantity of joints; infinite where there are none."""
    low, high = np.full(len(labels), -math.inf), np.full(len(labels), math.inf)
    for k, label in enumerate(labels):
        if label not in robot.joint_names:
            continue  # of a joint of several coordinates
        joint = robot.model.joint(label)
        limits = joint.limits
        if quantity == "position":
            if not joint.kind.is_endless:
                low[k], high[k] = limits.lower, limits.upper
        elif quantity == "velocity":
            high[k] = limits.velocity or math.inf
            low[k] = -high[k]
        else:
            high[k] = limits.effort
            low[k] = -high[k]
    return low, high
