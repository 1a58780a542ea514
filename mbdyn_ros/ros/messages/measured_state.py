"""Joint states read: whose numbers they have, how old these are, how far they are believed.

One reader finds joints among the names of messages, checks their numbers and knows when each came.
Controllers want all their joints from one message (`MeasuredState`); `loop_state_publisher`
gathers what several sensors send and makes the state of all joints of it (`SensedJoints`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import JointState

from ...array import Array, places
from ...errors import InputError
from ...motion.measured_joints import MeasuredJoints
from ...motion.poses import Turns
from ...prepare.coordinates import scalar_motions
from ...robot import Robot
from ..node.refusals import one_line
from .joint_state_bytes import JointStateBytes
from .named_numbers import LARGEST_SENT


class JointReader:
    """Finds joints in joint states, and reads their numbers.

    Parameters
    ----------
    labels : of the joints' coordinates.

    Attributes
    ----------
    names : of the last message. found : the places in `labels` of those that it names.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.names: tuple[str, ...] = ()
        self.found: list[int] = []
        self._rows: list[int] = []
        self._whole: list[int] = []

    def find(self, names: Sequence[str]) -> None:
        """Find the joints among the names of a message.

        Raises
        ------
        InputError
            One is named twice.
        """
        names = tuple(names)
        if names == self.names:
            return
        for label in self.labels:
            if names.count(label) > 1:
                raise InputError(f"joint {label!r} is named twice")
        self.names = names
        self.found = [place for place, label in enumerate(self.labels) if label in names]
        self._rows = [names.index(self.labels[place]) for place in self.found]
        self._whole = list(range(len(names)))

    def numbers(self, what: str, values: Sequence[float]) -> Array | None:
        """The found joints' numbers of a field; None of rates where they are not measured.

        Raises
        ------
        InputError
            There are not as many as names, or one is infinite or absurd.
        """
        optional = what != "position"
        if optional and not len(values):
            return None
        if len(values) != len(self.names):
            raise InputError(f"{what} has {len(values)} numbers for {len(self.names)} names")
        if self._rows != self._whole:
            values = [values[row] for row in self._rows]
        if sum(map(abs, values)) <= LARGEST_SENT:  # then each is
            return np.array(values)
        for place, number in zip(self.found, values, strict=True):
            if -LARGEST_SENT <= number <= LARGEST_SENT:
                continue
            if optional and math.isnan(number):
                return None  # what ros2_control sends for an interface without a sensor
            raise InputError(f"{what} of {self.labels[place]} is {number:g}")
        return np.array(values)


def beyond(changes: Array, bounds: Array | float) -> int | None:
    """The place of the joint whose change (n,) exceeds its bound most; None where none does."""
    excess = np.abs(changes) - bounds
    return None if (excess <= 0).all() else int(np.argmax(excess))


class MeasuredState:
    """The positions and velocities of some joints in the last good message of joint states.

    Parameters
    ----------
    labels : of the joints' coordinates.
    turns : says which of them whole turns bring back.
    read : labels of what is read from messages; by default the same.
    completed : called with a message and what was read, positions and velocities; returns those of
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
        completed: Callable[[JointState, Array, Array], tuple[Array, Array]] | None = None,
    ) -> None:
        self._labels, self._turns, self._completed = tuple(labels), turns, completed
        self._reader = JointReader(self._labels if read is None else read)
        self.position, self.velocity = np.zeros(len(labels)), np.zeros(len(labels))
        self._came, self._ahead = -math.inf, 0.0
        self.sent = -math.inf
        self._refused = ""

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Take the positions and velocities of all the joints, where sound, or return False.

        Parameters
        ----------
        now, sent : the time, and that of the message's stamp, s. A message is as old as its stamp
            says; one that is older than the last good one says nothing new.
        """
        try:
            q, v = self._read(message)
            if abs(sent - now) > self.age(now):
                return False
            if self._completed is not None:
                q, v = self._completed(message, q, v)
        except InputError as error:
            self._refused = str(error)
            return False
        self._refused = ""
        self.position, self.velocity = q, v
        self._came, self._ahead, self.sent = now, sent - now, sent
        return True

    def _read(self, message: JointState) -> tuple[Array, Array]:
        """Positions and velocities of what is read; InputError where a message lacks some."""
        reader = self._reader
        reader.find(message.name)
        if not reader.found or len(reader.found) < len(reader.labels):
            lacking = [label for label in reader.labels if label not in reader.names]
            raise InputError(f"they lack {', '.join(lacking) or 'joints'}")
        q = reader.numbers("position", message.position)
        v = reader.numbers("velocity", message.velocity)
        if q is None or v is None:
            raise InputError("they have no velocities of all joints")
        return q, v

    def forget(self) -> None:
        """Have no message any more."""
        self._came, self._refused = -math.inf, ""

    def error(self, wanted: Array) -> Array:
        """The position errors (n,), of endless joints the shortest ones."""
        error = wanted - self.position
        return error if self._turns is None else self._turns.shortest(error)

    def beyond(self, wanted: Array, bounds: Array | float) -> int | None:
        """The place of the joint that is farthest beyond a bound from where it is wanted."""
        return beyond(self.error(wanted), bounds)

    def farthest(self, wanted: Array) -> tuple[str, float, float]:
        """The label, position and distance of what is farthest from where it is wanted."""
        apart = np.abs(np.append(self.error(wanted), 0.0))
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
        side = "ahead of" if self._ahead > 0 else "behind"
        return f"joint_states come stamped {abs(self._ahead):.4g} s {side} this node's clock"


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
        self._reader = JointReader(self.measured.labels)
        self.labels = self._reader.labels
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
        reader = self._reader
        reader.find(message.name)
        if not reader.found:
            if not reader.names and len(message.position):
                raise InputError(f"it has {len(message.position)} positions, but names no joints")
            return False
        timeout = self.trust.timeout
        if abs(sent - now) > timeout:
            side = "ahead of" if sent > now else "behind"
            raise InputError(f"it is stamped {abs(sent - now):.4g} s {side} this node's time")
        position = reader.numbers("position", message.position)
        assert position is not None
        in_order = reader.found == self._in_order
        if not in_order:
            position = self._beside(self._position, position)
        self._require_steady(position, now)
        rates = [
            reader.numbers(what, values)
            for what, values in (("velocity", message.velocity), ("effort", message.effort))
        ]
        before = self._position, self._rates, self._came
        if in_order:
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
        return "" if self._reader.found else ", ".join(self._reader.names)

    def forget(self) -> None:
        """Know no joint any more."""
        self._came = [-math.inf] * len(self._came)

    def report(self) -> tuple[str, float]:
        """`worst`, which restarts."""
        found, self.worst = self.worst, ("", 0.0)
        return found

    def _spread(self, position: Array, rates: Sequence[Array | None], now: float) -> None:
        """Keep the numbers of a message with those of the joints that it leaves out."""
        unknown = np.full(len(self.labels), math.nan)
        self._position = position
        self._came = [now if k in self._reader.found else came for k, came in enumerate(self._came)]
        self._rates = [
            None if new is None else self._beside(unknown if known is None else known, new)
            for known, new in zip(self._rates, rates, strict=True)
        ]

    def _beside(self, known: Array, new: Array) -> Array:
        """Known numbers, new ones in the places of a message."""
        result = known.copy()
        result[self._reader.found] = new
        return result

    def _require_steady(self, position: Array, now: float) -> None:
        """Refuse positions that jump."""
        most, jump = self.trust.jump, position - self._position
        if not most or sum(map(abs, jump.tolist())) <= most:  # then none is longer
            return
        known = now - np.array(self._came) <= self.trust.timeout
        place = beyond(self._turns.shortest(jump), np.where(known, most, math.inf))
        if place is not None:
            raise InputError(
                f"{self.labels[place]} jumps by {jump[place]:.4g} (rad or m) between two messages, "
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
