"""The outcome of a demonstration for one robot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbdyn_ros.model.model import Array


@dataclass
class Path:
    """The gap between the tool and its way, m, at times, s.

    longest_hold : the longest time for which the robot moved by the same efforts, s.
    """

    time: Array = field(default_factory=lambda: np.zeros(1))
    error: Array = field(default_factory=lambda: np.zeros(1))
    longest_hold: float = 0.0

    @property
    def rms_mm(self) -> float:
        """Root of the mean square, mm."""
        return 1e3 * float(np.sqrt(np.mean(self.error**2)))

    @property
    def max_mm(self) -> float:
        """Largest, mm."""
        return 1e3 * float(self.error.max())


@dataclass
class PlannedPaths:
    """The tool on a way that was planned in angles, by forces of cylinders and by their positions.

    points : of the plan, and with those that efforts needed besides.
    """

    effort: Path = field(default_factory=lambda: Path())
    position: Path = field(default_factory=lambda: Path())
    points: tuple[int, int] = (0, 0)


@dataclass
class Outcome:
    """The numbers that came back for one robot."""

    name: str
    service_error: float = 0.0
    service_ms: float = 0.0
    trajectory_error: float = 0.0
    trajectory_ms: float = 0.0
    received: int = 0
    rate: float = 0.0
    worst_gap_ms: float = 0.0
    longest_hold: float = 0.0
    work: float = 0.0
    loss: float = 0.0
    energy_change: float = 0.0
    imbalance: float = 0.0
    tracking_error: float = 0.0
    loops: bool = False
    path: Path = field(default_factory=lambda: Path())
    path_without: Path = field(default_factory=lambda: Path())
    pd_share: float = 0.0
    pd_shares: list[float] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    time: Array = field(default_factory=lambda: np.zeros(0))
    wanted: Array = field(default_factory=lambda: np.zeros((0, 0)))
    position: Array = field(default_factory=lambda: np.zeros((0, 0)))
    effort: Array = field(default_factory=lambda: np.zeros((0, 0)))
