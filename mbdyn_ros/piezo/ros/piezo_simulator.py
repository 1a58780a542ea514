"""Node `piezo_simulator`: moves a piezo robot by the pulses it is sent.

Topics, services and parameters are listed in `docs/ros.md`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from ...errors import InputError
from ...ros.messages.conversions import doubles, fill_time
from ...ros.messages.layout import partial_position
from ...ros.node.description import LATCHED, Description, load_robot
from ...ros.node.diagnostics import Diagnostics, Health
from ...ros.node.inbox import Inbox
from ...ros.node.interfaces import message_types
from ...ros.node.parameters import Parameters
from ...ros.node.process import run
from ...ros.node.rate_loop import RateLoop
from ...ros.node.refusals import Refusals, in_words
from ...simulation.stepped.fixed_step import neutral_position
from .. import PiezoMotion, Pulse, Rotor
from .markers import PiezoMarkers
from .parameters import SIMULATOR as PARAMETERS
from .pulse_commands import PulseCommands

NAME = "piezo_simulator"

MOST_MADE_UP = 5
"""Skipped steps that one tick makes up for; time beyond that is lost, and reported. In more the
robot would come away from the pulses that it was sent: those were made for where it is."""

ROTOR_RATE = 100.0
"""Messages of the rotor's state per second: it turns steadily."""

SMALL = 1e-3
"""Mean torques below this part of the rotor's force, per metre or as a force, are not judged."""


class PiezoSimulator(Node):
    """Runs the motion in a thread of its own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        messages = message_types(NAME)
        self.parameters = Parameters(self, PARAMETERS)
        self.motion: PiezoMotion | None = None
        self.fault, self.paused = "", False
        self._lock = threading.Lock()
        self._speed, self._rate = self.parameters["rotor_speed"], self.parameters["rate"]
        self._timeout = self.parameters["pulse_timeout"]
        self._shown: list[Pulse] = []
        self._count, self._worst, self._ticks = 0, 0.0, 0
        self.refusals = Refusals(self, "pulses message")
        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._rotor_out = self.create_publisher(JointState, "rotor_state", 10)
        self._message = JointState()
        self._rotor_message = JointState(name=["rotor"], effort=[0.0])
        self._markers: PiezoMarkers | None = None
        self._markers_out = self.create_publisher(MarkerArray, "~/markers", LATCHED)
        self._loop = RateLoop(
            self._tick, self._rate, self._on_fault, "motion", self.parameters["realtime_priority"]
        )
        self.description = Description(self, self.parameters, self._take)
        if self.description.source is not None:
            self._take(self.description.source)
        self.parameters.on_change(self._change)
        # Best effort: a reader that has to acknowledge can make the controller wait for 100 ms.
        self._pulses = Inbox(self, messages.PiezoPulses, "~/pulses", qos_profile_sensor_data)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(SetBool, "~/pause", self._on_pause)
        if self.parameters["marker_rate"] > 0:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.create_timer(
                1 / self.parameters["marker_rate"], self._publish_markers, clock=steady
            )
        self.diagnostics = Diagnostics(self, self._examine)
        self._loop.start()

    def stop(self) -> None:
        """End the thread."""
        self._loop.stop()

    def _take(self, source: str) -> None:
        parameters = self.parameters
        robot = load_robot(self, parameters, source, parameters["gravity"])
        try:
            rotor = Rotor(
                parameters["rotor_mass"], parameters["rotor_radius"], self._speed or 1.0
            )
            link, step = parameters["rotor_link"], parameters["phase_step"]
            motion = PiezoMotion(robot, rotor, link, step)
            self._initial = partial_position(
                robot, parameters["initial_joints"], parameters["initial_positions"],
                neutral_position(robot),
            )  # fmt: skip
            motion.set_state(self._initial)
            markers = PiezoMarkers(motion)
        except InputError as error:
            raise InputError(
                "parameter rotor_link, rotor_mass, rotor_radius, initial_joints or "
                f"initial_positions: {error}"
            ) from None
        with self._lock:
            self.motion, self._commands = motion, PulseCommands(motion)
            self._markers, self.fault = markers, ""
            self._message.name = list(robot.velocity_labels)
            self._message.header.frame_id = robot.model.root
            self._message.effort = [0.0] * robot.nv
        self.get_logger().info(
            f"simulating {robot.model.name}: the rotor in {link} turns at {self._speed:g} rad/s"
        )

    # ---- the loop -------------------------------------------------------------------------

    def _tick(self, skipped: int) -> None:
        """Move on by a step, and by those that skipped deadlines left out."""
        with self._lock:
            motion = self.motion
            if motion is None:
                return
            now = time.perf_counter()
            for message in self._pulses:
                try:
                    self._commands.take(message, now)
                except InputError as error:
                    self._commands.stop()
                    self.refusals.add(error)
            self._commands.expire(now, self._timeout)
            if not (self.paused or self.fault) and self._speed > 0:
                motion.advance((1 + min(skipped, MOST_MADE_UP)) / self._rate)
                self._collect(motion)
            self._publish(motion)

    def _collect(self, motion: PiezoMotion) -> None:
        """Judge the pulses that ended."""
        if not motion.pulses:
            return
        small = SMALL * motion.rotor.amplitude
        for pulse in motion.pulses:
            if abs(pulse.asked) > small:
                self._worst = max(self._worst, abs(pulse.achieved / pulse.asked - 1))
        self._count += len(motion.pulses)
        if self._markers_out.get_subscription_count():
            self._shown += motion.pulses
        motion.pulses.clear()

    def _publish(self, motion: PiezoMotion) -> None:
        stamp, rotor = self._message.header.stamp, self._rotor_message
        fill_time(stamp, self.get_clock().now().nanoseconds)
        self._message.position, self._message.velocity = doubles(motion.q), doubles(motion.v)
        self._states.publish(self._message)
        self._ticks += 1
        if self._ticks * ROTOR_RATE >= self._rate:
            self._ticks = 0
            rotor.header.stamp = stamp
            rotor.position, rotor.velocity = [motion.angle], [self._speed]
            self._rotor_out.publish(rotor)

    def _on_fault(self, error: Exception) -> None:
        """Hold all joints until ~/reset."""
        if not self.context.ok():
            return
        first, self.fault = not self.fault, self.fault or in_words(error)
        if self.motion is not None:
            self.motion.stop()
        if first:
            self.get_logger().error(f"stopped: {self.fault}; call ~/reset to start again")

    def _publish_markers(self) -> None:
        motion, markers = self.motion, self._markers
        if motion is None or markers is None or not self._markers_out.get_subscription_count():
            return
        with self._lock:
            q, angle = motion.q.copy(), motion.angle
            pulses, self._shown = self._shown, []
            amplitude = motion.rotor.amplitude if self._speed else 0.0
        self._markers_out.publish(markers.update(q, angle, amplitude, pulses))

    # ---- services, changes and diagnostics ------------------------------------------------

    def _on_reset(self, request: Any, response: Any) -> Any:
        return self._serve(response, self._reset)

    def _on_pause(self, request: Any, response: Any) -> Any:
        def pause(motion: PiezoMotion) -> str:
            self.paused = request.data
            return f"{'paused' if request.data else 'running'} at t = {motion.time:.6g} s"

        return self._serve(response, pause)

    def _serve(self, response: Any, action: Callable[[PiezoMotion], str]) -> Any:
        with self._lock:
            response.success = self.motion is not None
            response.message = (
                action(self.motion) if self.motion is not None else self.description.missing
            )
        return response

    def _reset(self, motion: PiezoMotion) -> str:
        motion.set_state(self._initial)
        motion.time = 0.0
        motion.pulses.clear()
        cleared, self.fault = self.fault, ""
        return f"at the start again; cleared: {cleared or 'no fault'}"

    def _change(self, values: Mapping[str, Any]) -> str | None:
        with self._lock:
            self._timeout = values.get("pulse_timeout", self._timeout)
            self._rate = values.get("rate", self._rate)
            self._speed = values.get("rotor_speed", self._speed)
            if self.motion is not None and "rotor_speed" in values:
                if self._speed > 0:
                    old = self.motion.rotor
                    self.motion.rotor = Rotor(old.mass, old.radius, self._speed)
                else:
                    self.motion.stop()
        self._loop.rate = self._rate
        return None

    def _examine(self) -> Health:
        health = Health()
        health.add_loop(self._loop.report(), self._loop.rate, self._loop.priority_refused)
        if self.fault:
            health.errors.append(self.fault)
        with self._lock:
            motion, count, worst = self.motion, self._count, self._worst
            self._count, self._worst = 0, 0.0
        if motion is None:
            health.warnings.append(self.description.missing)
        else:
            missing = self._commands.missing(time.perf_counter(), self._timeout)
            if missing:
                health.warnings.append(f"{missing}: all joints are held")
            health.values["simulated time (s)"] = f"{motion.time:.3f}"
        health.values["pulses"] = count
        health.values["largest error of a mean torque (%)"] = f"{100 * worst:.4f}"
        health.values["paused"] = self.paused
        health.values["fault"] = self.fault or "none"
        self.refusals.report(health)
        return health


def main(args: list[str] | None = None) -> int:
    """Run the node."""
    return run(PiezoSimulator, NAME, args)


if __name__ == "__main__":
    sys.exit(main())
