"""The stepper: a robot, among walls or without, advanced in equal steps, each one compiled call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar, NoReturn

import numpy as np

from ...arguments import (
    Sealed,
    Wrenches,
    body_wrenches,
    checked_count,
    require_unit_quaternions,
    single_vector,
    step_length,
    whole_efforts,
)
from ...compiler.kernel import Bound
from ...equations.contact.stepping import damped_mass
from ...equations.dry_friction import tree_friction
from ...errors import InputError, ModelError, SimulationError, brief, no_stepping
from ...integration.methods import AUTO, StepMethod
from ...model.model import Array
from ...prepare.coordinates import PositionRate
from ...robot import Robot
from ..charts import closes, with_joints
from ..contact.contacts import Contacts
from ..contact.environment import (
    NO_WALLS,
    Environment,
    checked_environment,
    with_all_stops,
    with_stops,
)
from ..contact.events import refuse_inside
from ..contact.impulses import Contact, Impact
from ..contact.precision import STEPS_IN_C
from ..coulomb import Coulomb, fastest_damping
from ..given_motion import refuse_unseen
from ..sensors import NO_WRENCHES, ForceTorques
from .chart_guard import ChartGuard
from .step_in_c import MotionInC, StepInC, is_compiled
from .taken_steps import Noticed, TakenSteps, TreeState
from .touches import ImpactNote, Touches

MOST_IMPACTS = 256
"""Impacts that are kept while compiled code runs."""

LONGEST_ADVANCE = 1_000_000_000
"""Steps of one call of `advance`."""

STEPS_AT_ONCE = 20_000
"""Steps of one call into compiled code; between calls Ctrl-C is heard."""


class Stepper(TakenSteps, Sealed):
    """Simulates a robot in equal steps, with or without walls; a step is one compiled call.

    Efforts are constant over a step. Closed loops stay closed, for the state is that of the
    independent joints. Numbers of the robot that are set hold from the next step on.

    Contacts are hard and one-sided, friction is Coulomb's with its round cone, impacts follow
    Newton's law; joint friction, stops and closed loops are part of the same problem. See
    `docs/contact.md`.

    Parameters
    ----------
    step : s. environment : walls and stops, or None. Where it does not say which limits of joints
        are stops, they are those that hold where the motion starts, as in `simulate`.
    method : of the motion between contacts, see `integration.methods`. "rk4", "heun" and
        "semi_implicit" are of order 4, 2 and 1, while joints with dry friction slide too;
        "semi_implicit" is stable however strong damping is, which it takes at the end of the step.
        "auto" is rk4 unless damping is too stiff for it.

    Attributes
    ----------
    q, v : (nq,), (nv,) the state, in arrays that every step changes; `set_state` moves the robot.
    effort, wrenches : of the actuated joints, and on links from outside, in the next steps.

    Raises
    ------
    SingularMassMatrixError
        A link without mass leaves the motion undetermined; the message names it.
    SimulationError
        There is no C or C++ compiler.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> stepper = mbdyn_ros.Stepper(mbdyn_ros.load(CART), step=0.5)
    >>> stepper.effort[:] = 4.0
    >>> stepper.advance(2)
    >>> stepper.q, stepper.v, stepper.time
    (array([1.]), array([2.]), 1.0)
    """

    OTHERWISE: ClassVar[Mapping[str, str]] = {
        "q": "move the robot with set_state(q, v)",
        "v": "set velocities with set_state(q, v)",
        "method": "give method= to Stepper(...)",
        "environment": "give environment= to Stepper(...)",
        "robot": "make a Stepper of the other robot",
        "impacts": "take_impacts() empties them",
        "": "step, effort, wrenches, time and lost can be",
    }

    _precision = STEPS_IN_C

    @brief
    def __init__(
        self, robot: Robot, step: float, environment: Environment | None = None, method: str = AUTO
    ) -> None:
        robot.require_mass("simulation")
        robot.require_single("simulation")
        robot.say_choice()
        if not is_compiled(robot):
            raise no_stepping("a Stepper moves")
        environment = checked_environment(environment)
        self._choice, self._start, self._placed = StepMethod(method), robot, False
        self._around = self._walls = environment
        if robot.model.limited_joints:
            self._around = environment or NO_WALLS
            self._walls = with_all_stops(robot, self._around)
        if robot.system.nz:  # home moves along, so that loops stay on their branch
            robot = robot.with_home(robot.system.home)
        self.robot, self.environment = robot, environment
        self._q, self._v = robot.home_position, robot.home_velocity
        self._charts, self._chart = [robot], robot
        self._x, self._w = self._q, self._v
        self._position_rate = PositionRate(robot.system.coordinates)
        self._damping_rate = 0.0
        if tree_friction(robot.system.tree)[0].any():
            coulomb = Coulomb(robot)
            coulomb.at(self.q)
            self._damping_rate = fastest_damping(self._inertia(), coulomb.damping)
        self._method = self._choice.at(step_length("the step", step), self._damping_rate)
        self._impacts, self._notes = [], []
        self._wrenches: dict[str, Array] = {}
        self._prepare()
        self.effort = np.zeros(len(robot.effort_labels))
        self.step = step
        self.seal()

    def __reduce__(self) -> NoReturn:
        raise InputError(
            f"a Stepper of {self.robot.model.name!r} steps in memory of this process, and is not "
            "pickled: make another, Stepper(robot, step, environment), and call set_state(q, v)"
        )

    def copy(self) -> Stepper:
        """Another stepper in the same state, which continues as this one would.

        Its state, efforts, wrenches, contacts and accounts are its own, and impacts that were not
        taken yet.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> stepper = mbdyn_ros.Stepper(mbdyn_ros.load(CART), step=0.5)
        >>> stepper.effort[:] = 4.0
        >>> ahead = stepper.copy()
        >>> ahead.advance(2)
        >>> stepper.q, ahead.q
        (array([0.]), array([1.]))
        """
        other = Stepper(self.robot, self.step, self.environment, self._choice.name)
        other._around, other._walls, other._placed = self._around, self._walls, self._placed
        other.q[:], other.v[:] = self.q, self.v
        if self._chart is not self.robot:
            chart = self._chart.with_home(self._chart.system.home)
            other._charts.append(chart)
            other._chart, other._x, other._w = chart, self._x.copy(), self._w.copy()
        for mine, own in ((self._chart, other._chart), (self.robot, other.robot)):
            if mine.system.nz:
                own.calls.home[:] = mine.calls.home
        other._prepare()
        other.step = self.step
        if self._wrenches:
            other.wrenches = self._wrenches
        other._motion.repeat(self._motion)
        if self._guard is not None and other._guard is not None:
            other._guard.repeat(self._guard)
        other._impacts = list(self._described())
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> Stepper:
        return self.copy()

    def _prepare(self) -> None:
        """Take the programs of the chart as they are now, and memory for a motion by them."""
        self._described()
        robot, guard = self._chart, ChartGuard(self._chart)
        self._tree, self._energy = TreeState(robot), robot.bind("energy")
        self._sensors, self._guard = ForceTorques(robot), guard if guard.charts else None
        self._calls = robot.calls
        self._contacts, self._compiled = self._programs_of(robot)
        self._motion = MotionInC(self._compiled, self._x, self._w, MOST_IMPACTS)
        self._touches: Touches | None = None
        self._noticed: Noticed | None = None
        if self._contacts is not None:
            self._touches = Touches(self._contacts, self._compiled, robot)
            self._noticed = Noticed(robot.model.source, self._contacts, self._motion)
        self._solids = None if self._touches is None else self._touches.solids

    def _programs_of(self, chart: Robot) -> tuple[Contacts | None, StepInC]:
        """The contacts of a chart among the walls, if there are any, and the programs of steps."""
        contacts = None
        if self._walls is not None:
            found = Contacts(chart, self._walls, only_watch=True)
            contacts = found if len(found) else None
        return contacts, StepInC.among(chart, contacts, self._precision)

    def _inertia(self) -> Array:
        """Mass matrix (nv, nv) at home of a robot with friction: of the program that steps take."""
        if not self.robot.calls.traced.has("damping"):
            return self.robot.mass_matrix(self.q)
        damped = Bound(self.robot.calls.kernel(damped_mass))
        damped.q[:], damped.step[:] = self.q, 0.0
        damped()
        matrix: Array = damped.matrix
        return matrix

    def _follow(self) -> None:
        """Go on with what was folded into the programs and has become variable."""
        before, wrenches, self._wrenches = self._motion, self._wrenches, {}
        if self._chart.system.nz and self._calls is not self._chart.calls:
            self._chart.calls.home[:] = self._calls.home
        self._prepare()
        self._motion.go_on_from(before)
        self.step, self.wrenches = self.step, wrenches

    def _take_stops(self, q: Array) -> None:
        """Let the limits that q keeps be the stops, unless the environment says which are."""
        self._placed = True
        walls = with_stops(self._start, q, self._around, room=True)
        if walls is not self._walls:
            self._walls = walls
            self._follow()

    def __repr__(self) -> str:
        walls = "" if self.environment is None else f", {self.environment!r}"
        return (
            f"Stepper({self.robot.model.name!r}, t = {self.time:.6g} s, {self.method} in steps of "
            f"{self.step:g} s{walls})"
        )

    @property
    def q(self) -> Array:
        """Positions (nq,) now, rad or m; every step changes the array."""
        return self._q

    @property
    def v(self) -> Array:
        """Velocities (nv,) now, rad/s or m/s; every step changes the array."""
        return self._v

    @property
    def step(self) -> float:
        """Length of a step, s; it may be changed between steps."""
        return float(self._motion.motion.step)

    @step.setter
    def step(self, step: float) -> None:
        step = step_length("the step", step)
        refuse_unseen(self.robot, step)
        self._method = self._choice.at(step, self._damping_rate)
        self._motion.motion.step = self._span = step
        self._compiled.use(self._method)

    @property
    def effort(self) -> Array:
        """Efforts of the actuated joints, to be filled in place or replaced (N m or N).

        A contiguous array (n,) is taken itself; other numbers, or those of the motors of a floating
        base alone, are copied. In place, those of a floating base begin with the wrench (6,) that
        acts on it: `effort[6:]` are the motors', and `effort[:] = x` pushes the base too.
        """
        return self._motion.effort

    @effort.setter
    def effort(self, effort: Array | Sequence[float]) -> None:
        labels = self.robot.effort_labels
        whole = single_vector("effort", whole_efforts(effort, labels), labels)
        self._motion.effort = np.ascontiguousarray(whole)

    @property
    def wrenches(self) -> Mapping[str, Array]:
        """External wrenches, link name -> [force, torque] (6,), until others are set (N, N m).

        At the link's origin in its axes, as in `simulate`; none at the start. The mapping that
        is set is copied; the first one compiles equations that take wrenches.

        Raises
        ------
        InputError
            No such link, or not six finite numbers.
        """
        return MappingProxyType(self._wrenches)

    @wrenches.setter
    def wrenches(self, wrenches: Wrenches) -> None:
        on_bodies = body_wrenches(self.robot.system.tree, wrenches, self.robot.model.source)
        if on_bodies.ndim > 2:
            raise InputError("wrenches has many rows; a Stepper takes one (6,) for a link")
        taken = {link: np.array(one, dtype=np.float64) for link, one in wrenches.items()}
        if bool(taken) != bool(self._wrenches):
            self._compiled.feel_wrenches(bool(taken))
        self._wrenches = taken
        self._motion.take_wrenches(on_bodies if taken else None)

    @property
    def method(self) -> str:
        """Name of the integrator of free motion; see `integration.methods`."""
        return self._method.name

    @brief
    def set_state(self, q: Array | Sequence[float], v: Array | Sequence[float]) -> None:
        """Set positions and velocities; quaternions are normalized.

        Raises
        ------
        InputError
            Wrong shape, NaN or infinity, or a quaternion of length zero, by joint.
        SimulationError
            A point is inside a wall, by name; the robot stays where it was.
        """
        position = single_vector("position", q, self.robot.position_labels).copy()
        velocity = single_vector("velocity", v, self.robot.velocity_labels)
        self._position_rate.normalize(position)
        require_unit_quaternions(self.robot.system.coordinates, position)
        self._take_stops(position)
        here = self._chart, self._x, self._w
        try:
            self._enter(self.robot, self._q, self._v)
            if self._contacts is not None:
                refuse_inside(self._contacts, position, velocity, STEPS_IN_C.inside)
            self._refuse_solids(position)
        except SimulationError:
            self._enter(*here)
            raise
        self.q[:], self.v[:] = position, velocity
        self._motion.forget()
        if self.robot.system.nz:
            self.robot.calls.home[:] = self.robot.system.closing.home
            self._tree.take_home_along(self.q)
        if self._guard is not None:
            self._guard.forget()

    def advance(self, steps: int = 1) -> None:
        """Take steps with the present efforts.

        Parameters
        ----------
        steps : how many, 0 to 1e9.

        Raises
        ------
        SimulationError
            The state is no longer finite; the message names the joint and the time. Or a wall has
            no value, no normal or no inside where a point meets it; the message names both, and
            where and when. Or a loop comes to a change point.
        InputError
            `steps` is not such a number.
        """
        if not self._placed:
            self._take_stops(self.q)
        if self._chart.calls is not self._calls:
            self._follow()
        left = checked_count("steps", steps, most=LONGEST_ADVANCE)
        while left > 0:
            most = STEPS_AT_ONCE if self._guard is None else self._watched_steps(self._guard)
            taken = self._taken(min(left, most)) if self._parts == 1 else self._in_parts()
            left -= taken
            if self._guard is not None:
                self._guard.took(taken)
        if self._chart.system.nz:
            self._tree.take_home_along(self._x)
        if self._chart is not self.robot:
            self._read()

    # ---- coordinates ----------------------------------------------------------------------

    def _watched_steps(self, guard: ChartGuard) -> int:
        """How many steps may be taken in one call; goes on in other coordinates where it must."""
        if guard.due <= 0:
            position, velocity = (one.copy() for one in self.tree_state())
            try:
                joints = guard.look(position, self.step)
                if joints is not None:
                    self._change(joints, position, velocity)
                    return 1
            except (SimulationError, ModelError) as error:
                raise self._at_this_time(error) from None
        return guard.due

    def _at_this_time(self, error: Exception) -> SimulationError:
        """The error with the robot and the time."""
        return SimulationError(f"{self.robot.model.source}: at t = {self.time:.6g} s {error}")

    def _known(self, joints: list[str], position: Array) -> Robot | None:
        """A chart in these joints whose loops close at positions of the whole tree."""
        for chart in self._charts:
            if sorted(chart.independent_joints) == sorted(joints) and closes(chart, position):
                return chart
        return None

    def _change(self, joints: list[str], position: Array, velocity: Array) -> None:
        """Go on in these joints from positions and velocities of the whole tree."""
        old = ", ".join(self._chart.independent_joints)
        chart = self._known(joints, position)
        if chart is None:
            chart = with_joints(self._chart, joints, position)
            self._charts.append(chart)
            if not closes(chart, position):
                raise SimulationError(
                    f"near a dead centre of {old} the loops do not close again in "
                    f"{', '.join(joints)}. Choose those as independent joints."
                )
        own = chart.system.coordinates
        state = self._q, self._v
        if chart is not self.robot:
            state = np.empty(chart.nq), np.empty(chart.nv)
        state[0][:], state[1][:] = position[list(own.q)], velocity[list(own.v)]
        parts = self._parts
        self._enter(chart, *state)
        self._motion.slow[:] = self._w
        if self._guard is not None:
            self._guard.parts = parts

    def _enter(self, chart: Robot, x: Array, w: Array) -> None:
        """Take the next steps in the coordinates of a chart, whose state is x (nq,), w (nv,)."""
        if chart is not self._chart:
            self._described()
            # The calls too, so that they keep their home, which is in other joints.
            self._chart, self._x, self._w, self._calls = chart, x, w, chart.calls
            self._follow()

    def _read(self) -> None:
        """Convert the state of another chart to the robot's own coordinates."""
        self.q[:], self.v[:] = self._in_own(self._x, self._w)

    def _in_own(self, x: Array, w: Array) -> tuple[Array, Array]:
        """The state x, w of the chart in the robot's own coordinates."""
        position, velocity = self._tree.at(x, w)
        own = self.robot.system.coordinates
        return position[list(own.q)], velocity[list(own.v)]

    def _impact(self, note: ImpactNote) -> Impact:
        assert self._touches is not None
        impact = self._touches.impact(note, self._energy_of)
        if self._chart is self.robot:
            return impact
        q, before = self._in_own(impact.q, impact.v_before)
        return replace(
            impact, q=q, v_before=before, v_after=self._in_own(impact.q, impact.v_after)[1]
        )

    def limit_energy(self, most: float) -> None:
        """Scale all velocities down if the energy exceeds `most` (J); `trimmed` sums the loss.

        Not where motions are given, which bring energy.
        """
        kinetic, potential = self.energy.tolist()
        gain = kinetic + potential - most
        if gain > 0 and kinetic > 0 and not self._chart.system.given:
            self._motion.slow_down(math.sqrt(max(0.0, 1 - gain / kinetic)), min(gain, kinetic))
            if self._chart is not self.robot:
                self._read()

    def tree_state(self) -> tuple[Array, Array]:
        """Positions and velocities of the whole tree; the next call overwrites them."""
        return self._tree.at(self._x, self._w)

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Contacts held in the last step: links, and `force` on the first (3,), N, in the world."""
        if self._touches is None:
            return ()
        motion = self._motion
        return tuple(
            self._touches.held(self._x, motion.force, motion.turning, motion.mode, motion.planes)
        )

    def force_torque(self, joint: str, wrenches: Wrenches = NO_WRENCHES) -> Array:
        """Reading (6,) of a sensor in any joint, mean over the last step, with its impacts.

        What the parent exerts on the child, in axes and signs of `ForceTorque`. `wrenches` are
        those on links that came into the step as efforts.
        """
        given = [self._wrenches, wrenches]
        if self._touches is not None:
            force = self._motion.whole / self._span
            given.append(self._touches.wrenches(self._x, force, self._motion.planes))
        return self._sensors.mean(joint, self._x, self._w, self._motion.slow, self._span, *given)

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy (2,), J."""
        return self._energy_of(self._x, self._w)

    def _energy_of(self, q: Array, v: Array) -> Array:
        self._energy.q[:], self._energy.v[:] = q, v
        self._energy()
        return self._energy.result.copy()
