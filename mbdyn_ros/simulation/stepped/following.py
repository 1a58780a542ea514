"""Joints of a motion in equal steps that follow positions or velocities."""

from __future__ import annotations

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ..charts import Preparation
from .charted_step import ChartedStep, Leg
from .servo import Servo, Targets


class Following:
    """The servos of a motion; see `Servo`.

    The program that they take is compiled, beside the motion, when a target comes for the first
    time: `ready` says when it is there.

    Attributes
    ----------
    places : (n,) where the actuated coordinates stand among `joint_position` of the motion; -1 for
        those that are parts of joints with several coordinates, and cannot follow.
    """

    def __init__(self, robot: Robot, motion: ChartedStep, frequency: float) -> None:
        labels, positions = robot.effort_labels, robot.system.coordinates.joint_labels
        self._motion, self._labels = motion, labels
        single = set(robot.actuated_joints)
        self.places = np.array(
            [positions.index(one) if one in single and one in positions else -1 for one in labels],
            dtype=int,
        )
        limits = [
            robot.model.joint(one).limits if place >= 0 else None
            for one, place in zip(labels, self.places.tolist(), strict=True)
        ]
        fastest = np.array([np.inf if one is None else one.velocity or np.inf for one in limits])
        redundant = len(labels) > robot.nv
        self.servo = Servo(frequency, fastest, redundant)
        self._preparation: tuple[Leg, Preparation[object]] | None = None
        self._active = False

    @property
    def ready(self) -> bool:
        """Whether the present coordinates' program is there; asks for it where it is not."""
        leg = self._motion.leg
        if "response" in vars(leg):
            return True
        if self._preparation is None or self._preparation[0] is not leg:
            self._preparation = leg, Preparation([], lambda: leg.response)
        preparation = self._preparation[1]
        if preparation.done:
            preparation.result()  # raises the error, if there was one
        return "response" in vars(leg)

    def forget(self) -> None:
        """Begin anew: the robot was put somewhere else."""
        self.servo.forget()

    def drive(self, effort: Array, targets: Targets, limit: Array) -> None:
        """Fill the efforts of what follows a target, up to `limit` (n,); others are given."""
        if not any(targets.followed.tolist()):  # in a sixth of the time of theirs
            self._active = False
            return
        if not self._active:
            self.servo.forget()
            self._active = True
        motion, leg = self._motion, self._motion.leg
        response = leg.response
        response.q[:], response.v[:] = leg.motion.q, leg.motion.v
        response()
        state = motion.joint_position[self.places], motion.joint_velocity[self.places]
        self.servo.drive(effort, targets, *state, response.result, limit, motion.step)

    def saturated(self) -> list[str]:
        """Joints that were at their effort limit since this was asked before."""
        found = [self._labels[k] for k in np.flatnonzero(self.servo.saturated)]
        self.servo.saturated[:] = False
        return found
