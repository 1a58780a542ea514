"""Poses of frames, as numbers, and rotations by the angles roll, pitch and yaw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..array import Array as Array

TINY = 1e-3
"""Length (m) under which the longest of a robot's lengths says what is rounding noise."""

SNAPPED = 1e-15
"""Constants this close to 0 or +-1 are rounding noise; of numbers as written nothing larger is."""

COMPOSED = 1e-14
"""Entries of rotations, and lengths (m), that composing placements leaves instead of 0 or 1."""


def constant(values: object, shape: tuple[int, ...]) -> Array:
    """Return `values` as a read-only float64 array of the given shape."""
    array = np.array(values, dtype=np.float64).reshape(shape)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Pose:
    """Placement of a frame F in a frame P: x_P = rotation @ x_F + translation (m)."""

    rotation: Array = field(default_factory=lambda: constant(np.eye(3), (3, 3)))
    translation: Array = field(default_factory=lambda: constant(np.zeros(3), (3,)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", constant(self.rotation, (3, 3)))
        object.__setattr__(self, "translation", constant(self.translation, (3,)))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(
            self.rotation @ other.rotation,
            self.rotation @ other.translation + self.translation,
        )

    def inverse(self) -> Pose:
        """The placement of P in F."""
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

    def matrix(self) -> Array:
        """The homogeneous 4x4 matrix."""
        result = np.eye(4)
        result[:3, :3] = self.rotation
        result[:3, 3] = self.translation
        return result


def rotation_onto(axis: Array) -> Array:
    """A rotation (3, 3) that takes z onto the unit vector `axis`.

    It is the shortest one for z >= 0, and turned by pi about x before it for z < 0.
    """
    x, y, z = axis
    if z < 0:  # the formula below is singular at -z: turn about x first
        flip = np.diag([1.0, -1.0, -1.0])
        return flip @ rotation_onto(flip @ axis)
    k = 1 / (1 + z)
    return np.array([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]])


def across(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame (e1, e2, axis)."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    e1 = np.cross(helper, axis)
    e1 /= np.linalg.norm(e1)
    return e1, np.cross(axis, e1)


def snap(
    values: Array, exact: tuple[float, ...] = (0.0, 1.0, -1.0), within: float = SNAPPED
) -> Array:
    """Return `values`, those near an `exact` number, by `within` at most, being that number."""
    result = np.array(values, dtype=np.float64)
    for number in exact:
        result[np.abs(result - number) <= within] = number
    return result


def snapped(pose: Pose) -> Pose:
    """The pose with 0 and 1 where composing has left something near them."""
    return Pose(snap(pose.rotation, within=COMPOSED), snap(pose.translation, (0.0,), COMPOSED))


def noise(lengths: Iterable[Array]) -> float:
    """The length (m) that is rounding noise of vectors (3,): 1e-15, less in a tiny robot."""
    longest = max((float(np.abs(vector).max()) for vector in lengths), default=0.0)
    return SNAPPED * (longest if 0.0 < longest < TINY else 1.0)


def without_noise(pose: Pose, noise: float) -> Pose:
    """A pose whose entries within rounding of 0 and +-1 are exact; `noise` as in `noise`."""
    translation = snap(pose.translation) if noise == SNAPPED else pose.translation.copy()
    translation[np.abs(translation) <= noise] = 0.0
    return Pose(snap(pose.rotation), translation)


Vector = tuple[float, ...]
Angles = tuple[float, float, float]

QUARTER = math.pi / 2
DIGITS = range(1, 15)
"""Digits after the point with which people and programs write angles."""

WRITTEN = 1e-15
"""Angle (rad) within which a number is taken for the one that was written."""

LAST_DIGITS = (0, -1, 1)
"""Changes of the last digit, around the nearest angles; they are tried together."""


def snap_number(value: float) -> float:
    """Return exactly 0, 1 or -1 for what is within `SNAPPED` of it.

    >>> snap_number(6.1e-17), snap_number(-1 + 1e-16), snap_number(1e-8)
    (0.0, -1.0, 1e-08)
    """
    if abs(value) < SNAPPED:
        return 0.0
    if abs(abs(value) - 1.0) <= SNAPPED:
        return math.copysign(1.0, value)
    return value


def normalized(values: Vector) -> Vector | None:
    """The unit vector along `values`, None for zero; one that is unit already is kept as it is.

    >>> normalized((0.0, 0.0, -2.5)), normalized((0.0, 0.0, 0.0))
    ((0.0, 0.0, -1.0), None)
    """
    largest = max(abs(value) for value in values)
    if largest == 0.0:
        return None
    norm = math.hypot(*values)
    if abs(norm - 1.0) > SNAPPED:
        exponent = -math.frexp(largest)[1]  # a power of two: no rounding, no overflow
        values = tuple(math.ldexp(value, exponent) for value in values)
        norm = math.hypot(*values)
        values = tuple(value / norm for value in values)
    return tuple(snap_number(value) for value in values)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> tuple[Vector, ...]:
    """The rotation Rz(yaw) Ry(pitch) Rx(roll), angles in rad, as three rows.

    >>> rotation_from_rpy(0.0, 0.0, math.pi / 2)
    ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    rows = (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )
    return tuple(tuple(map(snap_number, row)) for row in rows)


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
