"""Motion in one choice of coordinates, and its expression in those that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..model.model import Array
from ..robot import Robot
from .effort import EffortFunction
from .trajectory import Trajectory


class Translation:
    """From the coordinates of `chart` to those of `robot`: one robot, other independent joints."""

    def __init__(self, robot: Robot, chart: Robot) -> None:
        self._robot, self._chart = robot, chart
        self.trivial = chart is robot
        rows_q, rows_v = robot._system.coordinates.joint_rows
        coordinates = robot._system.coordinates
        base_q, base_v = (7, 6) if robot.floating_base else (0, 0)
        self._base = base_q, base_v
        self._places = (
            [rows_q.index(row) for row in coordinates.q[base_q:]],
            [rows_v.index(row) for row in coordinates.v[base_v:]],
        )

    def state(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """q, v and a in the coordinates of `robot`; batches (N, n) too."""
        if self.trivial:
            return q, v, a
        position, velocity, acceleration = self._chart.joint_state(q, v, a)
        assert velocity is not None and acceleration is not None
        base_q, base_v = self._base
        at_q, at_v = self._places
        return (
            np.concatenate([q[..., :base_q], position[..., at_q]], axis=-1),
            np.concatenate([v[..., :base_v], velocity[..., at_v]], axis=-1),
            np.concatenate([a[..., :base_v], acceleration[..., at_v]], axis=-1),
        )

    def effort(self, function: EffortFunction) -> EffortFunction:
        """The effort as a function of the state in the coordinates of `chart`."""
        if self.trivial:
            return function

        def translated(t: float, q: Array, v: Array) -> Array:
            q, v, _ = self.state(q, v, np.zeros(len(v)))
            return function(t, q, v)

        return translated

    def trajectory(self, part: Trajectory) -> Trajectory:
        """A trajectory in the coordinates of `robot`."""
        if self.trivial:
            return part
        q, v, a = self.state(part.q, part.v, part.a)
        labels = self._robot.position_labels, self._robot.velocity_labels
        return replace(part, q=q, v=v, a=a, position_labels=labels[0], velocity_labels=labels[1])


def joined(parts: Sequence[Trajectory], ends: Sequence[Array]) -> Trajectory:
    """One trajectory of its parts in time; `ends` holds the work (2,) done in each."""
    done = np.concatenate([np.zeros((1, 2)), np.cumsum(ends, axis=0)])
    return replace(
        parts[0],
        time=np.concatenate([part.time for part in parts]),
        q=np.concatenate([part.q for part in parts]),
        v=np.concatenate([part.v for part in parts]),
        a=np.concatenate([part.a for part in parts]),
        effort=np.concatenate([part.effort for part in parts]),
        energy=np.concatenate([part.energy for part in parts]),
        work=np.concatenate(
            [part.work + before for part, before in zip(parts, done, strict=False)]
        ),
        transitions=tuple(one for part in parts for one in part.transitions),
        steps=sum(part.steps for part in parts),
    )
