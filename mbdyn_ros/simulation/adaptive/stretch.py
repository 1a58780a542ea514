"""Stretches of a simulation in equal steps: where events do not go on one by one.

Bounces that accumulate at many contacts, switches between sticking and sliding without end and
friction that jams have no next event that helps. The motion goes on in short steps of `Stepper`
there, which always come through, until few contacts are left and have been calm for a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...array import Array
from ...equations.dry_friction import tree_friction
from ...integration.methods import SEMI_IMPLICIT
from ...robot import Robot
from ..contact.environment import Environment
from ..contact.impulses import Impact
from ..contact.precision import STEPS_IN_C
from ..coulomb import fastest_damping
from ..effort import Constant
from ..stepped.stepper import Stepper
from ..trajectory import Event
from .chart_motion import Recorder
from .motion import Motion

STEP = 2e-4
"""Longest step, s."""

VELOCITY_CHANGE = 1e-6
"""Change of a velocity (m/s or rad/s, or share of it) by which damping by efforts is measured."""

DAMPED_STEPS, DAMPED_STEP = 100, 2e-6
"""Steps from one measurement to the next, and how short (s) steps may become by it."""

STILL, STILL_STEPS = 1e-10, 100
"""Velocity (m/s or rad/s) of what stands still, and for how many steps until it surely does."""

STEPS_A_SAMPLE = 5
"""Steps from sample to sample, where no times are asked for; the most in one call."""

CALM = 0.02
"""Time (s) without impacts and changes of contacts after which events serve again."""

FEW = 4
"""Contacts held, with which events serve."""


SETTLED_IN_STEPS = 1e-13
"""Share of the velocities by which contacts may miss their laws, so that forces are exact."""


class _Settled(Stepper):
    """A stepper whose contacts are at least as exact as those of events."""

    _precision = replace(STEPS_IN_C, settled=SETTLED_IN_STEPS)


class SteppedMotion:
    """A motion of a chart in steps of a `Stepper`, whose efforts may change.

    Attributes
    ----------
    motion : in the coordinates of the chart. stepper : takes the steps.
    time, state : where it stands, as the state of an integrator; its work and losses are those
        since the start.
    a : (nv,) mean acceleration in the last steps.
    steps : taken so far.
    rests : whether it stands still and will, each step being like the last: efforts are constant.
    at_once : how many steps may be one: several where nothing drives or damps the robot.
    longest : s; shorter than `STEP` where efforts damp so strongly that they would overshoot.
    """

    def __init__(self, chart: Robot, motion: Motion, environment: Environment) -> None:
        self.motion = motion
        self.stepper = _Settled(chart, STEP, environment)
        self.state, self.a = np.zeros(motion.size), np.zeros(chart.nv)
        self._way = np.zeros(chart.nq)
        self._damping = tree_friction(chart.system.tree)[0]
        self._velocity = chart.bind("joint_velocity")
        self._fed = environment.plain is not environment  # walls may give energy
        self._changes = not isinstance(motion.effort, Constant)

    def start(self, time: float, y: Array) -> None:
        """Begin at a time (s) and the state of an integrator."""
        motion, self.time, self.steps, self._still_steps = self.motion, time, 0, 0
        q, v = motion.split(y)
        self.stepper.set_state(q, v)
        self.stepper.time = time
        self.state, self.a = motion.state(q, v), np.zeros(len(v))
        self._effort = np.array(motion.effort(time, q, v))
        self._driven = self._changes or bool(self._effort.any())
        self.at_once = 1 if self._driven or self._damping.any() else STEPS_A_SAMPLE
        self.longest = self._longest_step()

    @property
    def rests(self) -> bool:
        """Whether nothing moves, and nothing will."""
        return self._still_steps >= STILL_STEPS

    def step_to(self, instant: float, steps: int) -> None:
        """Take steps to an instant (s) with the efforts of the middle, unless it rests.

        The work is that of the mean of the efforts at both ends on the way between: so the energy
        of springs balances to rounding. What errors of the steps would add to it is taken.
        """
        stepper, motion, span = self.stepper, self.motion, instant - self.time
        q, v = stepper.q, stepper.v
        if self.rests:
            self.time, self.a = instant, np.zeros(len(v))
            return
        place, slow, lost = q.copy(), v.copy(), stepper.lost + stepper.trimmed
        energy, count = stepper.energy.sum(), len(stepper.impacts)
        stepper.step = span / steps
        stepper.effort[:] = self._middle(span) if self._changes else self._effort
        stepper.advance(steps)
        self.steps += steps
        if self._changes and self.steps % DAMPED_STEPS == 0:
            self.longest = self._longest_step()
        kept = motion.work(self.state)
        if self._driven:
            mean = 0.5 * (slow + v)
            motion.position_rate.between(place, q, span, mean)
            power = motion.drive.power(place, mean, self._effort)
            if self._changes:
                self._effort = np.array(motion.effort(instant, q, v))
            power += motion.drive.power(q, mean, self._effort)
            given = lost - stepper.lost - stepper.trimmed if self._fed else 0.0
            trimmed = stepper.trimmed
            stepper.limit_energy(energy + 0.5 * span * power + max(0.0, given))
            if self._changes and stepper.trimmed > trimmed:
                self._effort = np.array(motion.effort(instant, q, v))
            kept[0] += 0.5 * span * power
        self.a = (v - slow) / span
        kept[1] += self._damping_loss(self.time, place, slow, stepper.impacts[count:])
        kept[1] += stepper.lost + stepper.trimmed - lost
        still = not self._changes and max(np.abs(slow).max(), np.abs(v).max()) <= STILL
        self._still_steps = self._still_steps + steps if still else 0
        if self.rests:
            v[:] = 0.0
        self.time = instant
        self.state[: motion.nq], self.state[motion.nq : motion.nq + motion.nv] = q, v

    def _middle(self, span: float) -> Array:
        """The efforts half a step (s) ahead."""
        motion, q, v = self.motion, self.stepper.q, self.stepper.v
        motion.position_rate(q, v, self._way)
        middle = q + 0.5 * span * self._way
        motion.normalize(middle)
        return motion.effort(self.time + 0.5 * span, middle, v)

    def _longest_step(self) -> float:
        """The step (s) after which the efforts have stopped what they damp most, at most `STEP`."""
        if not self._changes:
            return STEP
        motion, q, v = self.motion, self.stepper.q, self.stepper.v
        before, ways = np.array(motion.effort(self.time, q, v)), np.eye(len(v))
        damping = np.zeros((len(v), len(v)))
        for k, change in enumerate(VELOCITY_CHANGE * np.maximum(1.0, np.abs(v))):
            after = motion.effort(self.time, q, v + change * ways[k])
            less = (before - after) / change
            damping[:, k] = [motion.drive.power(q, way, less) for way in ways]
        rate = fastest_damping(self.stepper.robot.mass_matrix(q), (damping + damping.T) / 2)
        return max(DAMPED_STEP, STEP / max(1.0, STEP * rate))

    def _damping_loss(self, time: float, q: Array, v: Array, impacts: Sequence[Impact]) -> float:
        """Energy (J) that damping has taken since a time (s) and the state there.

        Strong damping acts as of the end of each part between impacts: its impulse there times the
        mean velocity. Else its power is the mean of both ends.
        """
        if not self._damping.any():
            return 0.0
        stepper, loss = self.stepper, 0.0
        is_implicit = stepper.method == SEMI_IMPLICIT.name
        ends = [(one.time, one.q, one.v_before, one.v_after) for one in impacts]
        for end, place, before, after in [*ends, (stepper.time, stepper.q, stepper.v, stepper.v)]:
            first, last = self._velocity_at(q, v), self._velocity_at(place, before)
            power = last * (first + last) if is_implicit else first**2 + last**2
            loss += 0.5 * (end - time) * float(self._damping @ power)
            time, q, v = end, place, after
        return loss

    def _velocity_at(self, q: Array, v: Array) -> Array:
        """Velocities of all joints."""
        velocity = self._velocity
        velocity.q[:], velocity.v[:] = q, v
        velocity()
        return velocity.result.copy()


class SteppedStretch:
    """The motion of a chart in equal steps from a time on.

    Attributes
    ----------
    moving : the motion, and where it stands.
    recorder : with the samples.
    """

    def __init__(self, chart: Robot, moving: SteppedMotion) -> None:
        self._chart, self.moving = chart, moving
        self.recorder = Recorder(chart, moving.motion, None)

    def run(
        self, times: Array | None, end: float, least: float, report: Callable[[Event], object]
    ) -> None:
        """Go on to the end of time, or for at least so long (s) and until contacts are calm.

        Samples are kept at `times` from here on and before where it stops; without times every
        few steps; and at the end of time.

        Raises
        ------
        SimulationError
            The state is no longer finite.
        """
        moving, stepper = self.moving, self.moving.stepper
        start = calm_since = moving.time
        before = stepper.modes
        for instant, steps, wanted in self._instants(times, end):
            if wanted:
                self._keep()
            if instant > moving.time:
                moving.step_to(instant, steps)
            if stepper.impacts or (stepper.modes != before).any():
                calm_since, before = moving.time, stepper.modes
                for impact in stepper.take_impacts():
                    report(impact)
            calm = moving.time - calm_since >= CALM and np.count_nonzero(before) <= FEW
            if calm and not stepper.is_meeting and moving.time - start >= least:
                break
        if moving.time == end and (times is None or (len(times) and times[-1] == end)):
            self._keep()
        self._chart.calls.home[:] = stepper.robot.calls.home

    def _keep(self) -> None:
        self._chart.calls.home[:] = self.moving.stepper.robot.calls.home
        moving = self.moving
        self.recorder.keep(moving.time, moving.state, moving.a, moving.stepper.contacts)

    def _instants(self, times: Array | None, end: float) -> Iterator[tuple[float, int, bool]]:
        """Where to step and in how many steps, and whether a sample is wanted before that."""
        moving, since = self.moving, math.inf
        wanted = [] if times is None else times[(times >= moving.time) & (times < end)].tolist()
        while moving.time < end:
            sampled = times is None and since >= STEPS_A_SAMPLE * round(STEP / moving.longest)
            if wanted and wanted[0] == moving.time:
                wanted.pop(0)
                sampled = True
            since = 0 if sampled else since
            stop = wanted[0] if wanted else end
            span = stop - moving.time
            left = 1 if moving.rests else max(1, math.ceil(span / moving.longest * (1 - 1e-9)))
            steps = min(left, moving.at_once)
            instant = stop if steps == left else moving.time + steps * span / left
            yield instant, steps, sampled
            since += steps
