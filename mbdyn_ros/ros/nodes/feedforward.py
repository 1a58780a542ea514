"""Efforts along a reference: inverse dynamics, a PD where asked, and the effort limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...motion.reference import Reference, between, mean_between
from ...robot import Robot
from ..messages.layout import Layout
from .follower import Conditions, Follower

EFFORT_SOURCES = ("inverse_dynamics", "reference", "none")
"""Where the efforts come from that a PD adds to: computed, those in the reference's points, or
nowhere."""


class Feedforward(Follower):
    """The state of the `torque_feedforward` node.

    Attributes
    ----------
    source : one of `EFFORT_SOURCES`.
    lead : how far ahead the feed-forward is computed, s, for the way to the actuators.
    period : s, for which efforts are held; given ones are sent as their mean in it.
    """

    def __init__(self, robot: Robot, joints: Sequence[str], conditions: Conditions) -> None:
        size = len(robot.effort_labels)
        self._kp, self._kd = np.zeros(size), np.zeros(size)
        self.source, self.lead, self.period = EFFORT_SOURCES[0], 0.0, 1e-3
        self._given: tuple[Array, Array] | None = None
        super().__init__(robot, joints, conditions)

    def replace_robot(self, robot: Robot) -> None:
        """Go on with the same robot under another gravity."""
        super().replace_robot(robot)
        self._inverse = robot.bind("inverse_dynamics")

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
        return super().needs_states

    def computes(self) -> bool:
        """Whether inverse dynamics finds the efforts."""
        return self.source == EFFORT_SOURCES[0]

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

    def _give(
        self,
        reference: Reference,
        start: float,
        now: float,
        lead_in: Reference | None,
        efforts: Array | None,
    ) -> None:
        """Keep the efforts in the points; on the way to the first they come from what they are."""
        if efforts is None:
            self._given = None
            return
        held = None
        if self._given is not None and not self.idle_reason(now):
            held = between(*self._given, now - self.playback.start)
        times = np.array(reference.times)
        if lead_in and held is not None:
            times, efforts = np.append(now - start, times), np.vstack([held, efforts])
        self._given = times, efforts

    def efforts(self, now: float) -> Array:
        """Efforts in `order` (N m or N), clamped to the limits."""
        inverse = self._inverse
        if self.source == "inverse_dynamics":
            inverse.q[:], inverse.v[:], inverse.a[:] = self.playback.at(now, self.lead)
            inverse()
        elif self.source == "reference" and self._given is not None:
            since = now + self.lead - self.playback.start
            inverse.effort[:] = mean_between(*self._given, since, since + self.period)
        else:
            inverse.effort[:] = 0.0
        effort = inverse.effort
        if self.needs_states:
            # Where they were wanted when that was measured: a state in transit is not an error.
            q, v, _ = self.playback.at(min(self.measured.sent, now))
            wanted_q, wanted_v = self._of_driven_joints(q, v)
            self._require_followed(wanted_q)
            effort += self._kp * self.measured.error(wanted_q)
            effort += self._kd * (wanted_v - self.measured.velocity)
        if not np.isfinite(effort).all():
            if self.source == "inverse_dynamics":
                self._robot.inverse_dynamics(inverse.q, inverse.v, inverse.a)  # says why
            k = int(np.argmin(np.isfinite(effort)))
            raise InputError(f"the effort of {self._robot.effort_labels[k]} is {effort[k]}")
        self.limits.clamp(effort)
        return effort[self.order]
