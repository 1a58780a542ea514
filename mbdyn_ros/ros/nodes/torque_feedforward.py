"""Node `torque_feedforward`: efforts for a wanted motion, at a rate.

It sends the efforts of inverse dynamics along a reference, and adds a small PD where asked. The
controller that takes them holds the last ones for ever, so this node sends zeros when it has no
fresh reference, when something fails, and when it ends.

Topics, services and parameters are listed in `docs/ros.md`.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError, MbdynError
from ...model.model import Array
from ..messages.reference_message import read_reference, start_time
from ..node.description import GRAVITY, PRIORITY, SPECS, Description, load_robot, one_line
from ..node.diagnostics import Diagnostics, Health
from ..node.inbox import Inbox
from ..node.parameters import DOUBLES, STRINGS, Parameters, Spec
from ..node.process import run
from ..node.rate_loop import RateLoop
from ..node.refusals import Refusals, in_words
from .feedforward import SOURCES, Feedforward

NAME = "torque_feedforward"

PROGRAMS = ("inverse_dynamics", "joint_position", "joint_velocity")

PARAMETERS = (
    *SPECS,
    GRAVITY,
    PRIORITY,
    Spec("rate", 500.0, "commands per second, Hz", 1.0, 5000.0),
    Spec("joints", STRINGS, "order of ~/commands; empty: all actuated joints", read_only=True),
    Spec(
        "reference_timeout", 0.5,
        "time after the last point at which efforts become zero, s; 0: never", 0.0, 3600.0,
    ),
    Spec(
        "feedforward", SOURCES[0],
        "what the PD adds to: inverse_dynamics, reference (efforts in its points) or none",
        check=lambda value: None if value in SOURCES else f"{value!r} is none of {SOURCES}",
    ),
    Spec("lead", 0.0, "how far ahead the feed-forward is computed, s", 0.0, 0.1),
    Spec("kp", DOUBLES, "position gain, N m/rad or N/m: none, one for all, or by joints", 0.0),
    Spec("kd", DOUBLES, "velocity gain, N m s/rad or N s/m: none, one for all, or by joints", 0.0),
    Spec("state_timeout", 0.1, "age at which joint_states are stale, s", 0.001, 3600.0),
    Spec("enforce_effort_limits", True, "clamp efforts to <limit effort> of the URDF"),
)  # fmt: skip


class TorqueFeedforward(Node):
    """Computes and sends in a thread of its own; references arrive in the executor's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        self.parameters = Parameters(self, PARAMETERS)
        self.feedforward: Feedforward | None = None
        self.fault = ""
        self.refusals = Refusals(self, "reference")
        self._idle_reason = "no reference yet"
        self._lock = threading.Lock()
        self._commands = self.create_publisher(Float64MultiArray, "~/commands", 10)
        self._efforts = self.create_publisher(JointState, "~/effort", 10)
        self._array, self._named = Float64MultiArray(), JointState()
        self._timeout = self.parameters["reference_timeout"]
        self._state_timeout = self.parameters["state_timeout"]
        rate, priority = self.parameters["rate"], self.parameters["realtime_priority"]
        self._loop = RateLoop(self._tick, rate, self._on_fault, "feedforward", priority)
        self.description = Description(self, self.parameters, self._take)
        if self.description.source is not None:
            self._take(self.description.source)
        self.parameters.on_change(self._change)
        self.create_subscription(
            JointTrajectory, "~/reference", self._on_reference, QoSProfile(depth=10)
        )
        self._states = Inbox(self, JointState, "joint_states", qos_profile_sensor_data)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.diagnostics = Diagnostics(self, self._examine)
        self._loop.start()

    def stop(self) -> None:
        """End the thread and send zeros."""
        self._loop.stop()
        if self.feedforward is not None and self.context.ok():
            for _ in range(3):
                self._send(np.zeros(len(self.feedforward.order)))
                time.sleep(0.02)

    def _take(self, source: str) -> None:
        robot = load_robot(self, self.parameters, source, self.parameters["gravity"], *PROGRAMS)
        try:
            feedforward = Feedforward(robot, self.parameters["joints"])
            feedforward.set_gains(self.parameters["kp"], self.parameters["kd"])
        except InputError as error:
            raise InputError(f"parameter joints, kp or kd: {error}") from None
        feedforward.limits.enforced = self.parameters["enforce_effort_limits"]
        feedforward.source = self.parameters["feedforward"]
        feedforward.lead = self.parameters["lead"]
        with self._lock:
            self.feedforward = feedforward
            self._named.name = list(feedforward.labels)
            self._array.data = [0.0] * len(feedforward.order)
        self.get_logger().info(
            f"ready for {robot.model.name}: {', '.join(feedforward.joints) or 'no joint'}"
        )

    def _tick(self, skipped: int) -> None:
        with self._lock:
            feedforward = self.feedforward
            if feedforward is None:
                return
            now = time.perf_counter()
            if feedforward.uses_states:
                for message in self._states:
                    feedforward.measured.take(message, now)
            self._idle_reason = self.fault or feedforward.idle_reason(
                now, self._timeout or math.inf, self._state_timeout
            )
            if self._idle_reason:
                self._send(np.zeros(len(feedforward.order)))
            else:
                self._send(feedforward.efforts(now))

    def _send(self, efforts: Array) -> None:
        values = efforts.tolist()
        self._array.data = values
        self._commands.publish(self._array)
        if self._efforts.get_subscription_count():
            self._named.effort = values
            self._named.header.stamp = self.get_clock().now().to_msg()
            self._efforts.publish(self._named)

    def _on_fault(self, error: Exception) -> None:
        """Send zeros until ~/reset."""
        if not self.context.ok():
            return
        if not self.fault:
            self.fault = in_words(error)
            self.get_logger().error(f"zero effort: {self.fault}; call ~/reset to start again")

    def _on_reference(self, message: JointTrajectory) -> None:
        start = start_time(self, message)
        try:
            if self.feedforward is None:
                raise InputError(self.description.missing)
            reference = read_reference(self.feedforward.robot, message)
            efforts = self.feedforward.read_efforts(message)
        except InputError as error:
            self.refusals.add(error)
        else:
            with self._lock:
                self.feedforward.follow(reference, start, efforts)

    def _on_reset(self, request: Any, response: Any) -> Any:
        with self._lock:
            cleared, self.fault = self.fault, ""
            if self.feedforward is not None:
                self.feedforward.drop_reference()
        response.success = True
        response.message = f"reference dropped; cleared: {cleared or 'no fault'}"
        return response

    def _change(self, values: Mapping[str, Any]) -> str | None:
        feedforward = self.feedforward
        try:
            with self._lock:
                if feedforward is not None and ("kp" in values or "kd" in values):
                    feedforward.set_gains(
                        values.get("kp", self.parameters["kp"]),
                        values.get("kd", self.parameters["kd"]),
                    )
                if feedforward is not None and "lead" in values:
                    feedforward.lead = values["lead"]
                if feedforward is not None and "feedforward" in values:
                    feedforward.source = values["feedforward"]
                if feedforward is not None and "enforce_effort_limits" in values:
                    feedforward.limits.enforced = values["enforce_effort_limits"]
            if "gravity" in values and feedforward is not None:
                assert self.description.source is not None
                robot = load_robot(
                    self, self.parameters, self.description.source, values["gravity"], *PROGRAMS
                )
                with self._lock:
                    feedforward.replace_robot(robot)
        except MbdynError as error:
            return one_line(error)
        self._timeout = values.get("reference_timeout", self._timeout)
        self._state_timeout = values.get("state_timeout", self._state_timeout)
        self._loop.rate = values.get("rate", self._loop.rate)
        return None

    def _examine(self) -> Health:
        health = Health()
        health.add_loop(self._loop.report(), self._loop.rate, self._loop.priority_refused)
        if self.fault:
            health.errors.append(self.fault)
        if self.feedforward is None:
            health.warnings.append(self.description.missing)
        else:
            if self._idle_reason and not self.fault:
                health.warnings.append(f"zero effort: {self._idle_reason}")
            clamped = self.feedforward.limits.report()
            if clamped:
                health.warnings.append(f"clamped to <limit effort>: {', '.join(clamped)}")
            health.values["clamped"] = ", ".join(clamped) or "none"
        self.refusals.report(health)
        health.values["zero effort because of"] = self._idle_reason or "nothing"
        health.values["fault"] = self.fault or "none"
        return health


def main(args: list[str] | None = None) -> int:
    """Run the node."""
    return run(TorqueFeedforward, NAME, args)


if __name__ == "__main__":
    sys.exit(main())
