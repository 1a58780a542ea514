"""A JointTrajectory read from its bytes, while other threads go on.

rclpy turns a message into Python's objects in one go, and no other thread runs meanwhile: a
quarter of a second for 100 000 points, in which a control loop stands still. Here points are read
one by one. The bytes are those of the DDS standard's plain encoding (CDR, version 1).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Time

from ...errors import InputError
from ...model.model import Array

ENCAPSULATION = 4
"""Bytes before the message: its encoding, and options. Places are aligned from behind them."""

PLAIN = {b"\x00\x00": ">", b"\x00\x01": "<"}
"""Order of bytes by the first two."""


class Span(NamedTuple):
    """As `Duration`."""

    sec: int
    nanosec: int


class Point(NamedTuple):
    """As `JointTrajectoryPoint`, with arrays."""

    positions: Array
    velocities: Array
    accelerations: Array
    effort: Array
    time_from_start: Span


@dataclass
class Stamped:
    """As `Header`."""

    stamp: Time
    frame_id: str


@dataclass
class Trajectory:
    """As `JointTrajectory`."""

    header: Stamped
    joint_names: list[str]
    points: list[Point] = field(default_factory=list)


def read_trajectory(data: bytes) -> Trajectory:
    """The trajectory of a serialized message.

    Raises
    ------
    InputError
        These are no bytes of a trajectory.
    """
    try:
        return _Reader(data).trajectory()
    except (struct.error, KeyError, ValueError) as error:
        raise InputError(f"the message holds no trajectory: {error}") from None


class _Reader:
    """A place in the bytes, which goes on with everything that is read."""

    def __init__(self, data: bytes) -> None:
        order = PLAIN[bytes(data[:2])]
        self._body = memoryview(data)[ENCAPSULATION:]
        self._at = 0
        self._count, self._pair = struct.Struct(order + "I"), struct.Struct(order + "iI")
        self._double = np.dtype(order + "f8")

    def trajectory(self) -> Trajectory:
        header = Stamped(Time(**self._times()._asdict()), self._text())
        trajectory = Trajectory(header, [self._text() for _ in range(self._size(4))])
        for _ in range(self._size(4)):
            q, v, a, effort = (self._numbers() for _ in range(4))
            trajectory.points.append(Point(q, v, a, effort, self._times()))
        return trajectory

    def _take(self, size: int, alignment: int = 1) -> int:
        """The place of what comes next, and go behind it."""
        start = -(-self._at // alignment) * alignment
        self._at = start + size
        if self._at > len(self._body):
            raise ValueError(f"{len(self._body)} bytes are too few")
        return start

    def _size(self, least: int = 1) -> int:
        """How many elements follow, of at least so many bytes each."""
        (count,) = self._count.unpack_from(self._body, self._take(4, 4))
        if count * least > len(self._body) - self._at:
            raise ValueError(f"{count} elements in {len(self._body) - self._at} bytes")
        return int(count)

    def _times(self) -> Span:
        return Span(*self._pair.unpack_from(self._body, self._take(8, 4)))

    def _text(self) -> str:
        size = self._size()
        start = self._take(size)
        return bytes(self._body[start : start + max(size - 1, 0)]).decode()  # less its end mark

    def _numbers(self) -> Array:
        size = self._size()
        if not size:
            return _NONE
        start = self._take(8 * size, 8)
        return np.frombuffer(self._body, self._double, size, start)


_NONE = np.zeros(0)
