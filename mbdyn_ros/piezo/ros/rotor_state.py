"""The speed and the phase of the rotor: from a topic, or by the clock of the node."""

from __future__ import annotations

import math

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from ...ros.messages.conversions import fill_time
from ...ros.messages.joint_state_bytes import joint_state_inbox
from ...ros.messages.named_numbers import LARGEST_SENT
from ...ros.node.inbox import Inbox
from ...ros.node.node_clock import NodeClock
from ..pulse_equations import TURN

PHASE_SOURCES = ("topic", "clock")
"""Sources of the phase: messages on `rotor_state`, or speed times the node's time."""


class RotorState:
    """The rotor's phase and speed at one time.

    A message on `rotor_state` is a JointState of one joint: its position is the angle of the
    rotor from the x axis of the link that carries it, its velocity the speed. By the clock, the
    phase is the speed times the time of the node's clock: for a synchronous motor.

    Attributes
    ----------
    stamp : as a message's time. phase : then, rad, in [0, 2 pi). speed : rad/s.
    """

    def __init__(self, node: Node, source: str, speed: float) -> None:
        self._node = node
        self.by_clock = source == "clock"
        self.stamp = node.get_clock().now().to_msg()
        self.phase, self.speed = 0.0, speed if self.by_clock else 0.0
        self._at = -math.inf
        self._inbox: Inbox | None = None
        if not self.by_clock:
            self._inbox = joint_state_inbox(node, "rotor_state", qos_profile_sensor_data)

    def update(self, now: float, clock: NodeClock) -> None:
        """Read the messages that came, or the clock, at the time `now` by the node's clock."""
        if self._inbox is None:
            nanoseconds = self._node.get_clock().now().nanoseconds
            fill_time(self.stamp, nanoseconds)
            self.phase = self.speed * 1e-9 * nanoseconds % TURN
            return
        for message in self._inbox:
            if len(message.position) == 1 == len(message.velocity):
                phase, speed = message.position[0], message.velocity[0]
                if abs(phase) <= LARGEST_SENT and abs(speed) <= LARGEST_SENT:
                    sent = clock.at(message.header.stamp, now)
                    self.stamp, self._at = message.header.stamp, now - abs(sent - now)
                    self.phase, self.speed = phase % TURN, speed

    def forget(self) -> None:
        """Have no message any more."""
        self._at = -math.inf

    def problem(self, now: float, timeout: float) -> str:
        """Why no pulse is possible; empty where one is."""
        if not self.by_clock and now - self._at > timeout:
            return f"no rotor_state for {timeout:g} s"
        if self.speed < 0:
            return f"the rotor turns backwards, at {self.speed:g} rad/s"
        return "" if self.speed > 0 else "the rotor stands still"
