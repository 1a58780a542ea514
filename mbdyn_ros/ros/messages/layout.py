"""The order in which a caller names joints, and how it maps to the robot's.

A name stands for all coordinates of its joint: one number for most joints, a block for a planar
joint (3 positions, 3 velocities) or a floating one (7 and 6). The floating base of a robot goes
by the name `floating_base`. No names at all mean the robot's own order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arguments import require_finite, require_unit_quaternions
from ...errors import InputError
from ...model.model import Array
from ...model.tree import BASE_JOINT
from ...robot import Robot

AGREEMENT = 1e-4
"""How far (rad, m and their rates, or relative) a dependent joint may be from where the
independent ones put it."""


@dataclass(frozen=True)
class Block:
    """Where the coordinates of a joint are in q and in v."""

    q: slice
    v: slice


def joint_blocks(robot: Robot) -> dict[str, Block]:
    """The independent joints, the floating base first, and where their coordinates are."""
    sizes = {BASE_JOINT: (7, 6)} if robot.floating_base else {}
    for name in robot.independent_joints:
        joint = robot.model.joint(name)
        sizes[name] = (joint.nq, joint.nv)
    blocks, iq, iv = {}, 0, 0
    for name, (nq, nv) in sizes.items():
        blocks[name] = Block(slice(iq, iq + nq), slice(iv, iv + nv))
        iq, iv = iq + nq, iv + nv
    return blocks


def effort_blocks(robot: Robot) -> dict[str, slice]:
    """The actuated joints, the floating base first, and where their efforts are."""
    sizes = {BASE_JOINT: 6} if robot.floating_base else {}
    sizes.update((name, robot.model.joint(name).nv) for name in robot.actuated_joints)
    blocks, start = {}, 0
    for name, size in sizes.items():
        blocks[name] = slice(start, start + size)
        start += size
    return blocks


def joint_efforts(robot: Robot, names: Sequence[str], efforts: Sequence[float]) -> Array:
    """Efforts (n,) in the robot's order; zeros for none.

    Parameters
    ----------
    names : actuated joints in the order of `efforts`, the floating base or not; empty for the
        robot's order without the base.

    Raises
    ------
    InputError
        Unknown, repeated or missing joint, wrong length, or a number that is not finite.
    """
    blocks, result = effort_blocks(robot), np.zeros(len(robot.effort_labels))
    chosen = tuple(names) or robot.actuated_joints
    require_known(chosen, tuple(blocks), "actuated joint")
    for name in robot.actuated_joints:
        if name not in chosen:
            raise InputError(f"actuated joint {name!r} is missing: name all of them, or none")
    if not len(efforts):
        return result
    columns = [k for name in chosen for k in range(blocks[name].start, blocks[name].stop)]
    if len(efforts) != len(columns):
        raise InputError(
            f"effort has {len(efforts)} numbers, expected {len(columns)}: {', '.join(chosen)}"
        )
    result[columns] = efforts
    require_finite("effort", result, robot.effort_labels)
    return result


class Layout:
    """The order in which a caller names joints, and how it maps to the robot's.

    Parameters
    ----------
    robot : the robot.
    names : joints of the caller's arrays; empty for the robot's order.

    Raises
    ------
    InputError
        Unknown, repeated or missing joint; the message names it.
    """

    def __init__(self, robot: Robot, names: Sequence[str]) -> None:
        self.robot = robot
        self.blocks = joint_blocks(robot)
        self.names = tuple(names) or tuple(self.blocks)
        require_known(self.names, (*self.blocks, *robot.dependent_joints), "joint")
        for name in self.blocks:
            if name not in self.names:
                raise InputError(
                    f"joint {name!r} is missing: name all independent joints "
                    f"({', '.join(self.blocks)}), or none"
                )
        self._columns: dict[str, dict[str, slice]] = {"q": {}, "v": {}}
        for kind, columns in self._columns.items():
            start = 0
            for name in self.names:
                block = self.blocks.get(name)
                width = 1
                if block is not None:
                    place = block.q if kind == "q" else block.v
                    width = place.stop - place.start
                columns[name] = slice(start, start + width)
                start += width

    def size(self, kind: str) -> int:
        """Numbers that the caller gives: positions (kind "q") or velocities ("v")."""
        return sum(place.stop - place.start for place in self._columns[kind].values())

    def labels(self, kind: str) -> list[str]:
        """A name for each of those numbers."""
        own = self.robot.position_labels if kind == "q" else self.robot.velocity_labels
        labels: list[str] = []
        for name in self.names:
            block = self.blocks.get(name)
            place = None if block is None else (block.q if kind == "q" else block.v)
            labels.extend([name] if place is None else own[place])
        return labels

    def read(self, what: str, kind: str, values: Sequence[float], optional: bool = True) -> Array:
        """The caller's numbers as they came; zeros for none where that is `optional`.

        Raises
        ------
        InputError
            Wrong length, or a number that is not finite, by joint.
        """
        size = self.size(kind)
        if optional and not len(values):
            return np.zeros(size)
        if len(values) != size:
            raise InputError(
                f"{what} has {len(values)} numbers, expected {size}: {', '.join(self.names)}"
            )
        numbers = np.array(values, dtype=np.float64)
        require_finite(what, numbers, self.labels(kind))
        return numbers

    def to_robot(self, kind: str, numbers: Array) -> Array:
        """Reorder numbers of the caller, (n,) or (N, n), to the robot's q or v."""
        size = self.robot.nq if kind == "q" else self.robot.nv
        result = np.zeros((*numbers.shape[:-1], size))
        for name, block in self.blocks.items():
            place = block.q if kind == "q" else block.v
            if name in self._columns[kind]:
                result[..., place] = numbers[..., self._columns[kind][name]]
        return result

    def efforts(self, values: Sequence[float]) -> Array:
        """Efforts (n,) in the robot's order, from the caller's; those of passive joints are 0."""
        numbers = self.read("effort", "v", values, optional=False)
        result = np.zeros(len(self.robot.effort_labels))
        for name, place in self._effort_places().items():
            result[place] = numbers[self._columns["v"][name]]
        return result

    def from_robot(self, efforts: Array) -> Array:
        """Reorder efforts of the robot, (n,) or (N, n), to the caller's; passive joints have 0.

        Raises
        ------
        InputError
            The caller left out a joint that has an effort; the message names it.
        """
        result = np.zeros((*efforts.shape[:-1], self.size("v")))
        for name, place in self._effort_places().items():
            result[..., self._columns["v"][name]] = efforts[..., place]
        return result

    def _effort_places(self) -> dict[str, slice]:
        places = effort_blocks(self.robot)
        for name in places:
            if name not in self.names:
                raise InputError(
                    f"efforts act on {', '.join(places)}, but {name!r} is not among the joints "
                    f"given: {', '.join(self.names)}. Name it too, with positions that agree with "
                    "the others"
                )
        return places

    def state(
        self,
        position: Sequence[float],
        velocity: Sequence[float] = (),
        acceleration: Sequence[float] = (),
        closed: bool = False,
    ) -> tuple[Array, Array, Array]:
        """q, v and a of one state. `closed`: whether the caller makes sure that loops close.

        Dependent joints may be named too, and must be where the independent ones put them.

        Raises
        ------
        InputError
            As `read`; or the loops cannot be closed there, or are open: with the gap.
        """
        given = (
            self.read("position", "q", position, optional=False),
            self.read("velocity", "v", velocity),
            self.read("acceleration", "v", acceleration),
        )
        kinds = ("q", "v", "v")
        q, v, a = (self.to_robot(k, one) for k, one in zip(kinds, given, strict=True))
        require_unit_quaternions(self.robot.system.coordinates, q)
        rates_given = (True, len(velocity) > 0, len(acceleration) > 0)
        self._require_agreement(given, rates_given, (q, v, a), closed)
        return q, v, a

    def _require_agreement(
        self,
        given: tuple[Array, ...],
        stated: tuple[bool, ...],
        state: tuple[Array, Array, Array],
        closed: bool,
    ) -> None:
        dependent = [name for name in self.names if name not in self.blocks]
        if not dependent and (closed or not self.robot.model.loops):
            return
        implied = self.robot.joint_state(*state)  # refuses where the loops cannot be closed
        places = full_places(self.robot)
        for k, (what, kind) in enumerate(
            (("position", "q"), ("velocity", "v"), ("acceleration", "v"))
        ):
            for name in dependent if stated[k] else ():
                number = float(given[k][self._columns[kind][name]][0])
                row = implied[k]
                assert row is not None
                place = places[name][0 if k == 0 else 1]
                expected = float(row[place])
                apart = abs(number - expected)
                if k == 0 and self.robot.model.joint(name).type != "prismatic":
                    apart = abs(math.remainder(number - expected, 2 * math.pi))
                if apart > AGREEMENT * max(1.0, abs(expected)):
                    gap = self._gap(state[0], row, place, number) if k == 0 else ""
                    raise InputError(
                        f"{what} of {name} is {number:g}, but the joints it follows put it at "
                        f"{expected:g}{gap}; leave dependent joints out, or make them agree"
                    )

    def _gap(self, q: Array, position: Array, place: int, number: float) -> str:
        """What the loops say of a dependent joint elsewhere."""
        whole = position.copy()
        whole[place] = number
        if self.robot.floating_base:
            whole = np.concatenate([q[:7], whole])
        try:
            self.robot.independent_state(whole, tolerance=AGREEMENT)
        except InputError as error:
            return f" ({error})"
        return ""


def require_known(names: Sequence[str], known: Sequence[str], what: str) -> None:
    """Refuse unknown and repeated names."""
    for k, name in enumerate(names):
        if name not in known:
            raise InputError(
                f"there is no {what} {name!r}; there are {', '.join(known) or 'none'}"
            )
        if name in names[:k]:
            raise InputError(f"{what} {name!r} is named twice")


def partial_position(
    robot: Robot, names: Sequence[str], numbers: Sequence[float], start: Array
) -> Array:
    """A position (nq,) from that of some joints; the others as in `start`.

    Raises
    ------
    InputError
        Unknown or repeated joint, wrong length, or a number that is not finite.
    """
    blocks = joint_blocks(robot)
    require_known(names, tuple(blocks), "independent joint")
    chosen = list(names) or (list(blocks) if len(numbers) else [])
    columns = [i for name in chosen for i in range(*blocks[name].q.indices(robot.nq))]
    if len(numbers) != len(columns):
        raise InputError(
            f"{len(numbers)} positions are given for {len(columns)} coordinates: "
            f"{', '.join(robot.position_labels[i] for i in columns) or 'none'}"
        )
    q = start.copy()
    q[columns] = numbers
    require_finite("position", q, robot.position_labels)
    require_unit_quaternions(robot.system.coordinates, q)
    robot.joint_state(q)  # refuses where the loops cannot be closed
    return q


def full_places(robot: Robot) -> dict[str, tuple[int, int]]:
    """First position and velocity of every joint in the arrays of `Robot.joint_state`."""
    places, iq, iv = {}, 0, 0
    for name in robot.joint_names:
        joint = robot.model.joint(name)
        places[name] = (iq, iv)
        iq, iv = iq + joint.nq, iv + joint.nv
    return places
