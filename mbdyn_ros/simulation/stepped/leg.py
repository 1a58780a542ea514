"""Fixed-step motion in one choice of coordinates."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ...array import Array
from ...assembly.chart import Chart, charts
from ...compiler.bound import Bound
from ...equations.actuator_response import actuator_response
from ...robot import Robot
from ..charts.coordinates import same_place
from ..contact.environment import Environment
from .stepper import Stepper


@dataclass(frozen=True, eq=False)
class Leg:
    """The motion in one choice of coordinates, and the charts that tell how good it is."""

    robot: Robot
    motion: Stepper
    charts: tuple[Chart, ...]

    @staticmethod
    def make(robot: Robot, step: float, method: str, environment: Environment | None) -> Leg:
        """The leg of a robot, among walls where there are some."""
        return Leg(robot, Stepper(robot, step, environment, method), charts(robot.system))

    @property
    def tree_position(self) -> Array:
        """Positions of the whole tree; the next call overwrites them."""
        return self.motion.tree_state()[0]

    @functools.cached_property
    def response(self) -> Bound:
        """The bound `actuator_response`; the first to ask has it compiled."""
        return Bound(self.motion.robot.calls.kernel(actuator_response))

    def has(self, joints: Sequence[str]) -> bool:
        """Whether these are the independent joints, in any order."""
        return sorted(self.robot.independent_joints) == sorted(joints)

    def comes_to(self, q: Array, v: Array, tree_position: Array) -> bool:
        """Set the state; whether that puts all joints where they are."""
        self.motion.set_state(q, v)
        return same_place(self.tree_position, tree_position)
