"""The state of all joints from those that are measured, again and again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arguments import checked_numbers, single_vector
from ..array import Array, all_finite, places
from ..compiler.kernel import Bound
from ..equations.actuation import joint_rates
from ..errors import InputError
from ..export.headers import constant
from ..robot import Robot
from .joint_space import JointSpace

MOST_FUSIONS = int(constant("measured_joints.hpp", "most_steps"))
"""Steps of Gauss and Newton's method for one state; three or four are usual."""

LEAST_FUSION_STEP = constant("measured_joints.hpp", "last_step")
"""Step (rad or m, relative to 1) at which these have come to an end."""

LEAST_FUSION_SHARE = constant("measured_joints.hpp", "least_share")
"""Least share of a step that is tried where the loops cannot be closed at its end."""


class MeasuredJoints:
    """All joints of a robot from measured ones, loops closed exactly.

    Where no more joints are measured than the robot has freedoms, they stay as they were
    measured. Where more are, the state is that of least squares: the sum of ((measured - computed)
    / deviation)^2 over the measured joints is least, by Gauss and Newton's method from the last
    state on. Loops without closed form follow the last state too (docs/closed_loops.md).

    Parameters
    ----------
    robot : the robot.
    joints : names of the measured joints; any that determine all others.
    deviations : standard deviations (k,) of what is measured, in the order of `labels`, rad or m;
        their ratios count. All alike by default.

    Attributes
    ----------
    labels : of what is measured (k,): the joints' names, or "joint/part".
    position, velocity : (n,), (n,) of all joints in the order of `Robot.joint_state`, of the last
        `update`; the same arrays every time.
    disagreement : (k,) rad or m: measured minus computed; zeros where nothing is redundant.

    Raises
    ------
    InputError
        An unknown joint, or joints that leave a freedom open, which is named.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> measured = MeasuredJoints(mbdyn_ros.load(CART), ["rail"])
    >>> measured.update([0.5], [0.1])
    >>> measured.position
    array([0.5])
    """

    def __init__(
        self, robot: Robot, joints: Sequence[str], deviations: Sequence[float] | None = None
    ) -> None:
        self.space = JointSpace(robot, joints)
        self.labels = self.space.labels
        chart = self.space.chart
        self.weights = 1.0 / _checked_deviations(deviations, self.labels)
        self._closed, self._moved = chart.bind("joint_position"), chart.bind("joint_velocity")
        self._rates = Bound(chart.calls.kernel(joint_rates)) if self.space.redundant else None
        coordinates = robot.system.coordinates
        # Trees of charts may have other orders.
        self._rows_q, self._rows_v = (places(one) for one in chart.system.coordinates.joint_rows)
        size = len(self.labels)
        self.position = np.zeros(len(coordinates.joint_labels))
        self.velocity = np.zeros(len(coordinates.joint_rate_labels))
        self.disagreement = np.zeros(size)
        self._base = places(self.space.base)
        self._own = np.array(self.space.rows, dtype=int)
        self._first = 7 * robot.floating_base
        self._closed.q = chart.home_position
        self._moved.q = chart.home_position
        turning = chart.system.turning
        self._turning = np.array([label in turning for label in self.labels], dtype=bool)
        self._home = chart.joint_state(chart.home_position)[0][self._own]
        self._turns = np.zeros(size)
        self._correction = np.zeros(len(self.space.base))

    def __repr__(self) -> str:
        name, every = self.space.robot.model.name, len(self.position)
        return f"<MeasuredJoints of {name!r}: {every} positions from {', '.join(self.labels)}>"

    def update(
        self, position: Array | Sequence[float], velocity: Array | Sequence[float] | None = None
    ) -> None:
        """Take a measured state (k,), (k,), and update `position`, `velocity` and `disagreement`.

        Without velocities that of all joints stays at rest.

        Raises
        ------
        InputError
            Wrong numbers, or loops that cannot be closed there: with their gap. The state before
            stays.
        """
        measured = single_vector("position", position, self.labels)
        unwrapped = measured - self._turns
        q = unwrapped[self._base] + self._correction
        if not self._reached(q):
            self._turns = np.where(
                self._turning, math.tau * np.round((measured - self._home) / math.tau), 0.0
            )
            unwrapped = measured - self._turns
            q = unwrapped[self._base]
            if not self._reached(q):
                self.space.chart.joint_state(self._closed.q)  # says why
                raise InputError(f"{self.space.robot.model.source}: no loops close at {q}")
        if self._rates is not None:
            q = self._fused(unwrapped, q)
        self.position[:] = self._closed.result[self._rows_q]
        if velocity is None:
            self.velocity[:] = 0.0
            return
        rate = single_vector("velocity", velocity, self.labels)
        if self._rates is not None:
            weights = self.weights[:, None]
            rows = self._rates.result[self.space.rate_rows, 6 * bool(self._first) :]
            v = np.linalg.lstsq(weights * rows, self.weights * rate, rcond=None)[0]
        else:
            v = rate[self._base]
        self._moved.q[:] = self._closed.q
        self._moved.v[6 * bool(self._first) :] = v
        self._moved()
        self.velocity[:] = self._moved.result[self._rows_v]

    def worst(self) -> tuple[str, float]:
        """The measured joint that disagrees most, and by how much, rad or m."""
        k = int(np.argmax(np.abs(self.disagreement)))
        return self.labels[k], float(self.disagreement[k])

    def _reached(self, q: Array) -> bool:
        """Close the loops at positions of the chart; whether they close."""
        self._closed.q[self._first :] = q
        self._closed()
        return all_finite(self._closed.result)

    def _fused(self, unwrapped: Array, q: Array) -> Array:
        """The chart's positions of least squares, from q on, where the loops are closed."""
        assert self._rates is not None
        first, weights = self._first, self.weights
        left = self._left(unwrapped)
        for _ in range(MOST_FUSIONS):
            self._rates.q[:] = self._closed.q
            self._rates()
            rows = self._rates.result[self.space.rate_rows, 6 * bool(first) :]
            step = np.linalg.lstsq(weights[:, None] * rows, weights * left, rcond=None)[0]
            size = 1.0
            while not self._reached(q + size * step):
                size /= 2
                if size < LEAST_FUSION_SHARE:
                    raise InputError(
                        f"{self.space.robot.model.source}: the measured joints disagree so much "
                        f"that loops cannot be closed between them: {self._parting(left)}"
                    )
            q = q + size * step
            left = self._left(unwrapped)
            if (np.abs(step) <= LEAST_FUSION_STEP * np.maximum(1.0, np.abs(q))).all():
                break
        else:
            raise InputError(
                f"{self.space.robot.model.source}: no state fits the measured joints: "
                f"{self._parting(left)}"
            )
        self.disagreement[:] = left
        self._correction[:] = q - unwrapped[self._base]
        return q

    def _left(self, unwrapped: Array) -> Array:
        """Measured minus computed (k,), modulo a full turn for revolute joints in loops."""
        left = unwrapped - self._closed.result[self._rows_q][self._own]
        return np.where(self._turning, left - math.tau * np.round(left / math.tau), left)

    def _parting(self, left: Array) -> str:
        k = int(np.argmax(np.abs(left)))
        return f"{self.labels[k]} is {left[k]:.3g} (rad or m) from where the others put it"


def _checked_deviations(deviations: Sequence[float] | None, labels: Sequence[str]) -> Array:
    """Positive numbers (k,); anything else is refused."""
    if deviations is None:
        return np.ones(len(labels))
    numbers = checked_numbers("deviations", deviations)
    if numbers.shape != (len(labels),):
        raise InputError(
            f"{numbers.size} deviations are given for {len(labels)} measured coordinates: "
            f"{', '.join(labels)}"
        )
    wrong = np.flatnonzero(~((numbers > 0) & np.isfinite(numbers)))
    if len(wrong):
        k = int(wrong[0])
        raise InputError(f"the deviation of {labels[k]} is {numbers[k]:g}: it must be positive")
    return numbers
