"""A stepper that does not wait at dead centres: it has other coordinates compiled before it comes.

The equations in other coordinates take a second or more to compile. That is done in a thread,
begun while the dead centre is still some way off; when it comes too near before they are there,
the motion has to wait (`ready`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np

from ...arguments import checked_count
from ...errors import MbdynError, SimulationError
from ...model.model import Array
from ...robot import Robot
from ..charts import POOR, Preparation, better_joints, with_joints
from ..contact.environment import Environment
from .chart_guard import ChartGuard
from .stepper import LONGEST_ADVANCE, Stepper

PREPARE, LAST = 0.18, 0.02
"""Shares of the best choice's quality at which other coordinates are prepared, and without which
there is no going on. At POOR, between them, they are taken."""

ANY_QUALITY = 1.0
"""The share of the best choice's quality that all others are below."""


class PreparedStepper(Stepper):
    """A `Stepper` that goes on in other coordinates as soon as a thread has compiled them.

    Attributes
    ----------
    joint_position, joint_velocity : of all joints, in `joint_names` order (rad or m), in arrays
        that every step changes.
    chart : the robot with the present coordinates; `chart_state` is its q and v.
    changes : what was said of every change of coordinates.

    Raises
    ------
    SingularMassMatrixError
        A link without mass leaves the motion undetermined; the message names it.
    """

    def __init__(
        self, robot: Robot, step: float, environment: Environment | None = None,
        method: str = "auto",
    ) -> None:  # fmt: skip
        self.changes: list[str] = []
        self._preparation: Preparation[Robot] | None = None
        self._must_change, self._better = False, list[str]()
        self._rows = robot.system.coordinates.joint_rows
        self._joint_position, self._joint_velocity = (np.zeros(len(rows)) for rows in self._rows)
        super().__init__(robot, step, environment, method)
        self._look()

    @property
    def joint_position(self) -> Array:
        """Positions of all joints (rad or m)."""
        return self._joint_position

    @property
    def joint_velocity(self) -> Array:
        """Their rates (rad/s or m/s)."""
        return self._joint_velocity

    @property
    def chart(self) -> Robot:
        """The robot with the independent joints that the motion goes on in now."""
        return self._chart

    @property
    def chart_state(self) -> tuple[Array, Array]:
        """Positions and velocities of `chart`; every step changes them."""
        return self._x, self._w

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The independent joints that the motion goes on in now."""
        return self._chart.independent_joints

    @property
    def ready(self) -> bool:
        """Whether `advance` returns at once; else other coordinates are being compiled."""
        return self._preparation is None or self._preparation.done or not self._must_change

    def set_state(self, q: Array, v: Array) -> None:  # type: ignore[override]
        """Put the robot somewhere else, on the branch of its home."""
        self.robot.joint_state(q)  # refuses where the loops cannot be closed
        super().set_state(q, v)
        self._look()

    def forget_losses(self) -> None:
        """Count losses and impacts from here."""
        self.take_impacts()
        self.lost = 0.0

    def snapshot(self) -> Callable[[], tuple[Robot, Array, Array, Array]]:
        """A function for the robot in the present coordinates, its q, v and a, as of now."""
        robot, q, v, effort = self._chart, self._x.copy(), self._w.copy(), self.effort.copy()
        position = self.tree_state()[0].copy()

        def now() -> tuple[Robot, Array, Array, Array]:
            here = robot.with_home(position) if robot.system.nz else robot
            return here, q, v, here.forward_dynamics(q, v, effort)

        return now

    def prepare_for(self, other: PreparedStepper) -> None:
        """Build the coordinates that the motion of a like robot is in, for `adopt`."""
        if other.chart is not other.robot:
            joints, home = list(other.coordinates), other.chart.home
            self._charts.append(self._compiled_chart(self.robot.with_independent(joints, home)))

    def adopt(self, other: PreparedStepper) -> None:
        """Go on from the state of a like robot."""
        position, velocity = (one.copy() for one in other.tree_state())
        joints = list(other.coordinates)
        if joints == list(self.coordinates) or self._known(joints, position) is None:
            self.set_state(other.q, other.v)
        else:
            self._take_stops(other.q)
            self._change(joints, position, velocity)
            self._motion.forget()
            self._read()
            self._look()
        self.lost, self.time = other.lost, other.time

    def close(self) -> None:
        """End the thread."""
        if self._preparation is not None:
            with contextlib.suppress(MbdynError):  # nobody asks for it any more
                self._preparation.result()

    def advance(self, steps: int = 1) -> None:
        """Take steps; wait for other coordinates where one cannot be taken in the present ones.

        Raises
        ------
        SimulationError
            The state is no longer finite, or at a change point; the message names the joints.
        """
        for _ in range(checked_count("steps", steps, most=LONGEST_ADVANCE)):
            before, time = (self._x.copy(), self._w.copy()), self.time
            try:
                super().advance()
            except SimulationError:  # over a dead centre in one step?
                if self._guard is None:
                    raise
                self._x[:], self._w[:] = before
                self._motion.forget()
                self.time = time
                self._watch(ANY_QUALITY)
                if not self._better:
                    raise
                super().advance()
            self._look()

    # ---- coordinates ----------------------------------------------------------------------

    def _look(self) -> None:
        """Read the joints, and look how good the coordinates are where that is due."""
        position, velocity = self.tree_state()
        position.take(self._rows[0], out=self._joint_position)
        velocity.take(self._rows[1], out=self._joint_velocity)
        if self._guard is not None and (self._guard.due <= 0 or self._better):
            self._watch(PREPARE)

    def _watch(self, share: float) -> None:
        """Compare the coordinates with the best; prepare those below `share` of their quality."""
        guard = self._guard
        assert guard is not None
        self._must_change, self._better = False, []
        position, present = self.tree_state()[0].copy(), list(self.coordinates)
        try:
            soon = guard.look(position, self.step) if guard.due <= 0 else None
            chosen, worst = better_joints(guard.charts, present, position, share)
        except SimulationError as error:
            raise self._at_this_time(error) from None
        if chosen == present:
            if soon is None:
                return
            chosen = soon
        if soon is not None or worst < POOR or share == ANY_QUALITY:
            self._better = chosen
            self._must_change = worst < LAST or share == ANY_QUALITY
        self._prepare_chart(chosen, position)

    def _prepare_chart(self, joints: list[str], position: Array) -> None:
        """Begin to build these coordinates, where they are neither known nor others being built."""
        preparation = self._preparation
        if preparation is not None and (not preparation.done or preparation.joints == joints):
            return
        if self._known(joints, position) is None:
            self._preparation = Preparation(
                joints, lambda: self._compiled_chart(with_joints(self.robot, joints, position))
            )

    def _compiled_chart(self, chart: Robot) -> Robot:
        """A chart with all programs that steps in it take."""
        self._programs_of(chart)
        return chart

    def _take_prepared(self, wait: bool) -> None:
        """Take the chart that a thread has built; `wait` until it has."""
        preparation = self._preparation
        if preparation is None or not (wait or preparation.done):
            return
        self._preparation = None
        try:
            self._charts.append(preparation.result())
        except MbdynError as error:
            joints = ", ".join(preparation.joints)
            raise SimulationError(f"no equations in {joints}: {error}") from error

    def _watched_steps(self, guard: ChartGuard) -> int:
        """One step, in the better coordinates where they are ready or it must be."""
        better, must = self._better, self._must_change
        if not better:
            return 1
        position, velocity = (one.copy() for one in self.tree_state())
        self._take_prepared(must)
        if self._known(better, position) is None:
            self._prepare_chart(better, position)
            self._take_prepared(must)
        if must or self._known(better, position) is not None:
            old, self._better, self._must_change = ", ".join(self.coordinates), [], False
            try:
                self._change(better, position, velocity)
            except SimulationError as error:
                raise self._at_this_time(error) from None
            self.changes.append(
                f"near a dead centre of {old} at t = {self.time:.6g} s; the motion goes on in "
                f"{', '.join(self.coordinates)}"
            )
        return 1
