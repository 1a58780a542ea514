"""One simulation, part by part: a part ends where its coordinates do."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...array import Array
from ...errors import MbdynError, SimulationError, SimulationWarning
from ...integration.methods import AdaptiveMethod
from ...robot import Robot
from ..charts.change import closes, translated_velocity, with_joints
from ..charts.quality import suits
from ..contact.environment import Environment
from ..effort import EffortFunction
from ..trajectory import Event, StoppedSimulationError, Trajectory
from .motion import Motion
from .part import NO_MOTION, ChangePointError, Part
from .segment import Translation, joined


@dataclass
class Run:
    """One simulation; its arguments are those of `simulate`, checked.

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
    charts: list[Robot] = field(default_factory=list)
    parts: list[Trajectory] = field(default_factory=list)
    work: list[Array] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def trajectory(self, q: Array, v: Array) -> Trajectory:
        """The whole motion from a state."""
        chart, time = self.robot, 0.0
        self.charts.append(chart)
        while True:
            part = self._integrated(chart, time, q, v)
            if part.joints is None:
                return joined(self.parts, self.work, self.events)
            time = part.integrator.time
            _, v = part.motion.split(part.integrator.state)
            try:
                chart, q, v = self._change(chart, time, part.watch.tree_position, v, part.joints)
            except MbdynError as error:
                raise self._stopped(str(error), part) from error

    def _integrated(self, chart: Robot, time: float, q: Array, v: Array) -> Part:
        """The part from a state in the coordinates of `chart`, integrated and kept."""
        translation = Translation(self.robot, chart)
        keep_event = self.on_event or self.events.append
        part = Part(
            chart,
            Motion(
                chart, translation.effort(self.effort), self.environment, 10 * sum(self.tolerances)
            ),
            time, q, v, chart is not self.robot,
            self.duration, self.tolerances, self.method, self.max_step,
            self.times, lambda event: keep_event(translation.event(event)), self.progress,
        )  # fmt: skip

        def keep() -> None:
            kept = part.recorder.trajectory(part.integrator)
            self.parts.append(translation.trajectory(kept, part.recorder.homes))
            self.work.append(part.work)

        try:
            part.run()
        except NO_MOTION as error:
            with contextlib.suppress(*NO_MOTION):
                part.recorder.finish(part.integrator.time, part.integrator.state)
            keep()
            words = str(error)
            if not isinstance(error, ChangePointError):
                words += part.watch.doubt(part.integrator.state)
            raise self._stopped(words, part) from error
        keep()
        return part

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
        return StoppedSimulationError(text, joined(self.parts, self.work, self.events))

    def _change(
        self, chart: Robot, time: float, whole: Array, v: Array, joints: list[str]
    ) -> tuple[Robot, Array, Array]:
        """Go on with other independent joints, from tree positions and velocities v (nv,)."""
        other = self._known(chart, whole, joints)
        if other is None:
            other = _made(chart, whole, joints)
            self.charts.append(other)
        if set(joints) != set(chart.independent_joints):
            warnings.warn(
                f"{self.robot.model.source}: at t = {time:.9g} s the independent joints "
                f"({', '.join(chart.independent_joints)}) come near a dead centre; the simulation "
                f"goes on in {', '.join(joints)}. The result stays in the robot's own coordinates.",
                SimulationWarning,
                stacklevel=4,
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
