"""Fixed-step motion that goes on in other coordinates where a dead centre ends the present ones.

The equations in other coordinates take a second or more to compile. That is done in a thread,
begun while the dead centre is still some way off; when it comes too near before they are ready,
the motion has to wait (`ready`). The state is always given in the robot's own coordinates.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...arguments import Wrenches
from ...assembly.chart import Chart
from ...compiler.kernel import Bound
from ...equations.programs import actuator_response
from ...errors import MbdynError, SimulationError
from ...model.model import Array
from ...robot import Robot
from ..charts import POOR, Preparation, better_joints, same_place, with_joints
from ..contact.environment import Environment
from ..contact.impulses import Contact, Impact
from ..sensors import NO_WRENCHES
from .chart_guard import ChartGuard
from .stepper import Stepper

PREPARE, LAST = 0.18, 0.02
"""Shares of the best choice's quality at which other coordinates are prepared, and without which
there is no going on. At POOR, between them, they are taken."""

ANY_QUALITY = 1.0
"""The share of the best choice's quality that all others are below."""


class _InOneChart(Stepper):
    """A stepper that stays in the coordinates of its robot: others change them and divide steps."""

    _parts = 1

    def _guard_of(self, chart: Robot) -> None:
        return None

    def advance_in(self, parts: int) -> None:
        """Take one step, divided into `parts`."""
        self._parts = parts
        self.advance()


@dataclass(frozen=True, eq=False)
class Leg:
    """The motion in one choice of coordinates, and the guard that measures how good it is."""

    robot: Robot
    motion: _InOneChart
    guard: ChartGuard

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Those of the linkages with loops that move."""
        return self.guard.charts

    @staticmethod
    def make(robot: Robot, step: float, method: str, environment: Environment | None) -> Leg:
        """The leg of a robot, among walls where there are some."""
        return Leg(robot, _InOneChart(robot, step, environment, method), ChartGuard(robot))

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


class ChartedStep:
    """The motion of a robot, advanced in equal steps, past dead centres too.

    Attributes
    ----------
    q, v : (nq,), (nv,) the state in the robot's own coordinates. Change it with `set_state`.
    joint_position, joint_velocity : of all joints, in `joint_names` order (rad or m).
    effort : efforts of the actuated joints in the next step, to be filled in place (N m or N).
    time : simulated seconds.
    changes : what was said of every change of coordinates.
    environment : the walls, or None. leg : the motion in the present coordinates.

    Raises
    ------
    SingularMassMatrixError
        A link without mass leaves the motion undetermined; the message names it.
    """

    def __init__(
        self, robot: Robot, step: float, method: str = "auto",
        environment: Environment | None = None,
    ) -> None:  # fmt: skip
        self.robot = robot
        self._choice, self.environment = method, environment
        first = Leg.make(robot, step, method, environment)
        self._legs, self.leg = [first], first
        self.effort = first.motion.effort
        self.time = 0.0
        self.changes: list[str] = []
        self._preparation: Preparation[Leg] | None = None
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
        """Name of what takes the steps now."""
        return self.leg.motion.method

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The independent joints that the motion goes on in now."""
        return self.leg.robot.independent_joints

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
        return [one for leg in self._legs for one in leg.motion.take_impacts()]

    @property
    def lost(self) -> float:
        """Energy (J) dissipated by impacts, walls and dry friction of joints."""
        return sum(leg.motion.lost for leg in self._legs)

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts that were active in the last step."""
        return self.leg.motion.contacts

    def forget_losses(self) -> None:
        """Count losses and impacts from here."""
        for leg in self._legs:
            leg.motion.take_impacts()
            leg.motion.lost = 0.0

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy, J."""
        motion = self.leg.motion
        kinetic, potential = motion.robot.energy(motion.q, motion.v)
        return float(kinetic), float(potential)

    def force_torque(self, joint: str, wrenches: Wrenches = NO_WRENCHES) -> Array:
        """Reading (6,) of a sensor in a joint, mean over the last step; see `Stepper`."""
        return self.leg.motion.force_torque(joint, wrenches)

    def snapshot(self) -> Callable[[], tuple[Robot, Array, Array, Array]]:
        """A function for the robot in the present coordinates, its q, v and a, as of now."""
        robot, motion = self.leg.robot, self.leg.motion
        q, v, effort = motion.q.copy(), motion.v.copy(), self.effort.copy()
        position = self.leg.tree_position.copy()

        def now() -> tuple[Robot, Array, Array, Array]:
            here = robot.with_home(position) if robot.system.nz else robot
            return here, q, v, here.forward_dynamics(q, v, effort)

        return now

    def prepare_for(self, other: ChartedStep) -> None:
        """Build the coordinates that the motion of a like robot is in, for `adopt`."""
        if other.leg is not other._legs[0]:
            there = other.leg.robot
            robot = self.robot.with_independent(list(there.independent_joints), there.home)
            self._legs.append(self._leg_of(robot))

    def adopt(self, other: ChartedStep) -> None:
        """Go on from the state of a like robot."""
        wanted = other.leg.robot.independent_joints
        for leg in reversed(self._legs):
            if leg.robot.independent_joints == wanted:
                there = other.leg
                if leg.comes_to(there.motion.q, there.motion.v, there.tree_position):
                    self._enter(leg)
                    break
        else:
            self.set_state(other.q, other.v)
        self._legs[0].motion.lost = other.lost
        self.time = other.time

    def close(self) -> None:
        """End the thread."""
        if self._preparation is not None:
            with contextlib.suppress(MbdynError):  # nobody asks for it any more
                self._preparation.result()

    def advance(self) -> None:
        """Take one step; wait for other coordinates where it cannot be taken in the present ones.

        Raises
        ------
        SimulationError
            The state is no longer finite, or at a change point; the message names the joints.
        """
        if self._must_change or (self._wanted and self._prepared):
            self._change()
        motion = self.leg.motion
        motion.time = self.time
        before = motion.q.copy(), motion.v.copy()
        try:
            motion.advance_in(self.leg.guard.parts)
        except SimulationError:  # over a dead centre in one step?
            if not self.leg.charts:
                raise
            motion.set_state(*before)
            self._watch(ANY_QUALITY)
            if not self._wanted:
                raise
            self._change()
            self.leg.motion.time = self.time
            self.leg.motion.advance_in(self.leg.guard.parts)
        self.time += self.step
        self._read()
        self.leg.guard.took(1)

    # ---- coordinates ----------------------------------------------------------------------

    @property
    def _prepared(self) -> bool:
        return self._preparation is not None and self._preparation.done

    def _leg_of(self, robot: Robot) -> Leg:
        return Leg.make(robot, self.step, self._choice, self.environment)

    def _enter(self, leg: Leg) -> None:
        """Go on in a leg whose state is set."""
        leg.motion.effort = self.effort
        leg.guard.forget(self.leg.guard.parts)
        self.leg = leg
        self._read()

    def _read(self) -> None:
        """Take the state over, and look how good the coordinates are."""
        motion = self.leg.motion
        position, velocity = motion.tree_state()
        position.take(self._rows[0], out=self.joint_position)
        velocity.take(self._rows[1], out=self.joint_velocity)
        if self.leg is self._legs[0]:
            self.q[:], self.v[:] = motion.q, motion.v
        else:
            self.q[:], self.v[:] = position[self._own[0]], velocity[self._own[1]]
        self._watch(PREPARE)

    def _watch(self, share: float) -> None:
        """Compare the coordinates with the best; prepare those below `share` of their quality."""
        self._must_change, self._wanted = False, []
        if not self.leg.charts:
            return
        present, soon = list(self.coordinates), None
        try:
            if self.leg.guard.due <= 0:
                soon = self.leg.guard.look(self.leg.tree_position, self.step)
            chosen, worst = better_joints(self.leg.charts, present, self.leg.tree_position, share)
        except SimulationError as error:
            raise SimulationError(f"{error} at t = {self.time:.6g} s") from None
        if chosen == present:
            if soon is None:
                return
            chosen = soon
        if soon is not None or worst < POOR or share == ANY_QUALITY:
            self._wanted = chosen
            self._must_change = worst < LAST or share == ANY_QUALITY
        if self._known(chosen) is None:
            self._prepare(chosen)

    def _prepare(self, joints: list[str]) -> None:
        preparation = self._preparation
        if preparation is not None and (not preparation.done or preparation.joints == joints):
            return
        position = self.leg.tree_position.copy()
        self._preparation = Preparation(
            joints, lambda: self._leg_of(with_joints(self.robot, joints, position))
        )

    def _known(self, joints: Sequence[str]) -> Leg | None:
        """A leg in these coordinates on this branch, its state set."""
        position, velocity = (one.copy() for one in self.leg.motion.tree_state())
        for leg in self._legs:
            if leg is not self.leg and leg.has(joints):
                rows = leg.robot.system.coordinates
                if leg.comes_to(position[list(rows.q)], velocity[list(rows.v)], position):
                    return leg
        return None

    def _change(self) -> None:
        """Go on in the coordinates that are wanted."""
        wanted, old = self._wanted, self.coordinates
        leg = self._known(wanted)
        while leg is None and self._preparation is not None:
            preparation, self._preparation = self._preparation, None
            try:
                self._legs.append(preparation.result())
            except MbdynError as error:
                joints = ", ".join(preparation.joints)
                raise SimulationError(f"no equations in {joints}: {error}") from error
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
