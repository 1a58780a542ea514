"""Node `torque_feedforward`: efforts for a wanted motion, at a rate.

It sends the efforts of inverse dynamics along a reference, and adds a small PD where asked. The
controller that takes them holds the last ones for ever, so this node sends zeros when it has no
fresh reference, when something fails, and when it ends.

Topics, services and parameters are listed in `docs/ros.md`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from ..messages.playback import NO_REFERENCE
from ..messages.reference_message import read_reference
from ..messages.trajectory_bytes import read_trajectory
from ..node.diagnostics import Health
from ..node.inbox import Inbox
from ..node.process import run
from ..node.refusals import Refusals
from ..node.robot_node import RobotNode
from ..node.senders import Senders, sender_id
from .conditions import Conditions
from .feedforward import Feedforward
from .parameters import TORQUE_FEEDFORWARD


class TorqueFeedforward(RobotNode):
    """Computes and sends in a thread of its own; references arrive in the executor's."""

    NAME = "torque_feedforward"
    PARAMETERS = TORQUE_FEEDFORWARD
    PROGRAMS = ("inverse_dynamics", "joint_position", "joint_velocity")
    LOOP = "feedforward"
    AT_FAULT = "zero effort"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.feedforward: Feedforward | None = None
        self.idle_reason = NO_REFERENCE
        self.refusals = Refusals(self, "reference")
        self._commands = self.sole(Float64MultiArray, "~/commands")
        self._efforts = self.sole(JointState, "~/effort")
        self._array, self._named = Float64MultiArray(), JointState()
        self.begin()

    def on_robot(self, robot: Robot) -> None:
        """Send zeros to this robot until a reference comes."""
        try:
            feedforward = Feedforward(
                robot, self.parameters["joints"], Conditions.read(self.parameters)
            )
            self._set_up(feedforward)
        except InputError as error:
            raise InputError(f"parameter joints, kp or kd: {error}") from None
        feedforward.reference_limits().prepare()
        with self.lock:
            self.feedforward = feedforward
            self._named.name = list(feedforward.labels)
            self._array.data = [0.0] * len(feedforward.order)
        self.announce(
            f"ready for {robot.model.name}: {', '.join(feedforward.joints) or 'no joint'}"
        )

    def open_inputs(self) -> None:
        """References, joint states, and the reset."""
        self._planners = Senders(self, "~/reference")
        self.create_subscription(
            JointTrajectory, "~/reference", self._on_reference, QoSProfile(depth=10), raw=True
        )
        self._states = Inbox(self, JointState, "joint_states", qos_profile_sensor_data)
        self.offer("reset", Trigger, self._reset)

    def tick(self, now: float, skipped: int) -> None:
        """Send the efforts of this moment, or zeros."""
        feedforward = self.feedforward
        if feedforward is None:
            return
        for message in self._states:
            if feedforward.take(message, now, self.clock.at(message.header.stamp, now)):
                self._states.heed()
        self.idle_reason = self.fault or self.clock.waiting or feedforward.idle_reason(now)
        if self.idle_reason:
            self._send(np.zeros(len(feedforward.order)))
        else:
            self._send(feedforward.efforts(now))

    def on_fault(self) -> None:
        """Send zeros at once."""
        if self.feedforward is not None:
            self._send(np.zeros(len(self.feedforward.order)))

    def on_clock_jump(self, reason: str) -> None:
        """Drop the reference: its times mean nothing any more."""
        if self.feedforward is not None and self.feedforward.forget(reason):
            self.get_logger().warning(f"zero effort, the reference is dropped: {reason}")

    def on_parameters(self, names: Collection[str]) -> None:
        """Set gains and choices; build the robot anew for another gravity."""
        feedforward = self.feedforward
        if feedforward is None:
            return
        with self.lock:
            self._set_up(feedforward)
        feedforward.reference_limits().prepare()
        if "gravity" in names:
            assert self.description.source is not None
            robot = self.load(self.description.source)
            with self.lock:
                feedforward.replace_robot(robot)

    def health(self) -> Health:
        """Why efforts are zero, and which are clamped."""
        health = super().health()
        if self.feedforward is not None:
            if self.idle_reason and not self.fault:
                health.warnings.append(f"zero effort: {self.idle_reason}")
            clamped = self.feedforward.limits.report()
            if clamped:
                health.warnings.append(f"clamped to <limit effort>: {', '.join(clamped)}")
            health.values["clamped"] = ", ".join(clamped) or "none"
        self.refusals.report(health)
        health.of_one_sender("references", self._planners.names())
        health.of_one_sender("joint_states of all joints", self._states.senders())
        health.values["zero effort because of"] = self.idle_reason or "nothing"
        return health

    def last_words(self) -> None:
        """Send zeros."""
        if self.feedforward is not None and self.context.ok():
            for _ in range(3):
                self._send(np.zeros(len(self.feedforward.order)))
                time.sleep(0.02)

    def _set_up(self, feedforward: Feedforward) -> None:
        """Hand on the parameters that may change."""
        given = self.parameters
        feedforward.conditions = Conditions.read(given)
        feedforward.set_gains(given["kp"], given["kd"])
        feedforward.source, feedforward.lead = given["feedforward"], given["lead"]
        feedforward.limits.enforced = given["enforce_effort_limits"]

    def _send(self, efforts: Array) -> None:
        values = efforts.tolist()
        self._array.data = values
        self._commands.publish(self._array)
        if self._efforts.get_subscription_count():
            self._named.effort = values
            self._named.header.stamp = self.get_clock().now().to_msg()
            self._efforts.publish(self._named)

    def _on_reference(self, data: bytes, info: Any) -> None:
        try:
            feedforward = self.require(self.feedforward)
            message = read_trajectory(data)
            start, era = self.date(message.header.stamp)
            reference = read_reference(feedforward.robot, message)
            efforts = feedforward.read_efforts(message)
            with self.lock:
                measured = feedforward.posture(self.time_in(era))
            feedforward.require_within_limits(reference, efforts, measured)
            with self.lock:
                feedforward.follow(reference, start, self.time_in(era), efforts)
            self._planners.heed(sender_id(info))
        except InputError as error:
            self.refusals.add(error)

    def _reset(self, request: Any) -> str:
        if self.feedforward is not None:
            self.feedforward.playback.drop()
        return f"reference dropped; cleared: {self.clear_fault() or 'no fault'}"


main = partial(run, TorqueFeedforward, TorqueFeedforward.NAME)

if __name__ == "__main__":
    sys.exit(main())
