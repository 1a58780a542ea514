"""Planar joints written as two slides and a turn, where a loop ties only some of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from .axes import rotation_onto
from .model import JOINT_COORDINATES, Joint, Limits, Link, Model, Pose

PARTS = JOINT_COORDINATES["planar"][0]


def joints_of_parts(model: Model, names: Iterable[object]) -> set[str]:
    """The planar joints of which parts (`joint/x`, `joint/y`, `joint/theta`) are named."""
    planar = {f"{one.name}/{part}": one.name for one in model.joints if one.type == "planar"
              for part in PARTS}  # fmt: skip
    return {planar[name] for name in names if isinstance(name, str) and name in planar}


def split_planar(model: Model, names: Collection[str]) -> Model:
    """The same robot with some planar joints as three joints of one freedom each.

    They are called as their coordinates are: `joint/x`, `joint/y` (prismatic) and `joint/theta`
    (continuous), with links `joint/x` and `joint/y` of no mass between. Where the description
    chooses the planar joint, it chooses all three.
    """
    if not names:
        return model
    links, joints = list(model.links), []
    for joint in model.joints:
        if joint.name not in names:
            joints.append(joint)
            continue
        across = rotation_onto(joint.axis)
        x, y, theta = (f"{joint.name}/{part}" for part in PARTS)
        links += [Link(x, line=joint.line), Link(y, line=joint.line)]
        slide = replace(joint, type="prismatic", limits=Limits())
        joints += [
            replace(slide, name=x, child=x, axis=across[:, 0]),
            replace(slide, name=y, parent=x, child=y, origin=Pose(), axis=across[:, 1]),
            Joint(
                theta, "continuous", y, joint.child, axis=joint.axis, damping=joint.damping,
                friction=joint.friction, line=joint.line,
            ),
        ]  # fmt: skip

    def parts(chosen: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if chosen is None:
            return None
        return tuple(
            part
            for name in chosen
            for part in ([f"{name}/{part}" for part in PARTS] if name in names else [name])
        )

    return replace(
        model,
        links=tuple(links),
        joints=tuple(joints),
        independent=parts(model.independent),
        actuated=parts(model.actuated),
    )
