"""Motion of a robot in time: what users call, and the checks of what they give."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..arguments import require_unit_quaternions, sample_times, single_vector
from ..array import Array, NoNumbers, as_number
from ..errors import InputError, brief
from ..integration.methods import ADAPTIVE, named
from ..robot import Robot
from .actuation import Actuation, Commands
from .adaptive.run import Run
from .change_points.passage import by_inertia
from .contact.environment import (
    Environment,
    checked_environment,
    with_stops,
    without_stops,
)
from .effort import EffortFunction, External, ExternalWrenches, effort_function
from .trajectory import Event, Trajectory

SHARPER = 0.1
"""Share of the tolerances that a single step may use, so that many steps keep them."""


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
    joint_limits: bool = True,
    through_change_points: bool = False,
    wrenches: External | None = None,
    commands: Array | Sequence[float] | Commands | None = None,
    actuator_start: Mapping[str, float] | None = None,
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
        steps, which are close together where much happens, and the states on either side of
        every impact.
    max_step : s, longest step; give one if `effort` has features shorter than the motion's.
    progress : called with the time (s) after every step.
    method : "DOP853", or "RK45" (Dormand and Prince, order 5 with 4, as MATLAB's ode45).
    on_event : called with every `Impact` and `Transition` at its instant. The trajectory then
        keeps none: with it and `times`, memory does not grow however long the motion lasts.
    joint_limits : whether the limits of the description (lower, upper) are stops, which joints hit
        without bouncing, dependent ones in loops too. Those of a joint that starts beyond them are
        none, with a warning; `Environment.joint_limits` goes before.
    through_change_points : where a loop can go on in more than one way (a parallelogram that lies
        flat), go on by inertia, the way on which accelerations change least, with a warning and a
        `Transition`; else the simulation stops there.
    wrenches : from outside on links, link name -> [force, torque] (6,) at the link's origin in its
        axes (N, N m), or a function of the time (s) that returns them. Their work counts with that
        of the efforts.
    commands : of the robot's actuators, in their order, constant (n,) or a function
        commands(t, q, v) -> (n,): openings of valves (-1 to 1), voltages. They then move their
        joints, on top of `effort`; without commands there are no actuators.
    actuator_start : their states at time 0 by label, such as {"lift/pressure_a": 5e6}; others are
        those that hold the robot at rest, valves closed.

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
    >>> from mbdyn_ros.model.examples import CART
    >>> robot = mbdyn_ros.load(CART)
    >>> times = [0.0, 1.0, 2.0]
    >>> trajectory = mbdyn_ros.simulate(robot, [0.0], [0.0], 2.0, effort=[3.0], times=times)
    >>> trajectory.q.round(12)
    array([[0.  ], [0.75], [3.  ]])
    >>> trajectory.work[-1].round(12)  # J, done by the effort and lost to friction
    array([9., 0.])
    """
    with brief:
        environment = checked_environment(environment)
        robot.require_mass("simulation")
        robot.require_single("simulation")
        robot.say_choice()
        q, v = initial_state(robot, q0, v0)
        if robot.dependent_joints:
            robot.energy(q, v)  # refuses positions at which loops cannot be closed
        if joint_limits:
            environment = with_stops(robot, q, environment)
        elif environment is not None:
            environment = without_stops(environment)
        if robot.system.nz:  # home moves along
            robot = robot.with_home(robot.system.home)
        duration = _positive("duration", duration, "s", zero=True)
        rtol, atol = _positive("rtol", rtol), _positive("atol", atol)
        if not 1e-13 <= rtol < 1:
            raise InputError(f"rtol is {rtol}; double precision supports rtol from 1e-13 to 1")
        chosen = named("method", method, ADAPTIVE)
        max_step = math.inf if max_step == math.inf else _positive("max_step", max_step, "s")
        if commands is not None and through_change_points:
            raise InputError("actuators do not go through change points: give efforts there")
        drive, actuation = effort_function(robot, effort), None
        if commands is not None:
            drive = actuation = Actuation(robot, commands, drive)
            actuation.rest(robot, q, actuator_start)
        elif actuator_start is not None:
            raise InputError("actuator_start is of actuators, which act by commands: give those")
        outside = None if wrenches is None else ExternalWrenches(robot, wrenches)
        run = Run(
            robot,
            drive if outside is None else outside.added_to(drive),
            duration,
            (max(SHARPER * rtol, 100 * np.finfo(float).eps), SHARPER * atol),
            max_step,
            None if times is None else sample_times(times, duration),
            progress or (lambda time: None),
            environment,
            chosen,
            on_event,
            by_inertia if through_change_points else None,
            actuation,
        )
        trajectory = run.trajectory(q, v)
        return trajectory if outside is None else outside.without(trajectory)


def initial_state(robot: Robot, q0: object, v0: object) -> tuple[Array, Array]:
    """The state as arrays (nq,), (nv,), refused by joint name where it is not a state."""
    q = single_vector("initial position", q0, robot.position_labels)
    v = single_vector("initial velocity", v0, robot.velocity_labels)
    require_unit_quaternions(robot.system.coordinates, q)
    return q, v


def _positive(what: str, value: float, unit: str = "", zero: bool = False) -> float:
    try:
        number = as_number(value)
    except NoNumbers:
        number = math.nan
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        kind = "finite and not negative" if zero else "positive and finite"
        raise InputError(f"{what} is {value!r}{' ' + unit if unit else ''}; it must be {kind}")
    return number
