"""The joints that joint states measure, and the joint states of all joints that they make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import JointState

from ...array import Array, places
from ...errors import InputError
from ...motion import MeasuredJoints
from ...motion.turns import Turns
from ...prepare.coordinates import scalar_motions
from ...robot import Robot
from .joint_state_bytes import JointStateBytes
from .named_numbers import LARGEST_SENT


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
    frame_id : of the joint states; empty for the root link.

    Attributes
    ----------
    message : of all joints, sent again and again.
    worst : the joint that disagreed most since `report`, and by how much (rad or m).
    """

    def __init__(
        self, robot: Robot, joints: Sequence[str], deviations: Sequence[float], trust: Trust,
        frame_id: str = "",
    ) -> None:  # fmt: skip
        self.trust = trust
        self.measured = MeasuredJoints(robot, tuple(joints) or robot.actuated_joints,
                                       list(deviations) or None)  # fmt: skip
        self.labels = self.measured.labels
        size = len(self.labels)
        self._position = np.zeros(size)
        self._rates: list[Array | None] = [None, None]
        self._came = [-math.inf] * size
        self._turns = Turns(robot, self.labels)
        names, *rows = scalar_motions(robot.system.coordinates.joint_blocks)
        self._rows_q, self._rows_v = (places(one) for one in rows)
        frame = frame_id or robot.model.root
        self._forms = {
            (has_v, has_effort): JointStateBytes(names, frame, has_v, has_effort)
            for has_v in (False, True) for has_effort in (False, True)
        }  # fmt: skip
        self.message = self._forms[False, False]
        self._in_order = list(range(size))
        self._own = places([names.index(label) for label in self.labels])
        self._names: tuple[str, ...] = ()
        self._rows: list[int] = []
        self._whole: list[int] = []
        self._places: list[int] = []
        self._at = places([])
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
            if not names and len(message.position):
                raise InputError(f"it has {len(message.position)} positions, but names no joints")
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

    def stray(self) -> str:
        """The names of the last message, where none of them is measured; else empty."""
        return "" if self._rows else ", ".join(self._names)

    def forget(self) -> None:
        """Know no joint any more."""
        self._came = [-math.inf] * len(self._came)

    def report(self) -> tuple[str, float]:
        """`worst`, which begins anew."""
        found, self.worst = self.worst, ("", 0.0)
        return found

    def _find(self, names: tuple[str, ...]) -> None:
        """Find the measured joints among the names of a message."""
        for label in self.labels:
            if names.count(label) > 1:
                raise InputError(f"joint {label!r} is named twice")
        self._names = names
        known = [label for label in self.labels if label in names]
        self._rows = [names.index(label) for label in known]
        self._whole = list(range(len(names)))
        self._places = [self.labels.index(label) for label in known]
        self._at = places(self._places)

    def _read(self, what: str, values: Sequence[float]) -> Array | None:
        """The measured joints' numbers of a field; None of rates where they are not measured."""
        optional = what != "position"
        if optional and not len(values):
            return None
        if len(values) != len(self._names):
            raise InputError(f"{what} has {len(values)} numbers for {len(self._names)} names")
        if self._rows != self._whole:
            values = [values[row] for row in self._rows]
        if sum(map(abs, values)) <= LARGEST_SENT:  # then each is
            return np.array(values)
        for place, number in zip(self._places, values, strict=True):
            if -LARGEST_SENT <= number <= LARGEST_SENT:
                continue
            if optional and math.isnan(number):
                return None  # what ros2_control sends for an interface without a sensor
            raise InputError(f"{what} of {self.labels[place]} is {number:g}")
        return np.array(values)

    def _spread(self, position: Array, rates: Sequence[Array | None], now: float) -> None:
        """Keep the numbers of a message beside those of the joints that it leaves out."""
        unknown = np.full(len(self.labels), math.nan)
        self._position = self._beside(self._position, position)
        self._came = [now if k in self._places else came for k, came in enumerate(self._came)]
        self._rates = [
            None if new is None else self._beside(unknown if known is None else known, new)
            for known, new in zip(self._rates, rates, strict=True)
        ]

    def _beside(self, known: Array, new: Array) -> Array:
        """Known numbers, new ones in the places of a message."""
        result = known.copy()
        result[self._at] = new
        return result

    def _require_steady(self, position: Array, now: float) -> None:
        """Refuse positions that jump."""
        most, ways = self.trust.jump, position - self._position[self._at]
        if not most or sum(map(abs, ways.tolist())) <= most:  # then none is longer
            return
        for place, way in zip(self._places, ways.tolist(), strict=True):
            if abs(way) > most and now - self._came[place] <= self.trust.timeout:
                whole = np.zeros(len(self.labels))
                whole[place] = way
                if abs(self._turns.shortest(whole)[place]) > most:
                    raise InputError(
                        f"{self.labels[place]} jumps by {way:.4g} (rad or m) between two messages, "
                        f"more than largest_jump ({most:g})"
                    )

    def _complete(self) -> None:
        """Make the message of all joints."""
        measured, (velocity, effort) = self.measured, self._rates
        if velocity is not None and math.isnan(sum(velocity.tolist())):
            velocity = None  # of some joints alone
        measured.update(self._position, velocity)
        if measured.space.redundant:
            self._require_agreement()
        self.message = message = self._forms[velocity is not None, effort is not None]
        message.position[:] = measured.position[self._rows_q]
        if velocity is not None:
            message.velocity[:] = measured.velocity[self._rows_v]
        if effort is not None:
            message.effort[self._own] = effort

    def _require_agreement(self) -> None:
        name, apart = self.measured.worst()
        if abs(apart) > abs(self.worst[1]):
            self.worst = name, apart
        if abs(apart) > (self.trust.disagreement or math.inf):
            raise InputError(
                f"{name} is {apart:.4g} (rad or m) from where it and the other joints put it "
                f"together, more than largest_disagreement ({self.trust.disagreement:g})"
            )
