"""Joints of several motions written as joints of one, where a loop ties only some of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from .joints import JOINT_TYPES, Motion
from .model import Joint, Limits, Link, Model, Pose


def joints_of_parts(model: Model, names: Iterable[object]) -> set[str]:
    """The joints of several motions of which parts (a planar `joint/x`) are named."""
    parts = {part: joint.name for joint in model.joints for part in _parts(joint)}
    return {parts[name] for name in names if isinstance(name, str) and name in parts}


def split_joints(model: Model, names: Collection[str]) -> Model:
    """The robot with some joints of several motions as a joint for each motion.

    They are called as their coordinates are: a planar one `joint/x`, `joint/y` (prismatic) and
    `joint/theta` (continuous), with links `joint/x` and `joint/y` of no mass between. Where the
    description chooses the joint, it chooses all of them.
    """
    if not names:
        return model
    links, joints = list(model.links), []
    for joint in model.joints:
        if joint.name not in names:
            joints.append(joint)
            continue
        parts, origin, parent = _parts(joint), joint.origin, joint.parent
        children = [*parts[:-1], joint.child]
        links += [Link(name, line=joint.line) for name in parts[:-1]]
        for name, child, (_, motion, axis) in zip(parts, children, joint.motions(), strict=True):
            joints.append(
                replace(
                    joint, name=name, type=_type_of(motion), parent=parent, child=child,
                    origin=origin, axis=axis, limits=Limits(),
                )
            )  # fmt: skip
            parent, origin = child, Pose()

    def chosen(those: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if those is None:
            return None
        return tuple(
            part
            for name in those
            for part in (_parts(model.joint(name)) if name in names else [name])
        )

    return replace(
        model,
        links=tuple(links),
        joints=tuple(joints),
        independent=chosen(model.independent),
        actuated=chosen(model.actuated),
        driven=chosen(model.driven) or (),
    )


def _parts(joint: Joint) -> list[str]:
    """The names of the motions of a joint that has several."""
    steps = joint.kind.steps
    return [f"{joint.name}/{step.name}" for step in steps] if len(steps) > 1 else []


def _type_of(motion: Motion) -> str:
    """The type of joint that makes that motion alone; the endless one if there is one."""
    types = [one for one in JOINT_TYPES.values() if [s.motion for s in one.steps] == [motion]]
    return max(types, key=lambda one: one.is_endless).name
