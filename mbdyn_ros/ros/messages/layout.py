"""The order in which a caller names joints, and how it maps to the robot's.

A name stands for all coordinates of its joint: one number for most joints, a block for a planar
joint (3 positions, 3 velocities), a universal (2 and 2), spherical (4 and 3) or floating one (7
and 6). The floating base of a robot goes by the name `floating_base`. No names at all mean the
robot's own order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...arguments import require_unit_quaternions
from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .named_numbers import effort_blocks, require_known, require_reasonable

DEPENDENT_AGREEMENT = 1e-4
"""How far (rad, m and their rates, or relative) a dependent joint may be from where the
independent ones put it."""


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
        self.blocks = robot.system.coordinates.blocks
        self.names = tuple(names) or tuple(self.blocks)
        require_known(self.names, (*self.blocks, *robot.dependent_joints), "joint")
        for name in self.blocks:
            if name not in self.names:
                raise InputError(
                    f"joint {name!r} is missing: name all independent joints "
                    f"({', '.join(self.blocks)}), or none"
                )
        self._labels: dict[str, list[str]] = {"q": [], "v": []}
        self._columns: dict[str, dict[str, slice]] = {"q": {}, "v": {}}
        for kind, labels in self._labels.items():
            own = robot.position_labels if kind == "q" else robot.velocity_labels
            for name in self.names:
                start = len(labels)
                labels += own[self._place(name, kind)] if name in self.blocks else [name]
                self._columns[kind][name] = slice(start, len(labels))

    def _place(self, name: str, kind: str) -> slice:
        """The place of a joint's positions (kind "q") or velocities ("v") among the robot's."""
        block = self.blocks[name]
        return block.q if kind == "q" else block.v

    @property
    def dependent(self) -> list[str]:
        """The dependent joints among the names."""
        return [name for name in self.names if name not in self.blocks]

    def size(self, kind: str) -> int:
        """How many positions (kind "q") or velocities ("v") the caller's joints have."""
        return len(self._labels[kind])

    def read(self, what: str, kind: str, values: Sequence[float], optional: bool = True) -> Array:
        """The caller's numbers as they came; zeros for none where that is `optional`.

        Raises
        ------
        InputError
            Wrong length, or a number that is not finite or absurdly large, by joint.
        """
        size = self.size(kind)
        if optional and not len(values):
            return np.zeros(size)
        if len(values) != size:
            raise InputError(
                f"{what} has {len(values)} numbers, expected {size}: {', '.join(self.names)}"
            )
        numbers = np.array(values, dtype=np.float64)
        require_reasonable(what, numbers, self._labels[kind])
        return numbers

    def to_robot(self, kind: str, numbers: Array) -> Array:
        """Reorder numbers of the caller, (n,) or (N, n), to the robot's q or v."""
        size = self.robot.nq if kind == "q" else self.robot.nv
        result = np.zeros((*numbers.shape[:-1], size))
        for name in self.blocks:
            result[..., self._place(name, kind)] = numbers[..., self._columns[kind][name]]
        return result

    def numbers(self, k: int, every: Array | None) -> Array:
        """Reorder numbers (N, m) of all joints to the caller's.

        k : 0 for positions, 1 for velocities, 2 for accelerations.
        """
        assert every is not None
        places = self.robot.system.coordinates.joint_blocks
        columns = [
            row
            for name in self.names
            for row in range(*(places[name].q if k == 0 else places[name].v).indices(len(every[0])))
        ]
        return every[:, columns]

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
        result = np.zeros((*efforts.shape[:-1], len(self._labels["v"])))
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
    ) -> tuple[Array, Array, Array]:
        """q, v and a of one state.

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
        q, v, a = (self.to_robot(k, one) for k, one in zip("qvv", given, strict=True))
        require_unit_quaternions(self.robot.system.coordinates, q)
        if self.dependent or self.robot.model.loops:
            implied = self.robot.joint_state(q, v, a)  # refuses where the loops cannot be closed
            stated = (True, len(velocity) > 0, len(acceleration) > 0)
            for k, what in enumerate(("position", "velocity", "acceleration")):
                for name, number, expected, apart in self.comparisons(k, given[k], implied[k]):
                    if stated[k] and apart:
                        gap = self._gap(q, implied[0], name, float(number)) if k == 0 else ""
                        raise InputError(
                            f"{what} of {name} is {number:g}, but the joints it follows put it at "
                            f"{expected:g}{gap}; leave dependent joints out, or make them agree"
                        )
        return q, v, a

    def comparisons(
        self, k: int, given: Array, implied: Array | None
    ) -> Iterator[tuple[str, Array, Array, NDArray[np.bool_]]]:
        """The numbers of dependent joints against those that the joints they follow imply.

        Parameters
        ----------
        k : 0 for positions, 1 for velocities, 2 for accelerations.
        given : (n,) or (N, n), as the caller orders them.
        implied : (m,) or (N, m), of all joints; NaN where loops cannot be closed.

        Yields
        ------
        Name, numbers given, numbers implied, and whether they are apart: one, or (N,) of each.
        """
        assert implied is not None
        places = self.robot.system.coordinates.joint_blocks
        for name in self.dependent:
            number = given[..., self._columns["q" if k == 0 else "v"][name].start]
            place = places[name].q if k == 0 else places[name].v
            expected = implied[..., place.start]
            apart = np.abs(number - expected)
            if k == 0 and not places[name].kind.steps[0].motion.slides:
                apart = np.abs(np.remainder(apart + np.pi, 2 * np.pi) - np.pi)
            near = apart <= DEPENDENT_AGREEMENT * np.maximum(1.0, np.abs(expected))
            yield name, number, expected, ~near

    def _gap(self, q: Array, position: Array, name: str, number: float) -> str:
        """The gap of the loops with a dependent joint elsewhere, in words."""
        whole = position.copy()
        whole[self.robot.system.coordinates.joint_blocks[name].q.start] = number
        if self.robot.floating_base:
            whole = np.concatenate([q[:7], whole])
        try:
            self.robot.independent_state(whole, tolerance=DEPENDENT_AGREEMENT)
        except InputError as error:
            return f" ({error})"
        return ""
