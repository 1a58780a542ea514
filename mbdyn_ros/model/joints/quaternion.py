"""Unit quaternions (x, y, z, w): rotation and rate, of numbers or symbols; turns, of arrays.

A turn is an angle times its axis (..., 3) in the axes that it turns. A screw is a turn and a shift
at once, both in moving axes; what it shifts by is V(turn) shift (Murray, Li and Sastry 1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...array import Array

SMALL_TURN = 1e-4
"""Angle (rad) under which series have all digits."""


def rotation_rows(x: Any, y: Any, z: Any, w: Any) -> tuple[tuple[Any, ...], ...]:
    """The rotation (3, 3) of a unit quaternion, by its rows."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def quaternion_rate(quaternion: Sequence[Any], angular: Sequence[Any]) -> tuple[Any, ...]:
    """p' = p * (w, 0) / 2, with the angular velocity w in the axes that p turns."""
    x, y, z, s = quaternion
    wx, wy, wz = angular
    return (
        0.5 * (s * wx + y * wz - z * wy),
        0.5 * (s * wy + z * wx - x * wz),
        0.5 * (s * wz + x * wy - y * wx),
        -0.5 * (x * wx + y * wy + z * wz),
    )


def turned(quaternion: Array, turn: Array) -> Array:
    """The unit quaternion (..., 4) after a turn (..., 3)."""
    half = 0.5 * np.linalg.norm(turn, axis=-1, keepdims=True)
    other = np.concatenate([0.5 * np.sinc(half / np.pi) * turn, np.cos(half)], axis=-1)
    result = _product(quaternion, other)
    result /= np.linalg.norm(result, axis=-1, keepdims=True)
    return result


def turn_between(start: Array, end: Array) -> Array:
    """The shortest turn (..., 3) from one unit quaternion to another."""
    apart = _product(start * [-1.0, -1.0, -1.0, 1.0], end)
    apart = np.where(apart[..., 3:] < 0.0, -apart, apart)
    sine = np.linalg.norm(apart[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, apart[..., 3:])
    small = sine < SMALL_TURN
    factor = np.where(small, 2.0 + sine**2 / 3.0, angle / np.where(small, 1.0, sine))
    return np.asarray(factor * apart[..., :3])


def rotated(quaternion: Array, vector: Array) -> Array:
    """A vector (..., 3) turned by a unit quaternion."""
    across = 2.0 * np.cross(quaternion[..., :3], vector)
    return np.asarray(vector + quaternion[..., 3:] * across + np.cross(quaternion[..., :3], across))


def screw_shift(turn: Array, shift: Array) -> Array:
    """Where a screw leads, V(turn) shift (..., 3), in the axes before it."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    small = angle < SMALL_TURN
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    second = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    across = np.cross(turn, shift)
    return np.asarray(shift + first * across + second * np.cross(turn, across))


def shift_of_screw(turn: Array, displacement: Array) -> Array:
    """The shift (..., 3) of a screw that leads the way `way`: the inverse of `screw_shift`."""
    half = 0.5 * np.linalg.norm(turn, axis=-1, keepdims=True)
    small = half < SMALL_TURN
    safe = np.where(small, 1.0, half)
    factor = np.where(
        small, 1.0 / 12.0 + half**2 / 180.0, 0.25 * (1.0 - safe / np.tan(safe)) / safe**2
    )
    across = np.cross(turn, displacement)
    return np.asarray(displacement - 0.5 * across + factor * np.cross(turn, across))


def _product(left: Array, right: Array) -> Array:
    """The product of quaternions (..., 4)."""
    vector = (
        left[..., 3:] * right[..., :3]
        + right[..., 3:] * left[..., :3]
        + np.cross(left[..., :3], right[..., :3])
    )
    scalar = left[..., 3:] * right[..., 3:] - np.sum(
        left[..., :3] * right[..., :3], axis=-1, keepdims=True
    )
    return np.concatenate([vector, scalar], axis=-1)
