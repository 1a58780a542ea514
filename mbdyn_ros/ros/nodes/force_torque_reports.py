"""Force-torque sensors of the simulator, in the joints that a parameter names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geometry_msgs.msg import WrenchStamped

from ...errors import InputError, SimulationError
from ..messages.conversions import fill_time
from ..messages.topics import topic_of
from .session import Session

if TYPE_CHECKING:
    from .simulator import Simulator


class ForceTorqueReports:
    """Publishes `~/force_torque/JOINT`, with the stamps of the joint states.

    Raises
    ------
    InputError
        The robot has no such joint, or nobody knows what walls do to it.
    """

    def __init__(self, simulator: Simulator, session: Session, joints: Sequence[str]) -> None:
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
