"""A reference that is followed under conditions: where it may begin, how long it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...motion.playback import Playback, approach, patience, require_timely
from ...motion.poses import Turns
from ...motion.reference import Reference, State
from ...robot import Robot
from ..messages.limits import EffortLimits, ReferenceLimits
from ..messages.measured_state import MeasuredState
from ..messages.named_numbers import columns, effort_blocks, require_known
from ..node.parameters import Parameters


@dataclass(frozen=True)
class Conditions:
    """Times of the node's clock, s; distances of joints, rad or m.

    reference_timeout : after the last point, until efforts become zero; infinite for never.
    longest_wait : until the first point.
    state_timeout : age at which joint states are stale.
    check_limits : whether a reference must stay within the limits of the description.
    start_tolerance : how far from the robot a reference may start; 0 for anywhere.
    following_tolerance : how far the robot may be from its reference; 0 for anywhere.
    """

    reference_timeout: float
    longest_wait: float
    state_timeout: float
    check_limits: bool
    start_tolerance: float
    following_tolerance: float

    @staticmethod
    def read(values: Parameters) -> Conditions:
        """The conditions for the values of the parameters."""
        return Conditions(
            reference_timeout=patience(values["reference_timeout"]),
            longest_wait=values["longest_wait"],
            state_timeout=values["state_timeout"],
            check_limits=values["check_limits"],
            start_tolerance=values["start_tolerance"],
            following_tolerance=values["following_tolerance"],
        )


class Follower:
    """A motion that the actuated joints shall make; a subclass computes efforts for it.

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
    """

    def __init__(self, robot: Robot, joints: Sequence[str], conditions: Conditions) -> None:
        if robot.system.coordinates.quaternions:
            raise InputError("the robot has a floating joint, which no trajectory can describe")
        self.joints = tuple(joints) or robot.actuated_joints
        require_known(self.joints, robot.actuated_joints, "actuated joint")
        self.order = np.array(columns(effort_blocks(robot), self.joints), dtype=int)
        self.labels = [robot.effort_labels[k] for k in self.order]
        self.limits = EffortLimits(robot)
        self.conditions = conditions
        self._turns = Turns(robot, robot.velocity_labels)
        self.measured = self._posture = MeasuredState(robot.velocity_labels, self._turns)
        if robot.velocity_labels != robot.effort_labels:
            turns = Turns(robot, robot.effort_labels)
            self.measured = MeasuredState(robot.effort_labels, turns)
        self.playback = Playback()
        self.replace_robot(robot)

    # ---- for subclasses -------------------------------------------------------------------

    def efforts(self, now: float) -> Array:
        """Efforts in `order` (N m or N), clamped to the limits."""
        raise NotImplementedError

    @property
    def needs_states(self) -> str:
        """The part that needs measured joint states all the time; empty where none does."""
        return "following_tolerance" if self.conditions.following_tolerance else ""

    def computes(self) -> bool:
        """Whether a reference is refused for the efforts that inverse dynamics finds for it."""
        return True

    def require_ready(self) -> None:
        """Raise `InputError` where nothing can be followed at present."""

    def clamped(self) -> list[str]:
        """The efforts clamped since this was asked before, in words."""
        return self.limits.report()

    def read_efforts(self, message: JointTrajectory) -> Array | None:
        """Efforts (N, n) in the points, where they matter."""
        return None

    # ---- the robot ------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    def replace_robot(self, robot: Robot) -> None:
        """Go on with the same robot under another gravity."""
        self._robot = robot
        self._driven = list(robot.system.coordinates.effort)
        self._position, self._velocity = robot.bind("joint_position"), robot.bind("joint_velocity")

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Read joint states that were sent at a time; whether they say where the robot is."""
        taken = self.measured.take(message, now, sent)
        if self._posture is not self.measured:
            self._posture.take(message, now, sent)
        return taken

    def posture(self, now: float) -> Array | None:
        """The measured positions (n,) of the independent joints, where they are known."""
        missing = self._posture.missing(now, self.conditions.state_timeout)
        return None if missing else self._posture.position

    # ---- references -----------------------------------------------------------------------

    def reference_limits(self) -> ReferenceLimits:
        """Limits that references are held to."""
        bound = np.full(len(self.limits.bound), math.inf)
        if self.limits.enforced:
            bound[self.order] = self.limits.bound[self.order]
        return ReferenceLimits(self._robot, bound, self.computes())

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
        self.require_ready()
        given = self.conditions
        require_timely(reference, start, now, given.reference_timeout, given.longest_wait)
        present = self._present(now)
        lead_in = present and approach(reference, start, now, present, self._turns)
        if lead_in and given.check_limits:
            beyond = self.posture(now)
            self.reference_limits().require(lead_in, beyond, "on the way to the first point, ")
        if given.start_tolerance:
            self._require_near((lead_in or reference).at(now - start), now)
        self._give(reference, start, now, lead_in, efforts)
        self.playback.follow(reference, start, lead_in)

    def _give(
        self,
        reference: Reference,
        start: float,
        now: float,
        lead_in: Reference | None,
        efforts: Array | None,
    ) -> None:
        """Keep the efforts in the points of a reference that is followed from now on."""

    def idle_reason(self, now: float) -> str:
        """Why the efforts must be zero now; empty where they need not."""
        reason = self.playback.idle_reason(now, self.conditions.reference_timeout)
        needed = self.needs_states
        if reason or not needed:
            return reason
        missing = self.measured.missing(now, self.conditions.state_timeout)
        return f"{missing}, which {needed} needs" if missing else ""

    def follows(self, now: float) -> bool:
        """Whether a reference is followed now."""
        stale = self.playback.idle_reason(now, self.conditions.reference_timeout)
        return not (stale or self.idle_reason(now))

    def drop(self) -> None:
        """Follow nothing any more."""
        self.playback.drop()

    def forget(self, reason: str) -> bool:
        """Know no joint states and no reference any more; whether there was one."""
        self.measured.forget()
        self._posture.forget()
        return self.playback.forget(reason)

    def _present(self, now: float) -> State | None:
        """The state that is followed, else the measured one, at rest; None where not known."""
        if self.follows(now):
            return self.playback.at(now)
        measured, rest = self.posture(now), np.zeros(self._robot.nv)
        return None if measured is None else (measured, rest, rest)

    def _require_near(self, state: State, now: float) -> None:
        """Refuse to begin with a state that is far from the measured one."""
        given = self.conditions
        missing = self.measured.missing(now, given.state_timeout)
        if missing:
            raise InputError(
                f"{missing}: the distance of the robot from its start is unknown (parameter "
                "start_tolerance; 0 takes references all the same)"
            )
        tolerance = given.start_tolerance
        if self.follows(now):
            tolerance = max(tolerance, given.following_tolerance)
        wanted, _ = self._of_driven_joints(*state[:2])
        label, measured, apart = self.measured.farthest(wanted)
        if not apart <= tolerance:
            raise InputError(
                f"it begins {apart:.4g} from the measured position of {label}, {measured:.6g}: "
                f"more than start_tolerance ({tolerance:g}). Give its first point a later time, "
                "and the robot is led there"
            )

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
