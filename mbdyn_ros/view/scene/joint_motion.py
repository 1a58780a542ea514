"""Where joints put their links: turns as quaternions (w, x, y, z), as viewers take them."""

from __future__ import annotations

import math

import numpy as np

from ...model.axes import rotation_onto
from ...model.model import Array, Joint, Model, Pose
from ...model.read.placement import rotation_from_quaternion

Placement = tuple[Array, Array]
"""Quaternion (w, x, y, z) and position (3,) (m) of a frame in another."""

STILL: Placement = (np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))


def joint_motion(joint: Joint, position: Array) -> Placement:
    """The child's frame in the joint's frame.

    Parameters
    ----------
    position : the joint's coordinates, as `Robot.joint_state` gives them (rad, m).

    Examples
    --------
    >>> from mbdyn_ros.model.model import Joint
    >>> hinge = Joint("hinge", "revolute", "a", "b", axis=[0.0, 0.0, 1.0])
    >>> joint_motion(hinge, np.array([math.pi]))[0].round(12)
    array([0., 0., 0., 1.])
    """
    if joint.type in ("revolute", "continuous"):
        return _turn(joint.axis, float(position[0])), STILL[1]
    if joint.type == "prismatic":
        return STILL[0], joint.axis * position[0]
    if joint.type == "floating":
        x, y, z, w = position[3:] / np.linalg.norm(position[3:])
        return np.array([w, x, y, z]), position[:3]
    if joint.type == "planar":
        plane = rotation_onto(joint.axis)[:, :2]
        return _turn(joint.axis, float(position[2])), plane @ position[:2]
    return STILL


def joint_slices(model: Model) -> dict[str, slice]:
    """Where the coordinates of every movable joint stand in a full joint state."""
    result, start = {}, 0
    for joint in model.joints:
        if joint.nq:
            result[joint.name] = slice(start, start + joint.nq)
            start += joint.nq
    return result


def link_poses(model: Model, position: Array) -> dict[str, Pose]:
    """The pose of every link in the root's frame at a full joint state (n,)."""
    places = joint_slices(model)
    poses = {model.root: Pose()}
    waiting = list(model.joints)
    while waiting:  # joints may be in any order
        later = []
        for joint in waiting:
            if joint.parent not in poses:
                later.append(joint)
                continue
            turn, shift = joint_motion(joint, position[places.get(joint.name, slice(0))])
            poses[joint.child] = poses[joint.parent] @ joint.origin @ Pose(rotation(turn), shift)
        waiting = later
    return poses


def rotation(turn: Array) -> Array:
    """The rotation matrix of a quaternion (w, x, y, z)."""
    w, x, y, z = turn.tolist()
    return np.array(rotation_from_quaternion(x, y, z, w))


def quaternion(matrix: Array) -> Array:
    """The quaternion (w, x, y, z) of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(matrix).as_quat()
    return np.array([w, x, y, z])


def _turn(axis: Array, angle: float) -> Array:
    half = angle / 2
    return np.array([math.cos(half), *(math.sin(half) * axis)])
