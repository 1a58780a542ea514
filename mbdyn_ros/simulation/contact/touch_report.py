"""The report on an environment: what of a robot may touch what."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TouchReport:
    """Words on what may touch what; `str(report)` is for people, `to_dict()` for programs.

    Attributes
    ----------
    surfaces : names of the walls.
    points : link name -> number of its points, balls and rims that may touch any wall.
    pairs : the links that may touch each other.
    stops : words for the limits of joints that are stops.
    """

    surfaces: tuple[str, ...]
    points: dict[str, int]
    pairs: tuple[tuple[str, str], ...]
    stops: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = []
        if self.points:
            links = ", ".join(f"{link} ({count})" for link, count in self.points.items())
            lines.append(f"walls {', '.join(self.surfaces)}: points of {links}")
        if self.pairs:
            pairs = ", ".join(f"{one} and {other}" for one, other in self.pairs)
            lines.append(f"links on each other: {pairs}")
        if self.stops:
            lines.append(f"stops: {', '.join(self.stops)}")
        return "\n".join(lines) or "nothing touches anything"
