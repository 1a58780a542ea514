"""A type of joint as descriptions name it: the motions it makes one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..pose import Array, Pose, constant
from .motion import CoordinatePart, MotionType


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
class JointType:
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
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(self.positions)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.velocities)

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
