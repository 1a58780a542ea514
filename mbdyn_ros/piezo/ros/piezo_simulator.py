"""Node `piezo_simulator`: moves a piezo robot by the pulses it is sent.

Topics, services and parameters are listed in `docs/ros.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from ...errors import InputError
from ...robot import Robot
from ...ros.messages.conversions import doubles, fill_time
from ...ros.messages.named_numbers import partial_position
from ...ros.node.description import LATCHED
from ...ros.node.health import Health
from ...ros.node.inbox import Inbox
from ...ros.node.interfaces import message_types
from ...ros.node.node_clock import steady_timer
from ...ros.node.process import run
from ...ros.node.refusals import Refusals
from ...ros.node.robot_node import RobotNode
from .. import PiezoMotion, Pulse, Rotor
from .markers import PiezoMarkers
from .parameters import PIEZO_SIMULATOR
from .pulse_commands import PulseCommands

MOST_PULSED_STEPS = 5
"""Skipped steps that one tick makes up for; time beyond that is lost, and reported. In
more steps the robot would drift away from its pulses, which were computed for where it was."""

ROTOR_RATE = 100.0
"""Messages of the rotor's state per second: it turns steadily."""

LEAST_JUDGED = 1e-3
"""Mean torques below this part of the rotor's force, per metre or as a force, are not judged."""


class PiezoSimulator(RobotNode):
    """Runs the motion in a thread of its own."""

    NAME = "piezo_simulator"
    PARAMETERS = PIEZO_SIMULATOR
    LOOP = "motion"

    def __init__(self, **options: Any) -> None:
        self._pulses_type = message_types(self.NAME).PiezoPulses
        super().__init__(**options)
        self.motion: PiezoMotion | None = None
        self.paused = False
        self.refusals = Refusals(self, "pulse command")
        self._shown: list[Pulse] = []
        self._count, self._worst, self._ticks = 0, 0.0, 0
        self._states = self.sole(JointState, "joint_states")
        self._rotor_out = self.sole(JointState, "rotor_state")
        self._message = JointState()
        self._rotor_message = JointState(name=["rotor"], effort=[0.0])
        self._markers: PiezoMarkers | None = None
        self._markers_out = self.create_publisher(MarkerArray, "~/markers", LATCHED)
        self.begin()

    def open_inputs(self) -> None:
        """Pulses and services; the timer of the markers too."""
        # Best effort: a reader that has to acknowledge can make the controller wait for 100 ms.
        self._pulses = Inbox(self, self._pulses_type, "~/pulses", qos_profile_sensor_data)
        for name, kind, action in (
            ("reset", Trigger, self._reset),
            ("pause", SetBool, self._pause),
        ):
            self.offer(name, kind, partial(self._act, action))
        if self.parameters["marker_rate"] > 0:
            steady_timer(self, self.parameters["marker_rate"], self._publish_markers)

    def on_robot(self, robot: Robot) -> None:
        """Move it from its initial position."""
        parameters, speed = self.parameters, self.parameters["rotor_speed"]
        try:
            rotor = Rotor(parameters["rotor_mass"], parameters["rotor_radius"], speed or 1.0)
            link, step = parameters["rotor_link"], parameters["phase_step"]
            motion = PiezoMotion(robot, rotor, link, step)
            self._initial = partial_position(
                robot, parameters["initial_joints"], parameters["initial_positions"],
                robot.home_position,
            )  # fmt: skip
            motion.set_state(self._initial)
            markers = PiezoMarkers(motion)
        except InputError as error:
            raise InputError(
                "parameter rotor_link, rotor_mass, rotor_radius, initial_joints or "
                f"initial_positions: {error}"
            ) from None
        with self.lock:
            self.motion, self._commands = motion, PulseCommands(motion)
            self._markers, self.fault = markers, ""
            self._message.name = list(robot.velocity_labels)
            self._message.header.frame_id = robot.model.root
            self._message.effort = [0.0] * robot.nv
        self.announce(
            f"simulating {robot.model.name}: the rotor in {link} turns at {speed:g} rad/s"
        )

    def on_parameters(self, names: Collection[str]) -> None:
        """Turn the rotor at another speed."""
        speed = self.parameters["rotor_speed"]
        with self.lock:
            if self.motion is not None and "rotor_speed" in names:
                if speed > 0:
                    old = self.motion.rotor
                    self.motion.rotor = Rotor(old.mass, old.radius, speed)
                else:
                    self.motion.stop()

    # ---- the loop -------------------------------------------------------------------------

    def tick(self, now: float, skipped: int) -> None:
        """Move on by a step, and by those that skipped deadlines left out."""
        motion = self.motion
        if motion is None:
            return
        for message in self._pulses:
            try:
                self._commands.take(message, now)
                self._pulses.heed()
            except InputError as error:
                self._commands.stop()
                self.refusals.add(error)
        self._commands.expire(now, self.parameters["pulse_timeout"])
        if not (self.paused or self.fault) and self.parameters["rotor_speed"] > 0:
            motion.advance((1 + min(skipped, MOST_PULSED_STEPS)) / self.parameters["rate"])
            self._collect(motion)
        self._publish(motion)

    def on_fault(self) -> None:
        """Hold all joints."""
        if self.motion is not None:
            self.motion.stop()

    def on_clock_jump(self, reason: str) -> None:
        """Hold all joints until pulses come by the new time."""
        if self.motion is not None:
            self._commands.forget()

    def _collect(self, motion: PiezoMotion) -> None:
        """Judge the pulses that ended."""
        if not motion.pulses:
            return
        small = LEAST_JUDGED * motion.rotor.amplitude
        for pulse in motion.pulses:
            if abs(pulse.requested) > small:
                self._worst = max(self._worst, abs(pulse.achieved / pulse.requested - 1))
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
        if self._ticks * ROTOR_RATE >= self.parameters["rate"]:
            self._ticks = 0
            rotor.header.stamp = stamp
            rotor.position, rotor.velocity = [motion.angle], [self.parameters["rotor_speed"]]
            self._rotor_out.publish(rotor)

    def _publish_markers(self) -> None:
        motion, markers = self.motion, self._markers
        if motion is None or markers is None or not self._markers_out.get_subscription_count():
            return
        with self.lock:
            q, angle = motion.q.copy(), motion.angle
            pulses, self._shown = self._shown, []
            amplitude = motion.rotor.amplitude if self.parameters["rotor_speed"] else 0.0
        self._markers_out.publish(markers.update(q, angle, amplitude, pulses))

    # ---- services and diagnostics ---------------------------------------------------------

    def _act(self, action: Callable[[PiezoMotion, Any], str], request: Any) -> str:
        return action(self.require(self.motion), request)

    def _reset(self, motion: PiezoMotion, request: Any) -> str:
        motion.set_state(self._initial)
        motion.time = 0.0
        motion.pulses.clear()
        return f"at the start again; cleared: {self.clear_fault() or 'no fault'}"

    def _pause(self, motion: PiezoMotion, request: Any) -> str:
        self.paused = request.data
        return f"{'paused' if request.data else 'running'} at t = {motion.time:.6g} s"

    def health(self) -> Health:
        """The condition of the node, with the pulses that ended."""
        health = super().health()
        with self.lock:
            motion, count, worst = self.motion, self._count, self._worst
            self._count, self._worst, now = 0, 0.0, self.time()
        if motion is not None:
            missing = self._commands.missing(now, self.parameters["pulse_timeout"])
            if missing:
                health.warnings.append(f"{missing}: all joints are held")
            health.values["simulated time (s)"] = f"{motion.time:.3f}"
        health.values["pulses"] = count
        health.values["largest error of a mean torque (%)"] = f"{100 * worst:.4f}"
        health.values["paused"] = self.paused
        self.refusals.report(health)
        health.of_one_sender("pulses", self._pulses.senders())
        return health


main = partial(run, PiezoSimulator, PiezoSimulator.NAME)

if __name__ == "__main__":
    sys.exit(main())
