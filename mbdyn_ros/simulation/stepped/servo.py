"""Servos of joints that follow positions or velocities, along with a motion in equal steps.

In every step the accelerations that are wanted of such joints are turned into efforts by exact
dynamics, those of the other joints given (`actuator_response`): in closed loops, on
floating bases, for any subset of the actuated joints. With the deviation e from the target and its
rate e', the wanted acceleration is that of a critically damped sampled servo: both poles lie at
p = exp(-2 pi f h),

    a = a_target - k (e' + w e),  k = (1 - p)(3 + p) / (2 h),  w = 2 (1 - p) / ((3 + p) h).

Where a joint is far from its target, w e is not faster than it may move, and than its effort can
stop with the inertia of the others that follow, which hold still. What the equations do not know
(contacts, dry friction that sticks) shows as the difference between the acceleration that they
predicted and that of the step, and is made up for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from ...compiler.kernel import Bound
from ...equations.programs import actuator_response
from ...model.model import Array
from ...robot import Robot
from ..charts import Preparation

if TYPE_CHECKING:
    from .prepared_stepper import PreparedStepper

RETAINED = 0.95
"""Share of an unknown load that is made up for: a servo against a wall is 20 times as stiff as by
its frequency alone, and no stiffer, so that its effort is bounded."""

STOPPING = 0.5
"""Share of the acceleration at the effort limit that braking is planned with."""


LEAST_SPARE = 0.05
"""Share of the effort limit that braking is planned with where gravity takes all of it."""

DEPENDENT = 1e-10
"""Share of the largest mobility under which one is none."""

Marks = NDArray[np.bool_]
"""Which of n coordinates are meant."""


@dataclass
class Targets:
    """Where the actuated coordinates shall be at the start of a step, (n,) each.

    followed : those that follow a target at all. placed : those of them that follow a position.
    position, velocity : rad or m, and rates; those of others do not matter.
    acceleration : mean over the step.
    """

    followed: Marks
    placed: Marks
    position: Array
    velocity: Array
    acceleration: Array

    @staticmethod
    def none(size: int) -> Targets:
        """No target."""
        followed, placed = np.zeros((2, size), dtype=bool)
        return Targets(followed, placed, *np.zeros((3, size)))


class Servo:
    """The servos of n actuated coordinates.

    Parameters
    ----------
    frequency : natural frequency f, Hz.
    velocity_limit : (n,) infinite where there is none.
    redundant : whether there are more actuators than freedoms, whose efforts are those of least
        norm.

    Attributes
    ----------
    saturated : (n,) which were at their effort limit since this was set to False.
    """

    def __init__(
        self,
        frequency: float,
        velocity_limit: Array,
        redundant: bool = False,
    ) -> None:
        self.frequency, self._fastest, self._redundant = frequency, velocity_limit, redundant
        self._load, self._before = np.zeros((2, len(velocity_limit)))
        self._predicted: Array | None = None
        self.saturated = np.zeros(len(velocity_limit), dtype=bool)

    def forget(self) -> None:
        """Forget what was made up for: the robot was put somewhere else."""
        self._load[:] = 0.0
        self._predicted = None

    def drive(
        self, effort: Array, targets: Targets, position: Array, velocity: Array,
        response: Array, limit: Array, step: float,
    ) -> None:  # fmt: skip
        """Fill the efforts of what follows a target; those of the others are given.

        Parameters
        ----------
        effort : (n,) changed in place.
        position, velocity : (n,) of the actuated coordinates now.
        response : (n, n + 1) of `actuator_response` now.
        limit : (n,) of the efforts; infinite where there is none.
        step : length of the step to come, s.
        """
        pole = math.exp(-2.0 * math.pi * self.frequency * step)
        mobility, free = response[:, :-1], response[:, -1]
        self._learn(velocity, step, 1.0 - pole)
        rest = self._wanted(targets, position, velocity, response, limit, step, pole)
        rest -= free + self._load
        followed = np.flatnonzero(targets.followed)
        effort[followed] = 0.0
        while len(followed):
            if len(followed) == len(effort):
                found = self._solved(mobility, rest)
            else:
                left = rest - mobility @ effort
                found = self._solved(mobility[followed[:, None], followed], left[followed])
            over = np.abs(found) > limit[followed]
            if not over.any():
                effort[followed] = found
                break
            # What is at its limit gives that; the others make up for it.
            bound = followed[over]
            effort[bound] = np.copysign(limit[bound], found[over])
            self.saturated[bound] = True
            followed = followed[~over]
        self._predicted, self._before = mobility @ effort + free, velocity.copy()

    def _learn(self, velocity: Array, step: float, share: float) -> None:
        """Compare the last step with what was predicted of it."""
        if self._predicted is not None:
            missed = (velocity - self._before) / step - self._predicted
            self._load += share * (RETAINED * missed - self._load)

    def _wanted(
        self, targets: Targets, position: Array, velocity: Array, response: Array,
        limit: Array, step: float, pole: float,
    ) -> Array:  # fmt: skip
        """Accelerations (n,) that are wanted."""
        k = (1.0 - pole) * (3.0 + pole) / (2.0 * step)
        w = 2.0 * (1.0 - pole) / ((3.0 + pole) * step)
        fastest = self._fastest.tolist()
        braking = self._braking(targets, response, limit)
        placed, at = targets.placed.tolist(), targets.position.tolist()
        where, speeds = position.tolist(), velocity.tolist()
        aims, result = targets.velocity.tolist(), targets.acceleration.tolist()
        for i, aim in enumerate(aims):  # plain numbers: arrays would take several times as long
            if placed[i]:
                deviation = where[i] - at[i]
                far, approach = abs(deviation), w * abs(deviation)
                if braking[i] < math.inf:
                    linear = braking[i] / w**2  # rad or m, within which w e can be braked
                    if far > linear:
                        approach = math.sqrt(braking[i] * (2.0 * far - linear))
                aim -= math.copysign(approach, deviation)
            aim = min(max(aim, -fastest[i]), fastest[i])
            result[i] -= k * (speeds[i] - aim)
        return np.array(result)

    def _braking(self, targets: Targets, response: Array, limit: Array) -> list[float]:
        """Accelerations (n,) with which each can stop while the others that follow hold still.

        By its mobility alone, which lets the others go, an arm that is stretched out is so light
        that its joints drive each other from limit to limit forever.
        """
        followed = np.flatnonzero(targets.followed)
        if len(followed) < len(limit):
            response = response[np.ix_(followed, np.append(followed, len(limit)))]
        units = np.eye(*response.shape)
        units[:, -1] = response[:, -1]
        found = self._solved(response[:, :-1], units)
        inertia, held, most = found.diagonal().tolist(), found[:, -1].tolist(), limit.tolist()
        result = [math.inf] * len(limit)
        for k, i in enumerate(followed.tolist()):
            spare = max(most[i] - abs(held[k]), LEAST_SPARE * most[i])
            if inertia[k] > 0.0:  # one of redundant actuators may have none
                result[i] = STOPPING * spare / inertia[k]
        return result

    def _solved(self, mobility: Array, acceleration: Array) -> Array:
        """Efforts that give the accelerations, (m,) or in columns."""
        if not self._redundant:
            # LAPACK itself: numpy's solve lets go of the interpreter, and other threads keep it.
            _, found, unsolved = dposv(mobility, acceleration)
            if not unsolved:
                return np.asarray(found, dtype=np.float64)
        return _of_least_norm(mobility, acceleration).astype(np.float64, copy=False)


def _of_least_norm(mobility: Array, acceleration: Array) -> NDArray[np.floating[Any]]:
    return np.linalg.lstsq(mobility, acceleration, rcond=DEPENDENT)[0]


class Following:
    """The servos of a motion; see `Servo`.

    The program that they take is compiled, during the motion, when a target comes for the first
    time: `ready` says when it is there.

    Attributes
    ----------
    places : (n,) where the actuated coordinates stand among `joint_position` of the motion; -1 for
        those that are parts of joints with several coordinates, and cannot follow.
    """

    def __init__(self, robot: Robot, motion: PreparedStepper, frequency: float) -> None:
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
        self._responses: dict[Robot, Preparation[Bound]] = {}
        self._active = False

    @property
    def ready(self) -> bool:
        """Whether the present coordinates' program is there; asks for it where it is not."""
        return self._response.done

    @property
    def _response(self) -> Preparation[Bound]:
        """`actuator_response` in the present coordinates, bound."""
        chart = self._motion.chart
        if chart not in self._responses:
            self._responses[chart] = Preparation(
                [], lambda: Bound(chart.calls.kernel(actuator_response))
            )
        return self._responses[chart]

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
        motion, response = self._motion, self._response.result()
        response.q[:], response.v[:] = motion.chart_state
        response()
        state = motion.joint_position[self.places], motion.joint_velocity[self.places]
        self.servo.drive(effort, targets, *state, response.result, limit, motion.step)

    def saturated(self) -> list[str]:
        """Joints that were at their effort limit since this was asked before."""
        found = [self._labels[k] for k in np.flatnonzero(self.servo.saturated)]
        self.servo.saturated[:] = False
        return found
