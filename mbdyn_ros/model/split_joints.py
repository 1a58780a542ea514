"""Joints of several coordinates written as joints of one, as loops count them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from .joints.types import JOINT_TYPES, MotionType
from .model import ACTING, Array, Joint, Limits, Link, Model, Pose, constant


def joints_of_parts(model: Model, names: Iterable[object]) -> set[str]:
    """The joints of several coordinates of which parts (a planar `joint/x`) are named.

    One that has a quaternion has parts in a loop only.
    """
    whole = [one for one in model.joints if _has_quaternion(one)]
    outside = {one.name for one in whole} - _joints_in_loops(model) if whole else set()
    whole_of = {part: one.name for one in model.joints for part in parts(one)}
    named = {whole_of[name] for name in names if isinstance(name, str) and name in whole_of}
    return named - outside


def quaternions_in_loops(model: Model) -> set[str]:
    """The joints with a quaternion (floating and spherical ones) that a loop passes through."""
    whole = {one.name for one in model.joints if _has_quaternion(one)}
    return whole & _joints_in_loops(model) if whole else whole


def split_joints(model: Model, names: Collection[str]) -> Model:
    """The robot with some joints of several coordinates as a joint for each motion.

    A planar one becomes `joint/x`, `joint/y` (prismatic) and `joint/theta` (continuous), with
    links `joint/x` and `joint/y` of no mass between; a floating one `joint/x`, `joint/y`,
    `joint/z`, `joint/yaw`, `joint/pitch` and `joint/roll`, the pose of its child as an `<origin>`
    gives it; a spherical one the last three. Where the description chooses the joint, it chooses
    all of them.
    """
    if not names:
        return model
    links, joints = list(model.links), []
    for joint in model.joints:
        if joint.name not in names:
            joints.append(joint)
            continue
        names_of, origin, parent = parts(joint), joint.origin, joint.parent
        children = [*names_of[:-1], joint.child]
        links += [Link(name, line=joint.line) for name in names_of[:-1]]
        for name, child, step in zip(names_of, children, joint.kind.single_steps, strict=True):
            joints.append(
                replace(
                    joint, name=name, type=_type_of(step.motion), parent=parent, child=child,
                    origin=origin, axis=step.direction(joint.axis), limits=Limits(),
                    part_of=joint.name,
                )
            )  # fmt: skip
            parent, origin = child, Pose()

    def chosen(those: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if those is None:
            return None
        return tuple(
            part
            for name in those
            for part in (parts(model.joint(name)) if name in names else [name])
        )

    return replace(
        model,
        links=tuple(links),
        joints=tuple(joints),
        independent=chosen(model.independent),
        actuated=chosen(model.actuated),
        driven=chosen(model.driven) or (),
    )


def whole_joints(model: Model) -> Model:
    """The robot with the joints whole that `split_joints` took apart; choices still name parts."""
    groups: dict[str, list[Joint]] = {}
    for joint in model.joints:
        if joint.part_of is not None:
            groups.setdefault(joint.part_of, []).append(joint)
    whole = {name: _joined(name, those) for name, those in groups.items()}
    inner = {one.child for name in whole if whole[name] for one in groups[name][:-1]}
    joints: list[Joint] = []
    for joint in model.joints:
        one = whole.get(joint.part_of or "")
        if one is None:
            joints.append(joint)
        elif joint.name == groups[one.name][0].name:
            joints.append(one)
    links = tuple(link for link in model.links if link.name not in inner)
    return replace(model, links=links, joints=tuple(joints))


def _joined(name: str, those: list[Joint]) -> Joint | None:
    """The joint of which those are the parts; None where its frames were turned
    since, or different numbers act on them."""
    first, *others = those
    if len({tuple(getattr(one, name) for name in ACTING) for one in those}) > 1:
        return None
    if any(
        one.origin.translation.any() or (one.origin.rotation != np.eye(3)).any() for one in others
    ):
        return None
    names = [one.name for one in those]
    for kind in JOINT_TYPES.values():
        whole = replace(first, name=name, type=kind.name, child=those[-1].child, part_of=None)
        if parts(whole) == names:
            if kind.name == "universal":
                return replace(whole, axis=np.cross(first.axis, those[-1].axis))
            return replace(whole, axis=those[-1].axis if kind.has_axis else constant(X, (3,)))
    return None


X = (1.0, 0.0, 0.0)


def turned_from(model: Model, whole: str, rotation: Array) -> Model:
    """The robot with yaw, pitch and roll of the joint `whole`, taken apart, counted from there."""
    first = f"{whole}/yaw"
    joints = (
        replace(one, origin=one.origin @ Pose(rotation)) if one.name == first else one
        for one in model.joints
    )
    return replace(model, joints=tuple(joints))


def parts(joint: Joint) -> list[str]:
    """The names of the motions of a joint that has several."""
    steps = joint.kind.single_steps
    return [f"{joint.name}/{step.name}" for step in steps] if len(steps) > 1 else []


def _type_of(motion: MotionType) -> str:
    """The type of joint that makes that motion alone; the endless one if there is one."""
    types = [one for one in JOINT_TYPES.values() if [s.motion for s in one.steps] == [motion]]
    return max(types, key=lambda one: one.is_endless).name


def _has_quaternion(joint: Joint) -> bool:
    return any(step.motion.quaternion is not None for step in joint.kind.steps)


def _joints_in_loops(model: Model) -> set[str]:
    """The joints between the two links of each loop, fixed ones too."""

    def above(link: str) -> set[str]:
        names = set()
        while (joint := model.joint_to(link)) is not None:
            names.add(joint.name)
            link = joint.parent
        return names

    ends = [above(loop.predecessor) ^ above(loop.successor) for loop in model.loops]
    return set().union(*ends)
