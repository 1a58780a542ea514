"""Steps in compiled code, whole or in parts, their accounts, and the state of the whole tree."""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...equations.programs import joint_position, joint_velocity
from ...errors import SimulationError, SimulationWarning, warn
from ...robot import Robot
from ..contact.contacts import Contacts
from ..contact.environment import Environment
from ..contact.events import refuse_unsound
from ..contact.impulses import Impact
from .chart_guard import ChartGuard
from .solid_slots import CrowdedError, SolidSlots
from .step_in_c import CROWDED_CONTACTS, MotionInC
from .touches import ImpactNote, Touches


class TreeState:
    """Positions and velocities of all joints of a robot in motion."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        short = robot.calls.short
        self._position, self._velocity = short(joint_position), short(joint_velocity)

    def at(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Positions and velocities of the whole tree; the next call overwrites them."""
        self._velocity.q[:], self._velocity.v[:] = q, v
        self._velocity()
        return self._position_at(q), self._velocity.result

    def take_home_along(self, q: Array) -> None:
        """Let other calls of the robot, which is the motion's own, find its loops closed so."""
        system = self._robot.system
        home = self._position_at(q)[
            [*system.numerical_independent_rows, *system.numerical_dependent_rows]
        ]
        if np.isfinite(home).all():
            self._robot.calls.home[:] = home

    def _position_at(self, q: Array) -> Array:
        self._position.q[:] = q
        self._position()
        return self._position.result


def diverged(robot: Robot, q: Array, v: Array, time: float, step: float) -> SimulationError:
    """The error of a state that is no longer finite, by joint."""
    labels = (*robot.position_labels, *robot.velocity_labels)
    worst = int(np.argmax(np.nan_to_num(np.abs([*q, *v]), nan=np.inf)))
    return SimulationError(
        f"{robot.model.source}: the motion of {labels[worst]} left the finite numbers "
        f"at t = {time:.6g} s: an effort too large, or steps of {step:g} s too long"
    )


class Accounts:
    """The time of a motion in steps, its impacts, and how good the steps were so far."""

    _motion: MotionInC
    _contacts: Contacts | None
    _impacts: list[Impact]
    _notes: list[ImpactNote]

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return float(self._motion.motion.time)

    @time.setter
    def time(self, time: float) -> None:
        self._motion.motion.time = time

    @property
    def lost(self) -> float:
        """Energy (J) dissipated by impacts, walls and dry friction of joints."""
        return float(self._motion.motion.lost)

    @lost.setter
    def lost(self, lost: float) -> None:
        self._motion.motion.lost = lost

    @property
    def trimmed(self) -> float:
        """Energy (J) that errors of steps would have added; see `Stepper.limit_energy`."""
        return float(self._motion.motion.trimmed)

    @property
    def residual(self) -> float:
        """The largest velocity (m/s or rad/s) by which contacts missed a law."""
        return float(self._motion.motion.residual)

    @property
    def unsettled(self) -> int:
        """Number of contact problems whose solution violates a law by more than 1e-8 m/s.

        The best impulses found are used: they push and stay in their cones; see `residual`.
        """
        return int(self._motion.motion.unsettled)

    @property
    def merged(self) -> int:
        """Number of steps in which a rapid sequence of impacts was ended in rest."""
        return int(self._motion.motion.merged)

    @property
    def unseen(self) -> int:
        """Number of contacts that may have been missed, in steps too long for their speed."""
        return int(self._motion.motion.unseen)

    @property
    def deepest(self) -> float:
        """The greatest depth (m) in a wall at the end of a step."""
        return float(self._motion.motion.deepest)

    @property
    def is_meeting(self) -> bool:
        """Whether convex shapes touched, or were near, in the last step; events have none."""
        special = None if self._contacts is None else self._contacts.special
        held = special is not None and self._motion.mode[special.any(axis=1)].any()
        return bool(held or self._motion.planes[:, 0].any())

    @property
    def modes(self) -> Array:
        """Of every contact whether it was apart (0), stuck (1) or slid (2) in the last step."""
        return self._motion.mode.copy()

    @property
    def impacts(self) -> tuple[Impact, ...]:
        """All impacts since the last `take_impacts`."""
        return tuple(self._described())

    def take_impacts(self) -> list[Impact]:
        """The impacts since the last call."""
        impacts, self._impacts = self._described(), []
        return impacts

    def _described(self) -> list[Impact]:
        """All impacts; those that are only noted are described now, since it takes long."""
        notes, self._notes = self._notes, []
        self._impacts += [self._impact(one) for one in notes]
        return self._impacts

    def _impact(self, note: ImpactNote) -> Impact:
        raise NotImplementedError


class Noticed:
    """Walls that were passed unseen, or have no value, in the steps of one motion.

    Parameters
    ----------
    source : of the robot, for messages.
    """

    def __init__(self, source: str, contacts: Contacts, motion: MotionInC) -> None:
        self._source, self._contacts, self._motion = source, contacts, motion.motion
        self._said = False

    def say_unseen(self) -> None:
        """Warn, once a motion, where a step was too long for how fast the robot moves."""
        motion = self._motion
        if not motion.unseen or self._said:
            return
        self._said = True
        warn(
            f"{self._source}: {self._contacts.name(motion.passed)} may have been missed at "
            f"t = {motion.passed_at:.6g} s: the point moves farther in one step of "
            f"{motion.step:g} s than its distance to the wall. Use shorter steps. Further cases "
            "are only counted, in `unseen`",
            SimulationWarning,
        )

    def refuse_unsound(self, q: Array, v: Array) -> None:
        """Refuse a wall that has no value, no normal or no inside where the last step met it.

        Raises
        ------
        SimulationError
            It is; the message names point, wall, time and place.
        """
        met, self._motion.unsound = self._motion.unsound, 0
        if not met:
            return
        try:
            refuse_unsound(self._contacts, met - 1, q, v)
        except SimulationError as error:
            time = self._motion.time
            raise SimulationError(f"{self._source}: at t = {time:.6g} s {error}") from None


class TakenSteps(Accounts):
    """Takes the steps of a stepper, which says where it stands and what is around it."""

    _chart: Robot
    _x: Array
    _w: Array
    _walls: Environment | None
    _around: Environment | None
    _touches: Touches | None
    _noticed: Noticed | None
    _solids: SolidSlots | None
    _guard: ChartGuard | None
    _span: float

    def _follow(self) -> None:
        raise NotImplementedError

    @property
    def _parts(self) -> int:
        """Into how many the next step is divided."""
        return 1 if self._guard is None else self._guard.parts

    def _in_parts(self) -> int:
        """Take one step as several short ones."""
        left, whole = self._parts, float(self._motion.motion.step)
        self._motion.motion.step = whole / left
        try:
            while left > 0:
                left -= self._taken(left)
        finally:
            self._motion.motion.step = whole
        return 1

    def _taken(self, count: int) -> int:
        """Take up to `count` steps, and read what happened in them; the number taken."""
        self._span = float(self._motion.motion.step)
        taken = self._motion.steps(count)
        if self._touches is not None and self._motion.motion.hits:
            records = self._motion.take_impacts()
            self._notes += [self._touches.note(one) for one in records]
            calls = self._chart.calls
            if calls.home.size or calls.parameters.size:  # they may be others later
                self._described()
        if self._noticed is not None:
            self._noticed.say_unseen()
            self._noticed.refuse_unsound(self._x, self._w)
        if self._motion.motion.crowded:
            taken = -taken - 1
            self._make_room(self._motion.motion.crowded == CROWDED_CONTACTS)
        if taken < 0:
            raise diverged(self._chart, self._x, self._w, self.time, self._span)
        return taken

    def _refuse_solids(self, position: Array) -> None:
        """Refuse shapes inside each other, with room for as many as are near each other."""
        while self._solids is not None:
            try:
                self._solids.refuse_inside(position)
                break
            except CrowdedError:
                self._make_room()

    def _make_room(self, contacts: bool = False) -> None:
        """Go on with room for more shapes near each other, or for more active contacts."""
        assert self._walls is not None and self._around is not None
        around = self._around.with_more_room(contacts)
        self._walls, self._around = self._walls.with_more_room(contacts), around
        self._follow()
        self._motion.motion.crowded = 0
