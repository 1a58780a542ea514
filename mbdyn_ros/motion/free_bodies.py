"""The pose and twist of what floats: a floating base, or a link on a floating joint."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..model.model import BASE_JOINT, Model, Pose
from ..prepare.coordinates import joint_blocks
from ..robot import Robot


@dataclass(frozen=True)
class FreeBody:
    """A link that floats in the world.

    link : its name. origin : where it is in the world at the position (0, 0, 0, 0, 0, 0, 1).
    q, v : where its numbers are in those of the robot.
    """

    link: str
    origin: Pose
    q: slice
    v: slice

    @staticmethod
    def of(robot: Robot, link: str) -> FreeBody | None:
        """That of a link, on the robot's root or the root itself; None where it does not float."""
        model, name, origin = robot.model, BASE_JOINT, Pose()
        if robot.floating_base:
            if link != model.root:
                return None
        else:
            joint = model.joint_to(link)
            if joint is None or joint.type != "floating" or joint.parent != model.root:
                return None
            name, origin = joint.name, joint.origin
        block = robot.system.coordinates.blocks.get(name)
        return None if block is None else FreeBody(link, origin, block.q, block.v)

    @functools.cached_property
    def _counts_in_world(self) -> bool:
        """Whether its numbers are its pose, as those of a floating base, which is asked often."""
        return np.array_equal(self.origin.matrix(), np.eye(4))

    @staticmethod
    def every(robot: Robot) -> list[FreeBody]:
        """All those of a robot."""
        found = (FreeBody.of(robot, link.name) for link in robot.model.links)
        return [one for one in found if one is not None]

    def pose(self, q: Array) -> Array:
        """x y z qx qy qz qw (7,) in the world, m."""
        if self._counts_in_world:
            return q[self.q].copy()
        from scipy.spatial.transform import Rotation  # slow to import

        own, turn = q[self.q], self.origin.rotation
        turned = Rotation.from_matrix(turn) * Rotation.from_quat(own[3:])
        return np.array([*self.origin.translation + turn @ own[:3], *turned.as_quat()])

    def place(self, q: Array, pose: Array) -> None:
        """Change positions (nq,) so that it has a pose x y z qx qy qz qw (7,) in the world."""
        from scipy.spatial.transform import Rotation

        back = self.origin.rotation.T
        turned = Rotation.from_matrix(back) * Rotation.from_quat(pose[3:])
        q[self.q] = [*back @ (pose[:3] - self.origin.translation), *turned.as_quat()]

    def drive(self, q: Array, v: Array, twist: Array) -> None:
        """Change velocities (nv,) so that at q it has a twist (6,) in world axes, linear first."""
        from scipy.spatial.transform import Rotation

        back = Rotation.from_quat(self.pose(q)[3:]).inv()
        v[self.v] = [*back.apply(twist[:3]), *back.apply(twist[3:])]


def free_joints(model: Model) -> list[FreeBody]:
    """Of a model whose joints are as they are moved, all links on floating joints of its root.

    Their q and v are those of all joints, one after the other.
    """
    blocks = joint_blocks(model.joints)
    return [
        FreeBody(joint.child, joint.origin, blocks[joint.name].q, blocks[joint.name].v)
        for joint in model.joints
        if joint.type == "floating" and joint.parent == model.root
    ]
