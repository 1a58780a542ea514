"""The order in which a caller names joints, and how it maps to the robot's.

A name stands for all coordinates of its joint: one number for most joints, a block for a planar
joint (3 positions, 3 velocities) or a floating one (7 and 6). The floating base of a robot goes
by the name `floating_base`. No names at all mean the robot's own order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import require_finite, require_unit_quaternions
from ..model.errors import InputError
from ..model.model import Array
from ..model.tree import BASE_JOINT
from ..robot import Robot

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


class Layout:
    """The order in which a caller names joints, and how it maps to the robot's.

    Parameters
    ----------
    robot : the robot.
    names : joints of the caller's arrays; empty for the robot's order.
    what : "joint", or "actuated joint" where efforts follow the names: then dependent joints
        are refused, and a floating base may be left out.

    Raises
    ------
    InputError
        Unknown, repeated or missing joint; the message names it.
    """

    def __init__(self, robot: Robot, names: Sequence[str], what: str = "joint") -> None:
        self.robot = robot
        self.blocks = joint_blocks(robot)
        self.names = tuple(names) or tuple(self.blocks)
        dependent = robot.dependent_joints if what == "joint" else ()
        require_known(self.names, (*self.blocks, *dependent), what)
        required = self.blocks if what == "joint" else robot.actuated_joints
        for name in required:
            if name not in self.names:
                raise InputError(f"{what} {name!r} is missing: name all of them, or none")
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

    def from_robot(self, efforts: Array) -> Array:
        """Reorder efforts of the robot, (nv,) or (N, nv), to the caller's; dependent ones are 0."""
        result = np.zeros((*efforts.shape[:-1], self.size("v")))
        for name, block in self.blocks.items():
            result[..., self._columns["v"][name]] = efforts[..., block.v]
        return result

    def state(
        self,
        position: Sequence[float],
        velocity: Sequence[float] = (),
        acceleration: Sequence[float] = (),
    ) -> tuple[Array, Array, Array]:
        """q, v and a of one state.

        Dependent joints may be named too, and must be where the independent ones put them.
        """
        given = (
            self.read("position", "q", position, optional=False),
            self.read("velocity", "v", velocity),
            self.read("acceleration", "v", acceleration),
        )
        kinds = ("q", "v", "v")
        q, v, a = (self.to_robot(k, one) for k, one in zip(kinds, given, strict=True))
        require_unit_quaternions(self.robot._system.coordinates, q)
        rates_given = (True, len(velocity) > 0, len(acceleration) > 0)
        self._require_agreement(given, rates_given, (q, v, a))
        return q, v, a

    def _require_agreement(
        self,
        given: tuple[Array, ...],
        stated: tuple[bool, ...],
        state: tuple[Array, Array, Array],
    ) -> None:
        dependent = [name for name in self.names if name not in self.blocks]
        if not dependent:
            return
        implied = self.robot.joint_state(*state)
        places = full_places(self.robot)
        for k, (what, kind) in enumerate(
            (("position", "q"), ("velocity", "v"), ("acceleration", "v"))
        ):
            for name in dependent if stated[k] else ():
                number = float(given[k][self._columns[kind][name]][0])
                row = implied[k]
                assert row is not None
                expected = float(row[places[name][0 if k == 0 else 1]])
                if abs(number - expected) > AGREEMENT * max(1.0, abs(expected)):
                    raise InputError(
                        f"{what} of {name} is {number:g}, but the joints it follows put it at "
                        f"{expected:g}; leave dependent joints out, or make them agree"
                    )


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
    require_unit_quaternions(robot._system.coordinates, q)
    return q


def full_places(robot: Robot) -> dict[str, tuple[int, int]]:
    """First position and velocity of every joint in the arrays of `Robot.joint_state`."""
    places, iq, iv = {}, 0, 0
    for name in robot.joint_names:
        joint = robot.model.joint(name)
        places[name] = (iq, iv)
        iq, iv = iq + joint.nq, iv + joint.nv
    return places
