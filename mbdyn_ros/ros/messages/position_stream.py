"""Positions that are asked for again and again, as a motion between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

LONGEST_INTERVAL = 0.05
"""s between two commands of one motion; what comes later is a step, from rest. For so long a motion
whose velocity was sent goes on when no further command comes: a busy machine hands messages over
tens of milliseconds late, and a stop takes all the force that there is."""

SMOOTHING = 0.005
"""s over which velocities between commands are averaged: times of arrival are uneven."""

EXTRAPOLATED = 1.5
"""Intervals for which a motion goes on whose velocity was found from positions."""


class PositionStream:
    """The positions of n coordinates that commands at a rate ask for, and their velocities.

    Attributes
    ----------
    position, velocity : n each, as of the last commands.
    """

    def __init__(self, size: int) -> None:
        self.position, self.velocity, self._span = ([0.0] * size for _ in range(3))
        self._at = [-math.inf] * size

    def take(
        self,
        places: Sequence[int],
        positions: Sequence[float],
        at: float,
        velocities: Sequence[float] | None = None,
    ) -> None:
        """Take positions for the time `at` (s); `velocities` where they are known.

        Others are found from the positions before.
        """
        for k, (place, position) in enumerate(zip(places, positions, strict=True)):
            if velocities is None:
                self._estimate(place, position, at - self._at[place])
            else:
                self.velocity[place], self._span[place] = velocities[k], LONGEST_INTERVAL
            self.position[place], self._at[place] = position, at

    def _estimate(self, place: int, position: float, span: float) -> None:
        """Find the velocity from the position before, `span` s ago."""
        flows = span <= LONGEST_INTERVAL
        if not flows:
            self.velocity[place] = 0.0
        elif span > 0:
            rate, before = (position - self.position[place]) / span, self.velocity[place]
            self.velocity[place] += span / (span + SMOOTHING) * (rate - before)
        if span > 0:
            self._span[place] = EXTRAPOLATED * span if flows else 0.0

    def present(self, time: float) -> tuple[list[float], list[float]]:
        """Positions and velocities at a time (s)."""
        positions, velocities = list(self.position), list(self.velocity)
        for place, span in enumerate(self._span):
            age = time - self._at[place]  # below 0: before that of the last command
            if velocities[place]:
                positions[place] += velocities[place] * max(min(age, span), -span)
                if age > span:
                    velocities[place] = 0.0
        return positions, velocities

    def rest(self, places: Sequence[int], positions: Sequence[float]) -> None:
        """Stand at positions."""
        for place, position in zip(places, positions, strict=True):
            self.position[place], self._at[place] = position, -math.inf
            self.velocity[place] = self._span[place] = 0.0

    def clear(self) -> None:
        """Forget all."""
        self.rest(range(len(self.position)), list(self.position))
