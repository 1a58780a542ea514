"""Forward dynamics of a mechanism: how it moves from a state under gravity and driving torques.

For mechanisms whose numbers change all the time: no compilation, as all designs share a program.
`mbdyn_ros.simulate` of `Mechanism.robot` does more: friction, exact energy work, dead centres.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import sample_times
from ..array import Array
from ..compiler.kernel import Bound
from ..equations.programs import forward_dynamics
from ..errors import InputError, SimulationError
from ..integration.methods import ADAPTIVE, named
from ..recording.table import linear
from .crank_motion import CrankMotion, of_a_crank, table_of_inputs
from .mechanism import Mechanism
from .parametric import kernel
from .toggles import reach

NEAR_TOGGLE = 1e-6
"""Squared sine of a transmission angle below which the crank no longer determines the rest."""

MOST_MOVE_STEPS = 100_000
"""Steps of one motion, about a minute: only a crank that turns thousands of times needs more."""

TorqueLaw = Callable[[float, Array, Array], Any]


class StoppedMotionError(SimulationError):
    """A toggle ends the motion, or it takes too many steps; `motion` is what came before."""

    def __init__(self, words: str, motion: ForwardMotion) -> None:
        super().__init__(words)
        self.motion = motion


@dataclass(frozen=True, eq=False)
class ForwardMotion(CrankMotion):
    """A motion that was computed. torque : (N, n) N m. steps : of the integrator."""

    torque: Array
    steps: int


def move(
    mechanism: Mechanism,
    q0: Sequence[float] | Array,
    v0: Sequence[float] | Array,
    duration: float,
    torque: Array | Sequence[float] | TorqueLaw | None = None,
    method: str = "RK45",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float = math.inf,
    times: Array | None = None,
    most_steps: int = MOST_MOVE_STEPS,
) -> ForwardMotion:
    """Integrate the motion of a mechanism.

    Parameters
    ----------
    q0, v0 : (n,) angles and speeds of the inputs at time 0 (rad, rad/s).
    duration : s.
    torque : N m, at the inputs: nothing, constant (n,), or a function torque(t, q, v) -> (n,).
    method : one of `integration.methods.ADAPTIVE`, such as "DOP853".
    rtol, atol : tolerance of a step. max_step : s.
    times : (N,) s, rising, within the duration: instants of the result; default all steps.
    most_steps : after which the motion ends.

    Raises
    ------
    StoppedMotionError
        The motion reaches a toggle, or needs more than `most_steps`; the message gives the
        limiting angle or the speed, `motion` what came before.
    InputError
        It cannot be assembled at q0, or a number is not finite.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar
    >>> motion = move(FourBar(), [0.0], [0.0], 0.5, times=[0.0, 0.5])
    >>> motion.q.shape
    (2, 1)
    """
    formula = named("method", method, ADAPTIVE).solver()
    numbers = {"duration": duration, "rtol": rtol, "atol": atol, "max_step": max_step}
    for name, number in numbers.items():
        if not number > 0 or (name != "max_step" and not math.isfinite(number)):
            raise InputError(f"{name} is {number:g}; give a number above zero")
    q, v = (mechanism.states(name, one)[0] for name, one in (("q0", q0), ("v0", v0)))
    for name, one in (("start", q), ("speed", v)):
        for number in one:
            of_a_crank(name, number)
    mechanism.pose(q)  # refuses what cannot be assembled
    n = len(q)
    limits = reach(mechanism, float(q[0])) if n == 1 else (-math.inf, math.inf)
    law = torque_law(mechanism, torque)
    program, settings = Bound(kernel(type(mechanism), forward_dynamics)), mechanism.vector()
    program.parameters[: len(settings)] = settings

    def rate(t: float, state: Array) -> Array:
        program.q[:], program.v[:] = state[:n], state[n:]
        if mechanism.unknowns:
            program.parameters[len(settings) :] = mechanism.unknown_values(state[:n])
        program.effort[:] = law(t, state[:n], state[n:])
        program()
        return np.concatenate([state[n:], program.a])

    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        solver = formula(
            rate, 0.0, np.concatenate([q, v]), duration, max_step, rtol=rtol, atol=atol
        )
        samples = None if times is None else sample_times(times, duration)
        at = [0.0] if samples is None else samples[samples <= 0].tolist()
        states, steps, problem = [solver.y] * len(at), 0, ""
        while solver.status == "running":
            before = solver.t
            solver.step()
            overstepped = n == 1 and not limits[0] <= solver.y[0] <= limits[1]
            if (
                solver.status == "failed"
                or overstepped
                or mechanism.margin(solver.y[:n]) < NEAR_TOGGLE
            ):
                problem = _problem(mechanism, before, solver, overstepped)
                break
            steps += 1
            if steps >= most_steps and solver.status == "running":
                problem = _hurry(mechanism, solver, steps)
                break
            if samples is None:
                at.append(float(solver.t))
                states.append(solver.y)
                continue
            between = samples[(samples > before) & (samples <= solver.t)]
            if len(between):
                at += between.tolist()
                states += list(solver.dense_output()(between).T)
    history = np.array(states).reshape(len(at), 2 * n)
    q, v = history[:, :n], history[:, n:]
    efforts = np.array([law(*instant) for instant in zip(at, q, v, strict=True)])
    efforts = efforts.reshape(len(at), n)
    a = mechanism.forward_dynamics(q, v, efforts) if at else q
    motion = ForwardMotion(np.array(at), q, v, a, efforts, steps)
    if problem:
        raise StoppedMotionError(problem, motion)
    return motion


def _problem(mechanism: Mechanism, time: float, solver: Any, overstepped: bool) -> str:
    """The words about what ends a motion."""
    n = len(mechanism.inputs)
    if n > 1 and mechanism.margin(solver.y[:n]) < NEAR_TOGGLE:
        names, angles = " and ".join(mechanism.inputs), np.degrees(solver.y[:n])
        return (
            f"{mechanism.name}: the motion comes to a toggle at t = {time:.6g} s, with the {names} "
            f"at {' and '.join(f'{one:.6g}' for one in angles)} deg; "
            "mbdyn_ros.simulate with the mechanism's robot() continues beyond"
        )
    if mechanism.margin(solver.y[:n]) >= 0.01 and not overstepped:
        return (
            f"{mechanism.name}: the motion cannot continue after t = {time:.6g} s: no step is "
            "short enough for the tolerances, or parts are in line; use less time or a larger rtol"
        )
    inside = solver.y if solver.y_old is None else solver.y_old
    lower, upper = np.degrees(reach(mechanism, float(inside[0])))
    angle = np.degrees(solver.y[0])
    limit = lower if abs(angle - lower) < abs(angle - upper) else upper
    return (
        f"{mechanism.name}: the motion comes to a toggle at t = {time:.6g} s: the "
        f"{mechanism.inputs[0]} cannot turn beyond {limit:.6g} deg, and does not determine the "
        "rest there; mbdyn_ros.simulate with the mechanism's robot() continues beyond"
    )


def _hurry(mechanism: Mechanism, solver: Any, steps: int) -> str:
    """The words about a motion that takes too many steps."""
    speeds = solver.y[len(mechanism.inputs) :]
    return (
        f"{mechanism.name}: the motion has taken {steps} steps by t = {solver.t:.6g} s, where the "
        f"{mechanism.inputs[0]} turns at {speeds[0]:.4g} rad/s; use a smaller torque, less time or "
        "a larger rtol"
    )


def torque_law(mechanism: Mechanism, torque: Any) -> TorqueLaw:
    """The torque as a function."""
    if callable(torque):
        return torque  # type: ignore[no-any-return]
    n = len(mechanism.inputs)
    values = np.zeros(n) if torque is None else mechanism.states("torque", torque)[0]
    return lambda t, q, v: values


def law_from_table(path: str | os.PathLike[str], inputs: Sequence[str]) -> tuple[TorqueLaw, float]:
    """The torque in a CSV or JSON file: columns time, effort/crank, linear between its rows.

    The first and last rows hold outside. Also the longest step (s) that does not overlook a row.

    Raises
    ------
    InputError
        It cannot be read, or a column is missing; the words name it.
    """
    table, time = table_of_inputs(path, "effort", inputs)
    efforts = np.stack([table["effort"][name] for name in inputs], axis=1)
    if not np.isfinite(efforts).all():
        raise InputError(f"{path}: the efforts must be finite numbers, N m")
    return linear(time, efforts), float(np.median(np.diff(time)))
