"""Efforts along a reference: inverse dynamics, a PD where asked, and the effort limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from ..messages.effort_limits import EffortLimits
from ..messages.layout import Layout
from ..messages.measured_state import MeasuredState
from ..messages.named_numbers import columns, effort_blocks, require_known
from ..messages.reference import Reference

EFFORT_SOURCES = ("inverse_dynamics", "reference", "none")
"""Where the efforts come from that a PD adds to: computed, those in the reference's points, or
nowhere."""


class Feedforward:
    """The state of the `torque_feedforward` node.

    Parameters
    ----------
    robot : a robot on the ground.
    joints : order of the efforts; empty for all actuated joints.

    Attributes
    ----------
    joints, labels : that order, by joint and by coordinate.
    order : where those coordinates are among the robot's efforts.
    limits : the effort limits.
    measured : of all actuated joints, for the PD.
    source : one of `EFFORT_SOURCES`.
    lead : how far ahead the feed-forward is computed, s, for the way to the actuators.
    """

    def __init__(self, robot: Robot, joints: Sequence[str] = ()) -> None:
        if robot.system.coordinates.quaternions:
            raise InputError("the robot has a floating joint, which no trajectory can describe")
        self.joints = tuple(joints) or robot.actuated_joints
        require_known(self.joints, robot.actuated_joints, "actuated joint")
        size = len(robot.effort_labels)
        self.order = np.array(columns(effort_blocks(robot), self.joints), dtype=int)
        self.labels = [robot.effort_labels[k] for k in self.order]
        self.limits = EffortLimits(robot)
        self._kp, self._kd = np.zeros(size), np.zeros(size)
        self.measured = MeasuredState(robot.effort_labels)
        self.source, self.lead = EFFORT_SOURCES[0], 0.0
        self._reference: Reference | None = None
        self._given: Array | None = None
        self._start = self._received = 0.0
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
    def uses_states(self) -> bool:
        """Whether measured joint states matter."""
        return bool(self._kp.any() or self._kd.any())

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

    def follow(self, reference: Reference, start: float, efforts: Array | None = None) -> None:
        """Follow a motion from the time `start`, s, with the efforts of its points if given."""
        self._reference, self._start, self._given = reference, start, efforts

    def drop_reference(self) -> None:
        """Forget the motion."""
        self._reference = None

    def idle_reason(self, now: float, timeout: float, state_timeout: float) -> str:
        """Why the efforts must be zero now; empty where they need not."""
        if self._reference is None:
            return "no reference yet"
        age = now - self._start - self._reference.end
        if age > timeout:
            return f"the reference ended {age:.2f} s ago"
        missing = self.measured.missing(now, state_timeout) if self.uses_states else ""
        return f"{missing}, which the PD needs" if missing else ""

    def efforts(self, now: float) -> Array:
        """Efforts in `order` (N m or N), clamped to the limits."""
        assert self._reference is not None
        inverse = self._inverse
        moment = now - self._start + self.lead
        if self.source == "inverse_dynamics":
            inverse.q[:], inverse.v[:], inverse.a[:] = self._reference.at(moment)
            inverse()
        elif self.source == "reference" and self._given is not None:
            times = self._reference.times
            inverse.effort[:] = [np.interp(moment, times, column) for column in self._given.T]
        else:
            inverse.effort[:] = 0.0
        effort = inverse.effort
        if self.uses_states:
            q, v, _ = self._reference.at(now - self._start)
            wanted_q, wanted_v = self._of_driven_joints(q, v)
            effort += self._kp * (wanted_q - self.measured.position)
            effort += self._kd * (wanted_v - self.measured.velocity)
        if not np.isfinite(effort).all():
            k = int(np.argmin(np.isfinite(effort)))
            raise InputError(f"the effort of {self._robot.effort_labels[k]} is {effort[k]}")
        self.limits.clamp(effort)
        return effort[self.order]

    def _of_driven_joints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions and velocities of the actuated joints."""
        position, velocity = self._position, self._velocity
        position.q[:] = velocity.q[:] = q
        velocity.v[:] = v
        position()
        velocity()
        return position.result[self._driven], velocity.result[self._driven]
