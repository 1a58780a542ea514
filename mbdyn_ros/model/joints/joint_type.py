"""A type of joint as descriptions name it, and the motions it makes one after the other.

Coordinates may be numbers or symbols: a motion is written once, in plain arithmetic.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ..pose import Array, Pose, constant, rotation_onto

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


class HasCoordinates(Protocol):
    """Something with positions and velocities, each a coordinate."""

    @property
    def positions(self) -> tuple[CoordinatePart, ...]: ...

    @property
    def velocities(self) -> tuple[CoordinatePart, ...]: ...


class Counted:
    """The numbers of coordinates, of a motion and of a type of joint."""

    @property
    def nq(self: HasCoordinates) -> int:
        """Number of position coordinates."""
        return len(self.positions)

    @property
    def nv(self: HasCoordinates) -> int:
        """Number of velocity coordinates."""
        return len(self.velocities)


@dataclass(frozen=True)
class MotionType(Counted, ABC):
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


def along(axis: Array) -> Array:
    """The axis itself."""
    return axis


def in_parent(*axis: float) -> Callable[[Array], Array]:
    """A direction of the parent, whatever the joint's axis is. It can be pickled."""
    return functools.partial(_same, axis)


def _same(direction: tuple[float, ...], axis: Array) -> Array:
    return constant(direction, (3,))


@dataclass(frozen=True)
class JointAxis:
    """One motion of a joint; `name` begins the names of its coordinates.

    direction : its axis, from that of the joint.
    """

    motion: MotionType
    name: str = ""
    direction: Callable[[Array], Array] = along


@dataclass(frozen=True)
class Number:
    """A number that a joint needs besides its axis, its meaning and its unit."""

    name: str
    meaning: str


@dataclass(frozen=True)
class JointType(Counted):
    """A type of joint.

    steps : its motions, outwards; several of them are joined by bodies without mass.
    in_loops : motions of one coordinate each that do the same, as which loops count the joint;
        empty: its steps are such motions.
    is_endless : whether its position has no bounds, whatever a description says.
    in_urdf : whether URDF knows it; others are extensions of ours.
    numbers : what it needs besides an axis: fields of its one motion.
    synonyms : what other formats call it.
    """

    name: str
    steps: tuple[JointAxis, ...] = ()
    in_loops: tuple[JointAxis, ...] = ()
    is_endless: bool = False
    in_urdf: bool = True
    numbers: tuple[Number, ...] = ()
    synonyms: tuple[str, ...] = ()
    positions: tuple[CoordinatePart, ...] = field(init=False)
    velocities: tuple[CoordinatePart, ...] = field(init=False)

    def __post_init__(self) -> None:
        for what in ("positions", "velocities"):
            parts = tuple(
                CoordinatePart(step.name + part.name, part.unit)
                for step in self.steps
                for part in getattr(step.motion, what)
            )
            object.__setattr__(self, what, parts)

    @property
    def single_steps(self) -> tuple[JointAxis, ...]:
        """Its motions as motions of one coordinate each."""
        return self.in_loops or self.steps

    @property
    def has_axis(self) -> bool:
        """Whether a description gives it an axis."""
        return any(step.motion.has_axis for step in self.steps)

    @property
    def keeps_origin(self) -> bool:
        """Whether the child's origin stays where it is in the parent."""
        return all(step.motion.keeps_origin for step in self.steps)

    def motions(
        self, axis: Array, numbers: Mapping[str, float]
    ) -> list[tuple[str, MotionType, Array]]:
        """Name, motion and axis of its steps, for a joint's axis and numbers."""
        return [
            (
                step.name,
                replace(step.motion, **numbers) if numbers else step.motion,
                step.direction(axis),
            )
            for step in self.steps
        ]

    def pose(self, axis: Array, numbers: Mapping[str, float], q: Array) -> Pose:
        """The child's frame in the joint's frame at positions (nq,)."""
        result, start = Pose(), 0
        for _, motion, direction in self.motions(axis, numbers):
            result = result @ motion.pose(direction, q[start : start + motion.nq])
            start += motion.nq
        return result

    def neutral(self) -> tuple[float, ...]:
        """Positions (nq,) without displacement."""
        return tuple(number for step in self.steps for number in step.motion.neutral)
