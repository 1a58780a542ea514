"""One side of a change point: coordinates that serve there."""

from __future__ import annotations

from dataclasses import dataclass

from ...array import Array
from ...errors import SimulationError
from ...robot import Robot
from ..trajectory import Trajectory
from .motion import Motion
from .recorder import Recorder
from .segment import Translation


class NoCrossingError(SimulationError):
    """A change point that inertia does not lead through, or not in a step from this state."""


@dataclass(frozen=True)
class Side:
    """The robot in coordinates that serve on one side of the change point."""

    robot: Robot
    motion: Motion
    translation: Translation

    def go(self, tree_position: Array) -> None:
        """Take home along."""
        system = self.robot.system
        self.robot.calls.home[:] = tree_position[
            [*system.numerical_independent_rows, *system.numerical_dependent_rows]
        ]

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
