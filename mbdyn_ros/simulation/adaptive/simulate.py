"""Motion of a robot in time."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arguments import coordinate_array, require_finite, require_unit_quaternions
from ...equations import programs
from ...errors import InputError, MbdynError, SimulationError, SimulationWarning
from ...integration.methods import ADAPTIVE, AdaptiveMethod, named
from ...model.model import Array
from ...robot import Robot
from ..contact.environment import Environment
from ..effort import EffortFunction, effort_function
from ..trajectory import Event, StoppedSimulationError, Trajectory
from .chart_watch import ChartWatch, suits
from .integrator import Integrator
from .motion import Motion
from .recorder import Recorder
from .segment import Translation, joined

SHARPER = 0.1
"""Share of the tolerances that a single step may use, so that many steps keep them."""

SAME = 1e-8
"""Distance of joints (rad or m) that are at the same place in two choices of coordinates."""


def simulate(
    robot: Robot,
    q0: Array | Sequence[float],
    v0: Array | Sequence[float],
    duration: float,
    effort: Array | EffortFunction | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    environment: Environment | None = None,
    *,
    times: Array | Sequence[float] | None = None,
    max_step: float = math.inf,
    progress: Callable[[float], None] | None = None,
    method: str = "DOP853",
    on_event: Callable[[Event], None] | None = None,
) -> Trajectory:
    """Integrate the motion of a robot from a state.

    The steps adapt to the tolerances (Dormand and Prince, order 8; Radau, order 5, where damping
    is very stiff). Joints with dry friction stick and slide at the exact instants; quaternions
    keep unit length.

    Parameters
    ----------
    q0, v0 : (nq,), (nv,) rad or m, rad/s or m/s: the state at time 0.
    duration : s.
    effort : N m or N, of the actuated joints: nothing, constant (n,), or a function
        effort(t, q, v) -> (n,), which should be smooth; where it jumps, steps get short.
    rtol, atol : relative and absolute tolerance of the state.
    environment : walls that points of the robot hit, and stops of its joints; see `Environment`.
    times : (N,) s, rising, from 0 to the duration: the instants of the result; default: all
        steps, which are close together where much happens.
    max_step : s, longest step; give one if `effort` has features shorter than the motion's.
    progress : called with the time (s) after every step.
    method : "DOP853", or "RK45" (Dormand and Prince, order 5 with 4, as MATLAB's ode45).
    on_event : called with every `Impact` and `Transition` at its instant. The trajectory then
        keeps none: with it and `times`, memory does not grow however long the motion lasts.

    Returns
    -------
    Trajectory

    Raises
    ------
    InputError
        Wrong shape, NaN or infinity (by joint name), a negative duration, an unfit tolerance.
    SingularMassMatrixError
        A link without mass leaves the motion undetermined; the message names it.
    SimulationError
        It cannot go on; the message gives time and state, and the error's `trajectory` the
        motion up to there.

    Examples
    --------
    A mass of 2 kg pushed by 3 N from rest: x = 3/4 t^2.

    >>> import mbdyn_ros
    >>> robot = mbdyn_ros.load('''<robot name="mass"><link name="world"/><link name="cart">
    ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    ...   iyz="0"/></inertial></link><joint name="rail" type="prismatic">
    ...   <parent link="world"/><child link="cart"/></joint></robot>''')
    >>> times = [0.0, 1.0, 2.0]
    >>> trajectory = mbdyn_ros.simulate(robot, [0.0], [0.0], 2.0, effort=[3.0], times=times)
    >>> trajectory.q.round(12)
    array([[0.  ], [0.75], [3.  ]])
    >>> trajectory.work[-1].round(12)  # J, done by the effort and lost to friction
    array([9., 0.])
    """
    if environment is not None and not isinstance(environment, Environment):
        raise InputError(f"environment must be an Environment, not {environment!r}")
    robot.require_mass("simulation")
    q, v = initial_state(robot, q0, v0)
    robot.energy(q, v)  # refuses positions at which loops cannot be closed
    duration = _positive("duration", duration, "s", zero=True)
    rtol, atol = _positive("rtol", rtol), _positive("atol", atol)
    if not 1e-13 <= rtol < 1:
        raise InputError(f"rtol is {rtol}; numbers of 16 digits serve rtol from 1e-13 to 1")
    chosen = named("method", method, ADAPTIVE)
    max_step = math.inf if max_step == math.inf else _positive("max_step", max_step, "s")
    run = _Run(
        robot,
        effort_function(robot, effort),
        duration,
        (max(SHARPER * rtol, 100 * np.finfo(float).eps), SHARPER * atol),
        max_step,
        _sample_times(times, duration),
        progress or (lambda time: None),
        environment,
        chosen,
        on_event,
    )
    return run.trajectory(q, v)


@dataclass
class _Run:
    """One simulation, part by part: a part ends where its coordinates do.

    charts : the robot in all coordinates used so far.
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
            integrator, joints, whole = self._part(chart, time, q, v)
            if joints is None:
                return joined(self.parts, self.work, self.events)
            time = integrator.time
            _, v = integrator.motion.split(integrator.state)
            try:
                chart, q, v = self._change(chart, time, whole, v, joints)
            except MbdynError as error:
                raise self._stopped(str(error), chart, integrator) from error

    def _part(
        self, chart: Robot, time: float, q: Array, v: Array
    ) -> tuple[Integrator, list[str] | None, Array]:
        """Integrate in the coordinates of `chart`, to the end or to where others are better.

        Returns
        -------
        The integrator where it stands, the better joints, and the tree positions there.
        """
        translation = Translation(self.robot, chart)
        motion = Motion(
            chart, translation.effort(self.effort), self.environment, 10 * sum(self.tolerances)
        )
        left = None if self.times is None else self.times[self.times >= time]
        recorder = Recorder(chart, motion, left)
        state = motion.state(q, v)
        keep_event = self.on_event or self.events.append

        def report(event: Event) -> None:
            if time == 0 or event.time > time:  # what moves when coordinates change goes on so
                keep_event(translation.event(event))

        integrator = Integrator(
            motion, state, self.duration, self.tolerances, report, self.method, self.max_step, time
        )
        watch = ChartWatch(chart, motion)
        joints = None

        def keep() -> None:
            self.parts.append(translation.trajectory(recorder.trajectory(integrator)))
            self.work.append(motion.work(integrator.state))

        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                problem = watch.start(state, chosen=chart is not self.robot)
                if problem is not None:
                    raise SimulationError(problem)
                joints = watch.better()
                for step in integrator.steps() if joints is None else ():
                    if not watch.follows(integrator.state):
                        if step.start == time:
                            raise SimulationError("a loop changes its branch within a step")
                        integrator.time, integrator.state = step.start, step.initial
                        joints = list(chart.independent_joints)
                        break
                    found = watch.change_point(step)
                    if found is not None:
                        integrator.time, problem = found
                        integrator.state = step.state(integrator.time)
                        recorder.step(replace(step, end=integrator.time))
                        raise SimulationError(problem)
                    recorder.step(step)
                    self.progress(step.end)
                    joints = watch.better()
                    if joints is not None:
                        break
            if joints is None:
                recorder.finish(integrator.time, integrator.state)
        except (SimulationError, np.linalg.LinAlgError) as error:
            if problem is None and watch.wanders and integrator.time > time:
                # the way from home may be to blame: once more, with a home here
                keep()
                return integrator, list(chart.independent_joints), watch.tree_position
            with contextlib.suppress(SimulationError, np.linalg.LinAlgError):
                recorder.finish(integrator.time, integrator.state)
            keep()
            words = str(error)
            if problem is None:
                words += watch.doubt(integrator.state)
            raise self._stopped(words, chart, integrator) from error
        keep()
        return integrator, joints, watch.tree_position

    def _stopped(self, words: str, chart: Robot, integrator: Integrator) -> StoppedSimulationError:
        """The error that ends a simulation, with all that was kept."""
        q, v = integrator.motion.split(integrator.state)
        with contextlib.suppress(MbdynError):
            q, v, _ = Translation(self.robot, chart).state(q, v, np.zeros(chart.nv))
        text = (
            f"{self.robot.model.source}: the simulation stops at t = {integrator.time:.9g} s: "
            f"{words}. The state: q = {_text(q)}, v = {_text(v)}"
        )
        return StoppedSimulationError(text, joined(self.parts, self.work, self.events))

    def _change(
        self, chart: Robot, time: float, whole: Array, v: Array, joints: list[str]
    ) -> tuple[Robot, Array, Array]:
        """Go on with other independent joints, from tree positions and velocities v (nv,)."""
        other = self._known(chart, whole, joints)
        if other is None and joints == list(chart.independent_joints):
            moved = chart.with_home(whole)
            other = moved if suits(moved, whole) else None  # other rows may have to be chosen
            if other is not None:
                self.charts.append(other)
        if other is None:
            coordinates = chart.system.coordinates
            places = zip(coordinates.joint_labels, coordinates.joint_rows[0], strict=True)
            home = {
                label: float(whole[row]) for label, row in places if label in chart.joint_names
            }
            other = chart.with_independent(joints, home)
            self.charts.append(other)
        if set(joints) != set(chart.independent_joints):
            warnings.warn(
                f"{self.robot.model.source}: at t = {time:.9g} s the independent joints "
                f"({', '.join(chart.independent_joints)}) come near a dead centre; the simulation "
                f"goes on in {', '.join(joints)}. The result stays in the robot's own coordinates.",
                SimulationWarning,
                stacklevel=4,
            )
        if not _closes(other, whole):
            raise SimulationError(
                f"near a dead centre of {', '.join(chart.independent_joints)} the loops do not "
                f"close again in the coordinates {', '.join(joints)}"
            )
        q = whole[list(other.system.coordinates.q)]
        unit = np.tile(q, (other.nv, 1)), np.eye(other.nv)
        directions = other.calls.call(programs.joint_velocity, unit).T
        own: Array = directions[list(chart.system.coordinates.v)]
        speed: Array = np.linalg.solve(own, v).astype(np.float64)
        return other, q, speed

    def _known(self, chart: Robot, whole: Array, joints: list[str]) -> Robot | None:
        """Coordinates used before `chart` that have these joints and are on this branch."""
        for other in self.charts:
            if other is not chart and sorted(other.independent_joints) == sorted(joints):
                if suits(other, whole) and _closes(other, whole):
                    return other
        return None


def _closes(chart: Robot, whole: Array) -> bool:
    """Whether the loops close at the tree positions, on this branch and with these turns."""
    try:
        q = whole[list(chart.system.coordinates.q)]
        found = chart.calls.call(programs.joint_position, (q,))
    except InputError:
        return False
    return bool(np.abs(found - whole).max(initial=0.0) < SAME)


def initial_state(robot: Robot, q0: object, v0: object) -> tuple[Array, Array]:
    """The state as arrays (nq,), (nv,), refused by joint name where it is none."""
    arrays = []
    for what, value, labels in (
        ("initial position", q0, robot.position_labels),
        ("initial velocity", v0, robot.velocity_labels),
    ):
        array = coordinate_array(what, value, labels)
        if array.ndim != 1:
            raise InputError(f"{what} has shape {array.shape}; one state ({len(labels)},) starts")
        require_finite(what, array, labels)
        arrays.append(array)
    require_unit_quaternions(robot.system.coordinates, arrays[0])
    return arrays[0], arrays[1]


def _positive(what: str, value: float, unit: str = "", zero: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "finite and not negative" if zero else "positive and finite"
        raise InputError(f"{what} is {value!r}{' ' + unit if unit else ''}; it must be {kind}")
    return number


def _sample_times(times: Array | Sequence[float] | None, duration: float) -> Array | None:
    """The instants of the result, refused where they do not rise within the duration."""
    if times is None:
        return None
    try:
        array = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"times must be numbers, s: {error}") from None
    if array.ndim != 1:
        raise InputError(f"times has shape {array.shape}; expected (N,)")
    if not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise InputError("times must be finite and rise from each to the next")
    if len(array) and (array[0] < 0 or array[-1] > duration):
        raise InputError(
            f"times run from {array[0]:g} to {array[-1]:g} s; the simulation from 0 to "
            f"{duration:g} s"
        )
    return array


def _text(numbers: Array) -> str:
    return "[" + ", ".join(f"{number:.9g}" for number in numbers) + "]"
