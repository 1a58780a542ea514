"""Sends the pulses of the controller to the transducers, with the mean torques they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ...errors import InputError
from ...ros.messages.conversions import doubles
from ...ros.node.interfaces import message_types
from ...ros.node.robot_node import RobotNode
from .. import PulseController
from .rotor_state import RotorState


class PulseSender:
    """Publishes pulses on `~/pulses`; mean torques on two topics while anybody listens."""

    def __init__(self, node: RobotNode) -> None:
        kind = message_types(node.NAME).PiezoPulses
        self._node, self._message = node, kind()
        self._commands = node.sole(Float64MultiArray, "~/commands")
        self._efforts = node.sole(JointState, "~/effort")
        self._pulses = node.sole(kind, "~/pulses")
        self._array, self._named = Float64MultiArray(), JointState()

    def name(self, labels: Sequence[str]) -> None:
        """Send for these joints from now on."""
        self._named.name = self._message.name = list(labels)

    def send(self, control: PulseController, rotor: RotorState) -> None:
        """Send the pulses of the last cycle."""
        torque = doubles(control.mean_torque)
        if not math.isfinite(sum(torque)):
            k = int(np.argmin(np.isfinite(control.mean_torque)))
            raise InputError(f"the torque of {control.robot.velocity_labels[k]} is {torque[k]}")
        message = self._message
        message.start_phase, message.end_phase = doubles(control.on), doubles(control.off)
        message.mean_torque = torque
        message.saturated = (control.saturated != 0).tolist()
        message.rotor_speed = rotor.speed
        self._publish(torque, rotor)

    def off(self, rotor: RotorState) -> None:
        """No pulses: all joints are to be held at once."""
        message = self._message
        zeros = doubles([0.0] * len(message.name))
        message.start_phase = message.end_phase = message.mean_torque = zeros
        message.saturated = [False] * len(message.name)
        message.rotor_speed = 0.0
        self._publish(zeros, rotor)

    def _publish(self, torque: Any, rotor: RotorState) -> None:
        message = self._message
        message.header.stamp, message.rotor_phase = rotor.stamp, rotor.phase
        self._pulses.publish(message)
        if self._commands.get_subscription_count():
            self._array.data = torque
            self._commands.publish(self._array)
        if self._efforts.get_subscription_count():
            self._named.effort = torque
            self._named.header.stamp = self._node.get_clock().now().to_msg()
            self._efforts.publish(self._named)
