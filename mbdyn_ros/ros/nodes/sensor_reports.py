"""Sensors of the simulator: IMUs on links, force-torque sensors in joints, as parameters say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu as ImuMessage

from ...errors import InputError, SimulationError
from ...robot import Robot
from ...simulation.imu import Imu
from ..messages.conversions import fill_time
from .session import Session
from .simulation_node import SimulationNode


class ImuReports:
    """Publishes `~/imu/LINK`, with the stamps of the joint states.

    Raises
    ------
    InputError
        The robot has no such link.
    """

    def __init__(self, simulator: SimulationNode, robot: Robot, links: Sequence[str]) -> None:
        self._simulator = simulator
        try:
            units = [Imu(robot, link) for link in links]
        except InputError as error:
            raise InputError(f"parameter imu_links: {error}") from None
        self._units = [
            (imu, simulator.create_publisher(ImuMessage, topic_of("imu", imu.link), 10))
            for imu in units
        ]

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for _, publisher in self._units:
            self._simulator.destroy_publisher(publisher)

    def publish(self, session: Session, stamp: int) -> None:
        """Send what they show now; `stamp` in ns."""
        motion = session.motion
        for imu, publisher in self._units:
            reading = imu.read(motion.time, motion.q, motion.v)
            message = ImuMessage()
            message.header.frame_id = imu.link
            fill_time(message.header.stamp, stamp)
            for field, numbers, names in (
                (message.orientation, reading.orientation, "xyzw"),
                (message.angular_velocity, reading.turning, "xyz"),
                (message.linear_acceleration, reading.acceleration, "xyz"),
            ):
                for name, number in zip(names, numbers.tolist(), strict=True):
                    setattr(field, name, number)
            publisher.publish(message)


class ForceTorqueReports:
    """Publishes `~/force_torque/JOINT`, with the stamps of the joint states.

    Raises
    ------
    InputError
        The robot has no such joint, or nobody knows what walls do to it.
    """

    def __init__(self, simulator: SimulationNode, session: Session, joints: Sequence[str]) -> None:
        self._simulator = simulator
        try:
            for joint in joints:
                session.force_torque(joint)  # compiles now, and refuses now
        except (InputError, SimulationError) as error:
            raise InputError(f"parameter force_torque_joints: {error}") from None
        self._sensors = [
            (
                joint,
                session.robot.model.joint(joint).child,
                simulator.create_publisher(WrenchStamped, topic_of("force_torque", joint), 10),
            )
            for joint in joints
        ]

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for _, _, publisher in self._sensors:
            self._simulator.destroy_publisher(publisher)

    def publish(self, session: Session, stamp: int) -> None:
        """Send the means of the last step; `stamp` in ns."""
        for joint, link, publisher in self._sensors:
            message = WrenchStamped()
            message.header.frame_id = link
            fill_time(message.header.stamp, stamp)
            force, torque = message.wrench.force, message.wrench.torque
            numbers = session.force_torque(joint).tolist()
            force.x, force.y, force.z, torque.x, torque.y, torque.z = numbers
            publisher.publish(message)


def topic_of(kind: str, name: str) -> str:
    """The topic `~/kind/name`; what topics may not be called by becomes an underscore."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"~/{kind}/{word if not word[:1].isdigit() else '_' + word}"
