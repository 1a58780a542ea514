"""Joints as SDF counts them: single coordinates, at 0 as in the file, coupled by mimics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..closing_types import Translation
from ..model import Array, Combination, Joint, Link, Loop, Mimic, Model, Pose, factors_of
from ..pose import rotation_onto
from ..roll_pitch_yaw import roll_pitch_yaw
from ..split_joints import parts, split_joints
from .mjcf_closures import link_pose

LOST_COUPLING = "the coupling "
"""First words of the note on a coupling that SDF cannot express."""


def counted_from_home(model: Model, home: Mapping[str, Array], omitted: list[str]) -> Model:
    """The model in joints that SDF has; at 0 where its loops are closed.

    home : positions (nq,) of every joint that moves, the loops closed.
    """
    moved = {
        joint.name
        for joint in model.joints
        if joint.nv and np.abs(home[joint.name] - joint.kind.neutral()).max() > 0
    }
    shifts = bool(model.loops and moved)
    several = ("planar", "floating", "universal") if shifts else ("planar", "floating")
    split = [joint for joint in model.joints if joint.type in several]
    if split:
        omitted.append(
            f"joints of several coordinates ({', '.join(joint.name for joint in split)}): each is "
            "several joints, with links of hardly any mass between"
        )
        home = {**home, **{name: x for joint in split for name, x in _parts(joint, home).items()}}
        model = split_joints(model, {joint.name for joint in split})
    if not shifts:
        return model
    omitted.append(
        "positions as they count here: in SDF loops are closed where all joints are 0, so that "
        "joints count from home"
    )
    return replace(
        model,
        joints=tuple(_counted(joint, home) if joint.nv else joint for joint in model.joints),
        couplings=tuple(
            replace(one, offset=one.offset - sum(factor * home[name][0] for name, factor in
                                                 one.factors))
            if isinstance(one, Combination) else one
            for one in model.couplings
        ),
    )  # fmt: skip


def _parts(joint: Joint, home: Mapping[str, Array]) -> dict[str, Array]:
    """Positions of the parts of a joint, by name."""
    q = home[joint.name]
    if joint.type == "floating":
        q = np.array([*q[:3], *roll_pitch_yaw(joint.pose(q).rotation)[::-1]])
    return {name: q[k : k + 1] for k, name in enumerate(parts(joint))}


def _counted(joint: Joint, home: Mapping[str, Array]) -> Joint:
    """The joint with its home position as 0."""
    q = home[joint.name]
    origin = joint.origin @ joint.pose(q)
    if joint.nv > 1:
        return replace(joint, origin=origin)
    x, mimic = float(q[0]), joint.mimic
    if mimic is not None:
        there = float(home[mimic.joint][0])
        mimic = replace(mimic, offset=mimic.multiplier * there + mimic.offset - x)
    limits = replace(joint.limits, lower=joint.limits.lower - x, upper=joint.limits.upper - x)
    reference = joint.spring_reference - x if joint.spring_stiffness else 0.0
    return replace(joint, origin=origin, limits=limits, mimic=mimic, spring_reference=reference)


def with_single_mimics(model: Model, omitted: list[str]) -> Model:
    """The model with its couplings as mimics of joints that have none; others are reported."""
    joints = {joint.name: joint for joint in model.joints}
    for coupling in model.couplings:
        offset = coupling.offset if isinstance(coupling, Combination) else 0.0
        factors = factors_of(model, coupling)
        curved = isinstance(coupling, Combination) and coupling.followers
        if len(factors) == 2 and not curved:
            (one, first), (two, second) = factors
            ways = [(one, two, first, second), (two, one, second, first)]
            free = [way for way in ways if joints[way[0]].mimic is None
                    and not _follows(joints, way[1], way[0])]  # fmt: skip
            if free:
                follower, leader, own, other = free[0]
                mimic = Mimic(leader, -other / own, offset / own)
                joints[follower] = replace(joints[follower], mimic=mimic)
                continue
        coupled = ", ".join(name for name, _ in factors)
        omitted.append(f'{LOST_COUPLING}"{coupling.name}" of {coupled}')
    return replace(model, joints=tuple(joints.values()), couplings=())


def _follows(joints: Mapping[str, Joint], name: str, leader: str) -> bool:
    """Whether a joint mimics another one, through others too."""
    mimic = joints[name].mimic
    while mimic is not None:
        if mimic.joint == leader:
            return True
        mimic = joints[mimic.joint].mimic
    return False


def apart_at_zero(model: Model, loop: Loop) -> Pose:
    """The successor's loop frame in the predecessor's, with all joints at 0."""
    zero = {joint.name: np.array(joint.kind.neutral()) for joint in model.joints if joint.nv}
    one = link_pose(model, zero, loop.predecessor) @ loop.predecessor_frame
    return one.inverse() @ link_pose(model, zero, loop.successor) @ loop.successor_frame


def with_single_closings(model: Model, omitted: list[str]) -> Model:
    """The model with closing joints of several ways as joints in a row, a hinge the last."""
    links, joints, loops = list(model.links), list(model.joints), []
    for loop in model.loops:
        slide = loop.closing.slide
        if slide is Translation.NOWHERE or loop.type == "prismatic":
            loops.append(loop)
            continue
        omitted.append(
            f'the loop "{loop.name}" as one joint: it is {loop.type}, and becomes several, with '
            "links of hardly any mass between"
        )
        plane = rotation_onto(loop.axis)
        ways = [loop.axis] if slide is Translation.ALONG else [plane[:, 0], plane[:, 1]]
        link = loop.predecessor
        there = Pose(np.eye(3), apart_at_zero(model, loop).translation)
        origin = loop.predecessor_frame @ there
        for k, way in enumerate(ways):
            name = f"{loop.name}/way{k}"
            joints.append(Joint(name, "prismatic", link, f"{name}/link", origin, way))
            links.append(Link(f"{name}/link"))
            link, origin = f"{name}/link", Pose()
        loops.append(replace(loop, type="revolute", predecessor=link, predecessor_frame=origin))
    return replace(model, links=tuple(links), joints=tuple(joints), loops=tuple(loops))


def with_own_names(model: Model, omitted: list[str]) -> Model:
    """The model with other names of joints and loops that are called like a link, or a joint."""
    taken = {link.name for link in model.links}
    new: dict[str, str] = {}
    own: list[Joint | Loop] = [*model.joints, *model.loops]
    for one in own:
        name = one.name
        while name in taken:
            name += "_joint" if isinstance(one, Joint) else "_loop"
        taken.add(name)
        if name != one.name:
            omitted.append(f'the name "{one.name}" of a joint, which a link has: it is "{name}"')
        new.setdefault(one.name, name)
    joints = (
        replace(
            joint,
            name=new[joint.name],
            mimic=joint.mimic and replace(joint.mimic, joint=new[joint.mimic.joint]),
        )
        for joint in model.joints
    )
    loops = (replace(loop, name=new[loop.name]) for loop in model.loops)
    return replace(model, joints=tuple(joints), loops=tuple(loops))
