"""The parts of a message in its bytes, one after the other.

The bytes are those of the DDS standard's plain encoding (CDR, version 1).
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from ...array import Array

ENCAPSULATION = 4
"""Bytes before the message: its encoding, and options. Places are aligned from behind them."""

PLAIN = {b"\x00\x00": ">", b"\x00\x01": "<"}
"""Order of bytes by the first two."""

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
    order : of bytes, as `struct` has it. at : the place, behind the encapsulation.

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
        """How many elements follow, of at least so many bytes each."""
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
        size = self.size()
        if not size:
            return _NONE
        start = self._take(8 * size, 8)
        return np.frombuffer(self._body, self._double, size, start)

    def _take(self, size: int, alignment: int = 1) -> int:
        """The place of what comes next, and go behind it."""
        start = -(-self.at // alignment) * alignment
        self.at = start + size
        if self.at > len(self._body):
            raise ValueError(f"{len(self._body)} bytes are too few")
        return start
