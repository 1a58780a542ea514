"""Commands of one quantity with their ages: each joint's last one counts until it is too old."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import InputError
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
    value, at, changed : n each: the last command, when it came, and when it last was another (s).
    largest : n, beyond which commands are refused: openings of valves, voltages of motors.
    """

    # A handful of numbers in plain lists: arrays would take several times as long.

    def __init__(self, quantity: str, labels: Sequence[str]) -> None:
        self.quantity, self._labels = quantity, labels
        size = len(labels)
        self.value, self.largest = [0.0] * size, [math.inf] * size
        self.at, self.changed = [-math.inf] * size, [-math.inf] * size

    def set(self, places: Sequence[int], values: Sequence[float], now: float) -> None:
        """Take commands of coordinates.

        Raises
        ------
        InputError
            One is not finite, absurdly large, or beyond `largest`; none is taken.
        """
        for place, number in zip(places, values, strict=True):
            if not abs(number) <= LARGEST_SENT:
                require_reasonable(self.quantity, [number], [self._labels[place]])
            if abs(number) > self.largest[place]:
                raise InputError(
                    f"the command of {self._labels[place]} is {number:g}; its actuator takes "
                    f"{-self.largest[place]:g} to {self.largest[place]:g}"
                )
        for place, number in zip(places, values, strict=True):
            if number != self.value[place] or self.at[place] == -math.inf:
                self.value[place], self.changed[place] = number, now
            self.at[place] = now

    def clear(self, places: Sequence[int] | None = None) -> None:
        """Forget commands; all of them by default."""
        for place in range(len(self.value)) if places is None else places:
            self.value[place] = 0.0
            self.at[place] = self.changed[place] = -math.inf

    def present(self, now: float, timeout: float, unchanged: float = 0.0) -> list[float]:
        """Commands (n,) now: whole, fading from half of `timeout` (s) on, else zero.

        unchanged : s for which a command that is sent again and again may stay the same; 0: ever.
        """
        result = list(self.value)
        holding = HOLDING * timeout
        for place, at in enumerate(self.at):
            age = now - at
            if age > holding:
                share = (age - holding) / (timeout - holding)
                result[place] *= 1.0 - share * share * share if share < 1.0 else 0.0
            if unchanged and now - self.changed[place] > unchanged:
                result[place] = 0.0
        return result

    def stale(self, now: float, timeout: float) -> list[int]:
        """Places that were commanded once, but not lately."""
        return [place for place, at in enumerate(self.at) if timeout < now - at < math.inf]
