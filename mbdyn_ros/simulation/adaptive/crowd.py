"""A watch on contacts that cannot be followed: events that crowd, or steps that stay short."""

from __future__ import annotations

from ...errors import ContactError

MOST, RATE = 12.0, 30.0
"""Events of changing contacts that may come at once, and in a second (1/s)."""

SEVERAL, LENIENCE = 6, 8.0
"""Contacts that are many; how many times more events fewer ones may have."""

ALIKE = 0.1
"""How much an event counts of the same contacts as the one before: bounces that die out."""

BURST, STEP_RATE = 150.0, 300.0
"""Steps with contacts held that may be short at once, and in a second (1/s)."""

RUBBING = 4.0
"""Weight of a step in which joints have dry friction too, which takes so much longer."""


class Crowd:
    """Counts the events of one part of a simulation, and its steps with contacts held."""

    def __init__(self) -> None:
        self._level, self._time = 0.0, 0.0
        self._steps, self._step_time = 0.0, 0.0
        self._last: frozenset[object] = frozenset()
        self._all: set[object] = set()

    def add(self, time: float, who: frozenset[object]) -> None:
        """Count an event of these contacts.

        Raises
        ------
        ContactError
            There are too many.
        """
        self._level = max(0.0, self._level - RATE * (time - self._time))
        if not self._level:
            self._all.clear()
        self._all |= who
        self._level += ALIKE if who == self._last else 1.0
        self._time, self._last = time, who
        if self._level > MOST * (1.0 if len(self._all) > SEVERAL else LENIENCE):
            raise ContactError("many contacts bounce and switch in a short time")

    def step(self, time: float, rubs: bool) -> None:
        """Count a step that begins with contacts held.

        Raises
        ------
        ContactError
            There are too many.
        """
        self._steps = max(0.0, self._steps - STEP_RATE * (time - self._step_time))
        self._steps += RUBBING if rubs else 1.0
        self._step_time = time
        if self._steps > BURST:
            raise ContactError("contacts are held in a motion whose steps stay short")
