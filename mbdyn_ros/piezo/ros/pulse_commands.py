"""The pulses that a simulated piezo robot is sent: checked, and how old they are."""

from __future__ import annotations

import math
from typing import Any

from ...errors import InputError
from ...ros.messages.named_numbers import require_reasonable
from .. import PiezoMotion


class PulseCommands:
    """Sets the windows of a motion from `PiezoPulses` messages."""

    def __init__(self, motion: PiezoMotion) -> None:
        self._motion = motion
        self._labels = list(motion.robot.velocity_labels)
        self._at = -math.inf
        self._on = False

    def take(self, message: Any, now: float) -> None:
        """Set the windows of a message that came at the time `now`.

        Raises
        ------
        InputError
            Other joints than the robot's in its order, wrong lengths, or numbers that are not
            finite.
        """
        names = list(message.name)
        if names != self._labels:
            raise InputError(
                f"the pulses are of {', '.join(names) or 'no joint'}, not of "
                f"{', '.join(self._labels)}"
            )
        fields = ("start_phase", "end_phase", "mean_torque")
        arrays = [getattr(message, field).tolist() for field in fields]
        for what, numbers in zip(fields, arrays, strict=True):
            if len(numbers) != len(names):
                raise InputError(f"{what} has {len(numbers)} numbers, expected {len(names)}")
            require_reasonable(what, numbers, names)
        self._at = now
        if message.rotor_speed == 0.0:
            self.stop()
        else:
            self._on = True
            self._motion.set_windows(*arrays)

    def expire(self, now: float, timeout: float) -> None:
        """Hold all joints where no pulses came within `timeout`, s."""
        if self._on and now - self._at > timeout:
            self.stop()

    def missing(self, now: float, timeout: float) -> str:
        """The complaint where no pulses came within `timeout`, s; empty where they did."""
        return f"no pulses for {timeout:g} s" if now - self._at > timeout else ""

    def forget(self) -> None:
        """Hold all joints, as if no pulses had come."""
        self._at = -math.inf
        self.stop()

    def stop(self) -> None:
        """Hold all joints."""
        if self._on:
            self._motion.stop()
        self._on = False
