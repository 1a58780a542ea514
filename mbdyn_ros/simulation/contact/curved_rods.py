"""Rods along circular arcs, as points of a robot: pieces, of which each has one nearest place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arguments import single_vector
from ...array import Array
from ...equations.contact.arcs import PLANES, SPHERES, kind_of
from ...errors import InputError
from .points import Point
from .surfaces import XYZ, Surface, number_within

LEAST_PIECES = 3
"""Pieces of a rod: less than half a turn each, one for either end and one for the middle."""

WIDEST = np.radians(30)
"""Angle of a piece, rad, at most, where walls are other than planes and spheres."""

STRAIGHT = 1e-6
"""Sine of the angle between both halves below which a rod is straight."""


@dataclass(frozen=True)
class CurvedRod:
    """A rod along a circular arc, as a point of `Environment(points=...)`: it touches walls.

    Parameters
    ----------
    link : name of the link.
    start, through, end : (3,) m in the link's frame: both ends of the centre line, and a place in
        between, through which the arc goes.
    radius : m, of its round cross-section; its ends are half balls.

    Raises
    ------
    InputError
        The places are on a straight line or coincide, or the radius is not above 0 and below that
        of the arc.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.simulation import CurvedRod
    >>> rod = CurvedRod("rod", (0, 0, 0), (0.5, 0, 0.1), (1, 0, 0), radius=0.02)
    >>> rocker = mbdyn_ros.Environment([mbdyn_ros.Surface.plane()], points=[rod])
    >>> len(rocker.points)
    3
    """

    link: str
    start: Sequence[float]
    through: Sequence[float]
    end: Sequence[float]
    radius: float

    def __post_init__(self) -> None:
        start, through, end = self._places()
        first, second = through - start, end - through
        size = float(np.linalg.norm(first) * np.linalg.norm(second))
        if not float(np.linalg.norm(np.cross(first, second))) > STRAIGHT * size:
            raise InputError(
                f"{self._what} goes from {start.tolist()} through {through.tolist()} to "
                f"{end.tolist()} m, which is straight: give three places that are not on a line, "
                "or two balls (link, xyz, radius) at the ends of a straight rod"
            )
        thick = number_within(f"{self._what}: radius", self.radius, np.inf, "of metres above 0")
        center, *_ = self._arc()
        bend = float(np.linalg.norm(start - center))
        if not 0 < thick < bend:
            raise InputError(
                f"{self._what}: radius is {thick:g} m; it must be above 0 and below that of its "
                f"arc, {bend:g} m"
            )

    @property
    def _what(self) -> str:
        return f"the curved rod on link {self.link!r}"

    def _places(self) -> list[Array]:
        names = ("start", "through", "end")
        return [single_vector(f"{self._what}: {one}", getattr(self, one), XYZ) for one in names]

    def _arc(self) -> tuple[Array, Array, float]:
        """The centre (3,) m, the axis (3,) about which it goes from start to end, and its angle."""
        start, through, end = self._places()
        first, whole = through - start, end - start
        normal = np.cross(first, whole)
        square = float(normal @ normal)
        center = start + (
            float(first @ first) * np.cross(whole, normal)
            + float(whole @ whole) * np.cross(normal, first)
        ) / (2 * square)  # fmt: skip
        axis: Array = normal / np.sqrt(square)
        one, other = start - center, end - center
        angle = float(np.arctan2(np.cross(one, other) @ axis, one @ other)) % (2 * np.pi)
        return center, axis, angle

    def pieces(self, count: int) -> list[Point]:
        """The rod in `count` pieces, from start to end."""
        center, axis, angle = self._arc()
        arm = self._places()[0] - center
        half, found = angle / (2 * count), []
        for k in range(count):
            turn = (2 * k + 1) * half
            out = np.cos(turn) * arm + np.sin(turn) * np.cross(axis, arm)
            ways = np.column_stack([out, np.cross(axis, out)])
            x, y, z = (center + out).tolist()
            rows = tuple(map(tuple, ways.tolist()))
            found.append(Point(self.link, (x, y, z), float(self.radius), rows, half))
        return found

    def among(self, surfaces: Sequence[Surface]) -> list[Point]:
        """Its pieces, as many as these walls need."""
        count = LEAST_PIECES
        kinds = {kind_of(face) for wall in surfaces for face in wall.faces}
        if not kinds <= {PLANES, SPHERES}:
            count = max(count, int(np.ceil(self._arc()[2] / WIDEST - 1e-9)))
        return self.pieces(count)


def with_pieces(points: Iterable[Any], surfaces: Sequence[Surface]) -> list[Any]:
    """Points, with the pieces of curved rods in their place."""
    found: list[Any] = []
    for one in points:
        found += one.among(surfaces) if isinstance(one, CurvedRod) else [one]
    return found
