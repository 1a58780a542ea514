"""The base of nodes that send efforts along a reference: what they hear, and what they send."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...motion.playback import NO_REFERENCE
from ...robot import Robot
from ..messages.joint_state_bytes import joint_state_inbox
from ..messages.trajectory_message import read_reference, read_trajectory
from ..node.health import Health
from ..node.inbox import Senders, sender_id
from ..node.managed_node import ManagedNode
from ..node.refusals import Refusals
from .follower import Follower

ACKNOWLEDGED = 0.2
"""s that the last zeros are waited for; a subscriber that was killed never acknowledges."""


class EffortNode(ManagedNode):
    """Computes and sends in a thread of its own; references arrive in the executor's.

    Attributes
    ----------
    follower : what computes; None while there is no robot.
    idle_reason : why zeros are sent; empty where efforts are.
    """

    AT_FAULT = "zero effort"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.follower: Follower | None = None
        self.idle_reason = NO_REFERENCE
        self.refusals = Refusals(self, "reference")
        self._commands = self.sole(Float64MultiArray, "~/commands")
        self._efforts = self.sole(JointState, "~/effort")
        self._array, self._named = Float64MultiArray(), JointState()

    # ---- for subclasses -------------------------------------------------------------------

    def make(self, robot: Robot) -> Follower:
        """The follower that computes for a robot, by the parameters."""
        raise NotImplementedError

    def set_up(self, follower: Follower) -> None:
        """Hand on the parameters that may change."""
        raise NotImplementedError

    def zero(self) -> Array:
        """Efforts of zero, of which the follower learns."""
        assert self.follower is not None
        return np.zeros(len(self.follower.order))

    # ---- hooks ----------------------------------------------------------------------------

    def on_robot(self, robot: Robot) -> None:
        """Send zeros to this robot until there is a reason not to."""
        follower = self.make(robot)
        follower.reference_limits().prepare()
        with self.lock:
            self.follower = follower
            self._named.name = list(follower.labels)
            self._array.data = [0.0] * len(follower.order)
        self.announce(f"ready for {robot.model.name}: {', '.join(follower.joints) or 'no joint'}")

    def open_inputs(self) -> None:
        """References, joint states, and the reset."""
        self._planners = Senders(self, "~/reference")
        self.create_subscription(
            JointTrajectory, "~/reference", self._on_reference, QoSProfile(depth=10), raw=True
        )
        self._states = joint_state_inbox(self, "joint_states", qos_profile_sensor_data)
        self.offer("reset", Trigger, self._reset)

    def release(self) -> None:
        """Release the robot."""
        self.follower = None

    def tick(self, now: float, skipped: int) -> None:
        """Send the efforts of this moment, or zeros."""
        follower = self.follower
        if follower is None:
            return
        for message in self._states:
            if follower.take(message, now, self.clock.at(message.header.stamp, now)):
                self._states.heed()
        self.idle_reason = (
            self.resting or self.fault or self.clock.waiting or follower.idle_reason(now)
        )
        self._send(self.zero() if self.idle_reason else follower.efforts(now))

    def on_fault(self) -> None:
        """Send zeros at once."""
        if self.follower is not None:
            self._send(self.zero())

    def on_clock_jump(self, reason: str) -> None:
        """Drop the reference: its times mean nothing any more."""
        if self.follower is not None and self.follower.forget(reason):
            self.get_logger().warning(f"zero effort, the reference is dropped: {reason}")

    def on_parameters(self, names: Collection[str]) -> None:
        """Set gains and choices; build the robot anew for another gravity."""
        follower = self.follower
        if follower is None:
            return
        with self.lock:
            self.set_up(follower)
        follower.reference_limits().prepare()
        if "gravity" in names:
            assert self.description.source is not None
            robot = self.load(self.description.source)
            with self.lock:
                follower.replace_robot(robot)

    def health(self) -> Health:
        """Why efforts are zero, and which are clamped."""
        health = super().health()
        if self.follower is not None:
            if self.idle_reason and not self.fault:
                health.warnings.append(f"zero effort: {self.idle_reason}")
            clamped = self.follower.clamped()
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
        if self.follower is not None and self.context.ok():
            for _ in range(3):
                self._send(self.zero())
                time.sleep(0.02)
            # What is not acknowledged yet goes with the publisher.
            self._commands.wait_for_all_acked(Duration(seconds=ACKNOWLEDGED))

    # ---- messages -------------------------------------------------------------------------

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
            self.require_active()
            follower = self.require(self.follower)
            message = read_trajectory(data)
            start, era = self.date(message.header.stamp)
            reference = read_reference(follower.robot, message)
            efforts = follower.read_efforts(message)
            with self.lock:
                measured = follower.posture(self.time_in(era))
            follower.require_within_limits(reference, efforts, measured)
            with self.lock:
                self.require_active()
                follower.follow(reference, start, self.time_in(era), efforts)
            self._planners.heed(sender_id(info))
        except InputError as error:
            self.refusals.add(error)

    def _reset(self, request: Any) -> str:
        if self.follower is not None:
            self.follower.drop()
        return f"reference dropped; cleared: {self.clear_fault() or 'no fault'}"
