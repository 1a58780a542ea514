"""One part of a simulation: the motion in one choice of coordinates, to where that ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...array import Array
from ...errors import SimulationError
from ...integration.methods import AdaptiveMethod
from ...robot import Robot
from ..charts.chart_watch import ChartWatch
from ..contact.impacts import Impact
from ..trajectory import Event
from .integrator import Integrator, Step
from .motion import Motion
from .recorder import Recorder
from .stretch import SteppedStretch

NO_MOTION = SimulationError, np.linalg.LinAlgError
"""Errors that end a part that cannot go on."""

REMEMBERED = 200
"""States that are remembered, for a change point that is met later."""

CHANGED = 1.1
"""Quotient of the coordinates' qualities at one of them and the next."""


class ChangePointError(SimulationError):
    """No choice of coordinates goes on from here."""


@dataclass(frozen=True)
class Instant:
    """A state y of a motion in time (s), and the tree positions there."""

    time: float
    y: Array
    tree_position: Array


class Part:
    """Integrates the motion in the coordinates of `robot`, watching how good they are.

    Parameters
    ----------
    start : when it starts, s.
    chosen : whether the coordinates were chosen for this state, and are as good as any.
    times : instants of the result; None: all steps.

    Attributes
    ----------
    joints : independent joints to go on with; None where this part is the last.
    stretch : in equal steps, with which the motion went on behind it.
    past : states since anything happened last, at which the coordinates were unlike each other.
    """

    def __init__(
        self, robot: Robot, motion: Motion, start: float, q: Array, v: Array, chosen: bool,
        duration: float, tolerances: tuple[float, float], method: AdaptiveMethod, max_step: float,
        times: Array | None, report: Callable[[Event], None], progress: Callable[[float], None],
    ) -> None:  # fmt: skip
        self.robot, self.motion, self._start, self._chosen = robot, motion, start, chosen
        self._progress = progress
        self.past: deque[Instant] = deque(maxlen=REMEMBERED)
        self._past_quality = np.inf
        self.recorder = Recorder(robot, motion, None if times is None else times[times >= start])

        def report_new(event: Event) -> None:
            self.past.clear()
            if isinstance(event, Impact):
                self.recorder.jumped()
            if start == 0 or event.time > start:  # what moves when coordinates change goes on so
                report(event)

        self.integrator = Integrator(
            motion, motion.state(q, v), duration, tolerances, report_new, method, max_step, start
        )
        self.watch = ChartWatch(robot, motion)
        self.joints: list[str] | None = None
        self.stretch: SteppedStretch | None = None

    @property
    def work(self) -> Array:
        """Work of the efforts and loss to friction (2,) so far, J."""
        return self.motion.work(self.integrator.state)

    def run(self) -> None:
        """Integrate to the end of time, or to where other coordinates are better.

        Raises
        ------
        SimulationError or LinAlgError
            There is no motion beyond where the integrator stands.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._integrate()
        if self.joints is None:
            self.recorder.finish(self.integrator.time, self.integrator.state)

    def _integrate(self) -> None:
        problem = self.watch.start(self.integrator.state, self._chosen)
        if problem is not None:
            raise ChangePointError(problem)
        self.joints = self.watch.better()
        if self.joints is not None:
            return
        for step in self.integrator.steps():
            self.joints = self._joints_after(step)
            if self.joints is not None:
                return

    def _joints_after(self, step: Step) -> list[str] | None:
        """Record a step; the joints to go on with, where the present ones are worse."""
        if self.motion.nearby is not None:
            try:
                self.motion.nearby.refuse(*self.motion.split(step.initial), step.end - step.start)
            except SimulationError:
                self.integrator.time, self.integrator.state = step.start, step.initial
                raise
        self._remember(step)
        self.watch.follow(self.integrator.state)
        if self.watch.lost:
            self.integrator.time, self.integrator.state = step.start, step.initial
            problem = self.watch.came_from
            if problem is not None:
                raise ChangePointError(problem)
            raise SimulationError("a loop cannot be closed at the end of the next step")
        found = self.watch.change_point(step)
        if found is not None:
            self.integrator.time, problem = found
            self.integrator.state = step.state(self.integrator.time)
            self.recorder.step(replace(step, end=self.integrator.time))
            raise ChangePointError(problem)
        self.recorder.step(step)
        self._progress(step.end)
        return self.watch.better()

    def _remember(self, step: Step) -> None:
        """Keep the beginning of a step, where the last one that was kept is another place."""
        quality = self.watch.quality
        quotient = quality / self._past_quality
        if self.past and 1 / CHANGED < quotient < CHANGED:
            return
        self._past_quality = quality
        self.past.append(Instant(step.start, step.initial, self.watch.tree_position))
