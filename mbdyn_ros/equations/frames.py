"""Where the links are, how they move, and what coordinates do to them.

Rows are linear, then angular. Three kinds of axes (`AXES`):

    world     the motion of the link's origin, in world axes
    local     the same, in the link's own axes
    spatial   the motion of the link's point that is at the world's origin, in world axes

Pinocchio calls them LOCAL_WORLD_ALIGNED, LOCAL and WORLD.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from ..prepare.tree import WORLD
from ..program.program import program
from .algebra.spatial import SX, JointMotion, constant, cross, homogeneous, skew
from .system import System
from .tree import kinematics
from .tree.newton_euler import forward_pass

AXES = ("world", "local", "spatial")
"""In which axes, and of which point, the motion of a link is expressed."""


class Frame(NamedTuple):
    """A link, and the axes in which its motion is expressed."""

    link: str
    axes: str

    def __str__(self) -> str:
        return f"{self.link} in {self.axes} axes"


@program("q", output="pose", matrix=True, about="link")
def frame_pose(system: System, q: SX, z: SX, link: str) -> SX:
    """Homogeneous matrix (4, 4) of a link's frame in the world."""
    return homogeneous(*_pose(system, system.embedding(q, z).joints, link))


@program("q v", output="velocity", about="frame")
def frame_velocity(system: System, q: SX, z: SX, v: SX, frame: Frame) -> SX:
    """Linear and angular velocity (6, 1) of a link."""
    if system.tree.frames[frame.link][0] == WORLD:
        return SX.zeros(6)
    embedding = system.embedding(q, z)
    linear, angular = _velocity(system, embedding.joints, embedding.velocity(v), frame.link)
    return _in_frame(system, embedding.joints, frame, linear, angular)


@program("q v a", output="acceleration", about="frame")
def frame_acceleration(system: System, q: SX, z: SX, v: SX, a: SX, frame: Frame) -> SX:
    """Linear and angular acceleration (6, 1) of a link: classical ones of its origin, and in
    spatial axes the rate of its spatial velocity."""
    index, pose = system.tree.frames[frame.link]
    if index == WORLD:
        return SX.zeros(6)
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    joints, still = embedding.joints, 0 * system.gravity
    motion = forward_pass(system.tree, joints, velocity, acceleration, still)[index]
    rotation, _ = kinematics.body_poses(system.tree, joints)[index]
    linear = rotation @ (motion.a + motion.tensor @ constant(pose.translation))
    angular = rotation @ motion.alpha
    if frame.axes == "spatial":
        speed, spin = _velocity(system, joints, velocity, frame.link)
        linear = linear - cross(spin, speed)
    return _in_frame(system, joints, frame, linear, angular)


@program("q", output="jacobian", matrix=True, about="frame")
def jacobian(system: System, q: SX, z: SX, frame: Frame) -> SX:
    """Jacobian (6, nv) of a link: its linear and angular velocity per velocity coordinate."""
    if system.tree.frames[frame.link][0] == WORLD:
        return SX.zeros(6, system.coordinates.nv)
    embedding = system.embedding(q, z)
    columns = _columns(system, embedding.joints, frame.link) @ embedding.matrix
    return ca.densify(_in_frame(system, embedding.joints, frame, columns[:3, :], columns[3:, :]))


@program("q point:3 turning", output="columns", matrix=True, about="link", internal=True)
def wrench_columns(system: System, q: SX, z: SX, point: SX, turning: SX, link: str) -> SX:
    """Efforts (nv, 6) of a force and a torque at a point of a link, in its axes, of like sizes.

    Torques are over the link's lever, and so are efforts of the coordinates that turn (`turning`
    1, else 0). Two columns more: what efforts were multiplied with, and the lever (m).
    """
    columns = jacobian(system, q, z, Frame(link, "local"))
    angular = columns[3:, :]
    linear = columns[:3, :] - skew(point) @ angular
    spun, moved = ca.sumsqr(angular), ca.sumsqr(linear)
    usual = ca.logic_and(spun > 0, moved > 0)
    lever = ca.if_else(usual, ca.sqrt(moved / ca.if_else(usual, spun, 1)), 1)
    scale = 1 + turning * (1 / lever - 1)
    efforts = ca.vertcat(linear, lever * angular).T * ca.repmat(scale, 1, 6)
    return ca.densify(ca.horzcat(efforts, scale, ca.repmat(lever, scale.shape[0], 1)))


@program("q v", output="rate", matrix=True, about="frame", differentiated=True)
def jacobian_rate(system: System, q: SX, z: SX, v: SX, frame: Frame) -> SX:
    """Rate (6, nv) of the Jacobian of a link along a motion, dJ/dt."""
    index, _ = system.tree.frames[frame.link]
    if index == WORLD:
        return SX.zeros(6, system.coordinates.nv)
    embedding = system.embedding(q, z)
    tree, joints, velocity = system.tree, embedding.joints, embedding.velocity(v)
    speed, spin = _velocity(system, joints, velocity, frame.link)
    _, point = _pose(system, joints, frame.link)
    columns = _columns(system, joints, frame.link)
    rate = kinematics.jacobian_rate(tree, joints, velocity, index, point, speed)
    rate = rate @ embedding.matrix + columns @ system.matrix_rate(embedding, q, z, v)
    linear, angular = rate[:3, :], rate[3:, :]
    if frame.axes != "world":
        columns = columns @ embedding.matrix
    if frame.axes == "spatial":  # of linear + p x angular
        linear = linear + skew(speed) @ columns[3:, :]
    if frame.axes == "local":  # of R^T J
        linear = linear - skew(spin) @ columns[:3, :]
        angular = angular - skew(spin) @ columns[3:, :]
    return ca.densify(_in_frame(system, joints, frame, linear, angular))


def _pose(system: System, joints: Sequence[JointMotion], link: str) -> tuple[SX, SX]:
    """Rotation (3, 3) and origin (3, 1) of a link in the world."""
    index, pose = system.tree.frames[link]
    rotation, origin = SX.eye(3), SX.zeros(3)
    if index != WORLD:
        rotation, origin = kinematics.body_poses(system.tree, joints)[index]
    origin = origin + rotation @ constant(pose.translation)
    return rotation @ constant(pose.rotation), origin


def _velocity(
    system: System, joints: Sequence[JointMotion], velocity: SX, link: str
) -> tuple[SX, SX]:
    """Velocity of the origin of a link that moves, and angular velocity (3, 1), world axes."""
    index, pose = system.tree.frames[link]
    spin, speed = kinematics.body_velocities(system.tree, joints, velocity)[index]
    rotation, _ = kinematics.body_poses(system.tree, joints)[index]
    return rotation @ (speed + cross(spin, constant(pose.translation))), rotation @ spin


def _columns(system: System, joints: Sequence[JointMotion], link: str) -> SX:
    """Jacobian (6, nv_tree) of the origin of a link that moves, in world axes."""
    _, origin = _pose(system, joints, link)
    return kinematics.jacobian(system.tree, joints, system.tree.frames[link][0], origin)


def _in_frame(
    system: System, joints: Sequence[JointMotion], frame: Frame, linear: SX, angular: SX
) -> SX:
    """Motions (6, any) of the origin of a link in world axes, in the axes of its frame."""
    if frame.axes != "world":
        rotation, origin = _pose(system, joints, frame.link)
        if frame.axes == "local":
            linear, angular = rotation.T @ linear, rotation.T @ angular
        else:
            linear = linear + skew(origin) @ angular
    return ca.vertcat(linear, angular)
