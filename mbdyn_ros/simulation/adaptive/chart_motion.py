"""Motion in one choice of coordinates: its samples, in the coordinates that were asked for.

A chart is such a choice; what is recorded in it is translated, and the parts are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...equations import programs
from ...model.model import Array
from ...robot import Robot
from ..contact.impulses import Contact, Impact
from ..effort import Constant, EffortFunction
from ..trajectory import Event, Stretch, Trajectory, Transition
from .integrator import Step
from .motion import Motion

SAMPLED = (
    "time", "q", "v", "a", "joint_position", "joint_velocity", "effort", "energy",
    "actuator_states",
)  # fmt: skip
"""Arrays of a trajectory that follow one another as they are."""

Sample = tuple[float, Array, Array, Array, Array, tuple[Contact, ...]]
"""Time, state, accelerations, efforts, the home from which loops are closed, and contacts."""


class Recorder:
    """Keeps states: of every accepted step and before every impact, or at given times (N,) only.

    An impact has two rows, for the states before and after it: the former is the last number
    before the instant, so that times rise.

    homes : from which the loops of every sample are closed; with the trajectory.
    """

    homes: Array

    def __init__(self, robot: Robot, motion: Motion, times: Array | None) -> None:
        self._robot = robot
        self._motion = motion
        self._times = times
        self._next = 0
        self._samples: list[Sample] = []
        self._ending: Sample | None = None

    def step(self, step: Step) -> None:
        """Keep what a step has to give, its end excluded, in the mode in which it was made."""
        if self._times is None:
            self.keep(step.start, step.initial)
            self._ending = None
            if step.ended:
                instant = float(np.nextafter(step.end, -np.inf))
                self._ending = self._sample(instant, step.state(step.end))
            return
        until = int(np.searchsorted(self._times, step.end))
        if until > self._next:
            times = self._times[self._next : until]
            states = step.states(times)
            self._motion.normalize(states)
            for t, y in zip(times.tolist(), states, strict=True):
                self.keep(t, y)
            self._next = until

    def jumped(self) -> None:
        """Keep the end of the last step: an impact follows."""
        if self._ending is not None and self._ending[0] > self._samples[-1][0]:
            self._samples.append(self._ending)
        self._ending = None

    def finish(self, t: float, y: Array) -> None:
        """Keep the last state, if it was asked for."""
        if self._times is None or (self._next < len(self._times) and self._times[self._next] == t):
            self.keep(t, y)

    def rewind(self, t: float) -> None:
        """Forget the samples from t on."""
        self._samples = [sample for sample in self._samples if sample[0] < t]
        if self._times is not None:
            self._next = int(np.searchsorted(self._times, t))

    def keep(
        self, t: float, y: Array, a: Array | None = None, contacts: tuple[Contact, ...] = ()
    ) -> None:
        """Keep a state; the loops are closed from where home is now.

        a, contacts : (nv,) accelerations, and what is held, if not those of the present mode.
        """
        self._samples.append(self._sample(t, y, a, contacts))

    def _sample(
        self, t: float, y: Array, a: Array | None = None, contacts: tuple[Contact, ...] = ()
    ) -> Sample:
        q, v = self._motion.split(y)
        effort = self._motion.effort_at(t, y)
        if a is None:
            contacts = self._motion.dynamics.contacts_held(q, v, effort)
            a = self._motion.dynamics.acceleration(q, v, effort)
        home = self._robot.calls.home.copy()
        return t, y.copy(), a.copy(), np.array(effort), home, contacts

    def trajectory(self, steps: int) -> Trajectory:
        """The trajectory of the samples so far. steps : that the integrator took."""
        robot, motion = self._robot, self._motion
        count = len(self._samples)
        sizes = motion.size, robot.nv, len(robot.effort_labels), len(robot.calls.home)
        empty = 0.0, *(np.zeros(size) for size in sizes), ()
        *columns, contacts = zip(*self._samples, empty, strict=True)  # so that none has no shape
        time, states, a, effort, homes = (np.array(column)[:count] for column in columns)
        self.homes = homes
        q, v = states[:, : robot.nq], states[:, robot.nq : robot.nq + robot.nv]
        energy = robot.calls.along(programs.energy, (q, v), homes)
        joint_position, joint_velocity = all_joints(robot, q, v, homes)
        actuator_states, actuator_labels = motion.actuator_record(states)
        return Trajectory(
            time=time,
            q=q,
            v=v,
            a=a,
            joint_position=joint_position,
            joint_velocity=joint_velocity,
            effort=effort,
            energy=energy,
            work=motion.work(states),
            position_labels=robot.position_labels,
            velocity_labels=robot.velocity_labels,
            effort_labels=robot.effort_labels,
            actuator_states=actuator_states,
            actuator_labels=actuator_labels,
            steps=steps,
            contacts=contacts[:count],
        )


def all_joints(robot: Robot, q: Array, v: Array, homes: Array) -> tuple[Array, Array]:
    """Positions and velocities (N, n) of all joints, at states that are reached from homes."""
    system = robot.system
    coordinates = system.coordinates
    rows_q, rows_v = map(list, coordinates.joint_rows)
    if system.linkages:
        position = robot.calls.along(programs.joint_position, (q,), homes)
        velocity = robot.calls.along(programs.joint_velocity, (q, v), homes)
        return position[:, rows_q], velocity[:, rows_v]
    # nothing to compute or, where it is new, to compile
    in_q = [coordinates.q.index(row) for row in rows_q]
    in_v = [coordinates.v.index(row) for row in rows_v]
    return q[:, in_q], v[:, in_v]


class Translation:
    """From the coordinates of `chart` to those of `robot`: one robot, other independent joints."""

    def __init__(self, robot: Robot, chart: Robot) -> None:
        self._robot, self._chart = robot, chart
        self.trivial = chart is robot
        coordinates = robot.system.coordinates
        self._rows = list(coordinates.q), list(coordinates.v)

    def state(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """q, v and a in the coordinates of `robot`."""
        if self.trivial:
            return q, v, a
        rows_q, rows_v = self._rows
        return (
            self._chart.calls.call(programs.joint_position, (q,))[rows_q],
            self._chart.calls.call(programs.joint_velocity, (q, v))[rows_v],
            self._chart.calls.call(programs.joint_acceleration, (q, v, a))[rows_v],
        )

    def effort(self, function: EffortFunction) -> EffortFunction:
        """The effort as a function of the state in the coordinates of `chart`."""
        if self.trivial or isinstance(function, Constant):
            return function
        position = self._chart.bind("joint_position")
        velocity = self._chart.bind("joint_velocity")
        rows_q, rows_v = self._rows

        def translated(t: float, q: Array, v: Array) -> Array:
            position.q[:] = velocity.q[:] = q
            velocity.v[:] = v
            position()
            velocity()
            return function(t, position.result[rows_q], velocity.result[rows_v])

        return translated

    def trajectory(self, part: Trajectory, homes: Array) -> Trajectory:
        """A part of a trajectory in the coordinates of `robot`; homes (N, n) close its loops."""
        if self.trivial:
            return part
        rows_q, rows_v = self._rows
        q, v, a = part.q, part.v, part.a
        along = self._chart.calls.along
        q, v, a = (
            along(programs.joint_position, (q,), homes)[:, rows_q],
            along(programs.joint_velocity, (q, v), homes)[:, rows_v],
            along(programs.joint_acceleration, (q, v, a), homes)[:, rows_v],
        )
        labels = self._robot.position_labels, self._robot.velocity_labels
        return replace(
            part, q=q, v=v, a=a,
            position_labels=labels[0], velocity_labels=labels[1],
        )  # fmt: skip

    def event(self, event: Event) -> Event:
        """An impact or transition in the coordinates of `robot`."""
        if self.trivial or isinstance(event, Transition):
            return event
        rest = np.zeros(self._chart.nv)
        q, before, _ = self.state(event.q, event.v_before, rest)
        _, after, _ = self.state(event.q, event.v_after, rest)
        return replace(event, q=q, v_before=before, v_after=after)


@dataclass(frozen=True)
class ChartMotion:
    """The motion in the coordinates of a chart, and the way back to those that were asked for."""

    robot: Robot
    motion: Motion
    translation: Translation

    def go(self, tree_position: Array) -> None:
        """Take home along."""
        system = self.robot.system
        rows = [*system.numerical_independent_rows, *system.numerical_dependent_rows]
        self.robot.calls.home[:] = tree_position[rows]

    def tree_position(self, y: Array, home: Array) -> Array:
        """Positions of the whole tree at a state, from home; NaN where loops do not close."""
        self.go(home)
        position = self.robot.bind("joint_position")
        position.q[:] = self.motion.split(y)[0]
        position()
        return position.result.copy()

    def sampled(self, times: Array, states: Array, places: Array) -> Trajectory:
        """The states as a trajectory in the robot's own coordinates."""
        recorder = Recorder(self.robot, self.motion, None)
        for t, y, place in zip(times.tolist(), states, places, strict=True):
            self.go(place)
            recorder.keep(t, y)
        return self.translation.trajectory(recorder.trajectory(0), recorder.homes)


def joined(
    parts: Sequence[Trajectory],
    ends: Sequence[Array],
    events: Sequence[Event],
    stretches: Sequence[Stretch] = (),
) -> Trajectory:
    """One trajectory of its parts in time; `ends` holds the work (2,) done in each."""
    done = np.concatenate([np.zeros((1, 2)), np.cumsum(ends, axis=0)])
    sampled: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in SAMPLED
    }
    return replace(
        parts[0],
        **sampled,
        work=np.concatenate(
            [part.work + before for part, before in zip(parts, done, strict=False)]
        ),
        impacts=tuple(one for one in events if isinstance(one, Impact)),
        transitions=tuple(one for one in events if isinstance(one, Transition)),
        steps=sum(part.steps for part in parts),
        contacts=tuple(one for part in parts for one in part.contacts),
        stretches=tuple(stretches),
    )
