"""Poses of links relative to one another, quaternions (x, y, z, w), and angles that repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..array import Array
from ..model.closing_types import Translation
from ..model.model import Loop
from ..robot import Robot


def relative_pose(robot: Robot, q: Array, parent: str, child: str) -> Array:
    """The pose (4, 4) of a link in the frame of another, m."""
    above, below = robot.frame_pose(q, parent), robot.frame_pose(q, child)
    return np.asarray(np.linalg.solve(above, below), dtype=np.float64)


def turned_with(robot: Robot, q: Array, link: str, vector: Array) -> Array:
    """A vector (3,) fixed in a link and given in its axes, in those of the world."""
    turned: Array = robot.frame_pose(q, link)[:3, :3] @ vector
    return turned


def point_jacobian(robot: Robot, q: Array, link: str, point: Array) -> Array:
    """The Jacobian (6, nv) of a point (3,), m, fixed in a link and given in its frame.

    Linear rows, then angular ones, in world axes, as `Robot.jacobian` has them of the origin.
    """
    jacobian = robot.jacobian(q, link).copy()
    arm = turned_with(robot, q, link, point)
    jacobian[:3] -= np.cross(arm, jacobian[3:], axis=0)
    return jacobian


def loop_gap(robot: Robot, q: Array, loop: Loop) -> Array:
    """The displacement (3,) between a loop's frames along which its joint cannot slide, m.

    From the predecessor's loop frame, in the axes of the predecessor.
    """
    there = relative_pose(robot, q, loop.predecessor, loop.successor) @ np.array(
        [*loop.successor_frame.translation, 1.0]
    )
    gap: Array = there[:3] - loop.predecessor_frame.translation
    axis = loop.predecessor_frame.rotation @ loop.axis
    along = axis * (axis @ gap)
    constrained = {
        Translation.NOWHERE: gap,
        Translation.ALONG: gap - along,
        Translation.ACROSS: along,
    }
    return constrained[loop.closing.slide]


def loop_force(loop: Loop, wrench: Array) -> Array:
    """The force (3,), N, of a loop's wrench (6,) in its own frame, in the predecessor's axes."""
    force: Array = loop.predecessor_frame.rotation @ wrench[:3]
    return force


def pose_numbers(matrix: Array) -> Array:
    """x y z qx qy qz qw (7,) of a homogeneous matrix (4, 4)."""
    return np.array([*matrix[:3, 3], *quaternion_of(matrix[:3, :3])])


def quaternion_of(rotation: Array) -> Array:
    """The unit quaternion (4,) of a rotation (3, 3)."""
    from scipy.spatial.transform import Rotation  # slow to import

    quaternion: Array = Rotation.from_matrix(rotation).as_quat()
    return quaternion


def rotation_of(quaternion: Array) -> Array:
    """The rotation (3, 3) of a quaternion (4,), of any length but zero."""
    from scipy.spatial.transform import Rotation

    rotation: Array = Rotation.from_quat(quaternion).as_matrix()
    return rotation


def rotation_from_x(axis: Array) -> Array:
    """The quaternion (4,) of the shortest rotation of the x axis to a unit vector (3,)."""
    x, y, z = axis.tolist()
    if x < -1 + 1e-12:
        return np.array([0.0, 0.0, 1.0, 0.0])
    quaternion = np.array([0.0, -z, y, 1 + x])
    normalized: Array = quaternion / np.linalg.norm(quaternion)
    return normalized


def path_length(places: Array) -> float:
    """The length of the straight lines between places (N, 3), m."""
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


class Turns:
    """The coordinates that differ by whole turns from what means the same.

    Those of `continuous` joints, except for joints that a coupling or a mimic ties to others: those
    stand elsewhere after a turn.

    Parameters
    ----------
    robot : without quaternions among the coordinates.
    labels : of the coordinates.
    """

    def __init__(self, robot: Robot, labels: Sequence[str]) -> None:
        system = robot.system
        geared = {
            system.tree.bodies[body].joint
            for linkage in system.linkages
            for gear in linkage.cluster.gears
            for body, _ in gear.factors
        }
        endless = {
            name
            for name, block in system.coordinates.joint_blocks.items()
            if block.kind.is_endless and block.kind.nv == 1 and name not in geared
        }
        self._turning = np.array([label in endless for label in labels], dtype=bool)

    def shortest(self, difference: Array) -> Array:
        """A displacement (n,) without its full turns, from minus half a turn to half a turn."""
        return np.where(
            self._turning, difference - math.tau * np.round(difference / math.tau), difference
        )
