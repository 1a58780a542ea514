"""Placements that were composed: joints whose child has its frame elsewhere than they leave it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model import Joint, Link, Pose
from ..pose import COMPOSED, snap, snapped

TURNED_ALONG = ("revolute", "continuous", "prismatic", "screw", "spherical", "floating")
"""Types whose motion is the same when joint and axis are turned alike."""


def placed_joint(joint: Joint, end: Pose) -> tuple[list[Joint], list[Link]]:
    """The joint to its child where that is at `end` in the frame that the joint moves.

    Where another place of the joint on its axis will do, that is all. Else the joint moves the
    link `name/axis` of no mass, to which the joint `name/end` fixes the child.

    Returns
    -------
    joints, links
        The joints that replace it, and the links between.
    """
    origin, axis, kind = joint.origin, joint.axis, joint.kind
    if not kind.nv:
        return [replace(joint, origin=snapped(origin @ end))], []
    if joint.type in TURNED_ALONG:
        origin, axis = origin @ Pose(end.rotation), end.rotation.T @ axis
        end = Pose(translation=end.rotation.T @ end.translation)
        along = end.translation
        if joint.type != "prismatic":
            along = axis * (axis @ along) if kind.has_axis else np.zeros(3)
        origin, end = origin @ Pose(translation=along), Pose(translation=end.translation - along)
    joint = replace(joint, origin=snapped(origin), axis=snap(axis, within=COMPOSED))
    end = snapped(end)
    if np.array_equal(end.matrix(), np.eye(4)):
        return [joint], []
    between = Link(f"{joint.name}/axis", line=joint.line)
    fixed = Joint(f"{joint.name}/end", "fixed", between.name, joint.child, end, line=joint.line)
    return [replace(joint, child=between.name), fixed], [between]
