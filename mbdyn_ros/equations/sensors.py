"""Readings of sensors on a robot: inertial measurement units, force-torque sensors in joints."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ..errors import InputError, suggestion
from ..model.model import Model
from ..prepare.tree import WORLD
from ..program.program import program
from .algebra.spatial import SX, constant, cross
from .control_laws import quaternion
from .frames import Frame, frame_pose, frame_velocity
from .system import System
from .tree.kinematics import body_poses
from .tree.newton_euler import forward_pass


@program("q v rate:3", output="reading", about="link", internal=True)
def imu(system: System, q: SX, z: SX, v: SX, rate: SX, link: str) -> SX:
    """Reading (13, 1) of an inertial measurement unit at a link's origin.

    Orientation x, y, z, w of the link in the world (w >= 0); angular velocity (3) and the
    acceleration less gravity (3) in the link's axes; and the velocity (3) of its origin in the
    world's axes.

    rate : (3,) acceleration of the link's origin in the world's axes, m/s^2.
    """
    rotation = frame_pose(system, q, z, link)[:3, :3]
    motion = frame_velocity(system, q, z, v, Frame(link, "world"))
    felt = rotation.T @ (rate - constant(system.gravity))
    parts = quaternion(rotation), rotation.T @ motion[3:], felt, motion[:3]
    return ca.densify(ca.vertcat(*parts))


class CarriedLinks(NamedTuple):
    """A link and all that it carries, with the inertias of the links.

    inertias : (link, mass, centre (3), moments about it (9), row by row) of each that has mass.
    """

    link: str
    inertias: tuple[tuple[str, float, tuple[float, ...], tuple[float, ...]], ...]

    @staticmethod
    def by(model: Model, joint: str) -> CarriedLinks:
        """The links that a joint of the tree carries, be it a fixed one.

        Raises
        ------
        InputError
            There is no such joint. A loop joins what it carries to the rest of the robot, so that
            the loop's forces count too.
        """
        names = [one.name for one in model.joints]
        if joint not in names:
            raise InputError(
                f"{model.source}: there is no joint {joint!r} for a force-torque sensor"
                f"{suggestion(joint, names)}; there are {', '.join(names)}"
            )
        first = model.joint(joint).child
        links = [first]
        for link in links:
            links += [one.child for one in model.joints if one.parent == link]
        for loop in model.loops:
            if (loop.predecessor in links) != (loop.successor in links):
                raise InputError(
                    f"{model.source}: loop {loop.name!r} joins what joint {joint!r} carries to the "
                    "rest of the robot, so its motion alone does not determine the reading; put "
                    "the force-torque sensor into a joint after the loop"
                )
        inertias = ((one, model.link(one).inertia) for one in links)
        return CarriedLinks(first, tuple(
            (link, float(one.mass), tuple(map(float, one.center)),
             tuple(map(float, np.ravel(one.moments))))
            for link, one in inertias if one is not None
        ))  # fmt: skip


@program("q v a", output="wrench", about="link", internal=True)
def force_torque(system: System, q: SX, z: SX, v: SX, a: SX, carried: CarriedLinks) -> SX:
    """Force and moment (6, 1) that a joint's parent exerts on its child, by what the child carries.

    About the origin of the child link's frame in its axes: the sum of f = m (a - g) and
    n = I alpha + w x I w about the centres of all carried links.
    """
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    motions = forward_pass(system.tree, embedding.joints, velocity, acceleration, system.gravity)
    poses = body_poses(system.tree, embedding.joints)
    pose = frame_pose(system, q, z, carried.link)
    turn, origin = pose[:3, :3], pose[:3, 3]
    force, moment = SX.zeros(3), SX.zeros(3)
    for link, mass, center, moments in carried.inertias:
        body, frame = system.tree.frames[link]
        arm = constant(frame.rotation @ np.array(center) + frame.translation)
        about = constant(frame.rotation @ np.reshape(moments, (3, 3)) @ frame.rotation.T)
        if body == WORLD:
            pushed, turned, place = constant(-mass * system.gravity), SX.zeros(3), arm
        else:
            motion, (rotation, corner) = motions[body], poses[body]
            pushed = rotation @ (mass * (motion.a + motion.tensor @ arm))
            turned = rotation @ (about @ motion.alpha + cross(motion.w, about @ motion.w))
            place = corner + rotation @ arm
        force += pushed
        moment += turned + cross(place - origin, pushed)
    return ca.densify(ca.vertcat(turn.T @ force, turn.T @ moment))
