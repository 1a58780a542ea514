"""Joint states read from their bytes and written into them, one after another.

rclpy takes 7 us to turn a JointState of eight joints into bytes, and 30 us to turn one of four
joints into Python's objects. Those of one sender are alike except for stamp and numbers: these are
written in 1 us, and read in 3 us.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from ..node.inbox import Inbox
from .plain_bytes import ENCAPSULATION, PlainBytes, Span, StampedBytes

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
