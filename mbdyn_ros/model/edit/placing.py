"""Places and directions as users give them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array import NoNumbers, as_numbers
from ...errors import InputError, shown
from ..model import Array, Pose
from ..read.placement import normalized, rotation_from_rpy


def three_numbers(source: str, what: str, values: Sequence[float]) -> tuple[float, float, float]:
    """Return three finite numbers, or refuse what is given."""
    try:
        numbers = as_numbers(values)
    except NoNumbers:
        numbers = np.zeros(0)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InputError(f"{source}: {what} are three finite numbers, not {shown(values)}")
    x, y, z = numbers.tolist()
    return x, y, z


def placed_at(source: str, xyz: Sequence[float], rpy: Sequence[float]) -> Pose:
    """A pose by its origin (m) and its roll, pitch and yaw (rad)."""
    turn = rotation_from_rpy(*three_numbers(source, "rpy", rpy))
    return Pose(np.array(turn), np.array(three_numbers(source, "xyz", xyz)))


def direction(source: str, what: str, values: Sequence[float]) -> Array:
    """A unit vector (3,)."""
    unit = normalized(three_numbers(source, what, values))
    if unit is None:
        raise InputError(f"{source}: {what} {list(values)} has no direction; give one such as "
                         "(0, 0, 1)")  # fmt: skip
    return np.array(unit)
