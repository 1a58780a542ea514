"""Joints locked: the reduced model, with what loops hold still then, closed where joints are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..arguments import checked_names
from ..array import Array
from ..errors import InputError, shown
from ..model import edit
from ..model.edit.lock import AGREED, checked_position
from ..model.model import Model
from ..model.split_joints import split_joints
from .configuration import Configurations
from .described import described_model

MOST_TRIES = 60
LONGEST_STEP = 0.2
"""rad or m, of the way to where joints are locked."""
STANDING = 1e-8
"""Velocity (for one of size 1 of those that move) under which a joint stands still."""


def locked_positions(
    robot: Configurations, joints: Mapping[str, float] | Sequence[str]
) -> dict[str, float]:
    """Where joints are to be locked."""
    if isinstance(joints, Mapping):
        return dict(joints)
    if isinstance(joints, str) or not isinstance(joints, Iterable):
        raise InputError(f"joints are a list of names, or positions by name, not {shown(joints)}")
    found = {}
    for name in checked_names("joints", joints):
        if name not in robot.home:
            known = name in robot.joint_names
            raise InputError(
                f"{robot.model.source}: "
                + (f"joint {name!r} has several positions; give them: locked({{{name!r}: [...]}})"
                   if known else f"there is no movable joint {name!r}; the joints are "
                   f"{', '.join(robot.joint_names)}")
            )  # fmt: skip
        found[name] = robot.home[name]
    return found


def reduced_model(
    robot: Configurations, positions: Mapping[str, float]
) -> tuple[Model, dict[str, float]]:
    """The model of a robot with joints locked, and a configuration in which its loops are closed.

    What loops hold still then is locked too.

    Raises
    ------
    InputError
        See `model.edit.locked`; or the loops do not close there.
    """
    model, home = described_model(robot), dict(robot.home)
    if not positions:
        return model, home
    known = {
        name: float(checked_position(model.source, robot.model.joint(name), x)[0])
        for name, x in positions.items()
        if name in robot.home
    }
    if all(one.linkage.linear for one in robot._assemblies) or len(known) < len(positions):
        result = edit.locked(model, positions)
        if set(positions) & set(robot.dependent_joints):
            result = replace(result, independent=None)  # joints of gears choose anew
        return result, {**home, **known}
    q = _configuration(robot, _asked(robot, known), known)
    state, rates = joint_position(robot, q), _rates(robot, q)
    free = _free(rates, known)
    home |= {name: float(x[0]) for name, x in state.items() if len(x) == 1}
    still = {name: _written(state[name]) for name in _still(rates, free)}
    for near in _nearby(robot, q, free, known):  # at a dead point a joint only seems to stand
        rates = _rates(robot, near)
        moving = set(still) - _still(rates, _free(rates, known))
        still = {name: x for name, x in still.items() if name not in moving}
    parts = {one.part_of for one in robot.model.joints if one.part_of and one.name in still}
    model = split_joints(model, parts & {one.name for one in model.joints})
    result = edit.locked(model, {**still, **known})
    names = [name for name in robot.independent_joints if name not in still]
    left = sum(robot.model.joint(name).nv for name in names) + 6 * robot.floating_base
    if left != free.shape[1]:  # a joint that others determined is locked: they choose anew
        result = replace(result, independent=None)
    return result, home


def joint_position(robot: Configurations, q: Array) -> dict[str, Array]:
    """The positions (nq,) of every joint, by name."""
    return _by_joint(robot, robot.joint_state(q)[0], "nq")


def _by_joint(robot: Configurations, values: Array, size: str) -> dict[str, Array]:
    """Rows of the joints, one after the other, by name."""
    found, start = {}, 0
    for name in robot.joint_names:
        end = start + getattr(robot.model.joint(name), size)
        found[name] = values[start:end]
        start = end
    return found


def _rates(robot: Configurations, q: Array) -> dict[str, Array]:
    """Velocities (nv of a joint, nv) for one of every coordinate, by joint."""
    units = np.eye(robot.nv)
    columns = [robot.joint_state(q, unit)[1] for unit in units]
    return _by_joint(robot, np.array(columns).T, "nv")


def _free(rates: Mapping[str, Array], known: Mapping[str, float]) -> Array:
    """Velocities that leave these joints where they are, as columns."""
    return _null_space(np.concatenate([rates[name] for name in known]))


def _still(rates: Mapping[str, Array], free: Array) -> set[str]:
    """The joints that stand still, whichever of these velocities a robot has."""
    return {n for n, rate in rates.items() if np.abs(rate @ free).max(initial=0.0) < STANDING}


def _nearby(
    robot: Configurations, q: Array, free: Array, known: Mapping[str, float]
) -> Iterator[Array]:
    """Two configurations near q in which these joints are where they are in q."""
    for k in (1, 2):
        direction, length = free @ np.cos(k * np.arange(1.0, 1 + free.shape[1])), LONGEST_STEP / 4
        while length > AGREED:
            try:
                yield _configuration(robot, robot.integrate(q, length * direction), known)
                break
            except InputError:
                length /= 4


def _configuration(robot: Configurations, q: Array, wanted: Mapping[str, float]) -> Array:
    """q with these joints there: Gauss and Newton's steps, the loops closed at each.

    Raises
    ------
    InputError
        There is none; the message says how far they come.
    """
    length = LONGEST_STEP
    target = np.array(list(wanted.values()), dtype=np.float64)
    reason = ""
    for _ in range(MOST_TRIES):
        state = joint_position(robot, q)
        apart = target - np.concatenate([state[name] for name in wanted])
        if np.abs(apart).max() < AGREED**2:
            return q
        rates = _rates(robot, q)
        step = np.linalg.lstsq(np.concatenate([rates[name] for name in wanted]), apart)[0]
        size = np.abs(step).max()
        if size < AGREED**2:
            break
        try:
            further = robot.integrate(q, step * min(1.0, length / size))
            joint_position(robot, further)
        except InputError as error:
            reason, length = f" {error}", length / 4
            continue
        q = further
    if np.abs(apart).max() < AGREED:
        return q
    asked = ", ".join(f"{name} = {x:g}" for name, x in wanted.items())
    there = ", ".join(f"{name} = {float(state[name][0]):.9g}" for name in wanted)
    raise InputError(
        f"{robot.model.source}: {asked} cannot be locked together: the loops stay open there. "
        f"The nearest closed positions are {there}.{reason} Lock fewer of them; the others follow"
    )


def _asked(robot: Configurations, wanted: Mapping[str, float]) -> Array:
    """Home with the independent joints where they are wanted, if the loops close there."""
    home = robot.home_position
    q = home.copy()
    for k, label in enumerate(robot.position_labels):
        q[k] = wanted.get(label, q[k])
    try:
        joint_position(robot, q)
    except InputError:
        return home
    return q


def _null_space(matrix: Array) -> Array:
    """Columns that a matrix takes to 0."""
    _, sizes, rows = np.linalg.svd(matrix)
    rank = int((sizes > STANDING).sum())
    found: Array = rows[rank:].T
    return found


def _written(x: Array) -> float:
    """The position of a joint as edits take it."""
    return float(x[0]) if len(x) == 1 else x.tolist()  # type: ignore[return-value]
