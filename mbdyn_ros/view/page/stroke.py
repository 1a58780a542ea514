"""The motion of one coordinate that pages play: there and back, or around."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...model.model import Array

STROKE_POINTS = 360
"""Instants of a period; one more closes it."""

CLEARANCE = 0.02
"""Share of the reach that is left free where loops end it: dependent joints race there."""


@dataclass(frozen=True)
class Stroke:
    """One period between `low` and `high` (rad or m), s.

    There and back as the cosine; or, where it `turns`, from one to the other at constant speed.
    """

    low: float
    high: float
    period: float
    turns: bool = False

    @property
    def times(self) -> Array:
        """The instants (N,), s, from 0 to the period."""
        return np.linspace(0.0, self.period, STROKE_POINTS + 1)

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at times.

        Examples
        --------
        >>> position, velocity, acceleration = Stroke(-1.0, 1.0, 2.0).at(np.array([0.0, 1.0]))
        >>> position.tolist(), velocity.round(12).tolist()
        ([-1.0, 1.0], [0.0, 0.0])
        """
        if self.turns:
            speed = (self.high - self.low) / self.period
            return self.low + speed * time, np.full_like(time, speed), np.zeros_like(time)
        w, half = 2 * math.pi / self.period, (self.high - self.low) / 2
        return (
            self.low + half * (1 - np.cos(w * time)),
            half * w * np.sin(w * time),
            half * w * w * np.cos(w * time),
        )

    def share_at(self, value: float) -> float:
        """The share of the period at which the coordinate first has a value."""
        travelled = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return travelled if self.turns else math.acos(1 - 2 * travelled) / (2 * math.pi)
