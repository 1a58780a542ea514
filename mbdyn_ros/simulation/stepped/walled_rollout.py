"""Many motions among walls in compiled code: what `Robot.rollout` does with an environment."""

from __future__ import annotations

import copy
import ctypes
import functools

import numpy as np

from ...array import Array
from ...compiler.runtime.library import rollouts, stepping
from ...compiler.threads import threads_for
from ...errors import SimulationError, SimulationWarning, no_stepping, warn
from ...integration.methods import FixedMethod
from ...robot import Robot
from ...robot.rollout import rollout_among
from ..contact.contacts import Contacts, Indices
from ..contact.environment import Environment, beyond_limits, with_all_stops, with_stops
from ..contact.events import refuse_inside
from ..contact.precision import STEPS_IN_C
from ..given_motion import refuse_unseen
from .solid_slots import CrowdedError, SolidSlots
from .step_in_c import CROWDED_CONTACTS, SLOT_SIZE, StepInC, is_compiled
from .stepper import Stepper
from .touches import Touches

OPERATIONS = 20_000
"""Of a step, about, for the choice of threads."""

LONGEST_CALL = 0.5
"""Seconds of one call into compiled code, about: then Ctrl-C is heard."""

STEPS_A_SECOND = 2e5
"""Steps of a robot with contacts that one thread takes, about."""

CROWDED = 1
"""In C, of a motion in which there was no room: 1 and what had none, as in `motion.crowded`."""

KEPT = 8
"""Pairs of a robot and its walls whose programs stay at hand."""


@rollout_among.register(Environment)
def rollout_among_walls(
    environment: Environment, robot: Robot, q: Array, v: Array, efforts: Array, dt: float,
    method: FixedMethod, terminal: bool, wrenches: dict[str, Array] | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Positions and velocities after every step, or after the last, as those of `Stepper`.

    wrenches : filled as `Rollouts.rollout` has it.

    Raises
    ------
    SimulationError
        A start is inside a wall, or one has no value, no normal or no inside where a motion meets
        it, by the number of the motion and words; or there is no C or C++ compiler.

    Warns
    -----
    SimulationWarning
        Motions start from numbers that are not finite, or beyond limits of joints.
    """
    if not is_compiled(robot):
        raise no_stepping("rollouts move")
    if robot.calls.rows is not None:
        return _row_by_row(environment, robot, q, v, efforts, dt, method, terminal, wrenches)
    _say_lost(robot, q, v, efforts)
    if q.ndim == 1:
        walls = with_stops(robot, q, environment, room=True)
        first = np.arange(1)
        return _rolled(walls, robot, q, v, efforts, dt, method, terminal, first, wrenches)
    groups = _by_stops(robot, q, environment)
    if len(groups) == 1:
        walls, every = groups[0]
        return _rolled(walls, robot, q, v, efforts, dt, method, terminal, every, wrenches)
    shape = (len(q),) if terminal else (len(q), efforts.shape[-2])
    q_out, v_out = np.empty((*shape, robot.nq)), np.empty((*shape, robot.nv))
    for walls, some in groups:
        speeds, forces = (x[some] if x.ndim > n else x for x, n in ((v, 1), (efforts, 2)))
        own: dict[str, Array] | None = None if wrenches is None else {}
        q_out[some], v_out[some] = _rolled(
            walls, robot, q[some], speeds, forces, dt, method, terminal, some, own
        )
        if wrenches is not None and own is not None:
            for link, values in own.items():
                wrenches.setdefault(link, np.zeros((*shape, 6)))[some] = values
    return q_out, v_out


def _row_by_row(
    environment: Environment, robot: Robot, q: Array, v: Array, efforts: Array, dt: float,
    method: FixedMethod, terminal: bool, wrenches: dict[str, Array] | None,
) -> tuple[Array, Array]:  # fmt: skip
    """The motions of robots with parameters (N, p) of their own, one after the other."""
    single, found = _single(robot, robot.parameter_labels()), []
    every: list[dict[str, Array]] = []
    for k, values in enumerate(robot.parameter_values()):
        single.set_parameter_values(values)
        start = q[k] if q.ndim > 1 else q, v[k] if v.ndim > 1 else v
        forces = efforts[k] if efforts.ndim > 2 else efforts
        try:
            own: dict[str, Array] | None = None if wrenches is None else {}
            one = rollout_among_walls(
                environment, single, *start, forces, dt, method, terminal, own
            )
            found.append(one)
            every.append(own or {})
        except SimulationError as error:
            what = str(error).removeprefix("motion 0: ")
            raise SimulationError(f"row {k}: {what}") from None
    if wrenches is not None:
        wrenches.update({link: np.stack([one[link] for one in every]) for link in every[0]})
    return np.stack([one for one, _ in found]), np.stack([one for _, one in found])


@functools.lru_cache(maxsize=KEPT)
def _single(robot: Robot, labels: tuple[str, ...]) -> Robot:
    """A copy whose parameters, which these labels name, are set for one row at a time."""
    return copy.deepcopy(robot)


def _say_lost(robot: Robot, q: Array, v: Array, efforts: Array) -> None:
    """Warn of motions that start from numbers, or have efforts, that are not finite, by number."""
    finite = np.isfinite(np.atleast_2d(q)).all(axis=1) & np.isfinite(np.atleast_2d(v)).all(axis=1)
    if not finite.all():
        numbers = ", ".join(map(str, np.flatnonzero(~finite)))
        warn(
            f"{robot.model.source}: the start of motion {numbers} is not finite; it stays so",
            SimulationWarning,
        )
    driven = np.isfinite(efforts).all(axis=(-2, -1))
    if not driven.all():
        numbers = ", ".join(map(str, np.flatnonzero(~driven)))
        whose = f"motion {numbers}" if efforts.ndim > 2 else "all motions"
        warn(
            f"{robot.model.source}: efforts of {whose} are not finite; nor is what follows from "
            "the first of these on",
            SimulationWarning,
        )


def _by_stops(
    robot: Robot, q: Array, environment: Environment
) -> list[tuple[Environment, Indices]]:
    """The numbers of the motions from positions (N, nq) with the same stops, and these."""
    whole = np.arange(len(q))
    if environment.joint_limits is not None or not robot.model.limited_joints or not len(q):
        return [(with_all_stops(robot, environment), whole)]
    beyond = beyond_limits(robot, q)[1]
    _, first, kind = np.unique(beyond, axis=0, return_index=True, return_inverse=True)
    return [
        (with_stops(robot, q[k], environment, room=True), whole[kind.ravel() == i])
        for i, k in enumerate(first)
    ]


def _rolled(
    environment: Environment, robot: Robot, q: Array, v: Array, efforts: Array, dt: float,
    method: FixedMethod, terminal: bool, numbers: Indices, wrenches: dict[str, Array] | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """The motions with these numbers, all with the same stops."""
    refuse_unseen(robot, dt)
    contacts, step, solids = _of(robot, environment)
    step.use(method)
    counts = {len(x) for x, single in ((q, 1), (v, 1), (efforts, 2)) if x.ndim > single}
    count, steps = max(counts, default=1), efforts.shape[-2]
    starts, still = np.atleast_2d(q), np.zeros(robot.nv)
    for k, start in zip(numbers, starts, strict=False):
        if not np.isfinite(start).all():
            continue
        try:
            refuse_inside(contacts, start, still, STEPS_IN_C.inside)
            if solids is not None:
                solids.refuse_inside(start)
        except CrowdedError:
            wider = environment.with_more_room()
            return _rolled(wider, robot, q, v, efforts, dt, method, terminal, numbers, wrenches)
        except SimulationError as error:
            raise SimulationError(f"motion {k}: {error}") from None
    q, v, efforts = (np.ascontiguousarray(x) for x in (q, v, efforts))
    shape = (count,) if terminal else (count, steps)
    q_out, v_out = np.empty((*shape, robot.nq)), np.empty((*shape, robot.nv))
    if not steps and terminal:
        q_out[:], v_out[:] = q, v
    kept = 0 if wrenches is None else 1
    force, planes = (
        np.zeros((*shape, kept * size))
        for size in (3 * len(contacts), SLOT_SIZE * step.walls.slots)
    )
    unseen, unsound = ctypes.c_size_t(0), np.zeros(count, dtype=np.uint8)
    group = max(1, int(LONGEST_CALL * STEPS_A_SECOND / max(1, steps)))
    for first in range(0, count if steps else 0, group):
        some = slice(first, first + group)
        given: list[object] = [ctypes.byref(step.walls)]
        given += [ctypes.c_size_t(len(q_out[some])), ctypes.c_size_t(steps)]
        for array, single in ((q, 1), (v, 1), (efforts, 2)):
            many = array.ndim > single
            given.append(ctypes.c_void_p((array[some] if many else array).ctypes.data))
            given.append(ctypes.c_size_t(array[0].size if many else 0))
        rollouts().walled_rollout(
            *given, ctypes.c_double(dt), int(not terminal),
            ctypes.c_void_p(q_out[some].ctypes.data), ctypes.c_void_p(v_out[some].ctypes.data),
            *(ctypes.c_void_p(one[some].ctypes.data if kept else None) for one in (force, planes)),
            stepping().walled_steps, ctypes.byref(unseen),
            ctypes.c_void_p(unsound[some].ctypes.data),
            threads_for(
                len(q_out[some]) * steps * OPERATIONS, robot.calls.options.worth_a_thread
            ),
        )  # fmt: skip
    if (crowded := unsound[unsound > CROWDED]).size:
        wider = environment.with_more_room(contacts=crowded[0] - CROWDED == CROWDED_CONTACTS)
        return _rolled(wider, robot, q, v, efforts, dt, method, terminal, numbers, wrenches)
    for k in np.flatnonzero(unsound).tolist():
        alone = Stepper(robot, dt, environment, method.name)
        own = (x[k] if x.ndim > single else x for x, single in ((q, 1), (v, 1), (efforts, 2)))
        _tell_again(int(numbers[k]), alone, *own)
    if unseen.value:
        warn(
            f"{robot.model.source}: contacts may have passed walls unseen, {unseen.value} times: "
            f"in steps of {dt:g} s they move further than there is to the wall; take shorter ones",
            SimulationWarning,
        )
    if wrenches is not None:
        acting = _wrenches(Touches(contacts, step, robot), q_out, force, planes)
        wrenches.update({link: one if counts else one[0] for link, one in acting.items()})
    return (q_out, v_out) if counts else (q_out[0], v_out[0])


def _wrenches(touches: Touches, q: Array, force: Array, planes: Array) -> dict[str, Array]:
    """By link what contacts do to it (..., 6) in states q (..., nq); NaN where a motion is lost.

    force, planes : (..., n) of these states, as C keeps them.
    """
    contacts = touches.contacts
    links = [link for k in range(contacts.geometry.lasting) for link in contacts.links(k)]
    links += [solid.link for pair in contacts.solid_pairs for solid in pair]
    found = {link: np.zeros((*q.shape[:-1], 6)) for link in dict.fromkeys(links)}
    for at in np.ndindex(q.shape[:-1]):
        if not np.isfinite(q[at]).all():
            for values in found.values():
                values[at] = np.nan
        elif force[at].any():
            here = touches.wrenches(q[at], force[at], planes[at].reshape(-1, SLOT_SIZE))
            for link, wrench in here.items():
                found[link][at] = wrench
    return found


def _tell_again(k: int, alone: Stepper, q: Array, v: Array, efforts: Array) -> None:
    """Take a motion again that has met an unsound wall: the stepper says where and when.

    Raises
    ------
    SimulationError
        What it says, with the number of the motion.
    """
    try:
        alone.set_state(q, v)
        for effort in efforts:
            alone.effort = effort
            alone.advance()
    except SimulationError as error:
        raise SimulationError(f"motion {k}: {error}") from None


@functools.lru_cache(maxsize=KEPT)
def _of(robot: Robot, environment: Environment) -> tuple[Contacts, StepInC, SolidSlots | None]:
    """The programs of a robot among walls."""
    contacts = Contacts(robot, environment, only_watch=True)
    step = StepInC.among(robot, contacts)
    step.use_vectors()
    return contacts, step, SolidSlots(contacts, step) if contacts.geometry.slots else None
