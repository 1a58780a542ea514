"""Commands of one quantity with their ages: each joint's last one counts until it is too old."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...array import Array
from ...errors import InputError
from ...simulation.stepped.servo import Marks
from .named_numbers import LARGEST_SENT, require_reasonable

HOLDING = 0.5
"""Share of the timeout for which a command holds in full; from there on it fades.

Hardware that sends commands only where they differ from the state that it is told would fall silent
while they are obeyed, and so starve us: what fades differs, and they are sent again.
"""


class CommandChannel:
    """Efforts, velocities or positions that are asked for, by coordinate, and when.

    Parameters
    ----------
    quantity : "effort", "velocity" or "position".
    labels : (n,) of the coordinates.

    Attributes
    ----------
    value, at, changed : (n,) the last command, when it came, and when it last was another one (s).
    largest : (n,) beyond which commands are refused: openings of valves, voltages of motors.
    """

    def __init__(self, quantity: str, labels: Sequence[str]) -> None:
        self.quantity, self._labels = quantity, labels
        size = len(labels)
        self.value, self.largest = np.zeros(size), np.full(size, math.inf)
        self.at, self.changed = np.full((2, size), -math.inf)
        self._age, self._share = np.zeros((2, size))

    def set(self, places: Sequence[int], values: Array, now: float) -> None:
        """Take commands of coordinates.

        Raises
        ------
        InputError
            One is not finite, absurdly large, or beyond `largest`; none is taken.
        """
        if not (np.abs(values) <= LARGEST_SENT).all():
            require_reasonable(self.quantity, values, [self._labels[place] for place in places])
        over = np.flatnonzero(np.abs(values) > self.largest[places])
        if len(over):
            place = places[over[0]]
            raise InputError(
                f"the command of {self._labels[place]} is {values[over[0]]:g}; its actuator takes "
                f"{-self.largest[place]:g} to {self.largest[place]:g}"
            )
        others = (values != self.value[places]) | (self.at[places] == -math.inf)
        self.changed[places] = np.where(others, now, self.changed[places])
        self.value[places] = values
        self.at[places] = now

    def clear(self, places: Sequence[int] | slice = slice(None)) -> None:
        """Forget commands."""
        self.value[places] = 0.0
        self.at[places] = self.changed[places] = -math.inf

    def write(self, result: Array, now: float, timeout: float, unchanged: float = 0.0) -> None:
        """Fill commands (n,): whole, fading from half of `timeout` (s) on, else zero.

        unchanged : s for which a command that is sent again and again may stay the same; 0: ever.
        """
        age, share = self._age, self._share
        np.subtract(now, self.at, out=age)
        np.divide(age, timeout, out=share)
        np.subtract(share, HOLDING, out=share)
        np.divide(share, 1.0 - HOLDING, out=share)
        np.clip(share, 0.0, 1.0, out=share)
        np.multiply(share, share * share, out=share)
        np.subtract(1.0, share, out=share)
        if unchanged:
            np.multiply(share, now - self.changed <= unchanged, out=share)
        np.multiply(self.value, share, out=result)

    def stale(self, now: float, timeout: float) -> Marks:
        """Coordinates (n,) that were commanded once, but not lately."""
        age = now - self.at
        return (timeout < age) & (age < math.inf)
