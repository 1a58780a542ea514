"""Flat solids in a scene: outlines in a plane, of as many corners each, between two heights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...model.model import Array
from .scene import Skin

CORNERS = 48
"""Corners of an outline; always as many, so that a length changes points alone."""


def rounded_outline(pins: Sequence[tuple[float, float]], radius: float) -> Array:
    """The outline (CORNERS, 2) of all that is within `radius` of the hull of some points, m.

    Examples
    --------
    >>> rounded_outline([(0, 0), (0.3, 0)], 0.02).max(axis=0).round(6)
    array([0.32, 0.02])
    """
    angle = np.arange(CORNERS) * (2 * np.pi / CORNERS)
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.array(pins, dtype=np.float64)
    farthest = np.argmax(directions @ points.T, axis=1)
    return points[farthest] + radius * directions


def block_outline(length: float, width: float) -> Array:
    """A rectangle (CORNERS, 2) about the origin, its corners cut a little, m."""
    x, y = length / 2, width / 2
    cut = 0.15 * min(length, width)
    pins = [(sx * (x - cut), sy * (y - cut)) for sx in (-1, 1) for sy in (-1, 1)]
    return rounded_outline(pins, cut)


def toothed_outline(radius: float, tooth: float) -> Array:
    """A wheel (CORNERS, 2) about the origin: corners by turns inside and outside of `radius`, m."""
    angle = np.arange(CORNERS) * (2 * np.pi / CORNERS)
    far = radius + 0.5 * tooth * np.where(np.arange(CORNERS) % 4 < 2, 1.0, -1.0)
    return np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)


def flat_solid(outline: Array, low: float, high: float) -> Skin:
    """An outline (CORNERS, 2) as a solid from z = low to high."""
    middle = outline.mean(axis=0)
    rings = [np.column_stack([outline, np.full(len(outline), z)]) for z in (low, high)]
    return Skin(np.concatenate([*rings, [[*middle, low], [*middle, high]]]), FACES)


def _faces() -> NDArray[np.int64]:
    here = np.arange(CORNERS)
    following = np.roll(here, -1)
    bottom, top = 2 * CORNERS, 2 * CORNERS + 1
    return np.concatenate(
        [
            np.stack([here, following, following + CORNERS], axis=1),
            np.stack([here, following + CORNERS, here + CORNERS], axis=1),
            np.stack([following, here, np.full(CORNERS, bottom)], axis=1),
            np.stack([here + CORNERS, following + CORNERS, np.full(CORNERS, top)], axis=1),
        ]
    )


FACES = _faces()
"""Triangles (m, 3) of every flat solid, seen counter-clockwise from outside."""
