"""The types of joints: each declares its coordinates, units and motion, on numbers and symbols.

A type makes motions one after the other. A motion is written once, in plain arithmetic, and its
coordinates may be numbers or symbols. A new type is a declaration here and a line in
`JOINT_TYPES`: all that holds of it is declared there and asked by everything else.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from ...array import Array
from ...errors import ModelError, suggestion
from ..pose import Pose, across, constant, rotation_onto
from .quaternion import (
    quaternion_rate,
    rotated,
    rotation_rows,
    screw_shift,
    shift_of_screw,
    turn_between,
    turned,
)

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


PARTS = tuple(CoordinatePart(name, "") for name in ("qx", "qy", "qz", "qw"))
"""Coordinates of a quaternion; they have no unit."""

TURNING = tuple(CoordinatePart(name, "rad") for name in ("wx", "wy", "wz"))
"""The angular velocity in the axes that it turns."""

NO_TURN = (0.0, 0.0, 0.0, 1.0)


class Revolute(MotionType):
    """A turn about the axis. A thin rod along it moves alike on either body."""

    kind = "revolute"
    positions = velocities = ANGLE
    is_hinge = keeps_origin = is_periodic = True
    moves_alike = (True, np.array([0, 0, 1], dtype=bool), np.diag([False, False, True]))

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return axis.reshape(3, 1), np.zeros((3, 1))


REVOLUTE = JointType("revolute", (JointAxis(Revolute()),))
CONTINUOUS = JointType("continuous", (JointAxis(Revolute()),), is_endless=True)


class Prismatic(MotionType):
    """A slide along the axis. Both bodies turn alike, so any second moment may be on either."""

    kind = "prismatic"
    positions = velocities = LENGTH
    moves_alike = (False, NO_ENTRIES[0], ~NO_ENTRIES)

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return np.zeros((3, 1)), axis.reshape(3, 1)

    def shift(self, axis: Any, q: Any) -> Any:
        return axis * q[0]


PRISMATIC = JointType("prismatic", (JointAxis(Prismatic()),))


@dataclass(frozen=True)
class Screw(MotionType):
    """A turn about the axis and a way of `pitch` times its angle along it (m/rad)."""

    pitch: float = math.nan

    kind = "screw"
    positions = velocities = ANGLE
    is_hinge = True

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return axis.reshape(3, 1), self.pitch * axis.reshape(3, 1)

    def shift(self, axis: Any, q: Any) -> Any:
        return axis * (self.pitch * q[0])


PITCH = Number("pitch", "way along the axis in metres per radian (the lead divided by 2 pi)")

SCREW = JointType("screw", (JointAxis(Screw()),), in_urdf=False, numbers=(PITCH,))


def first_across(axis: Array) -> Array:
    """The x axis of the plane, turned with z onto the axis by the shortest way."""
    return rotation_onto(axis)[:, 0]


def second_across(axis: Array) -> Array:
    """The y axis of the plane."""
    return rotation_onto(axis)[:, 1]


PLANAR = JointType(
    "planar",
    (
        JointAxis(Prismatic(), "x", first_across),
        JointAxis(Prismatic(), "y", second_across),
        JointAxis(Revolute(), "theta"),
    ),
)


def first_pin(axis: Array) -> Array:
    """The pin in the parent."""
    return across(axis)[0]


def second_pin(axis: Array) -> Array:
    """The pin in the child."""
    return across(axis)[1]


UNIVERSAL = JointType(
    "universal",
    (JointAxis(Revolute(), "first", first_pin), JointAxis(Revolute(), "second", second_pin)),
    in_urdf=False,
)


YAW_PITCH_ROLL = (
    JointAxis(Revolute(), "yaw", in_parent(0.0, 0.0, 1.0)),
    JointAxis(Revolute(), "pitch", in_parent(0.0, 1.0, 0.0)),
    JointAxis(Revolute(), "roll", in_parent(1.0, 0.0, 0.0)),
)
"""Outwards: R = Rz(yaw) Ry(pitch) Rx(roll). At a pitch of a quarter turn yaw and roll are one."""


class Spherical(MotionType):
    """A turn about the origin. A mass there moves alike on either body."""

    kind = "spherical"
    positions, velocities, neutral = PARTS, TURNING, NO_TURN
    has_axis = False
    keeps_origin = True
    quaternion = 0
    moves_alike = (True, NO_ENTRIES[0], NO_ENTRIES)

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return np.eye(3), np.zeros((3, 3))

    def rotation(self, q: Any) -> Rows:
        return rotation_rows(q[0], q[1], q[2], q[3])

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Any, ...]:
        return quaternion_rate(q, v)

    def integrate(self, q: Array, dv: Array) -> Array:
        return turned(q, dv)

    def difference(self, start: Array, end: Array) -> Array:
        return turn_between(start, end)


SPHERICAL = JointType(
    "spherical", (JointAxis(Spherical()),), YAW_PITCH_ROLL, in_urdf=False, synonyms=("ball",)
)


class Floating(MotionType):
    """A shift [x y z] in axes of the parent and a turn; velocities in those of the body."""

    kind = "floating"
    positions = (*(CoordinatePart(name, "m") for name in ("x", "y", "z")), *PARTS)
    velocities = (*(CoordinatePart(name, "m") for name in ("vx", "vy", "vz")), *TURNING)
    neutral = (0.0, 0.0, 0.0, *NO_TURN)
    has_axis = False
    quaternion = 3

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        still, every = np.zeros((3, 3)), np.eye(3)
        return np.hstack([still, every]), np.hstack([every, still])

    def rotation(self, q: Any) -> Rows:
        return rotation_rows(q[3], q[4], q[5], q[6])

    def shift(self, axis: Any, q: Any) -> Any:
        return q[:3]

    def rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Any, ...]:
        """With the quaternion p = (x, y, z, s) and the velocity u of the origin, xyz' = R(p) u."""
        x, y, z, s = (q[k] for k in range(3, 7))
        ux, uy, uz = (v[k] for k in range(3))
        # R u = u + 2 p x (p x u + s u)
        tx = y * uz - z * uy + s * ux
        ty = z * ux - x * uz + s * uy
        tz = x * uy - y * ux + s * uz
        return (
            ux + 2 * (y * tz - z * ty),
            uy + 2 * (z * tx - x * tz),
            uz + 2 * (x * ty - y * tx),
            *quaternion_rate((x, y, z, s), [v[k] for k in range(3, 6)]),
        )

    def integrate(self, q: Array, dv: Array) -> Array:
        """Along a screw: both velocities stay in the body's axes."""
        displacement = rotated(q[..., 3:], screw_shift(dv[..., 3:], dv[..., :3]))
        return np.concatenate([q[..., :3] + displacement, turned(q[..., 3:], dv[..., 3:])], axis=-1)

    def difference(self, start: Array, end: Array) -> Array:
        turn = turn_between(start[..., 3:], end[..., 3:])
        back = start[..., 3:] * [-1.0, -1.0, -1.0, 1.0]
        displacement = shift_of_screw(turn, rotated(back, end[..., :3] - start[..., :3]))
        return np.concatenate([displacement, turn], axis=-1)


def coordinate_axis(k: int) -> JointAxis:
    """A slide along an axis of the parent."""
    return JointAxis(Prismatic(), "xyz"[k], in_parent(*np.eye(3)[k]))


FLOATING = JointType(
    "floating", (JointAxis(Floating()),), (*map(coordinate_axis, range(3)), *YAW_PITCH_ROLL)
)


JOINT_TYPES = {
    one.name: one
    for one in (
        JointType("fixed"),
        REVOLUTE,
        CONTINUOUS,
        PRISMATIC,
        PLANAR,
        FLOATING,
        SCREW,
        UNIVERSAL,
        SPHERICAL,
    )
}
"""The types of joints by name."""

ELSEWHERE = {
    "cylindrical": "a revolute and a prismatic joint along one axis, with a link between",
}
"""How what other formats have is written here."""

IN_URDF, BEYOND = (
    ", ".join(one.name for one in JOINT_TYPES.values() if one.in_urdf is known)
    for known in (True, False)
)
KNOWN = f"the types of URDF are {IN_URDF}; beyond URDF there are {BEYOND}"
"""Words for the types that there are."""


class Named(Protocol):
    """A type, its name, and those it has elsewhere."""

    @property
    def name(self) -> str: ...

    @property
    def synonyms(self) -> tuple[str, ...]: ...


Type = TypeVar("Type", bound=Named)


def named_type(
    name: str | None,
    types: Mapping[str, Type],
    what: str,
    known: str,
    elsewhere: Mapping[str, str],
) -> Type:
    """The type of a name, also of its name in other formats.

    Parameters
    ----------
    what, known : words that a refusal begins with, and those that list the types at its end.
    elsewhere : how to write what other formats have and this one has not, by name.

    Raises
    ------
    ModelError
        There is none.
    """
    if not name:
        raise ModelError(f"{what}has no type; {known}")
    for one in types.values():
        if name == one.name or name in one.synonyms:
            return one
    problem = f"is unknown{suggestion(name, types)}"
    if name in elsewhere:
        problem = f"is not in URDF; write it as {elsewhere[name]}"
    raise ModelError(f'{what}type "{name}" {problem}; {known}')


def joint_type(name: str | None, what: str = "") -> JointType:
    """The joint type of that name.

    Raises
    ------
    ModelError
        There is none: the message, which `what` begins, lists those that there are.
    """
    return named_type(name, JOINT_TYPES, what, KNOWN, ELSEWHERE)
