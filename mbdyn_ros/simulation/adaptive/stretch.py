"""Stretches of a simulation in equal steps: where events do not go on one by one.

Bounces that accumulate at many contacts, switches between sticking and sliding without end and
friction that jams have no next event that helps. The motion goes on in short steps of `Stepper`
there, which always come through, until few contacts are left and have been calm for a while.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ...array import Array
from ...equations.rubbing import tree_friction
from ...robot import Robot
from ..contact.environment import Environment
from ..stepped.contact_stepper import Stepper
from ..trajectory import Event
from .motion import Motion
from .recorder import Recorder

STEP = 2e-4
"""Longest step of a stretch, s."""

STEPS_A_SAMPLE = 5
"""Steps from sample to sample, where no times are asked for."""

CALM = 0.02
"""Time (s) without impacts and changes of contacts after which events serve again."""

FEW = 4
"""Contacts held, with which events serve."""


class SteppedStretch:
    """The motion of a chart in equal steps from a time on.

    Attributes
    ----------
    time, state : where it stands, as the state of an integrator; its work and losses are those
        since the start of the stretch.
    recorder : with the samples.
    steps : taken so far.
    """

    def __init__(
        self, chart: Robot, motion: Motion, environment: Environment, time: float, y: Array
    ) -> None:
        self._chart, self._motion, self.time, self.steps = chart, motion, time, 0
        self.recorder = Recorder(chart, motion, None)
        self._stepper = Stepper(chart, STEP, environment)
        q, v = motion.split(y)
        self._stepper.set_state(q, v)
        self._stepper.time = time
        self.state = motion.state(q, v)
        self._damping = tree_friction(chart.system.tree)[0]
        self._velocity = chart.bind("joint_velocity")
        self._power, self._a = 0.0, np.zeros(chart.nv)

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
        start = calm_since = self.time
        stepper, before = self._stepper, self._stepper.modes
        self._power = self._rates()[0]
        for instant, wanted in self._instants(times, end):
            if wanted:
                self._keep()
            if instant > self.time:
                self._step_to(instant)
            if stepper.impacts or (stepper.modes != before).any():
                calm_since, before = self.time, stepper.modes
                for impact in stepper.take_impacts():
                    report(impact)
            calm = self.time - calm_since >= CALM and np.count_nonzero(before) <= FEW
            if calm and self.time - start >= least:
                break
        if self.time == end and (times is None or (len(times) and times[-1] == end)):
            self._keep()
        self._chart.calls.home[:] = stepper.robot.calls.home

    def _keep(self) -> None:
        self._chart.calls.home[:] = self._stepper.robot.calls.home
        self.recorder.keep(self.time, self.state, self._a)

    def _instants(self, times: Array | None, end: float) -> Iterator[tuple[float, bool]]:
        """Where to step, and whether a sample is wanted before that."""
        wanted = [] if times is None else times[(times >= self.time) & (times < end)].tolist()
        count = 0
        while self.time < end:
            sampled = times is None and count % STEPS_A_SAMPLE == 0
            if wanted and wanted[0] == self.time:
                wanted.pop(0)
                sampled = True
            stop = wanted[0] if wanted else end
            parts = max(1, math.ceil((stop - self.time) / STEP * (1 - 1e-9)))
            yield (stop if parts == 1 else self.time + (stop - self.time) / parts), sampled
            count += 1

    def _step_to(self, instant: float) -> None:
        """One step with the efforts of its start."""
        stepper, motion = self._stepper, self._motion
        length = instant - self.time
        q, v = stepper.q, stepper.v
        effort = motion.effort(self.time, q, v)
        stepper.effort[:] = effort
        stepper.step = length
        slow, lost, trimmed = v.copy(), stepper.lost, stepper.trimmed
        work, loss = self._rates()
        stepper.advance()
        self.steps += 1
        more_work, more_loss = self._rates()
        self._a = (v - slow) / length
        kept = motion.work(self.state)
        kept[0] += 0.5 * length * (work + more_work)
        kept[1] += 0.5 * length * (loss + more_loss) + stepper.lost - lost
        kept[1] += stepper.trimmed - trimmed
        self.time = instant
        self.state[: motion.nq], self.state[motion.nq : motion.nq + motion.nv] = q, v

    def _rates(self) -> tuple[float, float]:
        """Power of the efforts, and of damping, W."""
        stepper = self._stepper
        velocity = self._velocity
        velocity.q[:], velocity.v[:] = stepper.q, stepper.v
        velocity()
        lost = float(self._damping @ velocity.result**2)
        return self._motion.drive.power(stepper.q, stepper.v, stepper.effort), lost
