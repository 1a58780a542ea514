"""The joints that joint states measure, and the joint states of all joints that they make."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from ...errors import InputError
from ...model.blocks import scalar_motions
from ...motion import MeasuredJoints
from ...robot import Robot
from .named_numbers import LARGEST_SENT
from .turns import Turns

Numbers = Sequence[float]

_NOTHING = array("d")


@dataclass(frozen=True)
class Trust:
    """The bounds within which measured states are believed.

    timeout : age (s) at which a joint's last number counts no more.
    jump : most (rad or m) that a joint moves between two messages; 0: any.
    disagreement : most (rad or m) by which joints may disagree; 0: any.
    """

    timeout: float
    jump: float
    disagreement: float


class SensedJoints:
    """The last measured numbers of the joints that messages name, and the state of all joints.

    A message may name other joints too, and need not name all that are measured: the others keep
    their last numbers for `trust.timeout`.

    Parameters
    ----------
    robot : the robot.
    joints : that are measured; empty for the actuated ones.
    deviations : of the sensors, as for `MeasuredJoints`; empty for none.

    Attributes
    ----------
    message : of all joints, sent again and again.
    worst : the joint that disagreed most since `report`, and by how much (rad or m).
    """

    def __init__(
        self, robot: Robot, joints: Sequence[str], deviations: Sequence[float], trust: Trust
    ) -> None:
        self.trust = trust
        self.measured = MeasuredJoints(robot, tuple(joints) or robot.actuated_joints,
                                       list(deviations) or None)  # fmt: skip
        self.labels = self.measured.labels
        size = len(self.labels)
        # Lists: arrays of so few numbers take longer.
        self._position: Numbers = [0.0] * size
        self._rates: list[Numbers | None] = [None, None]
        self._came = [-math.inf] * size
        self._turns = Turns(robot, self.labels)
        blocks = robot.system.coordinates.joint_blocks
        names, *rows = scalar_motions(blocks)
        self._rows_q, self._rows_v = (_rows(one) for one in rows)
        self.message = JointState(name=names)
        # Written in place: the message has these arrays.
        self._out = [array("d", [0.0] * len(names)) for _ in range(3)]
        self._views = [np.frombuffer(one) for one in self._out]
        self._in_order = list(range(size))
        self._own = [names.index(label) for label in self.labels]
        self._names: tuple[str, ...] = ()
        self._rows: list[int] = []
        self._places: list[int] = []
        self.worst = "", 0.0

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Take what a message measures; whether `message` of all joints was made of it.

        Parameters
        ----------
        now, sent : the time, and that of the message's stamp, s.

        Raises
        ------
        InputError
            It is dropped, and why: stale, jumping, disagreeing, or not a state of the robot.
        """
        names = tuple(message.name)
        if names != self._names:
            self._find(names)
        if not self._rows:
            return False
        timeout = self.trust.timeout
        if abs(sent - now) > timeout:
            way = "ahead of" if sent > now else "behind"
            raise InputError(f"it is stamped {abs(sent - now):.4g} s {way} this node's time")
        position = self._read("position", message.position)
        assert position is not None
        self._require_steady(position, now)
        rates = [self._read("velocity", message.velocity), self._read("effort", message.effort)]
        before = self._position, self._rates, self._came
        if self._places == self._in_order:
            self._position, self._rates, self._came = position, rates, [now] * len(position)
        else:
            self._spread(position, rates, now)
            if self.missing(now):
                return False
        try:
            self._complete()
        except InputError:
            self._position, self._rates, self._came = before
            raise
        return True

    def missing(self, now: float) -> str:
        """The first measured joint whose position is not known now; empty where all are."""
        oldest = min(self._came)
        return "" if now - oldest <= self.trust.timeout else self.labels[self._came.index(oldest)]

    def forget(self) -> None:
        """Know no joint any more."""
        self._came = [-math.inf] * len(self._came)

    def report(self) -> tuple[str, float]:
        """`worst`, which begins anew."""
        found, self.worst = self.worst, ("", 0.0)
        return found

    def _find(self, names: tuple[str, ...]) -> None:
        """Find the measured joints among the names of a message."""
        self._names = names
        known = [label for label in self.labels if label in names]
        self._rows = [names.index(label) for label in known]
        self._places = [self.labels.index(label) for label in known]

    def _read(self, what: str, values: Numbers) -> Numbers | None:
        """The measured joints' numbers of a field; None of rates where they are not measured."""
        optional = what != "position"
        if optional and not len(values):
            return None
        if len(values) != len(self._names):
            raise InputError(f"{what} has {len(values)} numbers for {len(self._names)} names")
        numbers = [values[row] for row in self._rows]
        if sum(map(abs, numbers)) <= LARGEST_SENT:
            return numbers
        for place, number in zip(self._places, numbers, strict=True):
            if -LARGEST_SENT <= number <= LARGEST_SENT:
                continue
            if optional and math.isnan(number):
                return None  # what ros2_control sends for an interface without a sensor
            raise InputError(f"{what} of {self.labels[place]} is {number:g}")
        return numbers

    def _spread(self, position: Numbers, rates: Sequence[Numbers | None], now: float) -> None:
        """Keep the numbers of a message beside those of the joints that it leaves out."""
        places, unknown = self._places, [math.nan] * len(self.labels)
        self._position = _beside(self._position, places, position)
        self._came = _beside(self._came, places, [now] * len(places))
        self._rates = [
            None if new is None else _beside(unknown if known is None else known, places, new)
            for known, new in zip(self._rates, rates, strict=True)
        ]

    def _require_steady(self, position: Numbers, now: float) -> None:
        """Refuse positions that jump."""
        most = self.trust.jump
        for place, number in zip(self._places, position, strict=True):
            way = number - self._position[place]
            if not -most <= way <= most and most and now - self._came[place] <= self.trust.timeout:
                whole = np.zeros(len(self.labels))
                whole[place] = way
                if abs(self._turns.shortest(whole)[place]) > most:
                    raise InputError(
                        f"{self.labels[place]} jumps by {way:.4g} (rad or m) between two messages, "
                        f"more than largest_jump ({most:g})"
                    )

    def _complete(self) -> None:
        """Make the message of all joints."""
        measured, message = self.measured, self.message
        velocity, effort = self._rates
        if velocity is not None and math.isnan(sum(velocity)):
            velocity = None  # of some joints alone
        rate = None if velocity is None else np.array(velocity)
        measured.update(np.array(self._position), rate)
        if measured.space.redundant:
            self._require_agreement()
        self._views[0][:] = measured.position[self._rows_q]
        if velocity is not None:
            self._views[1][:] = measured.velocity[self._rows_v]
        if effort is not None:
            for place, number in zip(self._own, effort, strict=True):
                self._out[2][place] = number
        message.position = self._out[0]
        message.velocity = self._out[1] if velocity is not None else _NOTHING
        message.effort = self._out[2] if effort is not None else _NOTHING

    def _require_agreement(self) -> None:
        name, apart = self.measured.worst()
        if abs(apart) > abs(self.worst[1]):
            self.worst = name, apart
        if abs(apart) > (self.trust.disagreement or math.inf):
            raise InputError(
                f"{name} is {apart:.4g} (rad or m) from where it and the other joints put it "
                f"together, more than largest_disagreement ({self.trust.disagreement:g})"
            )


def _rows(numbers: Sequence[int]) -> Any:
    """Places in an array; a slice, which takes less time, where they are all in a row."""
    rows = np.array(numbers, dtype=np.intp)
    return slice(0, len(rows)) if (rows == np.arange(len(rows))).all() else rows


def _beside(known: Sequence[float], places: Sequence[int], new: Sequence[float]) -> list[float]:
    """Known numbers, new ones in their places."""
    result = list(known)
    for place, number in zip(places, new, strict=True):
        result[place] = number
    return result
