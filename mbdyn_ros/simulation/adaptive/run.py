"""One simulation, part by part: a part ends where its coordinates do."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...array import Array
from ...errors import ContactError, MbdynError, SimulationError, SimulationWarning, warn
from ...integration.methods import AdaptiveMethod
from ...robot import Robot
from ..actuation import Actuation
from ..charts import closes, suits, translated_velocity, with_joints
from ..contact.environment import Environment
from ..contact.impulses import Impact
from ..effort import EffortFunction
from ..trajectory import Event, StoppedSimulationError, Stretch, Trajectory
from .chart_motion import ChartMotion, Recorder, Translation, joined
from .chart_watch import ChartWatch
from .integrator import Integrator, Step
from .motion import Motion
from .stretch import CALM, SteppedMotion, SteppedStretch

LONGEST_LEAST = 1.0
"""s that equal steps go on at most before events are tried again, where those have failed."""

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
    """Integrates the motion in one choice of coordinates, watching how good they are in loops.

    Parameters
    ----------
    start, q, v : when it starts, s, and its state.

    Attributes
    ----------
    joints : independent joints to go on with; None where this part is the last.
    stretch : in equal steps, with which the motion went on after it.
    past : states since anything happened last, at which the coordinates were unlike each other.
    """

    def __init__(
        self, run: Run, coordinates: ChartMotion, start: float, q: Array, v: Array
    ) -> None:
        self.robot, self.motion = robot, motion = coordinates.robot, coordinates.motion
        self._chosen = robot is not run.robot  # for this state: they are as good as any
        self._progress = run.progress
        self.past: deque[Instant] = deque(maxlen=REMEMBERED)
        self._past_quality = np.inf
        times = None if run.times is None else run.times[run.times >= start]
        self.recorder = Recorder(robot, motion, times)

        def report(event: Event) -> None:
            self.past.clear()
            if isinstance(event, Impact):
                self.recorder.jumped()
            if start == 0 or event.time > start:  # what moves when coordinates change goes on so
                run.happens(coordinates.translation.event(event))

        self.integrator = Integrator(
            motion, motion.state(q, v), run.duration, run.tolerances, report, run.method,
            run.max_step, start,
        )  # fmt: skip
        looped = any(linkage.has_dead_centres for linkage in robot.system.linkages)
        self.watch = ChartWatch(robot, motion) if looped else None
        self.joints: list[str] | None = None
        self.stretch: SteppedStretch | None = None

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
        watch = self.watch
        if watch is not None:
            problem = watch.start(self.integrator.state, self._chosen)
            if problem is not None:
                raise ChangePointError(problem)
            self.joints = watch.better()
            if self.joints is not None:
                return
        for step in self.integrator.steps():
            if self.motion.nearby is not None:
                try:
                    span = step.end - step.start
                    self.motion.nearby.refuse(*self.motion.split(step.initial), span)
                except SimulationError:
                    self.integrator.time, self.integrator.state = step.start, step.initial
                    raise
            if watch is not None:
                self._follow(watch, step)
            self.recorder.step(step)
            self._progress(step.end)
            self.joints = None if watch is None else watch.better()
            if self.joints is not None:
                return

    def _follow(self, watch: ChartWatch, step: Step) -> None:
        """Look at the coordinates at the end of a step.

        Raises
        ------
        SimulationError
            They lead no further: a `ChangePointError` at a change point, which the motion reaches.
        """
        quality = watch.quality
        if not (self.past and 1 / CHANGED < quality / self._past_quality < CHANGED):
            self._past_quality = quality
            self.past.append(Instant(step.start, step.initial, watch.tree_position))
        watch.follow(self.integrator.state)
        if watch.lost:
            self.integrator.time, self.integrator.state = step.start, step.initial
            if problem := watch.came_from:
                raise ChangePointError(problem)
            raise SimulationError("a loop cannot be closed at the end of the next step")
        found = watch.change_point(step)
        if found is not None:
            self.integrator.time, problem = found
            self.integrator.state = step.state(self.integrator.time)
            self.recorder.step(replace(step, end=self.integrator.time))
            raise ChangePointError(problem)


@dataclass
class Run:
    """One simulation; its arguments are those of `simulate`, checked.

    through : goes on after a part that ended at a change point: in which coordinates and from
        which instant; None where that was no change point, and a SimulationError where none leads
        through it. Without it the simulation stops there.
    actuation : what makes part of the efforts by states of its own.
    charts : the robot in all coordinates used so far.
    parts, work : of the motion, in the robot's own coordinates, and the work (2,) done in each.
    """

    robot: Robot
    effort: EffortFunction
    duration: float
    tolerances: tuple[float, float]
    max_step: float
    times: Array | None
    progress: Callable[[float], None]
    environment: Environment | None
    method: AdaptiveMethod
    on_event: Callable[[Event], None] | None
    through: Callable[[Run, Part, ChartMotion], tuple[Robot, Instant] | None] | None = None
    actuation: Actuation | None = None
    charts: list[Robot] = field(default_factory=list)
    parts: list[Trajectory] = field(default_factory=list)
    work: list[Array] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    _least: float = CALM
    _moving: SteppedMotion | None = None

    def trajectory(self, q: Array, v: Array) -> Trajectory:
        """The whole motion from a state."""
        chart, time = self.robot, 0.0
        self.charts.append(chart)
        coordinates: ChartMotion | None = None
        while True:
            if coordinates is None or coordinates.robot is not chart:
                coordinates = self.in_coordinates(chart)
            part, resumed = self._integrated(coordinates, time, q, v)
            if part.stretch is not None:
                moving = part.stretch.moving
                if moving.time == self.duration:
                    return self._joined()
                time = moving.time
                q, v = (one.copy() for one in part.motion.split(moving.state))
                continue
            if resumed is not None and resumed[1].time < self.duration:
                chart, time = resumed[0], resumed[1].time
                q, v = part.motion.split(resumed[1].y)
                continue
            if resumed is not None or part.joints is None or part.watch is None:
                return self._joined()
            time = part.integrator.time
            _, v = part.motion.split(part.integrator.state)
            try:
                chart, q, v = self._change(chart, time, part.watch.tree_position, v, part.joints)
            except MbdynError as error:
                raise self._stopped(str(error), part) from error

    def _integrated(
        self, coordinates: ChartMotion, time: float, q: Array, v: Array
    ) -> tuple[Part, tuple[Robot, Instant] | None]:
        """The part from a state, and where the motion goes on after a change point that ended it.

        Both are integrated and kept.
        """
        part = Part(self, coordinates, time, q, v)
        try:
            part.run()
        except NO_MOTION as error:
            words = str(error)
            if isinstance(error, ContactError) and self._stretched(part, coordinates, words):
                return part, None
            if self.through is not None:
                try:
                    resumed = self.through(self, part, coordinates)
                except SimulationError as failure:
                    words += f"; by inertia it is not passed: {failure}"
                else:
                    if resumed is not None:
                        return part, resumed
            with contextlib.suppress(*NO_MOTION):
                part.recorder.finish(part.integrator.time, part.integrator.state)
            self.keep(part, coordinates)
            if part.watch is not None and not isinstance(error, ChangePointError):
                words += part.watch.doubt(part.integrator.state)
            raise self._stopped(words, part) from error
        self.keep(part, coordinates)
        return part, None

    def _stretched(self, part: Part, coordinates: ChartMotion, why: str) -> bool:
        """Go on in equal steps from where a part ends, and keep both; false where none serve."""
        if self.environment is None or not coordinates.motion.may_step:
            return False
        start, state = part.integrator.time, part.integrator.state
        part.recorder.rewind(start)
        self.keep(part, coordinates)
        if self._moving is None or self._moving.motion is not coordinates.motion:
            self._moving = SteppedMotion(part.robot, coordinates.motion, self.environment)
        self._moving.start(start, state)
        stretch = SteppedStretch(part.robot, self._moving)
        again = bool(self.stretches) and start - self.stretches[-1].end < 2 * self._least
        self._least = min(2 * self._least, LONGEST_LEAST) if again else CALM
        stretch.run(
            self.times, self.duration, self._least,
            lambda event: self.happens(coordinates.translation.event(event)),
        )  # fmt: skip
        moving = stretch.moving
        kept = stretch.recorder.trajectory(moving.steps)
        self.parts.append(coordinates.translation.trajectory(kept, stretch.recorder.homes))
        self.work.append(part.motion.work(moving.state))
        self.stretches.append(Stretch(float(start), moving.time, why))
        self.progress(moving.time)
        part.stretch = stretch
        return True

    def _joined(self) -> Trajectory:
        return joined(self.parts, self.work, self.events, self.stretches)

    def in_coordinates(self, chart: Robot) -> ChartMotion:
        """The motion in the coordinates of a chart."""
        translation = Translation(self.robot, chart)
        effort = translation.effort(self.effort)
        tolerance = 10 * sum(self.tolerances)
        motion = Motion(chart, effort, self.environment, tolerance, self.actuation)
        return ChartMotion(chart, motion, translation)

    def happens(self, event: Event) -> None:
        (self.on_event or self.events.append)(event)

    def keep(self, part: Part, coordinates: ChartMotion) -> None:
        """Keep what a part has recorded."""
        kept = part.recorder.trajectory(part.integrator.count)
        self.parts.append(coordinates.translation.trajectory(kept, part.recorder.homes))
        self.work.append(part.motion.work(part.integrator.state))
        if self.actuation is not None:  # the next part begins with them
            self.actuation.states[:] = coordinates.motion.actuator_states(part.integrator.state)

    def _stopped(self, words: str, part: Part) -> StoppedSimulationError:
        """The error that ends a simulation, with all that was kept."""
        chart = part.robot
        q, v = part.motion.split(part.integrator.state)
        with contextlib.suppress(MbdynError):
            q, v, _ = Translation(self.robot, chart).state(q, v, np.zeros(chart.nv))
        text = (
            f"{self.robot.model.source}: the simulation stops at t = {part.integrator.time:.9g} s: "
            f"{words}. The state: q = {_text(q)}, v = {_text(v)}"
        )
        return StoppedSimulationError(text, self._joined())

    def _change(
        self, chart: Robot, time: float, whole: Array, v: Array, joints: list[str]
    ) -> tuple[Robot, Array, Array]:
        """Go on with other independent joints, from tree positions and velocities v (nv,)."""
        other = self._known(chart, whole, joints)
        if other is None:
            other = _made(chart, whole, joints)
            self.charts.append(other)
        if set(joints) != set(chart.independent_joints):
            warn(
                f"{self.robot.model.source}: at t = {time:.9g} s the independent joints "
                f"({', '.join(chart.independent_joints)}) come near a dead centre; the simulation "
                f"goes on in {', '.join(joints)}. The result stays in the robot's own coordinates.",
                SimulationWarning,
            )
        if not closes(other, whole):
            raise SimulationError(
                f"near a dead centre of {', '.join(chart.independent_joints)} the loops do not "
                f"close again in the coordinates {', '.join(joints)}"
            )
        q = whole[list(other.system.coordinates.q)]
        return other, q, translated_velocity(chart, other, whole, v)

    def _known(self, chart: Robot, whole: Array, joints: list[str]) -> Robot | None:
        """Coordinates used before `chart` that have these joints and are on this branch."""
        for other in self.charts:
            if other is not chart and sorted(other.independent_joints) == sorted(joints):
                if suits(other, whole) and closes(other, whole):
                    return other
        return None


def _made(chart: Robot, whole: Array, joints: list[str]) -> Robot:
    """The robot at home at tree positions, with these independent joints."""
    if joints == list(chart.independent_joints):
        moved = chart.with_home(whole)
        if suits(moved, whole):
            return moved  # else other rows have to be chosen
    return with_joints(chart, joints, whole)


def _text(numbers: Array) -> str:
    return "[" + ", ".join(f"{number:.9g}" for number in numbers) + "]"
