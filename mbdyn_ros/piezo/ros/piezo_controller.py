"""Node `piezo_controller`: pulses of the transducers that move a piezo robot along a reference.

`docs/ros.md` explains its topics and services.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...motion.playback import NO_REFERENCE, Playback, approach, patience, require_timely
from ...motion.poses import Turns, rotation_of
from ...motion.reference import Reference
from ...robot import Robot
from ...ros.messages.base_pose import target_place, target_turn
from ...ros.messages.conversions import doubles
from ...ros.messages.joint_state_bytes import joint_state_inbox
from ...ros.messages.limits import ReferenceLimits
from ...ros.messages.measured_state import MeasuredState
from ...ros.messages.trajectory_message import read_reference, read_trajectory
from ...ros.node.health import Health
from ...ros.node.inbox import Senders, sender_id
from ...ros.node.interfaces import message_types
from ...ros.node.managed_node import ManagedNode
from ...ros.node.process import run
from ...ros.node.refusals import Refusals
from ...ros.node.robot_node import RobotNode
from .. import PulseController, Rotor
from .parameters import PIEZO_CONTROLLER
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


class PiezoController(ManagedNode):
    """Computes and sends in a thread of its own; references arrive in the executor's."""

    NAME = "piezo_controller"
    PARAMETERS = PIEZO_CONTROLLER
    LOOP = "pulses"
    AT_FAULT = "pulses off"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.control: PulseController | None = None
        self.idle_reason = NO_REFERENCE
        self.reach = ReachWatch((), 0.0)
        self.measured = MeasuredState(())
        self.refused_references = Refusals(self, "reference")
        self.refused_targets = Refusals(self, "target")
        self.playback = Playback()
        self._gain = 0.0
        self._pulses = PulseSender(self)
        self.begin()

    def open_inputs(self) -> None:
        """References, targets, joint states, and the reset."""
        self._planners = Senders(self, "~/reference")
        self._rotor_state = RotorState(
            self, self.parameters["rotor_source"], self.parameters["rotor_speed"]
        )
        self.create_subscription(
            JointTrajectory, "~/reference", self._on_reference, QoSProfile(depth=10), raw=True
        )
        self.create_subscription(PoseStamped, "~/target", self._on_target, QoSProfile(depth=1))
        self._states = joint_state_inbox(self, "joint_states", qos_profile_sensor_data)
        self.offer("reset", Trigger, self._reset)

    def release(self) -> None:
        """Release the robot."""
        self.control = None

    def last_words(self) -> None:
        """Switch all transducers off."""
        if self.control is not None and self.context.ok():
            for _ in range(3):
                self._pulses.off(self._rotor_state)
                time.sleep(0.02)

    # ---- setting up -----------------------------------------------------------------------

    def on_robot(self, robot: Robot) -> None:
        """Keep its transducers off until a reference comes."""
        parameters = self.parameters
        try:
            # While the rotor is not known to turn, its speed does not matter.
            rotor = Rotor(parameters["rotor_mass"], parameters["rotor_radius"], 1.0)
            control = PulseController(robot, rotor, parameters["rotor_link"])
            target = parameters["target_link"] or parameters["rotor_link"]
            home = robot.home_position
            robot.frame_pose(home, target)  # here, because the first calls take long
            robot.jacobian(home, target)
        except InputError as error:
            raise InputError(
                f"parameter rotor_link, rotor_mass, rotor_radius or target_link: {error}"
            ) from None
        with self.lock:
            self.control = control
            self.playback.drop()
            self._set_gains(control)
            self.reach = ReachWatch(robot.velocity_labels, parameters["saturation_timeout"])
            self._turns = Turns(robot, robot.velocity_labels)
            self.measured = MeasuredState(robot.velocity_labels, self._turns)
            self._pulses.name(robot.velocity_labels)
        self.announce(
            f"ready for {robot.model.name}: the rotor in {control.link} drives "
            f"{', '.join(robot.velocity_labels) or 'no joint'}"
        )

    def on_parameters(self, names: Collection[str]) -> None:
        """Set gains, times and the speed of a rotor by the clock."""
        with self.lock:
            self.reach.timeout = self.parameters["saturation_timeout"]
            if self.control is not None:
                self._set_gains(self.control)
            if self._rotor_state.by_clock:
                self._rotor_state.speed = self.parameters["rotor_speed"]

    def _set_gains(self, control: PulseController) -> None:
        # A greater gain than the rate would correct the same error more than once.
        self._gain = min(self.parameters["gain"], self.parameters["rate"])
        control.gain = self._gain
        control.tolerance = self.parameters["tolerance"]

    # ---- the loop -------------------------------------------------------------------------

    def tick(self, now: float, skipped: int) -> None:
        """Send the pulses of the next turn, or none."""
        control = self.control
        if control is None:
            return
        for message in self._states:
            if self.measured.take(message, now, self.clock.at(message.header.stamp, now)):
                self._states.heed()
        self._rotor_state.update(now, self.clock)
        self.idle_reason = self.resting or self.fault or self.clock.waiting or self._why_idle(now)
        if self.idle_reason:
            self.reach.restart()
            self._pulses.off(self._rotor_state)
            return
        speed = self._rotor_state.speed
        if speed != control.rotor.speed:
            control.rotor = Rotor(control.rotor.mass, control.rotor.radius, speed)
        # After 1 / gain the pulses have corrected the error of a state: never correct it twice.
        fresh = self._gain * self.measured.age(now) <= 1
        if (self._gain if fresh else 0.0) != control.gain:
            control.gain = self._gain if fresh else 0.0
        q, v, _ = self.playback.at(now)
        ahead = v * (0.5 / self.parameters["rate"])  # the windows hold for a period
        control.q[:] = self.measured.position + ahead
        control.wanted_q[:], control.wanted_v[:] = control.q + self.measured.error(q), v
        control.cycle()
        self.reach.hold(control, now, fresh)
        self._pulses.send(control, self._rotor_state)

    def _why_idle(self, now: float) -> str:
        """Why the transducers must be off; empty where they need not."""
        settings = self.parameters
        problem = self._rotor_state.problem(now, settings["rotor_timeout"])
        problem = problem or self.measured.missing(now, settings["state_timeout"])
        return problem or self.playback.idle_reason(now, patience(settings["reference_timeout"]))

    def on_clock_jump(self, reason: str) -> None:
        """Drop the reference: its times mean nothing any more."""
        self.measured.forget()
        self._rotor_state.forget()
        if self.playback.forget(reason):
            self.get_logger().warning(f"pulses off, the reference is dropped: {reason}")

    # ---- references -----------------------------------------------------------------------

    def _on_reference(self, data: bytes, info: Any) -> None:
        settings = self.parameters
        try:
            self.require_active()
            robot = self.require(self.control).robot
            message = read_trajectory(data)
            start, era = self.date(message.header.stamp)
            reference = read_reference(robot, message)
            with self.lock:
                present = self._present(self.time_in(era))
            ReferenceLimits(robot).require(reference, present)
            with self.lock:
                self.require_active()
                now = self.time_in(era)
                timeout = patience(settings["reference_timeout"])
                require_timely(reference, start, now, timeout, settings["longest_wait"])
                approaching = None
                if (present := self._present(now)) is not None:
                    rest = np.zeros(robot.nv)
                    approaching = approach(
                        reference, start, now, (present, rest, rest), self._turns
                    )
                if approaching is not None:
                    ReferenceLimits(robot).require(approaching, present)
                self._follow(reference, start, approaching)
            self._planners.heed(sender_id(info))
        except InputError as error:
            self.refused_references.add(error)

    def _present(self, now: float) -> Array | None:
        """The measured positions, if they are known."""
        missing = self.measured.missing(now, self.parameters["state_timeout"])
        return None if missing else self.measured.position.copy()

    def _on_target(self, message: PoseStamped) -> None:
        settings = self.parameters
        try:
            self.require_active()
            robot = self.require(self.control).robot
            now, era = self.date(Time())
            with self.lock:
                present, timeout = self._present(now), settings["state_timeout"]
            if present is None:
                raise InputError(f"no joint_states of all joints for {timeout:g} s")
            reference = motion_to_target(
                robot, settings["target_link"] or settings["rotor_link"], message, present,
                settings["target_orientation"], settings["target_speed"],
            )  # fmt: skip
            with self.lock:
                self.require_active()
                self._follow(reference, self.time_in(era))
        except InputError as error:
            self.refused_targets.add(error)

    def _follow(
        self, reference: Reference, start: float, approaching: Reference | None = None
    ) -> None:
        self.playback.follow(reference, start, approaching)
        self.reach.restart()

    def _reset(self, request: Any) -> str:
        self.playback.drop()
        return f"reference dropped; cleared: {self.clear_fault() or 'no fault'}"

    # ---- diagnostics ----------------------------------------------------------------------

    def health(self) -> Health:
        """Why pulses are off, and which joints are out of reach."""
        health = super().health()
        if self.control is not None:
            if self.idle_reason and not self.fault:
                health.warnings.append(f"pulses off: {self.idle_reason}")
            with self.lock:
                self.reach.report(health)
        self.refused_references.report(health)
        self.refused_targets.report(health)
        health.of_one_sender("references", self._planners.names())
        health.of_one_sender("joint_states of all joints", self._states.senders())
        health.values["rotor speed (rad/s)"] = f"{self._rotor_state.speed:g}"
        health.values["pulses off because of"] = self.idle_reason or "nothing"
        return health


main = partial(run, PiezoController, PiezoController.NAME)

if __name__ == "__main__":
    sys.exit(main())


PEAK_SPEED = 1.875
"""Highest speed of a polynomial of degree 5 from rest to rest, over its mean speed."""

SHORTEST_MOTION = 0.1
"""s that the shortest motion takes."""


def motion_to_target(
    robot: Robot,
    link: str,
    message: PoseStamped,
    present: Array,
    orientation: bool,
    speed: float,
) -> Reference:
    """The motion from the present positions to a pose, from rest to rest, joint by joint.

    Parameters
    ----------
    message : the pose in the frame of the root link.
    orientation : whether the pose's orientation counts.
    speed : of the fastest joint, rad/s or m/s.

    Raises
    ------
    InputError
        An empty message, another frame, bad numbers, or a pose out of reach, with the gap that is
        left.
    """
    pose = np.eye(4)
    pose[:3, 3] = target_place(robot, message)
    if orientation:
        pose[:3, :3] = rotation_of(target_turn(message))
    goal = robot.inverse_kinematics(
        link, pose, position_only=not orientation, start=present, starts=1
    ).require()
    displacement = Turns(robot, robot.velocity_labels).shortest(
        goal - present
    )  # not round and round
    duration = max(
        SHORTEST_MOTION, PEAK_SPEED * float(np.abs(displacement).max(initial=0.0)) / speed
    )
    rest = np.zeros((2, robot.nv))
    return Reference(
        np.array([0.0, duration]), np.array([present, present + displacement]), rest, rest
    )


class ReachWatch:
    """Ends the pulses of joints whose wanted torque stays out of reach.

    A joint whose wanted torque is too large for a moment has the largest there is. After
    `timeout` (s) of that in a row, and at once where the rotor cannot move it at all, it gets no
    pulses until its wanted torque is within reach again.
    """

    def __init__(self, labels: Sequence[str], timeout: float) -> None:
        self.timeout = timeout
        self._labels = np.array(labels)
        self._since = np.full(len(labels), math.inf)
        self._held = np.zeros(len(labels), dtype=bool)
        self._slow = np.zeros(len(labels), dtype=bool)

    def hold(self, control: PulseController, now: float, fresh: bool) -> None:
        """Take the pulses of such joints out of the last cycle, at the time `now`.

        A cycle whose state is not `fresh` wants less than it would: it ends no count.
        """
        saturated = control.saturated != 0
        np.minimum(self._since, now, out=self._since)
        if fresh:
            self._since[~saturated] = math.inf
        held = saturated & (now - self._since > self.timeout) | (control.able == 0)
        if held.any():
            control.on[held] = control.off[held] = control.mean_torque[held] = 0.0
            self._held |= held
        self._slow |= saturated & ~held

    def restart(self) -> None:
        """Begin to count anew: the pulses are off, or the reference is another."""
        self._since[:] = math.inf

    def report(self, health: Health) -> None:
        """Say what was so since the last report."""
        held = ", ".join(self._labels[self._held])
        slow = ", ".join(self._labels[self._slow & ~self._held])
        self._held[:] = self._slow[:] = False
        if held:
            health.warnings.append(
                f"pulses off, the wanted torque is out of the rotor's reach: {held}"
            )
        if slow:
            health.warnings.append(f"saturated, slower than wanted: {slow}")
        health.values["out of reach"] = held or "none"
        health.values["saturated"] = slow or "none"
