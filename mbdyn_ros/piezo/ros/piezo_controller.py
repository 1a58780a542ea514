"""Node `piezo_controller`: pulses of the transducers that move a piezo robot along a reference.

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
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError, MbdynError
from ...model.model import Array
from ...robot import Robot
from ...ros.messages.conversions import doubles
from ...ros.messages.measured_state import MeasuredState
from ...ros.messages.reference import Reference
from ...ros.messages.reference_message import read_reference, require_within_limits, start_time
from ...ros.node.description import Description, load_robot, one_line
from ...ros.node.diagnostics import Diagnostics, Health
from ...ros.node.inbox import Inbox
from ...ros.node.interfaces import message_types
from ...ros.node.parameters import Parameters
from ...ros.node.process import run
from ...ros.node.rate_loop import RateLoop
from ...ros.node.refusals import Refusals, in_words
from ...simulation.stepped.fixed_step import neutral_position
from .. import PulseController, Rotor
from .parameters import CONTROLLER as PARAMETERS
from .reach_watch import ReachWatch
from .rotor_state import RotorState
from .target import way_to_target

NAME = "piezo_controller"


class PiezoController(Node):
    """Computes and sends in a thread of its own; references arrive in the executor's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        messages = message_types(NAME)
        self.parameters = Parameters(self, PARAMETERS)
        self.control: PulseController | None = None
        self.fault = ""
        self.idle_reason = "no reference yet"
        self._lock = threading.Lock()
        self._reference: Reference | None = None
        self._start = 0.0
        self.reach = ReachWatch((), 0.0)
        self.measured = MeasuredState(())
        self.refused_references = Refusals(self, "reference")
        self.refused_targets = Refusals(self, "target")
        self._commands = self.create_publisher(Float64MultiArray, "~/commands", 10)
        self._efforts = self.create_publisher(JointState, "~/effort", 10)
        self._pulses = self.create_publisher(messages.PiezoPulses, "~/pulses", 10)
        self._array, self._named = Float64MultiArray(), JointState()
        self._message = messages.PiezoPulses()
        self._gain = 0.0
        self._read_settings({})
        self._rotor_state = RotorState(
            self, self.parameters["rotor_source"], self.parameters["rotor_speed"]
        )
        self._loop = RateLoop(
            self._tick, self.parameters["rate"], self._on_fault, "pulses",
            self.parameters["realtime_priority"],
        )  # fmt: skip
        self.description = Description(self, self.parameters, self._take)
        if self.description.source is not None:
            self._take(self.description.source)
        self.parameters.on_change(self._change)
        self.create_subscription(
            JointTrajectory, "~/reference", self._on_reference, QoSProfile(depth=10)
        )
        self.create_subscription(PoseStamped, "~/target", self._on_target, QoSProfile(depth=1))
        self._states = Inbox(self, JointState, "joint_states", qos_profile_sensor_data)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.diagnostics = Diagnostics(self, self._examine)
        self._loop.start()

    def stop(self) -> None:
        """End the thread and switch all transducers off."""
        self._loop.stop()
        if self.control is not None and self.context.ok():
            for _ in range(3):
                self._send_off()
                time.sleep(0.02)

    # ---- setting up -----------------------------------------------------------------------

    def _take(self, source: str) -> None:
        parameters = self.parameters
        robot = load_robot(self, parameters, source, parameters["gravity"])
        try:
            # While the rotor is not known to turn, its speed does not matter.
            rotor = Rotor(parameters["rotor_mass"], parameters["rotor_radius"], 1.0)
            control = PulseController(robot, rotor, parameters["rotor_link"])
            target = parameters["target_link"] or parameters["rotor_link"]
            home = neutral_position(robot)
            robot.frame_pose(home, target)  # the first calls take long: not later
            robot.jacobian(home, target)
        except InputError as error:
            raise InputError(
                f"parameter rotor_link, rotor_mass, rotor_radius or target_link: {error}"
            ) from None
        with self._lock:
            self.control, self._reference = control, None
            self._set_gains(control)
            self.reach = ReachWatch(robot.velocity_labels, self._settings["saturation_timeout"])
            self.measured = MeasuredState(robot.velocity_labels)
            self._named.name = self._message.name = list(robot.velocity_labels)
        self.get_logger().info(
            f"ready for {robot.model.name}: the rotor in {control.link} drives "
            f"{', '.join(robot.velocity_labels) or 'no joint'}"
        )

    def _read_settings(self, values: Mapping[str, Any]) -> None:
        self._settings = {spec.name: self.parameters[spec.name] for spec in PARAMETERS}
        self._settings.update(values)

    def _set_gains(self, control: PulseController) -> None:
        # A greater gain than the rate would correct the same error more than once.
        self._gain = min(self._settings["gain"], self._settings["rate"])
        control.gain = self._gain
        control.tolerance = self._settings["tolerance"]

    # ---- the loop -------------------------------------------------------------------------

    def _tick(self, skipped: int) -> None:
        with self._lock:
            control = self.control
            if control is None:
                return
            now = time.perf_counter()
            for message in self._states:
                self.measured.take(message, now)
            self._rotor_state.update(now)
            self.idle_reason = self.fault or self._why_idle(now)
            if self.idle_reason:
                self.reach.restart()
                self._send_off()
                return
            assert self._reference is not None
            speed = self._rotor_state.speed
            if speed != control.rotor.speed:
                control.rotor = Rotor(control.rotor.mass, control.rotor.radius, speed)
            # After 1 / gain the pulses have made good what a state has shown: not once more.
            fresh = self._gain * self.measured.age(now) <= 1
            if (self._gain if fresh else 0.0) != control.gain:
                control.gain = self._gain if fresh else 0.0
            q, v, _ = self._reference.at(now - self._start)
            ahead = v * (0.5 / self._settings["rate"])  # the windows hold for a period
            control.q[:] = self.measured.position + ahead
            control.wanted_q[:], control.wanted_v[:] = q + ahead, v
            control.cycle()
            self.reach.hold(control, now, fresh)
            self._send(control)

    def _why_idle(self, now: float) -> str:
        """Why the transducers must be off; empty where they need not."""
        settings = self._settings
        problem = self._rotor_state.problem(now, settings["rotor_timeout"])
        problem = problem or self.measured.missing(now, settings["state_timeout"])
        if problem or self._reference is None:
            return problem or "no reference yet"
        age = now - self._start - self._reference.end
        if age > (settings["reference_timeout"] or math.inf):
            return f"the reference ended {age:.2f} s ago"
        return ""

    def _send(self, control: PulseController) -> None:
        torque = doubles(control.mean_torque)
        if not math.isfinite(sum(torque)):
            k = int(np.argmin(np.isfinite(control.mean_torque)))
            raise InputError(f"the torque of {control.robot.velocity_labels[k]} is {torque[k]}")
        message = self._message
        message.on, message.off = doubles(control.on), doubles(control.off)
        message.mean_torque = torque
        message.saturated = (control.saturated != 0).tolist()
        message.rotor_speed = self._rotor_state.speed
        self._publish(torque)

    def _send_off(self) -> None:
        """No pulses: all joints are to be held at once."""
        message = self._message
        zeros = doubles([0.0] * len(message.name))
        message.on = message.off = message.mean_torque = zeros
        message.saturated = [False] * len(message.name)
        message.rotor_speed = 0.0
        self._publish(zeros)

    def _publish(self, torque: Any) -> None:
        message = self._message
        message.header.stamp = self._rotor_state.stamp
        message.rotor_phase = self._rotor_state.phase
        self._pulses.publish(message)
        if self._commands.get_subscription_count():
            self._array.data = torque
            self._commands.publish(self._array)
        if self._efforts.get_subscription_count():
            self._named.effort = torque
            self._named.header.stamp = self.get_clock().now().to_msg()
            self._efforts.publish(self._named)

    def _on_fault(self, error: Exception) -> None:
        """Keep the pulses off until ~/reset."""
        if not self.context.ok():
            return
        if not self.fault:
            self.fault = in_words(error)
            self.get_logger().error(f"pulses off: {self.fault}; call ~/reset to start again")

    # ---- references -----------------------------------------------------------------------

    def _robot(self) -> Robot:
        if self.control is None:
            raise InputError(self.description.missing)
        return self.control.robot

    def _on_reference(self, message: JointTrajectory) -> None:
        start = start_time(self, message)
        try:
            robot = self._robot()
            present = self._present()
            reference = read_reference(robot, message, present)
            require_within_limits(robot, reference, present)
        except InputError as error:
            self.refused_references.add(error)
        else:
            self._follow(reference, start)

    def _present(self) -> Array | None:
        """Where the joints are, if that is known."""
        with self._lock:
            missing = self.measured.missing(time.perf_counter(), self._settings["state_timeout"])
            return None if missing else self.measured.position.copy()

    def _on_target(self, message: PoseStamped) -> None:
        try:
            robot = self._robot()
            settings, present = self._settings, self._present()
            if present is None:
                timeout = settings["state_timeout"]
                raise InputError(f"no joint_states of all joints for {timeout:g} s")
            reference = way_to_target(
                robot, settings["target_link"] or settings["rotor_link"], message, present,
                settings["target_orientation"], settings["target_speed"],
            )  # fmt: skip
        except InputError as error:
            self.refused_targets.add(error)
        else:
            self._follow(reference, time.perf_counter())

    def _follow(self, reference: Reference, start: float) -> None:
        with self._lock:
            self._reference, self._start = reference, start
            self.reach.restart()

    def _on_reset(self, request: Any, response: Any) -> Any:
        with self._lock:
            cleared, self.fault = self.fault, ""
            self._reference = None
        response.success = True
        response.message = f"reference dropped; cleared: {cleared or 'no fault'}"
        return response

    # ---- changes and diagnostics ----------------------------------------------------------

    def _change(self, values: Mapping[str, Any]) -> str | None:
        with self._lock:
            self._read_settings(values)
            self.reach.timeout = self._settings["saturation_timeout"]
            try:
                if self.control is not None:
                    self._set_gains(self.control)
            except MbdynError as error:
                return one_line(error)
            if self._rotor_state.by_clock:
                self._rotor_state.speed = self._settings["rotor_speed"]
        self._loop.rate = self._settings["rate"]
        return None

    def _examine(self) -> Health:
        health = Health()
        health.add_loop(self._loop.report(), self._loop.rate, self._loop.priority_refused)
        if self.fault:
            health.errors.append(self.fault)
        if self.control is None:
            health.warnings.append(self.description.missing)
        else:
            if self.idle_reason and not self.fault:
                health.warnings.append(f"pulses off: {self.idle_reason}")
            with self._lock:
                self.reach.report(health)
        self.refused_references.report(health)
        self.refused_targets.report(health)
        health.values["rotor speed (rad/s)"] = f"{self._rotor_state.speed:g}"
        health.values["pulses off because of"] = self.idle_reason or "nothing"
        health.values["fault"] = self.fault or "none"
        return health


def main(args: list[str] | None = None) -> int:
    """Run the node."""
    return run(PiezoController, NAME, args)


if __name__ == "__main__":
    sys.exit(main())
