"""Node `loop_state_publisher`: the states of all joints from those that are measured.

Measured joint states of any sufficient set of joints come in (the cylinders' lengths, or the
boom's angle); complete ones go out, loops closed, at each arrival. So robot_state_publisher, RViz
and MoveIt see a whole machine.

`docs/ros.md` explains its topics.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import partial
from typing import Any

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from ...errors import InputError
from ...robot import Robot
from ..messages.conversions import sec_and_nanosec
from ..messages.joint_state_bytes import joint_state_inbox
from ..messages.measured_state import SensedJoints, Trust
from ..node.health import Health
from ..node.loops import ArrivalLoop
from ..node.process import run
from ..node.refusals import Refusals
from ..node.robot_node import RobotNode
from .parameters import LOOP_STATE_PUBLISHER


class LoopStatePublisher(RobotNode):
    """Computes and sends in the thread that the messages come to."""

    NAME = "loop_state_publisher"
    PARAMETERS = LOOP_STATE_PUBLISHER
    PROGRAMS = ("joint_position", "joint_velocity")
    AT_FAULT = "no joint states"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.sensed: SensedJoints | None = None
        self.refusals = Refusals(self, "measured state")
        self._sent = 0
        self._states = self.sole(JointState, "joint_states")
        self.begin()
        priority = self.parameters["realtime_priority"]
        self.loop = ArrivalLoop(self._tick, self._inbox, self._fail, "loop states", priority)
        self.loop.start()

    def on_robot(self, robot: Robot) -> None:
        """Complete the states of this robot."""
        given = self.parameters
        try:
            sensed = SensedJoints(
                robot, given["joints"], given["deviations"], self._trust(), given["frame_id"]
            )
        except InputError as error:
            raise InputError(f"parameter joints or deviations: {error}") from None
        with self.lock:
            self.sensed = sensed
        self.announce(f"all joints of {robot.model.name} from {', '.join(sensed.labels)}")

    def open_inputs(self) -> None:
        """Measured states."""
        self._inbox = joint_state_inbox(self, "measured_joint_states", qos_profile_sensor_data)

    def loop_rate(self) -> float:
        """0: it ticks when messages come."""
        return 0.0

    def tick(self, now: float, skipped: int) -> None:
        """Answer the message that has come."""
        message = self._inbox.take()
        if message is None or self.sensed is None:
            return
        stamp = message.header.stamp
        try:
            if not self.sensed.take(message, now, self.clock.at(stamp, now)):
                return
        except InputError as error:
            self.refusals.add(error)
            return
        sec, nanosec = stamp.sec, stamp.nanosec
        if not (sec or nanosec):
            sec, nanosec = sec_and_nanosec(self.get_clock().now().nanoseconds)
        self._states.publish(self.sensed.message.stamped(sec, nanosec))
        self._inbox.heed()
        self._sent += 1

    def on_clock_jump(self, reason: str) -> None:
        """Wait for states of the new time."""
        if self.sensed is not None:
            self.sensed.forget()

    def on_parameters(self, names: Collection[str]) -> None:
        """Believe as much as the new parameters say."""
        if self.sensed is not None:
            self.sensed.trust = self._trust()

    def health(self) -> Health:
        """Missing joints, refusals, and how far redundant joints disagree."""
        health = super().health()
        self.refusals.report(health)
        with self.lock:
            if self.sensed is not None:
                self._examine(self.sensed, health)
        names = self._inbox.senders()
        health.values["measured_joint_states from"] = ", ".join(names) or "none"
        health.values["sent"] = self._sent
        return health

    def _examine(self, sensed: SensedJoints, health: Health) -> None:
        missing = sensed.missing(self.time())
        if self.clock.waiting:
            health.warnings.append(self.clock.waiting)
        elif missing:
            timeout = self.parameters["state_timeout"]
            stray = sensed.stray()
            others = f"; the last message is of other joints: {stray}" if stray else ""
            health.warnings.append(
                f"no measured position of {missing} for {timeout:g} s: nothing is sent{others}"
            )
        name, apart = sensed.report()
        if name:
            health.values["largest disagreement (rad or m)"] = f"{name}: {apart:.3g}"

    def _trust(self) -> Trust:
        given = self.parameters
        return Trust(given["state_timeout"], given["largest_jump"], given["largest_disagreement"])


main = partial(run, LoopStatePublisher, LoopStatePublisher.NAME)

if __name__ == "__main__":
    sys.exit(main())
