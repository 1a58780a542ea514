"""The measured positions and velocities of some joints, and how old they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from sensor_msgs.msg import JointState

from ...errors import InputError
from ...model.model import Array
from ...motion.turns import Turns
from ..node.refusals import one_line
from .named_numbers import LARGEST_SENT


class MeasuredState:
    """The positions and velocities of some joints in the last good message of joint states.

    Parameters
    ----------
    labels : of the joints' coordinates.
    turns : says which of them whole turns bring back.
    read : labels of what is read from messages; by default the same.
    told : called with a message and what was read, positions and velocities; returns those of
        `labels`, or refuses them with an InputError.

    Attributes
    ----------
    position, velocity : (n,) in the order of `labels`. sent : the time that they are stamped with.
    """

    def __init__(
        self,
        labels: Sequence[str],
        turns: Turns | None = None,
        read: Sequence[str] | None = None,
        told: Callable[[JointState, Array, Array], tuple[Array, Array]] | None = None,
    ) -> None:
        self._labels, self._turns = tuple(labels), turns
        self._read, self._told = self._labels if read is None else tuple(read), told
        self.position, self.velocity = np.zeros(len(labels)), np.zeros(len(labels))
        self._came, self._ahead = -math.inf, 0.0
        self.sent = -math.inf
        self._names: tuple[str, ...] = ()
        self._rows: list[int] = []
        self._unfit = self._refused = ""

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Take the positions and velocities of all the joints, where sound, or return False.

        Parameters
        ----------
        now, sent : the time, and that of the message's stamp, s. A message is as old as its stamp
            says; one that is older than the last good one says nothing new.
        """
        names = tuple(message.name)
        if names != self._names:
            self._names = names
            lacking = [label for label in self._read if label not in names]
            twice = [label for label in self._read if names.count(label) > 1]
            self._unfit = f"they lack {', '.join(lacking)}" if lacking else ""
            if twice:
                self._unfit = f"they name {', '.join(twice)} twice"
            self._rows = [] if self._unfit else [names.index(label) for label in self._read]
        size = len(names)
        if not self._rows or len(message.position) != size or len(message.velocity) != size:
            counts = f"{len(message.position)} positions and {len(message.velocity)} velocities"
            self._refused = self._unfit or f"they have {counts} for {size} names"
            return False
        q, v = np.array(message.position)[self._rows], np.array(message.velocity)[self._rows]
        if abs(sent - now) > self.age(now):
            return False
        if not (np.abs([q, v]) <= LARGEST_SENT).all():
            self._refused = "they are not finite, or beyond all bounds"
            return False
        if self._told is not None:
            try:
                q, v = self._told(message, q, v)
            except InputError as error:
                self._refused = str(error)
                return False
        self._refused = ""
        self.position, self.velocity = q, v
        self._came, self._ahead, self.sent = now, sent - now, sent
        return True

    def forget(self) -> None:
        """Have no message any more."""
        self._came, self._refused = -math.inf, ""

    def way(self, wanted: Array) -> Array:
        """The shortest way (n,) from here to where the joints are wanted."""
        way = wanted - self.position
        return way if self._turns is None else self._turns.shortest(way)

    def farthest(self, wanted: Array) -> tuple[str, float, float]:
        """The label, position and distance of what is farthest from where it is wanted."""
        apart = np.abs(np.append(self.way(wanted), 0.0))
        k = int(np.argmax(apart))
        if k == len(self._labels):
            return "no joint", 0.0, 0.0
        return self._labels[k], float(self.position[k]), float(apart[k])

    def age(self, now: float) -> float:
        """Age of the last good message, s; one that is stamped ahead is as old as far ahead."""
        return now - self._came + abs(self._ahead)

    def missing(self, now: float, timeout: float) -> str:
        """The complaint where there is no message of the last `timeout` (s); empty where one is."""
        if self.age(now) <= timeout:
            return ""
        if now - self._came > timeout or abs(self._ahead) <= timeout:
            why = f": {one_line(self._refused)}" if self._refused else ""
            return f"no joint_states of all joints for {timeout:g} s{why}"
        way = "ahead of" if self._ahead > 0 else "behind"
        return f"joint_states come stamped {abs(self._ahead):.4g} s {way} this node's clock"
