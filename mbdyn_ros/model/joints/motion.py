"""How one body may move on another: what a joint declares, and everything else asks.

Coordinates may be numbers or symbols: a motion is written once, in plain arithmetic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..pose import Array, Pose, rotation_onto

Rows = Sequence[Sequence[Any]]
"""A rotation (3, 3) by its rows, of numbers or symbols."""


@dataclass(frozen=True)
class CoordinatePart:
    """A coordinate: its name (empty: that of the joint) and its unit, m, rad or none.

    A velocity has the unit of what it changes, "m" for m/s.
    """

    name: str
    unit: str


ANGLE = (CoordinatePart("", "rad"),)
LENGTH = (CoordinatePart("", "m"),)

NO_ENTRIES = np.zeros((3, 3), dtype=bool)
"""A mask that takes nothing of a matrix."""


@dataclass(frozen=True)
class MotionType(ABC):
    """One motion of a joint, between two bodies.

    Attributes
    ----------
    kind : its name.
    positions, velocities : its coordinates.
    neutral : positions where it moves nothing.
    has_axis : whether it goes by a direction.
    is_hinge : whether it turns about its axis by its first coordinate. The frame of its body then
        has the axis as z, and may be turned about it and moved along it.
    keeps_origin : whether the origin of the child stays where it is in the parent.
    is_periodic : whether a whole turn brings it back.
    quaternion : where in its positions a unit quaternion (x, y, z, w) begins, which ends them;
        None: there is none, and the rates of its positions are its velocities.
    moves_alike : of a body's mass, first moment (3,) and integral of r r^T dm (3, 3) the entries
        that move alike on either side of the joint, so that only their sum matters.
    """

    kind: ClassVar[str]
    positions: ClassVar[tuple[CoordinatePart, ...]]
    velocities: ClassVar[tuple[CoordinatePart, ...]]
    neutral: ClassVar[tuple[float, ...]] = (0.0,)
    has_axis: ClassVar[bool] = True
    is_hinge: ClassVar[bool] = False
    keeps_origin: ClassVar[bool] = False
    is_periodic: ClassVar[bool] = False
    quaternion: ClassVar[int | None] = None
    moves_alike: ClassVar[tuple[bool, Array, Array]] = (False, NO_ENTRIES[0], NO_ENTRIES)

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(self.positions)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.velocities)

    @property
    def slides(self) -> bool:
        """Whether its velocity is that of a length, and nothing else."""
        return all(part.unit == "m" for part in self.velocities)

    @abstractmethod
    def subspace(self, axis: Array) -> tuple[Array, Array]:
        """Angular velocity and velocity of the origin (3, nv) per velocity, in body axes."""

    def rotation(self, q: Any) -> Rows | None:
        """Axes of the child in those of the parent; None: they do not turn, or `is_hinge`."""
        return None

    def shift(self, axis: Any, q: Any) -> Any:
        """Way of the child's origin (3,), in axes of the parent; None where it has none.

        `axis` and `q` are vectors of one kind: NumPy's or CasADi's.
        """
        return None

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> Sequence[Any]:
        """Rate of the positions at velocities, of numbers or symbols."""
        return v

    def integrate(self, q: Array, dv: Array) -> Array:
        """Positions (..., nq) after the way `dv` (..., nv) from q (..., nq), on numbers."""
        result: Array = q + dv
        return result

    def difference(self, start: Array, end: Array) -> Array:
        """The shortest way (..., nv) between positions (..., nq); `integrate` goes it."""
        result: Array = end - start
        return result

    def pose(self, axis: Array, q: Array) -> Pose:
        """The child's frame at positions (nq,) in that of the neutral ones; quaternions of any
        length."""
        if self.quaternion is not None:
            q = np.array(q)
            q[self.quaternion :] /= np.linalg.norm(q[self.quaternion :])
        shift = self.shift(axis, q)
        rows: Any = self.rotation(q)
        if self.is_hinge:
            upright = rotation_onto(axis)
            rows = upright @ np.array(turn_rows(np.cos(q[0]), np.sin(q[0]))) @ upright.T
        return Pose(
            np.eye(3) if rows is None else np.array(rows), np.zeros(3) if shift is None else shift
        )


def turn_rows(cosine: Any, sine: Any) -> Rows:
    """The rotation about z by an angle."""
    return ((cosine, -sine, 0.0), (sine, cosine, 0.0), (0.0, 0.0, 1.0))
