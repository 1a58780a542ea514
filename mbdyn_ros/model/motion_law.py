"""Laws of motion: positions as functions of that of a joint which leads, or of time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Sine:
    """amplitude sin(rate x + phase): amplitude in m or rad, rate in rad per unit of x."""

    amplitude: float
    rate: float
    phase: float = 0.0

    @property
    def fastest(self) -> float:
        """The greatest slope."""
        return abs(self.amplitude * self.rate)

    @property
    def shortest(self) -> float:
        """How far x goes in one period."""
        return math.inf if self.rate == 0.0 else 2 * math.pi / abs(self.rate)

    def text(self, x: str) -> str:
        """The law of a position in words."""
        return f"{self.amplitude:g} sin({self.rate:g} {x} + {self.phase:g})"

    def scaled(self, factor: float) -> Sine:
        """The law times a factor."""
        return replace(self, amplitude=factor * self.amplitude)


@dataclass(frozen=True)
class Rise:
    """From 0 to `height` (m or rad) while x goes from `start` on by `length`; else at rest.

    By the polynomial of fifth degree without acceleration at both ends (least jerk).
    """

    height: float
    start: float
    length: float

    @property
    def fastest(self) -> float:
        """The greatest slope, in the middle."""
        return 1.875 * abs(self.height) / self.length

    @property
    def shortest(self) -> float:
        """How far x goes meanwhile."""
        return self.length

    def text(self, x: str) -> str:
        """The law of a position in words."""
        return f"rise({x}: {self.height:g} from {self.start:g} to {self.start + self.length:g})"

    def scaled(self, factor: float) -> Rise:
        """The law times a factor."""
        return replace(self, height=factor * self.height)


MotionLaw = Sine | Rise

LAWS: dict[str, type[Sine] | type[Rise]] = {"sine": Sine, "rise": Rise}
"""Laws by the names that files have for them, which numbers in the order of fields follow."""
