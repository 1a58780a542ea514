"""Poses of frames, as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..array import Array as Array

TINY = 1e-3
"""Length (m) under which the longest of a robot's lengths says what is rounding noise."""

SNAPPED = 1e-15
"""Constants this close to 0 or +-1 are rounding noise; nothing larger is ever snapped."""


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


def snap(values: Array, scale: float = 1.0) -> Array:
    """Return `values` with entries within 1e-15 `scale` of 0 or +-`scale` made exact."""
    result = np.array(values, dtype=np.float64)
    for exact in (0.0, scale, -scale):
        result[np.abs(result - exact) <= SNAPPED * scale] = exact
    return result


def noise(lengths: Iterable[Array]) -> float:
    """The length (m) that is rounding noise of vectors (3,): 1e-15, less in a tiny robot."""
    longest = max((float(np.abs(vector).max()) for vector in lengths), default=0.0)
    return SNAPPED * (longest if 0.0 < longest < TINY else 1.0)


def without_noise(pose: Pose, noise: float) -> Pose:
    """A pose whose entries within rounding of 0 and +-1 are exact; `noise` as in `noise`."""
    translation = snap(pose.translation) if noise == SNAPPED else pose.translation.copy()
    translation[np.abs(translation) <= noise] = 0.0
    return Pose(snap(pose.rotation), translation)
