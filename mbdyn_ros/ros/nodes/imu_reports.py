"""Inertial measurement units of the simulator, on the links that a parameter names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sensor_msgs.msg import Imu as ImuMessage

from ...errors import InputError
from ...robot import Robot
from ...simulation.imu import Imu
from ..messages.conversions import fill_time
from ..messages.topics import topic_of
from .session import Session

if TYPE_CHECKING:
    from .simulator import Simulator


class ImuReports:
    """Publishes `~/imu/LINK`, with the stamps of the joint states.

    Raises
    ------
    InputError
        The robot has no such link.
    """

    def __init__(self, simulator: Simulator, robot: Robot, links: Sequence[str]) -> None:
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
