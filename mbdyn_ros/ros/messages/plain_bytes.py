"""The parts of a message in its bytes, one after the other.

The bytes are those of the DDS standard's plain encoding (CDR, version 1).
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from rclpy.logging import get_logger
from rclpy.serialization import serialize_message

from ...array import Array

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
