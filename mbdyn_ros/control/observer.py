"""External efforts from the state and the actuators' efforts, by the generalized momentum.

With the momentum p = M v and its known rate beta = effort - friction + C^T v - g (`momentum`), what
acts from outside obeys p' = beta + d: no acceleration is needed. From one sample to the next, h
later, its mean is

    delta = (p_1 - p_0) / h - (beta_0 + beta_1) / 2,

beta_1 with the effort of sample 0 where actuators hold it,

and all observers are filters of delta, sampled exactly for a delta that is constant in between:

    first    T r' + r = d: the residual of De Luca and Mattone (2003), with the gain K = 1 / T.
             It has r_1 = exp(-h/T) r_0 + (1 - exp(-h/T)) delta, stable at any gain.
    second   the second-order one, r'' + 2 z w r' + w^2 r = w^2 d. At z = 0.87 it overshoots by
             0.4 %, and with w = 2 z / T, of the same mean delay T, it is within 1 % after 2.7 T,
             where the first one is after 4.6 T.
    kalman   p' = beta + d measured with noise, d a random walk (Wahrburg et al. 2018): the gain of
             the steady state, from the noise of p and the drift of d.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arguments import Sealed, checked_flag, positive_number, single_vector
from ..array import Array, all_finite
from ..compiler.kernel import Bound
from ..equations.momentum import observed_momentum
from ..errors import InputError, unknown
from ..export.headers import constant
from ..robot import Robot
from .contact import DEVIATIONS, Contact, ContactDetector, Thresholds
from .external_wrench import ExternalWrench, wrench_at

VARIANTS = ("first", "second", "kalman")

DAMPING = constant("observer.hpp", "damping")
"""Damping ratio of the second order: its step response overshoots by 0.4 %."""

LONGEST_GAP = constant("observer.hpp", "longest_gap")
"""s between two samples, after which the observer restarts."""

AT_LIMIT = 0.999
"""Share of an effort limit from which an actuator counts as saturated."""

GAIN_STEPS = 100
"""Steps for which gains are kept, by factor e: those within 1 % share theirs."""


Matrix = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Two rows of three numbers."""


class Filter:
    """The filter of one variant: states (n, 2) of n signals, of which the first is the result.

    time_constant : (n,) s. noise : deviation and drift (n,), (n,) of the variant "kalman".
    """

    def __init__(self, variant: str, time_constant: Array, noise: tuple[Array, ...] = ()) -> None:
        self.variant, self.time_constant = variant, time_constant
        numbers = np.column_stack([time_constant, *noise])
        distinct, self._place = np.unique(numbers, axis=0, return_inverse=True)
        self._distinct: list[list[float]] = distinct.tolist()
        self._gains: dict[tuple[float, ...], Array] = {}
        self._make = getattr(self, f"_{variant}")
        self._step, self._transition = 0.0, np.zeros((1, 2, 3))

    def transition(self, step: float) -> Array:
        """Matrices (n, 2, 3), or (1, 2, 3) for all, from states and input to states a step later.

        The last ones are kept.
        """
        if step != self._step:
            if len(self._distinct) == 1:
                self._transition[0] = self._make(step, *self._distinct[0])
            else:
                found = np.array([self._make(step, *numbers) for numbers in self._distinct])
                self._transition = found[self._place.ravel()]
            self._step = step
        return self._transition

    def entries(self, step: float) -> Sequence[float | Array]:
        """The six numbers of `transition` row by row, each for all signals or (n,)."""
        if len(self._distinct) == 1:
            first, second = self._make(step, *self._distinct[0])
            return *first, *second
        return list(self.transition(step).reshape(-1, 6).T)

    @staticmethod
    def _first(step: float, time_constant: float) -> Matrix:
        left = math.exp(-step / time_constant)
        return (left, 0.0, 1 - left), (0.0, 0.0, 0.0)

    @staticmethod
    def _second(step: float, time_constant: float) -> Matrix:
        frequency = 2 * DAMPING / time_constant
        decay, turning = DAMPING * frequency, math.sqrt(1 - DAMPING**2) * frequency
        left = math.exp(-decay * step)
        cosine, sine = left * math.cos(turning * step), left * math.sin(turning * step) / turning
        kept, pull = cosine + decay * sine, -(frequency**2) * sine
        return (kept, sine, 1 - kept), (pull, cosine - decay * sine, -pull)

    def _kalman(self, step: float, _: float, deviation: float, drift: float) -> Matrix:
        """States: d, and p less its estimate."""
        of_d, of_p = self._steady_gains(step, deviation, drift)
        kept = 1 - of_p
        return (1 - of_d * step, of_d, of_d * step), (-kept * step, kept, kept * step)

    def _steady_gains(self, step: float, deviation: float, drift: float) -> Array:
        """Gains on d and p of the steady state, of steps that differ by a percent alike."""
        key = round(math.log(step) * GAIN_STEPS), deviation, drift
        if key not in self._gains:
            from scipy.linalg import solve_discrete_are  # slow to import

            flow, seen = np.array([[1.0, 0.0], [step, 1.0]]), np.array([[0.0], [1.0]])
            walk = np.array([[step, step**2 / 2], [step**2 / 2, step**3 / 3]])
            spread = solve_discrete_are(flow.T, seen, drift**2 * walk, np.array([[deviation**2]]))
            self._gains[key] = spread[:, 1] / (spread[1, 1] + deviation**2)
        return self._gains[key]


class Observer(Sealed):
    """Estimates the external efforts of a robot's independent coordinates at every sample.

    Fill `q`, `v` and `effort` in place; call `cycle`; read `external`. The first cycle, and the
    first one after a gap, begins without a bump: at zero.

    Parameters
    ----------
    robot : with any joints, loops and a fixed or floating base. Its payload and friction are
        those that hold at every cycle (`set_payload`, `set_friction`).
    time_constant : T (s), one or for each velocity coordinate: the mean delay of `external`.
    variant : of `VARIANTS`.
    step : s, of samples as they usually come. No T may be shorter: that is the bound of gains.
    deviation, drift : of the variant "kalman": standard deviation of the momentum as it is measured
        (kg m^2/s or kg m/s), and by how much external efforts drift in a second (N m or N); one or
        for each coordinate. They give T.
    held : whether efforts are commands that actuators hold from their sample to the next one;
        without, they are measured, and straight in between.

    Attributes
    ----------
    q, v, effort : (nq,), (nv,), (efforts,) as measured, of the same instant; of a floating base the
        first six efforts are 0.
    external : (nv,) efforts from outside, N m or N, that act as those of the independent joints.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> observer = Observer(mbdyn_ros.load(CART))  # 2 kg, pushed with 6 N
    >>> for k in range(101):
    ...     observer.v[:] = 3.0 * 1e-3 * k
    ...     external = observer.cycle(1e-3 * k)
    >>> external.round(3)
    array([6.])
    """

    OTHERWISE: ClassVar[Mapping[str, str]] = {
        "restarts": "cycle(now) counts them",
        "": "fill it in place, observer.q[:] = ..., or make another Observer",
    }

    def __init__(
        self,
        robot: Robot,
        time_constant: float | Sequence[float] | Array = 0.01,
        variant: str = "second",
        step: float = 1e-3,
        deviation: float | Sequence[float] | None = None,
        drift: float | Sequence[float] | None = None,
        held: bool = False,
    ) -> None:
        robot.require_single("an observer")
        self.robot, self.labels = robot, robot.velocity_labels
        self._program = Bound(robot.calls.kernel(observed_momentum))
        self.q, self.v, self._held_effort, self.effort = self._program.arguments[:4]
        self._before = self._program.arguments[4:8]
        self.external, self._step = self._before[2], self._program.step
        self._step[:] = 1.0
        self.q[:] = robot.home_position
        self._held = checked_flag("held", held)
        step = positive_number("step", step)
        self.filter = self._made(variant, time_constant, step, deviation, drift)
        shortest = float(self.filter.time_constant.min(initial=math.inf))
        if shortest < step:
            raise InputError(
                f"the time constant {shortest:g} s is shorter than the step of samples, {step:g} "
                "s: anything faster cannot be distinguished from them. Choose a longer one"
            )
        self._since = [math.nan, robot.calls.changes]
        self._restarts = 0
        self.seal()


    def __repr__(self) -> str:
        longest = self.filter.time_constant.max(initial=0.0)
        return f"<Observer of {self.robot.model.name!r}: {self.filter.variant}, {longest:.3g} s>"

    def _made(
        self, variant: str, time_constant: object, step: float, deviation: object, drift: object
    ) -> Filter:
        if variant not in VARIANTS:
            raise InputError(unknown("variant", variant, VARIANTS))
        given = {"deviation": deviation, "drift": drift}
        if variant != "kalman":
            for name in (name for name, one in given.items() if one is not None):
                raise InputError(f"{name} is for the variant kalman; this one is {variant}")
            return Filter(variant, self._numbers("time_constant", time_constant))
        for name in (name for name, one in given.items() if one is None):
            raise InputError(f"the variant kalman needs {name}")
        noise, walk = (self._numbers(name, one) for name, one in given.items())
        # Sampled often: w^4 = walk^2 / (noise^2 step), of damping 1 / sqrt(2).
        times = math.sqrt(2) * (noise**2 * step / walk**2) ** 0.25
        return Filter(variant, times, (noise, walk))

    def _numbers(self, what: str, value: object) -> Array:
        """One number above 0, or one for each coordinate, as (nv,)."""
        single = np.ndim(value) == 0  # type: ignore[arg-type]
        numbers = single_vector(what, [value] * len(self.labels) if single else value, self.labels)
        for label, number in zip(self.labels, numbers.tolist(), strict=True):
            if number <= 0:
                raise InputError(f"{what} of {label} is {number:g}: it must be above zero")
        return numbers

    @property
    def restarts(self) -> int:
        """How often it began anew after the first time."""
        return self._restarts

    def restart(self) -> None:
        """Begin anew at the next cycle, without a bump."""
        self._since[0] = math.nan
        for one in self._before[2:]:
            one[:] = 0.0

    def cycle(self, now: float) -> Array:
        """The external efforts (nv,) at a time (s), which are `external`.

        At the time of the last sample nothing is new. Earlier, or more than `LONGEST_GAP` later,
        the observer restarts, and `restarts` counts it. Where the robot's numbers change, such
        as its payload, that step is left out.

        Raises
        ------
        InputError
            A position, velocity or effort that is not finite, by joint; all stays as it was.
        """
        if not self._held:
            self._held_effort[:] = self.effort
        before, changes = self._since
        step = now - before
        goes_on = 0 < step <= LONGEST_GAP
        if goes_on and step != self._step[0]:
            self._step[0] = step
            entries = zip(self._program.arguments[9:], self.filter.entries(step), strict=True)
            for own, number in entries:
                own[:] = number
        self._program()
        observed = self._program.result
        if not all_finite(observed.ravel()):
            self._refuse()
        momentum, rate, external, state = self._before
        if goes_on:
            if changes == self.robot.calls.changes:
                external[:], state[:] = observed[:, 0], observed[:, 1]
        elif step:
            self._restarts += not math.isnan(before)
            self.restart()
        momentum[:], rate[:] = observed[:, 2], observed[:, 4]
        if self._held:
            self._held_effort[:] = self.effort
        self._since[:] = now, self.robot.calls.changes
        return external

    def saturated(self) -> tuple[str, ...]:
        """The actuated joints whose effort is at its limit: what is commanded may not be given."""
        at_limit = np.abs(self.effort) >= AT_LIMIT * np.asarray(self.robot.effort_limits)
        return tuple(np.array(self.robot.effort_labels)[at_limit].tolist())

    def wrench(
        self, link: str, point: Array | Sequence[float] = (0.0, 0.0, 0.0), moment: bool = True
    ) -> ExternalWrench:
        """The wrench at a link that `external` comes from; see `wrench_at`."""
        return wrench_at(self.robot, self.q, self.external, link, point, moment)

    def _refuse(self) -> None:
        """Say which input is not finite."""
        robot = self.robot
        single_vector("position", self.q, robot.position_labels)
        single_vector("velocity", self.v, robot.velocity_labels)
        single_vector("effort", self.effort, robot.effort_labels)
        robot.joint_state(self.q)  # loops that cannot be closed
        raise InputError(f"{robot.model.source}: there is no momentum at q = {self.q.tolist()}")


NORMAL = 1.4826
"""Standard deviation of normal numbers over the median of their sizes."""

UNSURE = 2.0
"""Thresholds of a motion with pushes over those of a free one."""

SLOW = 0.02
"""rad/s or m/s, about which the sign of a velocity is smooth."""

PAUSE = 0.25
"""s between two contacts that count as one."""

ROUNDS = 8
"""Of least squares, in which rows with pushes lose their weight."""


@dataclass(frozen=True, eq=False)
class Friction:
    """Friction that a free motion shows and the description lacks, of every velocity coordinate.

    terms : (nv, 3) a constant effort, dry friction (N m or N), and damping (N m s or N s/m).
    """

    terms: Array

    @staticmethod
    def fit(rows: Array, external: Array) -> Friction:
        """That which explains external efforts (N, nv) best; pushes are outliers (Huber 1964).

        rows : (N, nv, 3) of `friction_rows`.
        """
        terms = np.zeros(rows.shape[1:])
        for k, seen in enumerate(external.T):
            own, weights = rows[:, k], np.ones(len(seen))
            for _ in range(ROUNDS):
                weighted = own * weights[:, None]
                terms[k] = np.linalg.lstsq(weighted.T @ own, weighted.T @ seen, rcond=1e-9)[0]
                left = np.abs(seen - own @ terms[k])
                weights = 1 / np.maximum(left / max(1.5 * NORMAL * np.median(left), 1e-12), 1.0)
        return Friction(terms)

    def efforts(self, rows: Array) -> Array:
        """The external efforts (N, nv) that it is taken for."""
        result: Array = (rows * self.terms).sum(axis=-1)
        return result


def friction_rows(observer: Observer, time: Array, v: Array) -> Array:
    """The share of 1 N m of each term of friction in `external_efforts` (N, nv, 3)."""
    acting = -np.stack([-np.ones_like(v), np.tanh(v / SLOW), v], axis=-1)
    signals = np.zeros((v.shape[1], 3, 3))
    result = np.zeros_like(acting)
    for k, step in enumerate(np.diff(time).tolist(), 1):
        signals[:, 2] = 0.5 * (acting[k - 1] + acting[k])
        signals[:, :2] = observer.filter.transition(step) @ signals if step <= LONGEST_GAP else 0.0
        result[k] = signals[:, 0]
    return result


def external_efforts(observer: Observer, time: Array, q: Array, v: Array, effort: Array) -> Array:
    """External efforts (N, nv) at the states of a recording, in its order."""
    result = np.zeros_like(v)
    for k, t in enumerate(time.tolist()):
        observer.q[:], observer.v[:], observer.effort[:] = q[k], v[k], effort[k]
        result[k] = observer.cycle(t)
    return result


def robust_thresholds(labels: tuple[str, ...], external: Array) -> Thresholds:
    """Thresholds of a recording with pushes, which are rarer than half of its time."""
    center = np.median(external, axis=0)
    joint = UNSURE * DEVIATIONS * NORMAL * np.median(np.abs(external - center), axis=0)
    if not (joint > 0).all():
        still = labels[int(np.argmin(joint))]
        raise InputError(f"the external effort of {still} is constant and gives no threshold")
    sizes = np.linalg.norm((external - center) / joint, axis=1)
    usual = float(np.median(sizes))
    whole = usual + UNSURE * DEVIATIONS * NORMAL * float(np.median(np.abs(sizes - usual)))
    return Thresholds(labels, center, joint, whole)


@dataclass(frozen=True, eq=False)
class Push:
    """A contact of a recording from the row `first` to the row `last`, and its strongest row."""

    contact: Contact
    first: int
    last: int
    strongest: int


def pushes(
    robot: Robot, thresholds: Thresholds, time: Array, q: Array, external: Array
) -> list[Push]:
    """The contacts of a recording; those within `PAUSE` of each other are one."""
    detector, found = ContactDetector(robot, thresholds), list[Push]()
    open_: tuple[Contact, int] | None = None
    sizes = np.linalg.norm(thresholds.scaled(external), axis=1)
    for k, t in enumerate(time.tolist()):
        contact = detector.update(t, q[k], external[k])
        if contact is not None:
            open_ = contact, k
            if found and t - time[found[-1].last] < PAUSE:
                before = found.pop()
                open_ = before.contact, before.first
        if open_ is not None and (detector.contact is None or k == len(time) - 1):
            strongest = open_[1] + int(np.argmax(sizes[open_[1] : k + 1]))
            found.append(Push(*open_, k, strongest))
            open_ = None
    return found
