"""Many motions at once: forward dynamics integrated in compiled code."""

from __future__ import annotations

import functools

import numpy as np

from ..arguments import (
    broadcast_count,
    checked_flag,
    checked_numbers,
    coordinate_array,
    no_environment,
    require_unit_quaternions,
    step_length,
    whole_efforts,
)
from ..array import Array, ArrayLike
from ..compiler.kernel import CompiledKernel, CompiledProgram, Kernel, address, snapshot
from ..compiler.loading import load_vectors
from ..compiler.runtime.library import runtime
from ..compiler.threads import threads_for
from ..equations import programs
from ..equations.programs import position_rate
from ..equations.system import System
from ..errors import InputError, SimulationWarning, no_stepping, warn
from ..integration.methods import FIXED, FixedMethod, named
from ..program.program import Program
from .configuration import Configurations

MOST_AT_ONCE = 2_000_000_000
"""Operations of one call into compiled code, about half a second: then Ctrl-C is heard."""
GROUP = 256
"""Fewest motions that run at once, where there are enough: vectors on several threads."""


class Rollout:
    """Rollouts of one robot.

    Parameters
    ----------
    kernel : forward dynamics; where it is not compiled, calls are refused.
    limits : lower and upper limits of positions (2, nq).
    most_at_once : operations after which it may be interrupted.
    """

    def __init__(
        self, system: System, kernel: Kernel, limits: Array, most_at_once: int = MOST_AT_ONCE
    ) -> None:
        self._system, self._kernel, self._limits, self._most = system, kernel, limits, most_at_once
        self._compiled: list[CompiledProgram] = []
        if isinstance(kernel, CompiledKernel):
            rate = Program(position_rate, kernel.program.subject)
            programs = kernel.vectors, load_vectors(rate)
            self._compiled = [one for one in programs if one is not None]
            self._worth_a_thread = kernel.worth_a_thread

    def __call__(
        self,
        q: Array,
        v: Array,
        effort: Array,
        dt: float,
        method: FixedMethod,
        terminal: bool,
        rows: Array | None = None,
    ) -> tuple[Array, Array, bool]:
        """Positions and velocities after every step, or after the last; whether any left limits.

        Parameters
        ----------
        q, v : (nq,), (nv,) or (N, ...). effort : (T, ne) or (N, T, ne). rows : homes of batches.
        """
        counts = {len(x) for x, single in ((q, 1), (v, 1), (effort, 2)) if x.ndim > single}
        if rows is not None:
            counts.add(len(rows))
        count, steps = max(counts, default=1), effort.shape[-2]
        shape = (count,) if terminal else (count, steps)
        q_out, v_out = (np.empty((*shape, x.shape[-1])) for x in (q, v))
        left = False
        if terminal and not steps:
            q_out[:], v_out[:] = q, v
        elif count and steps:
            if len(self._compiled) != 2:
                raise no_stepping("rollouts move")
            left = self._run_pieces(q, v, effort, dt, method, q_out, v_out, rows)
        return (q_out, v_out, left) if counts else (q_out[0], v_out[0], left)

    def _run_pieces(
        self, q: Array, v: Array, effort: Array, dt: float, method: FixedMethod,
        q_out: Array, v_out: Array, rows: Array | None,
    ) -> bool:  # fmt: skip
        """Groups of motions one after the other, and long motions piece by piece.

        Walks to the positions of loops begin where the last step ended, so their motions stay
        whole.
        """
        count, steps = len(q_out), effort.shape[-2]
        cost = max(1, method.stages) * max(1, self._compiled[0].operations)
        homes = snapshot(self._kernel.home) if rows is None else rows
        if count * steps * cost <= self._most:
            return self._run(q, v, effort, dt, method, q_out, v_out, homes)
        left = False
        group = min(count, max(GROUP, self._most // (cost * steps)))
        piece = steps if self._system.nz else max(1, min(steps, self._most // (cost * group)))
        for first in range(0, count, group):
            some = slice(first, first + group)
            one_q, one_v, drive = (
                x[some] if x.ndim > single else x for x, single in ((q, 1), (v, 1), (effort, 2))
            )
            own = homes if rows is None else homes[some]
            if piece == steps:
                left |= self._run(one_q, one_v, drive, dt, method, q_out[some], v_out[some], own)
                continue
            for start in range(0, steps, piece):
                now = drive[..., start : start + piece, :]
                shape = (len(q_out[some]), now.shape[-2])[: q_out.ndim - 1]
                q_now, v_now = np.empty((*shape, q.shape[-1])), np.empty((*shape, v.shape[-1]))
                outside = self._run(one_q, one_v, now, dt, method, q_now, v_now, own)
                if q_out.ndim == 3:
                    q_out[some, start : start + piece] = q_now
                    v_out[some, start : start + piece] = v_now
                    q_now, v_now = q_now[:, -1], v_now[:, -1]
                else:
                    q_out[some], v_out[some] = q_now, v_now
                one_q, one_v = q_now, v_now
            left |= outside
        return left

    def _run(
        self, q: Array, v: Array, effort: Array, dt: float, method: FixedMethod,
        q_out: Array, v_out: Array, home: Array,
    ) -> bool:  # fmt: skip
        count, steps = len(q_out), effort.shape[-2]
        forward, rate = self._compiled
        q, v, effort = map(np.ascontiguousarray, (q, v, effort))
        operations = count * steps * max(1, method.stages) * forward.operations
        which = position_rate.integrated.index(method)
        left = runtime().rollout(
            forward.address, rate.address, count, steps,
            address(q), q.size // count if q.ndim > 1 else 0,
            address(v), v.size // count if v.ndim > 1 else 0,
            address(effort), effort.size // count if effort.ndim > 2 else 0,
            address(home), home.shape[1] if home.ndim > 1 else 0,
            dt, which, q_out.ndim == 3, address(q_out), address(v_out), address(self._limits),
            threads_for(operations, self._worth_a_thread),
        )  # fmt: skip
        return bool(left)


class Rollouts(Configurations):
    """Many motions at once."""

    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        efforts: ArrayLike,
        dt: float,
        integrator: str = "rk4",
        friction: bool = True,
        terminal: bool = False,
        environment: object = None,
        contact_wrenches: dict[str, Array] | None = None,
    ) -> tuple[Array, Array]:
        """N motions of T equal steps in compiled code, for sampling controllers and learning.

        Parameters
        ----------
        q0, v0 : (nq,), (nv,) or with a leading N: the states at the start.
        efforts : (T, efforts) or (N, T, efforts), N m or N, each constant over its step.
        dt : length of a step, s.
        integrator : "rk4", the classical Runge-Kutta method; "heun", of order 2, at half its cost;
            or "semi_implicit", of order 1: the velocity first, then the position with it.
        friction : whether damping counts. Dry friction makes joints stick, which needs `simulate`
            or `Stepper`: a robot that has some is refused unless False.
        terminal : whether to return the last states only.
        environment : walls and stops. The motions are then those of `Stepper`, to the last digit.
        contact_wrenches : a dictionary that is filled, by link, with what contacts of the
            environment do to it: [force, torque] (N, T, 6) at its origin in its axes, N and N m,
            the mean over a step. Moments of friction against rolling are left out.

        Returns
        -------
        q (N, T, nq) and v (N, T, nv) after every step, or (N, nq) and (N, nv) after the last;
        without N where nothing has it. Loops stay closed, for the state is that of the
        independent joints; quaternions have unit length after every step. A motion that leaves
        the finite numbers, or in which a loop cannot close, is NaN from there on. Without an
        environment joints have no stops: motions that end beyond `<limit>` are warned of, once a
        robot.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> q, v = robot.rollout([0.0], [0.0], [[4.0], [4.0]], dt=0.5)
        >>> q.ravel(), v.ravel()
        (array([0.25, 1. ]), array([1., 2.]))
        """
        self.require_mass("a rollout")
        self.say_choice()
        friction, terminal = checked_flag("friction", friction), checked_flag("terminal", terminal)
        method = named("integrator", integrator, FIXED)
        forces, step = checked_efforts(efforts, self.effort_labels), step_length("dt", dt)
        own = self.calls.rows
        rows = None if own is None else own.numbers
        start = checked_start(self.system, q0, v0, forces, rows)
        if environment is not None:
            return rollout_among(
                environment, self, *start, forces, step, method, terminal, contact_wrenches
            )
        if contact_wrenches is not None:
            raise InputError("contact_wrenches are those of an environment; give environment=")
        run = self._rollouts.get(friction) or _prepared(self, friction)
        q, v, left = run(*start, forces, step, method, terminal, rows)
        if left and not self._limits_said:
            _say_left_limits(self, q if terminal else q[..., -1, :])
        return q, v


@functools.singledispatch
def rollout_among(
    environment: object, robot: Rollouts, q: Array, v: Array, efforts: Array, dt: float,
    method: FixedMethod, terminal: bool, wrenches: dict[str, Array] | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Motions from checked starts among walls; what knows of walls registers itself here."""
    raise no_environment(environment)


def _prepared(robot: Rollouts, friction: bool) -> Rollout:
    """Rollouts of a robot with or without friction, kept for further calls."""
    if friction and (rough := [one.joint for one in robot.system.tree.bodies if one.friction]):
        raise InputError(
            f"{robot.model.source}: joints with dry friction ({', '.join(rough)}) stick, which "
            "a rollout leaves out: use friction=False, or simulate"
        )
    counts = friction or not robot.calls.traced.has_friction
    kernel = robot.calls.kernel(programs.forward_dynamics, friction=counts)
    made = Rollout(robot.system, kernel, robot.position_limits)
    robot._rollouts[friction] = made
    return made


def checked_efforts(value: object, labels: tuple[str, ...]) -> Array:
    """Efforts (T, ne) or (N, T, ne) as float64; anything else is refused."""
    array = checked_numbers("efforts", whole_efforts(value, labels))
    if array.ndim not in (2, 3) or array.shape[-1] != len(labels):
        raise InputError(
            f"efforts has shape {array.shape}: expected (T, {len(labels)}) for T steps, or "
            f"(N, T, {len(labels)}), in the order {', '.join(labels)}"
        )
    return array


def checked_start(
    system: System, q: object, v: object, efforts: Array, rows: Array | None = None
) -> tuple[Array, Array]:
    """The states to start from, refused where they do not fit the efforts or each other."""
    own = {} if rows is None else {"parameters": (rows, 1)}
    coordinates = system.coordinates
    start = coordinate_array("q0", q, coordinates.position_labels)
    speed = coordinate_array("v0", v, coordinates.velocity_labels)
    require_unit_quaternions(coordinates, start)
    broadcast_count({"q0": (start, 1), "v0": (speed, 1), "efforts": (efforts, 2), **own})
    return start, speed


def _say_left_limits(robot: Configurations, q: Array) -> None:
    """Warn that motions without stops end at q (..., nq) beyond limits; once a robot."""
    robot._limits_said = True
    low, high = robot.position_limits
    ends = q.reshape(-1, robot.nq)
    beyond = (ends < low) | (ends > high)
    row, k = np.argwhere(beyond)[0]
    warn(
        f"{robot.model.source}: {int(beyond.any(axis=1).sum())} of {len(ends)} motions end beyond "
        f"position limits ({robot.position_labels[k]} at {ends[row, k]:.6g}, limits {low[k]:g} to "
        f"{high[k]:g}): a rollout ignores stops; simulate keeps them. Reported once",
        SimulationWarning,
    )
