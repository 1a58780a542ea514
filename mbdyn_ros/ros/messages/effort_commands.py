"""Effort commands with an age: each joint's last one counts until it is too old."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .named_numbers import LARGEST_SENT, columns, effort_blocks, require_known, require_reasonable

CONTEST = 3
"""Changes of a joint's sender between two reports that are no handing over."""


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

    Attributes
    ----------
    largest : (n,) beyond which commands are refused: openings of valves, voltages of motors.
    """

    def __init__(self, robot: Robot, joints: Sequence[str] = ()) -> None:
        self.joints = tuple(joints) or robot.actuated_joints
        require_known(self.joints, robot.actuated_joints, "actuated joint")
        self._labels = robot.effort_labels
        size, self._blocks = len(self._labels), effort_blocks(robot)
        self._actuated = robot.actuated_joints
        self.largest = np.full(size, math.inf)
        self._order = columns(self._blocks, self.joints)
        self._value = np.zeros(size)
        self._at = np.full(size, -math.inf)
        self._senders, self._turns = [b""] * size, [0] * size
        self._age, self._fresh = np.zeros(size), np.zeros(size, dtype=bool)

    def set_array(self, efforts: Sequence[float], now: float, sender: bytes = b"") -> None:
        """Efforts in the order of `joints`, at the time `now` (s)."""
        self._set(self._order, efforts, now, sender, ", ".join(self.joints))

    def set_named(
        self, names: Sequence[str], efforts: Sequence[float], now: float, sender: bytes = b""
    ) -> None:
        """Efforts of the named joints; the others keep theirs."""
        if not names:
            raise InputError("the command names no joint")
        require_known(names, self._actuated, "actuated joint")
        self._set(columns(self._blocks, names), efforts, now, sender, ", ".join(names))

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

    def contested(self) -> list[str]:
        """Joints whose commands came from several senders in turns since this was asked before."""
        found = [
            label for label, turns in zip(self._labels, self._turns, strict=True)
            if turns >= CONTEST
        ]
        self._turns = [0] * len(self._labels)
        return found

    def _set(
        self, places: list[int], efforts: Sequence[float], now: float, sender: bytes, names: str
    ) -> None:
        if len(efforts) != len(places):
            raise InputError(
                f"the command has {len(efforts)} efforts, expected {len(places)}: {names}"
            )
        values = np.array(efforts, dtype=np.float64)
        if not (np.abs(values) <= LARGEST_SENT).all():
            require_reasonable("effort", values, [self._labels[place] for place in places])
        over = np.flatnonzero(np.abs(values) > self.largest[places])
        if len(over):
            place = places[over[0]]
            raise InputError(
                f"the command of {self._labels[place]} is {values[over[0]]:g}; its actuator takes "
                f"{-self.largest[place]:g} to {self.largest[place]:g}"
            )
        self._value[places] = values
        self._at[places] = now
        for place in places:
            if self._senders[place] != sender:
                self._senders[place] = sender
                self._turns[place] += 1
