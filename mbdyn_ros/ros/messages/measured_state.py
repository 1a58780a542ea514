"""The measured positions and velocities of some joints, and how old they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState

from ...model.model import Array
from .named_numbers import LARGEST


class MeasuredState:
    """The positions and velocities of some joints in the last good message of joint states.

    Attributes
    ----------
    position, velocity : (n,) in the order of `labels`.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = tuple(labels)
        self.position, self.velocity = np.zeros(len(labels)), np.zeros(len(labels))
        self._at = -math.inf
        self._names: tuple[str, ...] = ()
        self._rows: list[int] = []

    def take(self, message: JointState, now: float) -> None:
        """Take the positions and velocities of all the joints, where sound, at the time `now`."""
        names = tuple(message.name)
        if names != self._names:
            self._names = names
            present = set(self._labels) <= set(names)
            self._rows = [names.index(label) for label in self._labels] if present else []
        size = len(names)
        if not self._rows or len(message.position) != size or len(message.velocity) != size:
            return
        q, v = np.array(message.position)[self._rows], np.array(message.velocity)[self._rows]
        if (np.abs([q, v]) <= LARGEST).all():
            self.position, self.velocity, self._at = q, v, now

    def forget(self) -> None:
        """Have no message any more."""
        self._at = -math.inf

    def farthest(self, wanted: Array) -> tuple[str, float, float]:
        """The label, position and distance of what is farthest from where it is wanted."""
        apart = np.abs(np.append(wanted - self.position, 0.0))
        k = int(np.argmax(apart))
        if k == len(self._labels):
            return "no joint", 0.0, 0.0
        return self._labels[k], float(self.position[k]), float(apart[k])

    def age(self, now: float) -> float:
        """Time since the last good message, s."""
        return now - self._at

    def missing(self, now: float, timeout: float) -> str:
        """The complaint where no message came within `timeout` (s); empty where one did."""
        if self.age(now) > timeout:
            return f"no joint_states of all joints for {timeout:g} s"
        return ""
