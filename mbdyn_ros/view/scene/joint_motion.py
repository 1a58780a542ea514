"""Where joints put their links: turns as quaternions (w, x, y, z), as viewers take them."""

from __future__ import annotations

import numpy as np

from ...model.blocks import joint_blocks
from ...model.model import Array, Joint, Model, Pose

Placement = tuple[Array, Array]
"""Quaternion (w, x, y, z) and position (3,) (m) of a frame in another."""


def joint_motion(joint: Joint, position: Array) -> Placement:
    """The child's frame in the joint's frame.

    Parameters
    ----------
    position : the joint's coordinates, as `Robot.joint_state` gives them (rad, m).

    Examples
    --------
    >>> from mbdyn_ros.model.model import Joint
    >>> hinge = Joint("hinge", "revolute", "a", "b", axis=[0.0, 0.0, 1.0])
    >>> joint_motion(hinge, np.array([np.pi]))[0].round(12)
    array([0., 0., 0., 1.])
    """
    pose = joint.pose(position)
    return quaternion(pose.rotation), pose.translation


def link_poses(model: Model, position: Array) -> dict[str, Pose]:
    """The pose of every link in the root's frame at a full joint state (n,)."""
    places = {name: block.q for name, block in joint_blocks(model.joints).items()}
    poses = {model.root: Pose()}
    waiting = list(model.joints)
    while waiting:  # joints may be in any order
        later = []
        for joint in waiting:
            if joint.parent not in poses:
                later.append(joint)
                continue
            moved = joint.pose(position[places.get(joint.name, slice(0))])
            poses[joint.child] = poses[joint.parent] @ joint.origin @ moved
        waiting = later
    return poses


def quaternion(matrix: Array) -> Array:
    """The quaternion (w, x, y, z) of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(matrix).as_quat()
    return np.array([w, x, y, z])
