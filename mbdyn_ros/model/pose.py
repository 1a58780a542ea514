"""Where frames stand, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..array import Array as Array


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
