"""Motion in one choice of coordinates, and its expression in those that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...equations import programs
from ...model.model import Array
from ...robot import Robot
from ..contact.impacts import Impact
from ..effort import Constant, EffortFunction
from ..trajectory import Event, Stretch, Trajectory, Transition
from .motion import Motion
from .recorder import Recorder

SAMPLED = (
    "time", "q", "v", "a", "joint_position", "joint_velocity", "effort", "energy",
    "actuator_states",
)  # fmt: skip
"""Arrays of a trajectory that follow one another as they are."""


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
        self.robot.calls.home[:] = tree_position[[*system.walk_rows, *system.walked_rows]]

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
        stretches=tuple(stretches),
    )
