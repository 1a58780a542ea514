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
from ...robot import Robot
from ..trajectory import Event
from .recorder import Recorder
from .stepped_motion import STEP, STEPS_A_SAMPLE, SteppedMotion

CALM = 0.02
"""Time (s) without impacts and changes of contacts after which events serve again."""

FEW = 4
"""Contacts held, with which events serve."""


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
        self.recorder.keep(self.moving.time, self.moving.state, self.moving.a)

    def _instants(self, times: Array | None, end: float) -> Iterator[tuple[float, int, bool]]:
        """Where to step and in how many steps, and whether a sample is wanted before that."""
        moving, since = self.moving, STEPS_A_SAMPLE
        wanted = [] if times is None else times[(times >= moving.time) & (times < end)].tolist()
        while moving.time < end:
            sampled = times is None and since >= STEPS_A_SAMPLE
            if wanted and wanted[0] == moving.time:
                wanted.pop(0)
                sampled = True
            since = 0 if sampled else since
            stop = wanted[0] if wanted else end
            span = stop - moving.time
            left = 1 if moving.rests else max(1, math.ceil(span / STEP * (1 - 1e-9)))
            steps = min(left, moving.at_once)
            instant = stop if steps == left else moving.time + steps * span / left
            yield instant, steps, sampled
            since += steps
