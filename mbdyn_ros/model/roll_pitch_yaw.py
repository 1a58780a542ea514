"""A rotation by its angles roll, pitch and yaw, as descriptions give it, and the way back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from .pose import SNAPPED, Array

Vector = tuple[float, ...]
Angles = tuple[float, float, float]

QUARTER = math.pi / 2
DIGITS = range(1, 15)
"""Digits after the point with which people and programs write angles."""

WRITTEN = 1e-15
"""Angle (rad) within which a number is taken for the one that was written."""

LAST_DIGITS = (0, -1, 1)
"""Changes of the last digit, around the nearest angles; they are tried together."""


def snap(value: float) -> float:
    """Return exactly 0, 1 or -1 for what is within `SNAPPED` of it.

    >>> snap(6.1e-17), snap(-1 + 1e-16), snap(1e-8)
    (0.0, -1.0, 1e-08)
    """
    if abs(value) < SNAPPED:
        return 0.0
    if abs(abs(value) - 1.0) <= SNAPPED:
        return math.copysign(1.0, value)
    return value


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> tuple[Vector, ...]:
    """The rotation Rz(yaw) Ry(pitch) Rx(roll), angles in rad, as three rows.

    >>> rotation_from_rpy(0.0, 0.0, math.pi / 2)
    ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return (
        (snap(cy * cp), snap(cy * sp * sr - sy * cr), snap(cy * sp * cr + sy * sr)),
        (snap(sy * cp), snap(sy * sp * sr + cy * cr), snap(sy * sp * cr - cy * sr)),
        (snap(-sp), snap(cp * sr), snap(cp * cr)),
    )


def roll_pitch_yaw(rotation: Array) -> Angles:
    """The angles (rad) of Rz(yaw) Ry(pitch) Rx(roll).

    Those with few digits, if they give this rotation to the last bit, else the nearest of some.

    Examples
    --------
    >>> roll_pitch_yaw(np.array(rotation_from_rpy(0.1, 1.5708, -0.3)))
    (0.1, 1.5708, -0.3)
    """
    if (rotation == np.eye(3)).all():
        return 0.0, 0.0, 0.0
    wanted = tuple(tuple(row) for row in rotation.tolist())
    near = math.inf
    for angles in _candidates(_angles(rotation)):
        rows = rotation_from_rpy(*angles)
        if rows == wanted:
            return angles
        gap = float(np.abs(np.array(rows) - rotation).max())
        if gap < near:
            near, best = gap, angles
    return best


def _angles(rotation: Array) -> Angles:
    """The angles up to rounding, also where roll and yaw turn about one axis."""
    r = rotation
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    yaw = math.atan2(r[1, 0], r[0, 0])
    across = math.cos(yaw) * r[1] - math.sin(yaw) * r[0]  # the second row of Rz(-yaw) R
    return float(math.atan2(-across[2], across[1])), float(pitch), float(yaw)


def _candidates(angles: Angles) -> Iterator[Angles]:
    roll, pitch, yaw = angles
    other = roll - math.copysign(math.pi, roll), math.pi - pitch, yaw - math.copysign(math.pi, yaw)
    for those in (angles, other):
        roll, pitch, yaw = map(_as_written, those)
        yield roll, pitch, yaw
    for steps in itertools.product(LAST_DIGITS, repeat=3):
        roll, pitch, yaw = (
            math.nextafter(angle, step * math.inf) if step else angle
            for angle, step in zip(angles, steps, strict=True)
        )
        yield roll, pitch, yaw


def _as_written(angle: float) -> float:
    """The angle that was probably written: quarters of a turn, then few digits."""
    quarter = round(angle / QUARTER) * QUARTER
    written = [quarter, *(round(angle, digits) for digits in DIGITS)]
    return next((one + 0.0 for one in written if abs(one - angle) < WRITTEN), angle)
