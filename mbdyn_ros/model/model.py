"""The description of a robot: immutable data as its description gives it, no mathematics."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..array import Array as Array
from ..errors import ModelError
from ..names import forbidden
from .actuators import Actuator, Transmission
from .closing_types import ClosingType, closing_type
from .foreign import Foreign
from .inertia import Inertia as Inertia
from .joints.types import JointType, MotionType, joint_type
from .motion_law import MotionLaw
from .pose import Pose, constant
from .shapes import Collision, Visual

BASE_JOINT = "floating_base"
"""Name of the joint between the world and the root link of a floating base."""


@dataclass(frozen=True, eq=False)
class Link:
    """A link of the description; `inertia` is None where the description gives none."""

    name: str
    inertia: Inertia | None = None
    line: int | None = None
    collisions: tuple[Collision, ...] = ()
    visuals: tuple[Visual, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint: position (rad or m), velocity (rad/s or m/s), effort (N m or N)."""

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf


@dataclass(frozen=True)
class Mimic:
    """position = multiplier * position(joint) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


GIVEN = 1e20
"""Armature (kg m^2 or kg) of a joint whose motion is given: no force moves such a rotor."""

ACTING = ("damping", "friction", "armature", "spring_stiffness", "spring_reference")
"""Numbers of a joint that act on each of its coordinates."""


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint: `origin` places its frame in the parent link, `axis` is a unit vector in it.

    The frame of the child link is the joint's frame moved by the joint. `numbers` are those that
    its type needs besides an axis (the pitch of a screw). `part_of` is the joint of several
    coordinates that it is a part of, where a loop took that apart.

    On every coordinate act `damping` (N m s/rad or N s/m) and dry `friction` (N m or N), the
    inertia `armature` (kg m^2 or kg) of its drive, as the joint feels it, and a spring of
    `spring_stiffness` (N m/rad or N/m) that is slack at `spring_reference` (rad or m). With an
    armature of `GIVEN` nothing changes its velocity, and energies leave the rotor out.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Pose = field(default_factory=Pose)
    axis: Array = field(default_factory=lambda: constant([1.0, 0.0, 0.0], (3,)))
    limits: Limits = Limits()
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    spring_stiffness: float = 0.0
    spring_reference: float = 0.0
    mimic: Mimic | None = None
    line: int | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    part_of: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", constant(self.axis, (3,)))

    @functools.cached_property
    def kind(self) -> JointType:
        """The type of joint; ModelError where there is no such type."""
        return joint_type(self.type, f"joint {self.name!r}: ")

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.kind.nq

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.kind.nv

    def motions(self) -> list[tuple[str, MotionType, Array]]:
        """Names of its motions, outwards, the motions, and their axes in the joint's frame."""
        return self.kind.motions(self.axis, self.numbers)

    def pose(self, q: Array) -> Pose:
        """The child's frame in the joint's frame at its positions (nq,)."""
        return self.kind.pose(self.axis, self.numbers, q)


@dataclass(frozen=True, eq=False)
class Loop:
    """A closing joint between two links of the tree.

    `predecessor_frame` and `successor_frame` place the two loop frames in their links. What the
    joint leaves free is `type`, along or about `axis`, a unit vector with the same components
    in both loop frames: about it (revolute, continuous), along it (prismatic), both
    (cylindrical), about any direction (spherical), across it and about it (planar); a universal
    joint bends in two directions across it but does not twist about it.
    """

    name: str
    type: str
    predecessor: str
    successor: str
    predecessor_frame: Pose = field(default_factory=Pose)
    successor_frame: Pose = field(default_factory=Pose)
    axis: Array = field(default_factory=lambda: constant([1.0, 0.0, 0.0], (3,)))
    line: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", constant(self.axis, (3,)))

    @property
    def closing(self) -> ClosingType:
        """The type of closing joint; ModelError where there is no such type."""
        return closing_type(self.type, f"loop {self.name!r}: ")


@dataclass(frozen=True)
class Coupling:
    """A gear: the turn of `successor` is `ratio` times that of `predecessor`.

    Both are counted from the last link that carries both of them, along the joints between.
    """

    name: str
    predecessor: str
    successor: str
    ratio: float
    line: int | None = None


@dataclass(frozen=True)
class Combination:
    """A coupling of joints by name: the sum of factor times position (rad or m) is `offset`.

    `factors` holds (joint, factor) pairs of joints of one coordinate; `powers` (joint,
    coefficients) pairs of what their squares, cubes and so on add to the sum, as of a cam; `laws`
    (joint, law) pairs of what laws of motion of their positions add.
    """

    name: str
    factors: tuple[tuple[str, float], ...]
    offset: float = 0.0
    line: int | None = None
    powers: tuple[tuple[str, tuple[float, ...]], ...] = ()
    laws: tuple[tuple[str, MotionLaw], ...] = ()

    @property
    def followers(self) -> tuple[str, ...]:
        """The joints of a coupling with powers or laws whose positions follow from the others'."""
        leading = {name for name, _ in (*self.powers, *self.laws)}
        return tuple(name for name, _ in self.factors if leading and name not in leading)


@dataclass(frozen=True, eq=False)
class Model:
    """A robot description: links and joints in document order, fixed joints included.

    The joints form a tree with the root link `root`, which `loops` and `couplings` constrain.
    `independent` and `actuated` name the joints chosen in the description (None: not chosen),
    `driven` those that it has drives for, `transmissions` the gears in between, `actuators` what
    moves them. `home` is a rough configuration (rad or m by joint name), `homes` holds such
    configurations by names that the description gives them. `gravity` (m/s^2) and `floating_base`
    are what the description says of the world and of the root link. `source` names the file (or
    says that it was text) for messages; `warnings` holds what looked wrong but could be computed,
    `unused` what else the description says, and how often. `foreign` are elements for other
    programs, kept for files that are written again.
    """

    name: str
    root: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    source: str = "<text>"
    warnings: tuple[str, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling | Combination, ...] = ()
    independent: tuple[str, ...] | None = None
    actuated: tuple[str, ...] | None = None
    driven: tuple[str, ...] = ()
    transmissions: tuple[Transmission, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    home: Mapping[str, float] = field(default_factory=dict)
    homes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    gravity: tuple[float, float, float] | None = None
    floating_base: bool = False
    unused: Mapping[str, int] = field(default_factory=dict)
    foreign: tuple[Foreign, ...] = ()

    def link(self, name: str) -> Link:
        """The link of that name (KeyError where there is none)."""
        return self._links[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name (KeyError where there is none)."""
        return self._joints[name]

    @functools.cached_property
    def limited_joints(self) -> tuple[Joint, ...]:
        """The joints of one coordinate that have limits and mimic no other."""
        return tuple(
            joint
            for joint in self.joints
            if joint.nq == 1
            and joint.mimic is None
            and np.isfinite([joint.limits.lower, joint.limits.upper]).any()
        )

    def joint_to(self, link: str) -> Joint | None:
        """The joint whose child is `link`; None for the root."""
        return self._parents.get(link)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_links", {link.name: link for link in self.links})
        object.__setattr__(self, "_joints", {joint.name: joint for joint in self.joints})
        object.__setattr__(self, "_parents", {joint.child: joint for joint in self.joints})
        self._check_names()

    def _check_names(self) -> None:
        """Refuse names that end a line, control a terminal, or rearrange the text around them.

        Raises
        ------
        ModelError
            By file, line and element.
        """
        named: list[tuple[str, str, int | None]] = [("robot", self.name, None)]
        named += [("link", one.name, one.line) for one in self.links]
        named += [("joint", one.name, one.line) for one in self.joints]
        named += [("loop", one.name, one.line) for one in self.loops]
        named += [("coupling", one.name, one.line) for one in self.couplings]
        for what, name, line in named:
            character = forbidden(name)
            if character is not None:
                place = self.source if line is None else f"{self.source}:{line}"
                raise ModelError(
                    f"{place}: the name {ascii(name)} of a {what} holds the character "
                    f"U+{ord(character):04X}; write names without control characters, ends of "
                    "lines, and marks of the direction of writing"
                )

    _links: dict[str, Link] = field(init=False, repr=False)
    _joints: dict[str, Joint] = field(init=False, repr=False)
    _parents: dict[str, Joint] = field(init=False, repr=False)


def carrying_joints(model: Model, link: str) -> list[str]:
    """The joints that carry a link and can move, from the link inwards."""
    names = []
    while (joint := model.joint_to(link)) is not None:
        names += [joint.name] if joint.nv else []
        link = joint.parent
    return names


def factors_of(model: Model, coupling: Coupling | Combination) -> list[tuple[str, float]]:
    """The joints of a coupling and their factors in its sum (whose offset is 0 between links)."""
    if isinstance(coupling, Combination):
        return list(coupling.factors)
    ends = coupling.successor, coupling.predecessor
    outer, inner = (carrying_joints(model, link) for link in ends)
    own = [(name, 1.0) for name in outer if name not in inner]
    return own + [(name, -coupling.ratio) for name in inner if name not in outer]
