"""The moving bodies of a model: fixed joints lumped, parents first, joint axes along z.

A `Tree` is the form in which the formulations see a robot. Links joined by fixed joints are one
`Body`; a joint of several motions (a planar one: two translations and a rotation) has massless
bodies between; every rotation axis is the z axis of its body's frame. All of it is exact: the
frames move, the robot does not.

Frames are chosen so that the equations are short (Denavit and Hartenberg): a frame may be turned
about its joint's axis and moved along it without changing the robot. With z along the joint, x
perpendicular to the next joint too, and the next origin in the xy plane, the step from a body to
the next is a rotation about x and a translation across z, and most constants of the recursions
become 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import ModelError
from ..model.inertia import RigidInertia
from ..model.joints.types import MotionType
from ..model.model import ACTING, BASE_JOINT, GIVEN, Array, Inertia, Joint, Model, Pose, constant
from ..model.pose import (
    noise,
    roll_pitch_yaw,
    rotation_from_rpy,
    rotation_onto,
    snap,
    without_noise,
)
from .coordinates import JointBlock, base_joint, coordinates

WORLD = -1
"""Index of the world among the bodies."""


@dataclass(frozen=True, eq=False)
class Body:
    """A moving body and the joint that moves it.

    At position q the body's frame is in its parent's frame at `placement` and the motion by q, an
    angle about the z axis being `q + offset`. `q` and `v` are its tree coordinates; `label` names
    its motion, in a joint that has several, `part_of` is that of `Joint`, and so are the numbers
    that act on its coordinates.
    """

    name: str
    joint: str
    motion: MotionType
    parent: int
    placement: Pose
    axis: Array
    offset: float
    inertia: RigidInertia
    q: slice
    v: slice
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    spring_stiffness: float = 0.0
    spring_reference: float = 0.0
    label: str = ""
    part_of: str | None = None

    @property
    def kind(self) -> str:
        """The name of its motion."""
        return self.motion.kind

    @property
    def given(self) -> bool:
        """Whether its motion is given, whatever acts on it; see `GIVEN`."""
        return isinstance(self.armature, float) and self.armature >= GIVEN


@dataclass(frozen=True, eq=False)
class Tree:
    """Bodies, parents first; `frames` places every link in its body (or in the world).

    parts : the body of every link that moves, and the link's inertia about the body's origin.
    """

    bodies: tuple[Body, ...]
    frames: dict[str, tuple[int, Pose]]
    nq: int
    nv: int
    parts: dict[str, tuple[int, RigidInertia]] = field(default_factory=dict)

    def children(self, index: int) -> list[int]:
        """Indices of the bodies whose parent is `index`."""
        return [i for i, body in enumerate(self.bodies) if body.parent == index]


@dataclass
class _Draft:
    """A body under construction; its frame is still that of its first link."""

    joint: Joint
    label: str
    motion: MotionType
    parent: int
    origin: Pose
    axis: Array
    q: slice
    v: slice
    parts: list[tuple[Pose, Inertia]] = field(default_factory=list)


def build_tree(model: Model, floating_base: bool = False) -> Tree:
    """Lump the links of `model` into moving bodies and give them the frames of `axes`."""
    places = coordinates(model, floating_base)
    drafts: list[_Draft] = []
    inertias: dict[str, Inertia] = {}
    links: dict[str, tuple[int, Pose]] = {}
    outgoing: dict[str, list[Joint]] = {}
    for joint in model.joints:
        outgoing.setdefault(joint.parent, []).append(joint)

    root = (WORLD, Pose())
    if floating_base:
        root = _add_joint(drafts, base_joint(model), places[BASE_JOINT], WORLD, Pose())
    pending = [(model.root, *root)]
    while pending:
        name, body, pose = pending.pop()
        links[name] = (body, pose)
        inertia = model.link(name).inertia
        if inertia is not None and body != WORLD:
            drafts[body].parts.append((pose, inertia))
            inertias[name] = inertia
        for joint in reversed(outgoing.get(name, [])):
            origin = pose @ joint.origin
            moved = (body, origin)
            if joint.nv:  # a fixed joint may have any name, also that of the base's
                moved = _add_joint(drafts, joint, places[joint.name], body, origin)
            pending.append((joint.child, *moved))
    nq = sum(place.kind.nq for place in places.values())
    nv = sum(place.kind.nv for place in places.values())
    return _finish(drafts, links, inertias, nq, nv)


def _add_joint(
    drafts: list[_Draft], joint: Joint, place: JointBlock, parent: int, origin: Pose
) -> tuple[int, Pose]:
    """Append the bodies that `joint` moves and return the last one and its link's pose in it."""
    if joint.spring_stiffness and joint.nq != joint.nv:
        raise ModelError(
            f"joint {joint.name!r} is {joint.type}, and a spring (spring_stiffness="
            f"{joint.spring_stiffness:g}) acts on angles and lengths: write it as joints of one "
            "coordinate each, or leave the spring out"
        )
    steps = zip(joint.motions(), place.motions(), strict=True)
    for (part, motion, axis), (_, q, v) in steps:
        label = f"{joint.name}/{part}" if part else joint.name
        drafts.append(_Draft(joint, label, motion, parent, origin, axis, q, v))
        parent, origin = len(drafts) - 1, Pose()
    return parent, origin


def _finish(
    drafts: list[_Draft],
    links: dict[str, tuple[int, Pose]],
    inertias: dict[str, Inertia],
    nq: int,
    nv: int,
) -> Tree:
    """Turn the drafts into bodies with their final frames."""
    frames = body_axes(
        [draft.motion for draft in drafts],
        [draft.parent for draft in drafts],
        [draft.origin for draft in drafts],
        [draft.axis for draft in drafts],
    )
    bodies, small = [], noise(draft.origin.translation for draft in drafts)
    for draft, frame in zip(drafts, frames, strict=True):
        parent = frames[draft.parent].pose.inverse() if draft.parent != WORLD else Pose()
        placement = parent @ draft.origin @ frame.pose
        if frame.offset:
            cosine, sine = np.cos(frame.offset), np.sin(frame.offset)
            back = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
            placement = placement @ Pose(back)
        into = frame.pose.inverse()
        bodies.append(
            Body(
                name=draft.joint.child,
                joint=draft.joint.name,
                motion=draft.motion,
                parent=draft.parent,
                placement=without_noise(placement, small),
                axis=constant(snap(into.rotation @ draft.axis), (3,)),
                offset=frame.offset,
                inertia=RigidInertia.sum([(into @ pose, part) for pose, part in draft.parts]),
                q=draft.q,
                v=draft.v,
                label=draft.label,
                part_of=draft.joint.part_of,
                **{name: getattr(draft.joint, name) for name in ACTING},
            )
        )
    placed = {
        link: (body, pose if body == WORLD else frames[body].pose.inverse() @ pose)
        for link, (body, pose) in links.items()
    }
    parts = {
        link: (body, RigidInertia.sum([(pose, inertias.get(link, Inertia()))]))
        for link, (body, pose) in placed.items()
        if body != WORLD
    }
    return Tree(tuple(bodies), placed, nq, nv, parts)


NEARLY_PARALLEL = 1e-6
"""Sine of the angle under which two axes count as parallel, and x goes to the next origin."""

CROSSING = 0.2
"""Sine of the angle under which the common normal of two axes may be far from their bodies."""

ZERO_ENTRY = 1e-12
"""Number under which an entry of a rotation counts as 0."""

ONE_LINE = 1e-9
"""Distance (m) under which parallel axes count as one line when a direction is chosen."""


@dataclass(frozen=True)
class BodyFrame:
    """Pose of a body's frame in its first link, and the angle added to the joint's."""

    pose: Pose
    offset: float = 0.0


def body_axes(
    motions: Sequence[MotionType],
    parents: Sequence[int],
    origins: Sequence[Pose],
    axes: Sequence[Array],
) -> list[BodyFrame]:
    """Choose the frame of every body.

    Parameters
    ----------
    motions, parents : the joint's motion and parent index (-1: world) of each body, parents first.
    origins : pose of each joint in its parent's first link.
    axes : unit axis (3,) of each joint in the body's own first link.

    Returns
    -------
    One `BodyFrame` a body. Where a joint has no axis, it is the frame of the link.
    """
    count = len(motions)
    heirs = _heirs(parents)
    poses: list[Pose | None] = [None] * count
    for i in reversed(range(count)):
        if motions[i].is_hinge:
            heir = heirs[i]
            if heir is None:
                carrier = parents[i]
                hinged = carrier >= 0 and motions[carrier].is_hinge
                foot = _foot(axes[i], origins[i].inverse(), axes[carrier]) if hinged else 0.0
                poses[i] = Pose(rotation_onto(axes[i]), foot * axes[i])
            else:
                poses[i] = _facing(axes[i], motions[heir], origins[heir], axes[heir], poses[heir])

    frames: list[BodyFrame] = []
    for i in range(count):
        pose, offset = poses[i], 0.0
        parent = frames[parents[i]].pose if parents[i] >= 0 else Pose()
        if not motions[i].has_axis:
            pose = Pose()
        elif pose is None:  # a slide: as its parent stands, so that no turn is left
            upright = rotation_onto(axes[i])
            turn = origins[i].rotation.T @ parent.rotation if parents[i] >= 0 else upright
            pose = Pose(turn)
        else:
            offset = _offset((parent.inverse() @ origins[i] @ pose).rotation)
        frames.append(BodyFrame(pose, offset))
    return frames


def _heirs(parents: Sequence[int]) -> list[int | None]:
    """For each body the child that carries most bodies, to which its frame is turned."""
    size = [1] * len(parents)
    heirs: list[int | None] = [None] * len(parents)
    for i in reversed(range(len(parents))):
        parent = parents[i]
        if parent >= 0:
            size[parent] += size[i]
            heir = heirs[parent]
            if heir is None or size[i] >= size[heir]:
                heirs[parent] = i
    return heirs


def _facing(
    axis: Array, motion: MotionType, origin: Pose, heir_axis: Array, heir: Pose | None
) -> Pose:
    """Frame on `axis` with x across the heir's axis too, at the foot of the heir's origin."""
    fallback = rotation_onto(axis)[:, 0]
    if not motion.has_axis:
        return _frame(axis, fallback, np.zeros(3))
    direction = origin.rotation @ heir_axis
    point = origin.translation
    if heir is not None:
        point = (origin @ heir).translation
    foot = float(np.dot(point, axis))
    normal = np.cross(axis, direction)
    if float(np.linalg.norm(normal)) > NEARLY_PARALLEL:
        return _frame(axis, normal, foot * axis)
    aside = point - foot * axis
    if float(np.linalg.norm(aside)) > ONE_LINE:
        return _frame(axis, aside, foot * axis)
    if heir is not None:
        along = (origin @ heir).rotation[:, 0]
        return _frame(axis, along - np.dot(along, axis) * axis, foot * axis)
    return _frame(axis, fallback, foot * axis)


def _foot(axis: Array, carrier: Pose, other: Array) -> float:
    """Where the common normal to the carrier's axis `other` ends on `axis`, 0 where that is far."""
    direction = carrier.rotation @ other
    normal = np.cross(axis, direction)
    sine = float(np.linalg.norm(normal))
    if sine <= CROSSING:
        return 0.0
    return float(np.dot(np.cross(carrier.translation, direction), normal)) / sine**2


def _frame(z: Array, x: Array, origin: Array) -> Pose:
    """Right-handed frame with unit z and x along the given direction.

    A short `x`, the difference of long vectors, is perpendicular to z within its rounding only.
    """
    x = x / np.linalg.norm(x)
    x = x - np.dot(x, z) * z
    x = x / np.linalg.norm(x)
    return Pose(np.column_stack([x, np.cross(z, x), z]), origin)


def _offset(rotation: Array) -> float:
    """The angle psi of rotation = Rz(phi) Rx(alpha) Rz(psi) (rad), with phi 0 where possible."""
    sx, sy = rotation[:2, 2]
    if abs(sx) < ZERO_ENTRY:  # phi is 0, which sx and sy give the less well the less the axes turn
        return float(np.arctan2(-rotation[0, 1], rotation[0, 0]))
    cphi, sphi = np.array([-sy, sx]) / np.hypot(sx, sy)
    if cphi < 0:
        cphi, sphi = -cphi, -sphi
    # the first column of Rz(phi) Rx(alpha) is x turned by phi; psi turns it within the xy plane
    x = np.array([cphi, sphi, 0.0])
    return float(np.arctan2(-np.dot(x, rotation[:, 1]), np.dot(x, rotation[:, 0])))


COMPONENTS = ("x", "y", "z", "roll", "pitch", "yaw")
"""Names of an origin's six numbers; see `Origin.six`."""

ENDS = ("predecessor", "successor")
"""The two frames of a loop."""


@dataclass(frozen=True, eq=False)
class Origin:
    """A frame on a link: where a joint leaves its parent, or one of the two frames of a loop.

    pose : in the axes of `link`. axes : (3, 3) as the description has them; its angles are counted
    from these, so that a pitch of a quarter turn is not a singularity. child : the link that a
    joint carries; empty where a loop is closed.
    """

    link: str
    pose: Pose
    axes: Array
    child: str = ""

    @property
    def six(self) -> Array:
        """Position (m), and roll, pitch and yaw (rad) from the described axes, (6,)."""
        turned = self.axes.T @ self.pose.rotation
        return np.array([*self.pose.translation, *roll_pitch_yaw(turned)])

    def at(self, six: Array) -> Pose:
        """The pose at other six numbers."""
        if not six[3:].any():
            return Pose(self.axes, six[:3])
        return Pose(self.axes @ np.array(rotation_from_rpy(*six[3:])), six[:3])

    def angles_from(self, rpy: Array) -> Array:
        """Roll, pitch and yaw (3,) or (N, 3) from the described axes, of those of <origin>."""
        rows = [self.axes.T @ np.array(rotation_from_rpy(*one)) for one in np.atleast_2d(rpy)]
        return np.array([roll_pitch_yaw(one) for one in rows]).reshape(rpy.shape)


def origins(model: Model) -> dict[str, Origin]:
    """The origins of all joints by name, and of loop frames as `loop/predecessor`."""
    found = {
        joint.name: Origin(joint.parent, joint.origin, joint.origin.rotation, joint.child)
        for joint in model.joints
    }
    for loop in model.loops:
        links = loop.predecessor, loop.successor
        frames = loop.predecessor_frame, loop.successor_frame
        for end, link, frame in zip(ENDS, links, frames, strict=True):
            found[f"{loop.name}/{end}"] = Origin(link, frame, frame.rotation)
    return found
