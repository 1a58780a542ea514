"""Joint states read from their bytes and written into them, one after another.

rclpy takes 7 us to turn a JointState of eight joints into bytes, and 30 us to turn one of four
joints into Python's objects. Those of one sender are alike except for stamp and numbers: these are
written in 1 us, and read in 3 us.

The bytes are those of the DDS standard's plain encoding (CDR, version 1).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from ...array import Array
from ..node.inbox import Inbox

ENCAPSULATION = 4
"""Bytes before the message: its encoding, and options. Places are aligned from their end."""

PLAIN = {b"\x00\x00": ">", b"\x00\x01": "<"}
"""Order of bytes by the first two."""

LOGGER = get_logger("messages")
"""It remembers what it has said once."""

_NONE = np.zeros(0)


class Span(NamedTuple):
    """As `Duration`, and as `Time`."""

    sec: int
    nanosec: int


class PlainBytes:
    """A place in the bytes of a message, which goes on with everything that is read.

    Parameters
    ----------
    data : of a serialized message; numbers can be written where it can.

    Attributes
    ----------
    order : of bytes, as `struct` has it. at : the place, after the encapsulation.

    Raises
    ------
    KeyError
        Another encoding.
    ValueError, struct.error
        From the methods: the bytes end before what is read does.
    """

    def __init__(self, data: bytes | bytearray) -> None:
        self.order = PLAIN[bytes(data[:2])]
        self._body = memoryview(data)[ENCAPSULATION:]
        self.at = 0
        self._count, self._pair = struct.Struct(self.order + "I"), struct.Struct(self.order + "iI")
        self._double = np.dtype(self.order + "f8")

    def size(self, least: int = 1) -> int:
        """Number of elements that follow, of at least `least` bytes each."""
        (count,) = self._count.unpack_from(self._body, self._take(4, 4))
        if count * least > len(self._body) - self.at:
            raise ValueError(f"{count} elements in {len(self._body) - self.at} bytes")
        return int(count)

    def span(self) -> Span:
        """A time, or a duration."""
        return Span(*self._pair.unpack_from(self._body, self._take(8, 4)))

    def text(self) -> str:
        """A string."""
        size = self.size()
        start = self._take(size)
        return bytes(self._body[start : start + max(size - 1, 0)]).decode()  # less its end mark

    def numbers(self) -> Array:
        """A sequence of doubles; a view of the bytes."""
        return self.doubles(self.size())

    def doubles(self, count: int) -> Array:
        """That many doubles, one after the other; a view of the bytes."""
        if not count:
            return _NONE
        start = self._take(8 * count, 8)
        return np.frombuffer(self._body, self._double, count, start)

    def _take(self, size: int, alignment: int = 1) -> int:
        """The place of the next value; moves past it."""
        start = -(-self.at // alignment) * alignment
        self.at = start + size
        if self.at > len(self._body):
            raise ValueError(f"{len(self._body)} bytes are too few")
        return start


class StampedBytes:
    """The bytes of a message with a header, in which stamp and numbers change.

    They are what the middleware made of a message once. Where that is not the plain encoding, the
    message itself is sent, as slowly as any, and one line in the log says so.

    message : as rclpy has it; it is kept.
    """

    def __init__(self, message: Any) -> None:
        self._message = message
        self._data: bytearray | None = bytearray(serialize_message(message))
        try:
            self._place = PlainBytes(self._data)
        except KeyError:
            LOGGER.warning(
                f"the middleware's encoding 0x{self._data[:2].hex()} is not plain CDR (0x0000, "
                "0x0001): rclpy serializes each message, in about 7 us instead of 1 us",
                once=True,
            )
            self._data = None
        else:
            self._stamp = struct.Struct(self._place.order + "iI")
            self._place.span(), self._place.text()

    def stamped(self, sec: int, nanosec: int) -> Any:
        """The message with the present numbers and this stamp, as a publisher takes it."""
        if self._data is None:
            stamp = self._message.header.stamp
            stamp.sec, stamp.nanosec = sec, nanosec
            return self._message
        self._stamp.pack_into(self._data, ENCAPSULATION, sec, nanosec)
        return bytes(self._data)


_STAMP = struct.Struct("iI").size
"""Bytes of the stamp, with which the message begins."""


class Stamped(NamedTuple):
    """As `Header`."""

    stamp: Span
    frame_id: str


class JointStates(NamedTuple):
    """As `JointState`, with tuples."""

    header: Stamped
    name: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


class _Form(NamedTuple):
    """The form that messages of one sender share.

    start : bytes before the stamp. fixed : those between it and the numbers. size : of the whole.
    numbers : the counts of positions, velocities and efforts, each before its numbers.
    """

    start: bytes
    fixed: bytes
    size: int
    stamp: struct.Struct
    numbers: struct.Struct
    counts: tuple[int, int, int]
    frame_id: str
    name: tuple[str, ...]


def joint_state_inbox(node: Node, topic: str, qos: QoSProfile | int) -> Inbox:
    """The joint states of a topic, as they come."""
    return Inbox(node, JointState, topic, qos, JointStateReader().read)


class JointStateReader:
    """Reads joint states; the form of the last message is kept."""

    def __init__(self) -> None:
        self._form: _Form | None = None

    def read(self, data: bytes) -> JointStates | JointState:
        """The joint states of a serialized message."""
        found = self._read_alike(data)
        if found is None:
            self._form = _form(data)
            found = self._read_alike(data)
        return deserialize_message(data, JointState) if found is None else found

    def _read_alike(self, data: bytes) -> JointStates | None:
        """The joint states, where the message has the form of the last one."""
        form = self._form
        if form is None or len(data) != form.size or data[:ENCAPSULATION] != form.start:
            return None
        behind = ENCAPSULATION + _STAMP
        end = behind + len(form.fixed)
        if data[behind:end] != form.fixed:
            return None
        numbers: tuple[Any, ...] = form.numbers.unpack_from(data, end)
        first, second, third = form.counts
        v, effort = 1 + first, 2 + first + second
        if (numbers[0], numbers[v], numbers[effort]) != form.counts:
            return None
        header = Stamped(Span(*form.stamp.unpack_from(data, ENCAPSULATION)), form.frame_id)
        return JointStates(
            header, form.name, numbers[1:v], numbers[v + 1 : effort], numbers[effort + 1 :]
        )


def _form(data: bytes) -> _Form | None:
    """The form of a message; None where it has another encoding, or is not such a message."""
    try:
        place = PlainBytes(data)
        place.span()
        frame_id = place.text()
        name = tuple(place.text() for _ in range(place.size(4)))
        end, pattern, counts = place.at, place.order, []
        for _ in range(3):
            before = place.at
            count = len(place.numbers())
            counts.append(count)
            pattern += f"{-before % 4}xI"
            if count:
                pattern += f"{-(before + -before % 4 + 4) % 8}x{count}d"
    except (struct.error, KeyError, ValueError):
        return None
    behind = ENCAPSULATION + _STAMP
    return _Form(
        data[:ENCAPSULATION], data[behind : ENCAPSULATION + end], len(data),
        struct.Struct(place.order + "iI"), struct.Struct(pattern),
        (counts[0], counts[1], counts[2]), frame_id, name,
    )  # fmt: skip


class JointStateBytes(StampedBytes):
    """The bytes of a JointState.

    Parameters
    ----------
    name : of the joints. frame_id : of the header.
    velocity, effort, position : whether the message has these fields; else they are empty.

    Attributes
    ----------
    name : as it was given.
    position, velocity, effort : (n,) or (0,), written in place.
    """

    def __init__(
        self,
        name: list[str],
        frame_id: str,
        velocity: bool = True,
        effort: bool = True,
        position: bool = True,
    ) -> None:
        self.name = name
        message = JointState(name=name)
        message.header.frame_id = frame_id
        message.position = [0.0] * len(name) * position
        message.velocity = [0.0] * len(name) * velocity
        message.effort = [0.0] * len(name) * effort
        super().__init__(message)
        if self._data is None:
            fields = message.position, message.velocity, message.effort
            numbers = [np.frombuffer(one) if len(one) else np.zeros(0) for one in fields]
        else:
            place = self._place
            [place.text() for _ in range(place.size(4))]
            numbers = [place.numbers() for _ in range(3)]
        self.position, self.velocity, self.effort = numbers
