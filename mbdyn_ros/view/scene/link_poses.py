"""Poses of links by the positions of joints, from the root outwards."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...model.model import Array, Joint, Model, Pose
from ...prepare.coordinates import joint_blocks


def outwards(model: Model) -> Iterator[Joint]:
    """The joints in any order of the description, each after the one that moves its parent."""
    links = [model.root]
    for link in links:  # grows as it is read
        for joint in model.joints:
            if joint.parent == link:
                links.append(joint.child)
                yield joint


def link_poses(model: Model, position: Array) -> dict[str, Pose]:
    """The pose of every link in the root's frame at a full joint state (n,)."""
    places = {name: block.q for name, block in joint_blocks(model.joints).items()}
    poses = {model.root: Pose()}
    for joint in outwards(model):
        moved = joint.pose(position[places.get(joint.name, slice(0))])
        poses[joint.child] = poses[joint.parent] @ joint.origin @ moved
    return poses


def quaternion(matrix: Array) -> Array:
    """The quaternion (w, x, y, z), as viewers take it, of a rotation matrix (Shepperd 1978).

    Examples
    --------
    >>> quaternion(np.diag([-1.0, -1.0, 1.0]))
    array([0., 0., 0., 1.])
    """
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)  # of w, x, y, z, by 4
    products = (
        (squares[0], h - f, c - g, d - b), (h - f, squares[1], d + b, c + g),
        (c - g, d + b, squares[2], h + f), (d - b, c + g, h + f, squares[3]),
    )  # fmt: skip
    largest = squares.index(max(squares))
    return np.array(products[largest]) / (2 * math.sqrt(squares[largest]))
