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
