"""Prescribed motions of a crank: constant speed, trapezoid, cycloid, or from a table."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array import Array, NoNumbers, as_number
from ..errors import InputError
from ..recording.read import read_table
from ..recording.table import Table
from .cam_law import RISES

MOTION_POINTS = 361
"""Instants of a motion: every degree of a turn and its end."""

MOST = {
    "start": (1e6, "rad"),
    "turn": (1e6, "rad"),
    "speed": (1e9, "rad/s"),
    "mean speed": (1e9, "rad/s"),
    "acceleration": (1e18, "rad/s^2"),
}
"""Largest numbers of a motion: of larger angles too few digits are left within a turn, and the
torques of larger speeds have no finite squares."""


@dataclass(frozen=True, eq=False)
class CrankMotion:
    """The motion of the inputs: time (N,) s; q, v, a (N, n) rad, rad/s, rad/s^2."""

    time: Array
    q: Array
    v: Array
    a: Array

    def __repr__(self) -> str:
        span = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"CrankMotion({len(self)} points{span})"

    def __len__(self) -> int:
        return len(self.time)

    def shared(self, inputs: int) -> CrankMotion:
        """This motion for several inputs alike."""
        return CrankMotion(
            self.time, *(np.repeat(one, inputs, axis=1) for one in (self.q, self.v, self.a))
        )


def constant_speed(
    speed: float, start: float = 0.0, turn: float = 2 * math.pi, points: int = MOTION_POINTS
) -> CrankMotion:
    """Speed (rad/s, of either sign) over an angle `turn` (rad) from `start`.

    Examples
    --------
    >>> motion = constant_speed(-10.0)
    >>> motion.q[-1].round(6)
    array([-6.283185])
    """
    speed = of_a_crank("speed", speed)
    if speed == 0:
        raise InputError("speed is 0 rad/s; give the crank a speed")
    travel = np.linspace(0.0, abs(_turn(turn)), _count(points))
    angle = of_a_crank("start", start) + math.copysign(1.0, speed) * travel
    return _columns(travel / abs(speed), angle, np.full_like(travel, speed), np.zeros_like(travel))


def trapezoid(
    speed: float,
    acceleration: float,
    start: float = 0.0,
    turn: float = 2 * math.pi,
    points: int = MOTION_POINTS,
) -> CrankMotion:
    """From rest to rest: up to `speed` at `acceleration`, along, and down.

    A turn too short for the speed is a triangle.
    """
    top, rate = abs(of_a_crank("speed", speed)), of_a_crank("acceleration", acceleration)
    if top == 0 or rate <= 0:
        raise InputError(f"speed {speed:g} and acceleration {rate:g} must not be zero or negative")
    travel, sense = abs(_turn(turn)), math.copysign(1.0, speed)
    top = min(top, math.sqrt(travel * rate))
    rise = top / rate
    end = travel / top + rise
    time = np.linspace(0.0, end, _count(points))
    early, late = np.minimum(time, rise), np.maximum(time - (end - rise), 0.0)
    angle = rate * early**2 / 2 + top * np.maximum(time - rise, 0.0) - rate * late**2 / 2
    velocity = rate * (early - late)
    change = np.where(time < rise, rate, 0.0) - np.where(time > end - rise, rate, 0.0)
    angle = of_a_crank("start", start) + sense * angle
    return _columns(time, angle, sense * velocity, sense * change)


def cycloid(
    duration: float, start: float = 0.0, turn: float = 2 * math.pi, points: int = MOTION_POINTS
) -> CrankMotion:
    """From rest to rest in `duration` (s), accelerations without a jump (cycloidal motion)."""
    length = of_a_crank("duration", duration)
    if length <= 0:
        raise InputError(f"duration is {length:g} s; give a time above zero")
    share, travel = np.linspace(0.0, 1.0, _count(points)), _turn(turn)
    risen, rate, change, _ = RISES["cycloidal"](share)
    speed, angle = of_a_crank("mean speed", travel / length), of_a_crank("start", start)
    return _columns(share * length, angle + travel * risen, speed * rate, speed / length * change)


LAWS: dict[str, tuple[Callable[..., CrankMotion], tuple[str, ...]]] = {
    "constant": (constant_speed, ("speed",)),
    "trapezoid": (trapezoid, ("speed", "acceleration")),
    "cycloid": (cycloid, ("duration",)),
}
"""Laws of motion by name, and the numbers that they take before start, turn and points."""


def from_table(path: str | os.PathLike[str], inputs: Sequence[str]) -> CrankMotion:
    """The motion in a CSV or JSON file: columns time, position/crank, and more of the inputs.

    Columns velocity/crank and acceleration/crank are taken where they are there, else found by
    cubic splines through the positions.

    Raises
    ------
    InputError
        It cannot be read, or a column is missing; the words name it.
    """
    table, time = table_of_inputs(path, "position", inputs)
    q = np.stack([table["position"][name] for name in inputs], axis=1)
    rates = [q]
    for given in (table.get(quantity, {}) for quantity in ("velocity", "acceleration")):
        slopes = zip(inputs, _slope(time, rates[-1]).T, strict=True)
        rates.append(np.stack([given.get(name, slope) for name, slope in slopes], axis=1))
    return CrankMotion(time, *rates)


def joint_table(
    time: Array, names: Sequence[str], state: tuple[Array, Array | None, Array | None]
) -> Table:
    """Positions, velocities and accelerations (N, joints) of all joints, as a table over time.

    state : as `Mechanism.joint_state` gives it; what it leaves out is left out.
    """
    table: Table = {"time": {"": time}}
    for quantity, values in zip(("position", "velocity", "acceleration"), state, strict=True):
        if values is not None:
            table[quantity] = dict(zip(names, values.T, strict=True))
    return table


def table_of_inputs(
    path: str | os.PathLike[str], quantity: str, inputs: Sequence[str]
) -> tuple[Table, Array]:
    """A table and its column time (N,), refused where time does not rise or an input is missing."""
    table = read_table(path)
    if "" not in table.get("time", {}):
        raise InputError(f"{path}: no column time")
    time = table["time"][""]
    if len(time) < 2 or not np.isfinite(time).all() or (np.diff(time) <= 0).any():
        raise InputError(f"{path}: time must be finite and rise from row to row, two rows or more")
    for name in inputs:
        if name not in table.get(quantity, {}):
            raise InputError(
                f"{path}: no column {quantity}/{name}; there are "
                f"{', '.join(f'{q}/{label}' for q, one in table.items() for label in one if label)}"
            )
    return table, time


def _slope(time: Array, values: Array) -> Array:
    """Derivative of the cubic spline through values."""
    from scipy.interpolate import CubicSpline  # its import takes longer than ours

    slope: Array = CubicSpline(time, values)(time, 1)
    return slope


def _columns(time: Array, q: Array, v: Array, a: Array) -> CrankMotion:
    return CrankMotion(time, q[:, None], v[:, None], a[:, None])


def of_a_crank(name: str, value: Any) -> float:
    """A number of a motion by its name, refused where it is not finite or exceeds `MOST`."""
    try:
        number = as_number(value)
    except NoNumbers:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} is {value!r}; give a finite number")
    most, unit = MOST.get(name, (math.inf, ""))
    if abs(number) > most:
        raise InputError(f"{name} is {number:g} {unit}; give {most:g} {unit} at most")
    return number


def _turn(value: Any) -> float:
    turn = of_a_crank("turn", value)
    if turn == 0:
        raise InputError("turn is 0 rad; give an angle to turn")
    return turn


def _count(points: int) -> int:
    if not 2 <= points <= 10**7:
        raise InputError(f"{points} points; give 2 to 10 million")
    return points
