"""Node `piezo_simulator`: moves a piezo robot by the pulses it receives.

`docs/ros.md` explains its topics and services.

Markers are all in the frame of the root link, so that no TF is needed. A joint is a ball, which
turns green and grows with the share of the rotor's turn in which its transducer is on; the blue
arrow along its axis is the mean torque of its pulses. Joints in one place are shells around each
other.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import Marker, MarkerArray

from ...errors import InputError
from ...model.model import Array
from ...motion.poses import path_length, turned_with
from ...robot import Robot
from ...ros.messages.conversions import doubles, fill_time
from ...ros.messages.named_numbers import partial_position, require_reasonable
from ...ros.node.description import LATCHED
from ...ros.node.health import Health
from ...ros.node.inbox import Inbox
from ...ros.node.interfaces import message_types
from ...ros.node.node_clock import steady_timer
from ...ros.node.process import run
from ...ros.node.refusals import Refusals
from ...ros.node.robot_node import RobotNode
from ...ros.show.markers import colour, new_marker, point
from ...view.scene.arrows import arrow_vector
from .. import PiezoMotion, Pulse, Rotor
from ..pulse_equations import TURN
from ..rotor import direction
from .parameters import PIEZO_SIMULATOR

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


class PiezoMarkers:
    """The markers of one robot.

    Parameters
    ----------
    motion : of the robot, at the start.
    """

    def __init__(self, motion: PiezoMotion) -> None:
        robot = self._robot = motion.robot
        self._link, self._angle = motion.link, motion.angle
        self._joints = [robot.model.joint(name) for name in robot.velocity_labels]
        places = self._places(motion.q)
        self._size = 0.2 * path_length(places) or 0.01
        self.message = MarkerArray()
        self._limbs = self._marker("limb", Marker.LINE_STRIP)
        colour(self._limbs, 0.85, 0.8, 0.6, 0.9)
        self._limbs.scale.x = 0.4 * self._size
        self._balls = [self._marker("transducer", Marker.SPHERE) for _ in self._joints]
        self._torques = [self._marker("mean_torque", Marker.ARROW) for _ in self._joints]
        self._force = self._marker("rotor_force", Marker.ARROW)

    def update(
        self, q: Array, angle: float, amplitude: float, pulses: Sequence[Pulse]
    ) -> MarkerArray:
        """The markers of a state.

        Parameters
        ----------
        angle : of the rotor, rad. amplitude : of its force, N; 0 where it is at rest.
        pulses : those that ended since the last call.
        """
        labels = self._robot.velocity_labels
        turned = max(angle - self._angle, TURN)
        self._angle = angle
        share, mean = np.zeros(len(labels)), np.zeros(len(labels))
        for pulse in pulses:
            k = labels.index(pulse.joint)
            share[k] += (pulse.off - pulse.on) / turned
            mean[k] = pulse.achieved
        places = self._places(q)
        self._limbs.points = [point(place) for place in places]
        full = max(amplitude * self._size, 1e-12)  # N m that make a long arrow
        for k, joint in enumerate(self._joints):
            on = 2 * min(float(share[k]), 0.5)
            ball = self._balls[k]
            ball.pose.position = point(places[k])
            diameter = self._size * (0.5 + 0.08 * k + 0.4 * on)
            ball.scale.x = ball.scale.y = ball.scale.z = diameter
            colour(ball, 0.6 * (1 - on), 0.5 + 0.4 * on, 0.6 * (1 - on), 0.35)
            axis = turned_with(self._robot, q, joint.child, joint.axis)
            length = 2 * self._size * float(np.clip(mean[k] / full, -1, 1))
            arrow(self._torques[k], places[k], axis * length, 0.1 * self._size)
            colour(self._torques[k], 0.1, 0.4, 0.9, 1.0)
        tip = turned_with(self._robot, q, self._link, direction(angle) * (amplitude > 0))
        arrow(self._force, places[-1], 2 * self._size * tip, 0.15 * self._size)
        colour(self._force, 0.9, 0.15, 0.1, 1.0)
        return self.message

    def _places(self, q: Array) -> Array:
        """The places of all joints and of the rotor (n + 1, 3), m."""
        links = [joint.child for joint in self._joints] + [self._link]
        return np.array([self._robot.frame_pose(q, link)[:3, 3] for link in links])

    def _marker(self, namespace: str, kind: int) -> Marker:
        root = self._robot.model.root
        marker = new_marker(root, namespace, kind, len(self.message.markers))
        self.message.markers.append(marker)
        return marker


def arrow(marker: Marker, start: Array, vector: Array, thick: float) -> None:
    """Place an arrow; a short one becomes too thin to see."""
    marker.points = [point(start), point(start + vector)]
    seen = arrow_vector(vector)[1] > 0.2 * thick
    marker.scale.x = thick if seen else 1e-6
    marker.scale.y = 2 * marker.scale.x


class PulseCommands:
    """Sets the windows of a motion from `PiezoPulses` messages."""

    def __init__(self, motion: PiezoMotion) -> None:
        self._motion = motion
        self._labels = list(motion.robot.velocity_labels)
        self._at = -math.inf
        self._on = False

    def take(self, message: Any, now: float) -> None:
        """Set the windows of a message that came at the time `now`.

        Raises
        ------
        InputError
            Other joints than the robot's in its order, wrong lengths, or numbers that are not
            finite.
        """
        names = list(message.name)
        if names != self._labels:
            raise InputError(
                f"the pulses are of {', '.join(names) or 'no joint'}, not of "
                f"{', '.join(self._labels)}"
            )
        fields = ("start_phase", "end_phase", "mean_torque")
        arrays = [getattr(message, field).tolist() for field in fields]
        for what, numbers in zip(fields, arrays, strict=True):
            if len(numbers) != len(names):
                raise InputError(f"{what} has {len(numbers)} numbers, expected {len(names)}")
            require_reasonable(what, numbers, names)
        self._at = now
        if message.rotor_speed == 0.0:
            self.stop()
        else:
            self._on = True
            self._motion.set_windows(*arrays)

    def expire(self, now: float, timeout: float) -> None:
        """Hold all joints where no pulses came within `timeout`, s."""
        if self._on and now - self._at > timeout:
            self.stop()

    def missing(self, now: float, timeout: float) -> str:
        """A complaint if no pulses arrived within `timeout` (s); else empty."""
        return f"no pulses for {timeout:g} s" if now - self._at > timeout else ""

    def forget(self) -> None:
        """Hold all joints, as if no pulses had come."""
        self._at = -math.inf
        self.stop()

    def stop(self) -> None:
        """Hold all joints."""
        if self._on:
            self._motion.stop()
        self._on = False
