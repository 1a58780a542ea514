"""Joint states written into their bytes, one after another.

rclpy takes 7 us to turn a JointState of eight joints into bytes. Those of the same joints are alike
but for stamp and numbers, and these are written in 1 us.
"""

from __future__ import annotations

import struct

import numpy as np
from rclpy.logging import get_logger
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from .plain_bytes import ENCAPSULATION, PlainBytes

LOGGER = get_logger("joint_states")
"""It remembers what it has said once."""


class JointStateBytes:
    """The bytes of a JointState, in which stamp and numbers change.

    They are what the middleware made of a message once. Where that is no plain encoding, the
    message itself is sent, as slowly as any, and one line in the log says so.

    Parameters
    ----------
    name : of the joints. frame_id : of the header.
    velocity, effort : whether the message has these fields; else they are empty.

    Attributes
    ----------
    name : as it was given.
    position, velocity, effort : (n,) or (0,), written in place.
    """

    def __init__(
        self, name: list[str], frame_id: str, velocity: bool = True, effort: bool = True
    ) -> None:
        self.name = name
        self._message = message = JointState(name=name)
        message.header.frame_id = frame_id
        message.position = [0.0] * len(name)
        message.velocity = [0.0] * len(name) * velocity
        message.effort = [0.0] * len(name) * effort
        self._data: bytearray | None = bytearray(serialize_message(message))
        try:
            place = PlainBytes(self._data)
        except KeyError:
            LOGGER.warning(
                f"the middleware's encoding 0x{self._data[:2].hex()} is not plain CDR (0x0000, "
                "0x0001): rclpy writes each message, in some 7 us instead of 1",
                once=True,
            )
            self._data = None
            fields = message.position, message.velocity, message.effort
            numbers = [np.frombuffer(one) if len(one) else np.zeros(0) for one in fields]
        else:
            self._stamp = struct.Struct(place.order + "iI")
            place.span(), place.text(), [place.text() for _ in range(place.size(4))]
            numbers = [place.numbers() for _ in range(3)]
        self.position, self.velocity, self.effort = numbers

    def stamped(self, sec: int, nanosec: int) -> bytes | JointState:
        """The message with the present numbers and this stamp, as a publisher takes it."""
        if self._data is None:
            stamp = self._message.header.stamp
            stamp.sec, stamp.nanosec = sec, nanosec
            return self._message
        self._stamp.pack_into(self._data, ENCAPSULATION, sec, nanosec)
        return bytes(self._data)
