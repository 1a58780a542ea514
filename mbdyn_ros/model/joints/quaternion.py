"""Unit quaternions (x, y, z, w) of numbers or symbols: their rotation and their rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .motion import Part

PARTS = tuple(Part(name, "") for name in ("qx", "qy", "qz", "qw"))
"""Coordinates of a quaternion; they have no unit."""

TURNING = tuple(Part(name, "rad") for name in ("wx", "wy", "wz"))
"""The angular velocity in the axes that it turns."""

NO_TURN = (0.0, 0.0, 0.0, 1.0)


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
