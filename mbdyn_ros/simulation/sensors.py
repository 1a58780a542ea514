"""Sensors of a motion: inertial measurement units on links, force-torque sensors in joints."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..arguments import Wrenches, require_link
from ..compiler.kernel import Bound
from ..equations.sensors import imu
from ..errors import InputError, unknown
from ..model.model import Array, Model
from ..robot import Robot


@dataclass(frozen=True, eq=False)
class ImuReading:
    """One reading, in the axes of the link.

    Attributes
    ----------
    orientation : (4,) x, y, z, w of the link in the world, w >= 0.
    turning : (3,) angular velocity, rad/s.
    acceleration : (3,) m/s^2, of the link's origin less that of gravity: 9.81 upwards at rest.
    """

    orientation: Array
    turning: Array
    acceleration: Array


class Imu:
    """A unit at the origin of a link, in its axes; without noise.

    Accelerations are means since the last reading, so that impacts are in them.

    Raises
    ------
    InputError
        The robot has no such link.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> imu = Imu(mbdyn_ros.load(CART), "cart")
    >>> _ = imu.read(0.0, np.zeros(1), np.zeros(1))
    >>> imu.read(0.5, np.zeros(1), np.array([1.0])).acceleration
    array([2.  , 0.  , 9.81])
    """

    def __init__(self, robot: Robot, link: str) -> None:
        require_link(robot.system.tree, link, robot.model.source)
        self.robot, self.link = robot, link
        self._program = Bound(robot.calls.kernel(imu, link))
        self._last: tuple[float, Array] | None = None

    def read(self, time: float, q: Array, v: Array) -> ImuReading:
        """The reading at a time (s) and a state (nq,), (nv,); the first knows of no acceleration.

        A time before that of the last reading is a new start.
        """
        program, a = self._program, np.zeros(3)
        program.q[:], program.v[:], program.rate[:] = q, v, 0.0
        program()
        speed = program.result.ravel()[10:].copy()
        if self._last is not None and time > self._last[0]:
            a = (speed - self._last[1]) / (time - self._last[0])
        self._last = time, speed
        program.rate[:] = a
        program()
        reading = program.result.ravel().copy()
        return ImuReading(reading[:4], reading[4:7], reading[7:10])


NO_WRENCHES: Wrenches = MappingProxyType({})
"""Nothing pushes."""


class ForceTorque:
    """A sensor between the two links of a joint: what the parent exerts on the child.

    Readings are [force, torque] (6,), N and N m, about the origin of the child link's frame, in
    its axes: an arm that carries 1 kg at rest reads 9.81 N upwards. Motor, bearing and friction
    are in them, all that goes from link to link. Sensors that show what the child exerts on the
    parent show the negative.

    Parameters
    ----------
    joint : any joint of the tree; a fixed one has its sensor within a rigid body.

    Raises
    ------
    InputError
        The robot has no such joint.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> sensor = ForceTorque(mbdyn_ros.load(CART), "rail")
    >>> sensor.read(np.zeros(1), np.zeros(1), np.ones(1)).round(9)
    array([ 2.  ,  0.  , 19.62,  0.  ,  0.  ,  0.  ])
    """

    def __init__(self, robot: Robot, joint: str) -> None:
        names = [one.name for one in robot.model.joints]
        if joint not in names:
            raise InputError(f"{robot.model.source}: {unknown('joint', joint, names)}")
        self.robot, self.joint = robot, joint
        self.link = robot.model.joint(joint).child
        self._rigid = _fastened(robot.model, self.link)

    def read(self, q: Array, v: Array, a: Array, wrenches: Wrenches | None = None) -> Array:
        """The reading at a motion (nq,), (nv,), (nv,).

        wrenches : link name -> [force, torque] (6,) from outside, of contacts too, at the link's
            origin in its axes.
        """
        robot, wrenches = self.robot, wrenches or {}
        through = robot.joint_wrenches(q, v, a, wrenches=wrenches or None)
        if self.joint in through:
            return through[self.joint]
        turn, origin = _pose(robot, q, self.link)
        total = np.zeros(6)
        for link in self._rigid:
            total += _inertial(robot, q, v, a, link, origin)
            if link in wrenches:
                total -= _about(np.asarray(wrenches[link]), *_pose(robot, q, link), origin)
        for joint in robot.model.joints:
            if joint.name in through and joint.parent in self._rigid:
                total += _about(through[joint.name], *_pose(robot, q, joint.child), origin)
        for loop in robot.model.loops:
            frame = loop.predecessor_frame
            held, at = _pose(robot, q, loop.predecessor)
            acting = _about(
                through[loop.name], held @ frame.rotation, held @ frame.translation + at, origin
            )
            total += acting * (loop.predecessor in self._rigid)
            total -= acting * (loop.successor in self._rigid)
        return np.concatenate([turn.T @ total[:3], turn.T @ total[3:]])


class ForceTorques:
    """The sensors of one robot that moves in steps, each made when first asked for."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._sensors = robot, dict[str, ForceTorque]()

    def mean(
        self, joint: str, q: Array, v: Array, slow: Array, step: float, *wrenches: Wrenches
    ) -> Array:
        """The mean reading of a step (s) that has come from the velocity `slow` to q and v.

        wrenches : from outside on links, of several kinds, each mean over the step.
        """
        if joint not in self._sensors:
            self._sensors[joint] = ForceTorque(self._robot, joint)
        total: dict[str, Array] = {}
        for link, wrench in (pair for one in wrenches for pair in one.items()):
            total[link] = total.get(link, 0.0) + np.asarray(wrench)
        return self._sensors[joint].read(q, v, (v - slow) / step, total)


def _fastened(model: Model, first: str) -> tuple[str, ...]:
    """A link, and those that fixed joints carry on it."""
    links = [first]
    for link in links:
        links += [one.child for one in model.joints if one.parent == link and not one.nv]
    return tuple(links)


def _pose(robot: Robot, q: Array, link: str) -> tuple[Array, Array]:
    pose = robot.frame_pose(q, link)
    return pose[:3, :3], pose[:3, 3]


def _inertial(robot: Robot, q: Array, v: Array, a: Array, link: str, about: Array) -> Array:
    """Force and moment (6,) that move and carry one link, about a place in the world."""
    inertia = robot.model.link(link).inertia
    if inertia is None:
        return np.zeros(6)
    turn, origin = _pose(robot, q, link)
    turning = robot.frame_velocity(q, v, link)[3:]
    rates = robot.frame_acceleration(q, v, a, link)
    arm, moments = turn @ inertia.center, turn @ inertia.moments @ turn.T
    at_center = rates[:3] + np.cross(rates[3:], arm) + np.cross(turning, np.cross(turning, arm))
    force = inertia.mass * (at_center - robot.gravity)
    moment = moments @ rates[3:] + np.cross(turning, moments @ turning)
    return np.concatenate([force, moment + np.cross(origin + arm - about, force)])


def _about(wrench: Array, turn: Array, place: Array, origin: Array) -> Array:
    """A wrench (6,) of a frame at `place`, in the world's axes about `origin`."""
    force, moment = turn @ wrench[:3], turn @ wrench[3:]
    return np.concatenate([force, moment + np.cross(place - origin, force)])
