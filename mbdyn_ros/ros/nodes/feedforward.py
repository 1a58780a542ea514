"""Efforts along a reference: inverse dynamics, a PD where asked, and the effort limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from ..messages.effort_limits import EffortLimits
from ..messages.layout import Layout
from ..messages.measured_state import MeasuredState
from ..messages.named_numbers import columns, effort_blocks, require_known
from ..messages.playback import Playback, approach, require_timely
from ..messages.reference import Reference, State
from ..messages.reference_limits import ReferenceLimits
from ..messages.turns import Turns
from .conditions import Conditions

EFFORT_SOURCES = ("inverse_dynamics", "reference", "none")
"""Where the efforts come from that a PD adds to: computed, those in the reference's points, or
nowhere."""


class Feedforward:
    """The state of the `torque_feedforward` node.

    Parameters
    ----------
    robot : a robot on the ground.
    joints : order of the efforts; empty for all actuated joints.
    conditions : under which a reference is followed.

    Attributes
    ----------
    joints, labels : that order, by joint and by coordinate.
    order : where those coordinates are among the robot's efforts.
    limits : the effort limits.
    measured : of all actuated joints.
    playback : the motion that is followed.
    source : one of `EFFORT_SOURCES`.
    lead : how far ahead the feed-forward is computed, s, for the way to the actuators.
    """

    def __init__(self, robot: Robot, joints: Sequence[str], conditions: Conditions) -> None:
        if robot.system.coordinates.quaternions:
            raise InputError("the robot has a floating joint, which no trajectory can describe")
        self.joints = tuple(joints) or robot.actuated_joints
        require_known(self.joints, robot.actuated_joints, "actuated joint")
        size = len(robot.effort_labels)
        self.order = np.array(columns(effort_blocks(robot), self.joints), dtype=int)
        self.labels = [robot.effort_labels[k] for k in self.order]
        self.limits = EffortLimits(robot)
        self._kp, self._kd = np.zeros(size), np.zeros(size)
        self.conditions = conditions
        self._turns = Turns(robot, robot.velocity_labels)
        self.measured = self._posture = MeasuredState(robot.velocity_labels, self._turns)
        if robot.velocity_labels != robot.effort_labels:
            turns = Turns(robot, robot.effort_labels)
            self.measured = MeasuredState(robot.effort_labels, turns)
        self.source, self.lead = EFFORT_SOURCES[0], 0.0
        self.playback = Playback()
        self._given: tuple[Array, Array] | None = None
        self.replace_robot(robot)

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    def replace_robot(self, robot: Robot) -> None:
        """Go on with the same robot under another gravity."""
        self._robot = robot
        self._inverse = robot.bind("inverse_dynamics")
        self._driven = list(robot.system.coordinates.effort)
        self._position, self._velocity = robot.bind("joint_position"), robot.bind("joint_velocity")

    def set_gains(self, kp: Sequence[float], kd: Sequence[float]) -> None:
        """Gains of the PD: none, one for all joints, or one for each of `order`."""
        gains = []
        for name, values in (("kp", kp), ("kd", kd)):
            if len(values) not in (0, 1, len(self.order)):
                raise InputError(
                    f"{name} has {len(values)} numbers; give none, one for all joints, or "
                    f"{len(self.order)}: {', '.join(self.labels)}"
                )
            gain = np.zeros(len(self._robot.effort_labels))
            gain[self.order] = list(values) if len(values) else 0.0
            gains.append(gain)
        self._kp, self._kd = gains

    @property
    def needs_states(self) -> str:
        """The part that needs measured joint states all the time; empty where none does."""
        if self._kp.any() or self._kd.any():
            return "the PD"
        return "following_tolerance" if self.conditions.following_tolerance else ""

    def reference_limits(self) -> ReferenceLimits:
        """Limits that references are held to."""
        bound = np.full(len(self.limits.bound), math.inf)
        if self.limits.enforced:
            bound[self.order] = self.limits.bound[self.order]
        return ReferenceLimits(self._robot, bound, self.source == "inverse_dynamics")

    def require_within_limits(
        self, reference: Reference, efforts: Array | None, measured: Array | None
    ) -> None:
        """Refuse a motion, or efforts in its points, beyond the limits; may take long.

        A joint that is `measured` beyond one may come back from there.
        """
        if self.conditions.check_limits:
            limits = self.reference_limits()
            limits.require(reference, measured)
            if efforts is not None:
                limits.require_efforts(np.array(reference.times), efforts)

    def read_efforts(self, message: JointTrajectory) -> Array | None:
        """Efforts (N, n) in the points, where they are the source."""
        if self.source != "reference":
            return None
        layout, rows = Layout(self._robot, message.joint_names), []
        for k, point in enumerate(message.points):
            if not len(point.effort):
                raise InputError(
                    f"point {k} has no effort, and the parameter feedforward is 'reference': the "
                    "service inverse_dynamics_trajectory fills efforts in"
                )
            try:
                rows.append(layout.efforts(point.effort))
            except InputError as error:
                raise InputError(f"point {k}: {error}") from None
        return np.array(rows)

    def follow(
        self,
        reference: Reference,
        start: float,
        now: float,
        efforts: Array | None = None,
    ) -> None:
        """Follow a motion from the time `start`, s, with the efforts of its points if given.

        A motion whose first point comes later than `now` is led up to from the present state.

        Raises
        ------
        InputError
            It is over, too far ahead, starts too far from the robot, or the way there leaves the
            limits.
        """
        given = self.conditions
        require_timely(reference, start, now, given.reference_timeout, given.longest_wait)
        present = self._present(now)
        way = present and approach(reference, start, now, present, self._turns)
        if way and given.check_limits:
            beyond = self.posture(now)
            self.reference_limits().require(way, beyond, "on the way to the first point, ")
        if given.start_tolerance:
            self._require_near((way or reference).at(now - start), now)
        if efforts is None:
            self._given = None
        else:
            held = None if self.idle_reason(now) else self._given_now(now)
            times = np.array(reference.times)
            if way and held is not None:
                times, efforts = np.append(now - start, times), np.vstack([held, efforts])
            self._given = times, efforts
        self.playback.follow(reference, start, way)

    def idle_reason(self, now: float) -> str:
        """Why the efforts must be zero now; empty where they need not."""
        reason = self.playback.idle_reason(now, self.conditions.reference_timeout)
        needed = self.needs_states
        if reason or not needed:
            return reason
        missing = self.measured.missing(now, self.conditions.state_timeout)
        return f"{missing}, which {needed} needs" if missing else ""

    def forget(self, reason: str) -> bool:
        """Know no joint states and no reference any more; whether there was one."""
        self.measured.forget()
        self._posture.forget()
        return self.playback.forget(reason)

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Read joint states that were sent at a time; whether they say where the robot is."""
        taken = self.measured.take(message, now, sent)
        if self._posture is not self.measured:
            self._posture.take(message, now, sent)
        return taken

    def _require_near(self, state: State, now: float) -> None:
        """Refuse to begin with a state that is far from the measured one."""
        given = self.conditions
        missing = self.measured.missing(now, given.state_timeout)
        if missing:
            raise InputError(
                f"{missing}: nobody knows how far the robot is from its start (parameter "
                "start_tolerance; 0 takes references all the same)"
            )
        tolerance = given.start_tolerance
        if not self.idle_reason(now):
            tolerance = max(tolerance, given.following_tolerance)
        wanted, _ = self._of_driven_joints(*state[:2])
        label, measured, apart = self.measured.farthest(wanted)
        if not apart <= tolerance:
            raise InputError(
                f"it begins {apart:.4g} from where {label} is measured, at {measured:.6g}: more "
                f"than start_tolerance ({tolerance:g}). Let its first point come later, and the "
                "robot is led there"
            )

    def _present(self, now: float) -> State | None:
        """The state that is followed, else the measured one, at rest; None where not known."""
        if not self.idle_reason(now):
            return self.playback.at(now)
        measured, rest = self.posture(now), np.zeros(self._robot.nv)
        return None if measured is None else (measured, rest, rest)

    def posture(self, now: float) -> Array | None:
        """The measured positions (n,) of the independent joints, where they are known."""
        missing = self._posture.missing(now, self.conditions.state_timeout)
        return None if missing else self._posture.position

    def _given_now(self, now: float) -> Array | None:
        """The efforts of the reference's points at a time."""
        if self._given is None:
            return None
        moment, (times, rows) = now - self.playback.start, self._given
        return np.array([np.interp(moment, times, column) for column in rows.T])

    def efforts(self, now: float) -> Array:
        """Efforts in `order` (N m or N), clamped to the limits."""
        inverse, given = self._inverse, self._given_now(now + self.lead)
        if self.source == "inverse_dynamics":
            inverse.q[:], inverse.v[:], inverse.a[:] = self.playback.at(now, self.lead)
            inverse()
        elif self.source == "reference" and given is not None:
            inverse.effort[:] = given
        else:
            inverse.effort[:] = 0.0
        effort = inverse.effort
        if self.needs_states:
            q, v, _ = self.playback.at(now)
            wanted_q, wanted_v = self._of_driven_joints(q, v)
            self._require_followed(wanted_q)
            effort += self._kp * self.measured.way(wanted_q)
            effort += self._kd * (wanted_v - self.measured.velocity)
        if not np.isfinite(effort).all():
            if self.source == "inverse_dynamics":
                self._robot.inverse_dynamics(inverse.q, inverse.v, inverse.a)  # says why
            k = int(np.argmin(np.isfinite(effort)))
            raise InputError(f"the effort of {self._robot.effort_labels[k]} is {effort[k]}")
        self.limits.clamp(effort)
        return effort[self.order]

    def _require_followed(self, wanted: Array) -> None:
        """Raise an error where the robot is too far from where it is wanted."""
        tolerance = self.conditions.following_tolerance
        label, measured, apart = self.measured.farthest(wanted)
        if tolerance and not apart <= tolerance:
            raise InputError(
                f"{label} is at {measured:.6g}, {apart:.4g} from where the reference wants it: "
                f"more than following_tolerance ({tolerance:g})"
            )

    def _of_driven_joints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions and velocities of the actuated joints."""
        position, velocity = self._position, self._velocity
        position.q[:] = velocity.q[:] = q
        velocity.v[:] = v
        position()
        velocity()
        return position.result[self._driven], velocity.result[self._driven]
