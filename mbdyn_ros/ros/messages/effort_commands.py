"""Effort commands with an age: each joint's last one counts until it is too old."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .layout import effort_blocks, require_known


class EffortCommands:
    """The efforts asked for, by joint, and when.

    Commands may come for all joints at once or for some by name, from several senders: a joint
    keeps its last command until `timeout`, then it counts as zero.

    Parameters
    ----------
    robot : the robot.
    joints : the order of arrays without names; empty for all actuated joints.

    Raises
    ------
    InputError
        A joint that is not actuated, or is named twice.
    """

    def __init__(self, robot: Robot, joints: Sequence[str] = ()) -> None:
        self.joints = tuple(joints) or robot.actuated_joints
        require_known(self.joints, robot.actuated_joints, "actuated joint")
        self._labels = robot.effort_labels
        size, blocks = len(self._labels), effort_blocks(robot)
        self._columns = {
            name: list(range(*blocks[name].indices(size))) for name in robot.actuated_joints
        }
        self._order = [k for name in self.joints for k in self._columns[name]]
        self._value = np.zeros(size)
        self._at = np.full(size, -math.inf)
        self._age, self._fresh = np.zeros(size), np.zeros(size, dtype=bool)

    def set_array(self, efforts: Sequence[float], now: float) -> None:
        """Efforts in the order of `joints`, at the time `now` (s)."""
        self._set(self._order, efforts, now, ", ".join(self.joints))

    def set_named(self, names: Sequence[str], efforts: Sequence[float], now: float) -> None:
        """Efforts of the named joints; the others keep theirs."""
        if not names:
            raise InputError("the command names no joint")
        require_known(names, tuple(self._columns), "actuated joint")
        columns = [k for name in names for k in self._columns[name]]
        self._set(columns, efforts, now, ", ".join(names))

    def write(self, effort: Array, now: float, timeout: float) -> None:
        """Fill efforts (n,): commands no older than `timeout` (s), else zero."""
        np.subtract(now, self._at, out=self._age)
        np.less_equal(self._age, timeout, out=self._fresh)
        np.multiply(self._value, self._fresh, out=effort)

    def clear(self) -> None:
        """Forget all commands."""
        self._value[:], self._at[:] = 0.0, -math.inf

    def stale(self, now: float, timeout: float) -> list[str]:
        """Joints that were commanded once, but not lately."""
        ages = (now - self._at).tolist()
        return [
            label for label, age in zip(self._labels, ages, strict=True)
            if timeout < age < math.inf
        ]

    def _set(self, columns: list[int], efforts: Sequence[float], now: float, names: str) -> None:
        if len(efforts) != len(columns):
            raise InputError(
                f"the command has {len(efforts)} efforts, expected {len(columns)}: {names}"
            )
        values = np.array(efforts, dtype=np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            k = int(np.argmin(finite))
            raise InputError(
                f"effort of {self._labels[columns[k]]} is {values[k]}: it must be finite"
            )
        self._value[columns] = values
        self._at[columns] = now
