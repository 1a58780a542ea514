"""The moving bodies of a model: fixed joints lumped, parents first, joint axes along z.

A `Tree` is the form in which the formulations see a robot. Links joined by fixed joints are one
`Body`; a joint of several motions (a planar one: two slides and a turn) has massless bodies
between; every axis of turning is the z axis of its body's frame (see `axes`). All of it is
exact: the frames move, the robot does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import ModelError
from ..model.inertia import RigidInertia
from ..model.joints import MotionType
from ..model.model import ACTING, BASE_JOINT, Array, Inertia, Joint, Model, Pose, constant
from ..model.pose import noise, snap, without_noise
from .axes import body_axes
from .coordinates import JointBlock, base_joint, coordinates

WORLD = -1
"""Index of the world among the bodies."""


@dataclass(frozen=True, eq=False)
class Body:
    """A moving body and the joint that moves it.

    At position q the body's frame stands in its parent's frame at `placement` and the motion by
    q, an angle about the z axis being `q + offset`. `q` and `v` are its tree coordinates; `label`
    names its motion, in a joint that has several, `part_of` is that of `Joint`, and so are the
    numbers that act on its coordinates.
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
