"""Fixed-step motion that goes on in other coordinates where a dead centre ends the present ones.

The equations in other coordinates take a second or more to compile. That is done in a thread,
begun while the dead centre is still some way off; when it comes too near before they are ready,
the motion has to wait (`ready`). The state is always told in the robot's own coordinates.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...equations.chart import Chart, charts
from ...errors import SimulationError
from ...model.model import Array
from ...robot import Robot
from ..adaptive.chart_watch import POOR, SINGULAR
from ..contact.environment import Environment
from ..contact.impacts import Impact
from .fixed_step import FixedStep
from .walled_step import WalledStep

PREPARE, LAST = 0.18, 0.02
"""Shares of the best choice's quality at which other coordinates are prepared, and without which
there is no going on. At POOR, between them, they are taken."""

SAME = 1e-6
"""Distance of joints (rad or m) that are at the same place in two choices of coordinates."""


@dataclass(frozen=True, eq=False)
class _Leg:
    """The motion in one choice of coordinates, and the charts that tell how good it is."""

    robot: Robot
    motion: FixedStep
    charts: tuple[Chart, ...]

    @staticmethod
    def make(robot: Robot, step: float, method: str, environment: Environment | None) -> _Leg:
        """The leg of a robot, among walls where there are some."""
        motion = (
            FixedStep(robot, step, method)
            if environment is None
            else WalledStep(robot, step, environment, method)
        )
        return _Leg(robot, motion, charts(robot.system))


class _Preparation:
    """Builds a leg in a thread."""

    def __init__(self, robot: Robot, joints: list[str], home: Mapping[str, float], step: float,
                 method: str, environment: Environment | None) -> None:  # fmt: skip
        self.joints = joints
        self._leg: _Leg | None = None
        self._error: Exception | None = None

        def build() -> None:
            try:
                other = robot.with_independent(joints, home)
                self._leg = _Leg.make(other, step, method, environment)
            except Exception as error:
                self._error = error

        self._thread = threading.Thread(target=build, name="coordinates", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether `result` returns at once."""
        return not self._thread.is_alive()

    def result(self) -> _Leg:
        """The leg, or SimulationError."""
        self._thread.join()
        if self._leg is None:
            raise SimulationError(f"no equations in {', '.join(self.joints)}: {self._error}")
        return self._leg


class ChartedStep:
    """The motion of a robot, advanced in equal steps, past dead centres too.

    Attributes
    ----------
    q, v : (nq,), (nv,) the state in the robot's own coordinates. Change it with `set_state`.
    joint_position, joint_velocity : of all joints, in `joint_names` order (rad or m).
    effort : efforts of the actuated joints in the next step, to be filled in place (N m or N).
    time : simulated seconds.
    changes : what was said of every change of coordinates.
    environment : the walls, or None.

    Raises
    ------
    SingularMassMatrixError
        A link without mass leaves the motion undetermined; the message names it.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        method: str = "auto",
        environment: Environment | None = None,
    ) -> None:
        self.robot = robot
        self._choice, self.environment = method, environment
        first = _Leg.make(robot, step, method, environment)
        self._legs, self._leg = [first], first
        self.effort = first.motion.effort
        self.time = 0.0
        self.changes: list[str] = []
        self._preparation: _Preparation | None = None
        coordinates = robot.system.coordinates
        self._rows = coordinates.joint_rows
        self._own = list(coordinates.q), list(coordinates.v)
        self.q, self.v = first.motion.q.copy(), first.motion.v.copy()
        self.joint_position = np.zeros(len(self._rows[0]))
        self.joint_velocity = np.zeros(len(self._rows[1]))
        self._read()

    @property
    def step(self) -> float:
        """Length of a step, s."""
        return self._legs[0].motion.step

    @step.setter
    def step(self, step: float) -> None:
        for leg in self._legs:
            leg.motion.step = step

    @property
    def method(self) -> str:
        """ "rk4" or "semi_implicit"."""
        return self._leg.motion.method

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The independent joints that the motion goes on in now."""
        return self._leg.robot.independent_joints

    @property
    def ready(self) -> bool:
        """Whether `advance` returns at once; else other coordinates are being compiled."""
        preparation = self._preparation
        return preparation is None or preparation.done or not self._must_change

    def set_state(self, q: Array, v: Array) -> None:
        """Put the robot somewhere else, on the branch of its home."""
        first = self._legs[0]
        first.robot.joint_state(q)  # refuses where the loops cannot be closed
        first.motion.set_state(q, v)
        self._enter(first)

    def take_impacts(self) -> list[Impact]:
        """The impacts since the last call; `q` and `v` in the coordinates of their time."""
        return [one for motion in self._walled() for one in motion.take_impacts()]

    @property
    def lost(self) -> float:
        """J that impacts and the friction of walls have taken."""
        return sum(motion.lost for motion in self._walled())

    def forget_losses(self) -> None:
        """Count losses and impacts from here."""
        for motion in self._walled():
            motion.take_impacts()
            motion.lost = 0.0

    def _walled(self) -> list[WalledStep]:
        return [leg.motion for leg in self._legs if isinstance(leg.motion, WalledStep)]

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy, J."""
        motion = self._leg.motion
        kinetic, potential = motion.robot.energy(motion.q, motion.v)
        return float(kinetic), float(potential)

    def snapshot(self) -> Callable[[], tuple[Robot, Array, Array, Array]]:
        """A function for the robot in the present coordinates, its q, v and a, as of now."""
        robot, motion = self._leg.robot, self._leg.motion
        q, v, effort = motion.q.copy(), motion.v.copy(), self.effort.copy()
        position = self._tree_position().copy()

        def now() -> tuple[Robot, Array, Array, Array]:
            here = robot.with_home(position) if robot.system.nz else robot
            return here, q, v, here.forward_dynamics(q, v, effort)

        return now

    def prepare_for(self, other: ChartedStep) -> None:
        """Build the coordinates that the motion of a like robot is in, for `adopt`."""
        if other._leg is not other._legs[0]:
            there = other._leg.robot
            joints, home = list(there.independent_joints), there.home
            self._legs.append(
                _Preparation(
                    self.robot, joints, home, self.step, self._choice, self.environment
                ).result()
            )

    def adopt(self, other: ChartedStep) -> None:
        """Go on from the state of a like robot."""
        wanted = other._leg.robot.independent_joints
        for leg in reversed(self._legs):
            if leg.robot.independent_joints == wanted:
                leg.motion.set_state(other._leg.motion.q, other._leg.motion.v)
                if _agrees(leg, other._tree_position()):
                    self._enter(leg)
                    break
        else:
            self.set_state(other.q, other.v)
        for motion in self._walled()[:1]:
            motion.lost = other.lost
        self.time = other.time

    def close(self) -> None:
        """End the thread."""
        if self._preparation is not None:
            with contextlib.suppress(SimulationError):
                self._preparation.result()

    def advance(self) -> None:
        """Take one step; wait for other coordinates where it cannot be taken in the present ones.

        Raises
        ------
        SimulationError
            The state is no longer finite, or at a change point; the message names the joints.
        """
        leg = self._leg
        leg.motion.time = self.time
        if not leg.charts:
            leg.motion.advance()
        else:
            if self._must_change or (self._wanted and self._prepared):
                self._change()
                leg = self._leg
                leg.motion.time = self.time
            before = leg.motion.q.copy(), leg.motion.v.copy()
            try:
                leg.motion.advance()
            except SimulationError:  # over a dead centre in one step?
                leg.motion.set_state(*before)
                self._watch(share=1.0)
                if not self._wanted:
                    raise
                self._change()
                self._leg.motion.time = self.time
                self._leg.motion.advance()
        self.time += self.step
        self._read()

    # ---- coordinates ----------------------------------------------------------------------

    @property
    def _prepared(self) -> bool:
        return self._preparation is not None and self._preparation.done

    def _tree_position(self) -> Array:
        return self._leg.motion.tree_state()[0]

    def _enter(self, leg: _Leg) -> None:
        """Go on in a leg whose state is set."""
        leg.motion.effort = self.effort
        self._leg = leg
        self._read()

    def _read(self) -> None:
        """Take the state over, and look how good the coordinates are."""
        motion = self._leg.motion
        position, velocity = motion.tree_state()
        np.take(position, self._rows[0], out=self.joint_position)
        np.take(velocity, self._rows[1], out=self.joint_velocity)
        if self._leg is self._legs[0]:
            self.q[:], self.v[:] = motion.q, motion.v
        else:
            self.q[:], self.v[:] = position[self._own[0]], velocity[self._own[1]]
        self._watch(PREPARE)

    def _watch(self, share: float) -> None:
        """Compare the coordinates with the best; prepare those below `share` of their quality."""
        self._must_change, self._wanted = False, []
        if not self._leg.charts:
            return
        position = self._tree_position()
        chosen, worst = list(self._leg.robot.independent_joints), 1.0
        for chart in self._leg.charts:
            rows = chart.matrix(position)
            norm, least = chart.size_and_least(rows)
            if least >= share * norm:
                continue
            best = chart.best(rows)
            quality = chart.quality_of(rows, best)
            if not quality >= SINGULAR:
                raise SimulationError(f"{chart.at_change_point()} at t = {self.time:.6g} s")
            ratio = chart.quality(rows) / quality
            new = chart.exchanged(best, chosen)
            if ratio < share and new is not None:
                chosen, worst = new, min(worst, ratio)
        if chosen == list(self._leg.robot.independent_joints):
            return
        if worst < POOR or share == 1.0:
            self._wanted = chosen
            self._must_change = worst < LAST or share == 1.0
        if self._known(chosen) is None:
            self._prepare(chosen)

    def _prepare(self, joints: list[str]) -> None:
        preparation = self._preparation
        if preparation is not None and (not preparation.done or preparation.joints == joints):
            return
        robot = self._leg.robot
        home = {name: self._joint(name) for name in robot.home}
        self._preparation = _Preparation(
            self.robot, joints, home, self.step, self._choice, self.environment
        )

    def _joint(self, name: str) -> float:
        labels = self.robot.system.coordinates.joint_labels
        return float(self.joint_position[labels.index(name)])

    def _known(self, joints: Sequence[str]) -> _Leg | None:
        """A leg in these coordinates on this branch, its state set."""
        position, velocity = (one.copy() for one in self._leg.motion.tree_state())
        for leg in self._legs:
            if leg is not self._leg and sorted(leg.robot.independent_joints) == sorted(joints):
                coordinates = leg.robot.system.coordinates
                leg.motion.set_state(position[list(coordinates.q)], velocity[list(coordinates.v)])
                if _agrees(leg, position):
                    return leg
        return None

    def _change(self) -> None:
        """Go on in the coordinates that are wanted."""
        wanted, old = self._wanted, self.coordinates
        leg = self._known(wanted)
        while leg is None and self._preparation is not None:
            preparation, self._preparation = self._preparation, None
            self._legs.append(preparation.result())
            leg = self._known(preparation.joints)
            if leg is None and preparation.joints != wanted:
                self._prepare(wanted)
        if leg is None:
            raise SimulationError(
                f"a dead centre of {', '.join(old)} at t = {self.time:.6g} s: the loops do not "
                f"close again in {', '.join(wanted)}. Choose those as independent joints."
            )
        leg.motion.step = self.step
        self._enter(leg)
        self.changes.append(
            f"near a dead centre of {', '.join(old)} at t = {self.time:.6g} s; the motion goes on "
            f"in {', '.join(self.coordinates)}"
        )


def _agrees(leg: _Leg, position: Array) -> bool:
    """Whether a leg puts all joints where they are."""
    there, _ = leg.motion.tree_state()
    return bool(np.abs(there - position).max(initial=0.0) < SAME)
