"""Positions that are asked for again and again, as a motion between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...array import Array

LONGEST_INTERVAL = 0.05
"""s between two commands of one motion; what comes later is a step, from rest."""

SMOOTHING = 0.005
"""s over which velocities between commands are averaged: times of arrival are uneven."""

EXTRAPOLATED = 1.5
"""Intervals for which a motion goes on when no further command comes."""


class PositionStream:
    """The positions of n coordinates that commands at a rate ask for, and their velocities.

    Attributes
    ----------
    position, velocity : (n,) as of the last commands.
    """

    def __init__(self, size: int) -> None:
        self.position, self.velocity, self._span = np.zeros((3, size))
        self._at = np.full(size, -math.inf)
        self._given = np.zeros(size, dtype=bool)

    def take(
        self, places: Sequence[int], positions: Array, at: float, velocities: Array | None = None
    ) -> None:
        """Take positions for the time `at` (s); `velocities` where they are known.

        Others are found from the positions before.
        """
        span = at - self._at[places]
        flows = span <= LONGEST_INTERVAL
        if velocities is not None:
            self.velocity[places] = velocities
            self._span[places] = np.where(flows, EXTRAPOLATED * span, 0.0)
        elif at > self._at[places].min():
            with np.errstate(invalid="ignore", divide="ignore"):
                rate = (positions - self.position[places]) / span
            before = self.velocity[places]
            share = span / (span + SMOOTHING)
            self.velocity[places] = np.where(flows, before + share * (rate - before), 0.0)
            self._span[places] = np.where(flows, EXTRAPOLATED * span, 0.0)
        self.position[places] = positions
        self._at[places] = at

    def at(self, time: float, position: Array, velocity: Array) -> None:
        """Fill the position and the velocity at a time (s)."""
        age = np.maximum(time - self._at, 0.0)
        np.multiply(self.velocity, age <= self._span, out=velocity)
        position[:] = self.position + self.velocity * np.minimum(age, self._span)

    def rest(self, places: Sequence[int], position: Array) -> None:
        """Stand at a position."""
        self.position[places], self.velocity[places] = position, 0.0
        self._span[places], self._at[places] = 0.0, -math.inf

    def clear(self) -> None:
        """Forget all."""
        self.velocity[:] = self._span[:] = 0.0
        self._at[:] = -math.inf
