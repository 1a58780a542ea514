"""Velocity and acceleration polygons of a mechanism: the images of its parts."""

from __future__ import annotations

import functools

import numpy as np

from ...view.colors import color_of
from ...view.page.charts import Curve
from ..link import Block, Wheel
from ..plane_motion import PlaneMotion
from .run import DesignRun

POLYGONS = {"velocity polygon": "m/s", "acceleration polygon": "m/s²"}
"""Polygons that are shown, and their units."""


class Polygon:
    """The polygons of one run: every part is a line between what its pins do, from the pole."""

    def __init__(self, run: DesignRun) -> None:
        self._run = run

    @functools.cached_property
    def _images(self) -> dict[str, list[tuple[str, np.ndarray]]]:
        """By polygon: every part and what its pins do; found when one is first looked at."""
        moves = PlaneMotion(self._run.analysis)
        images: dict[str, list[tuple[str, np.ndarray]]] = {}
        for name, find in zip(POLYGONS, (moves.velocity, moves.acceleration), strict=True):
            images[name] = []
            for part in self._run.mechanism.layout().parts:
                ends = [find(part.name, at) for at in part.piece.pins]
                if isinstance(part.piece, (Block, Wheel)):
                    ends = [np.zeros_like(ends[0]), *ends]
                elif len(ends) > 2:
                    ends.append(ends[0])
                images[name].append((part.name, np.array(ends)))
        return images

    def lines(self, name: str, row: int) -> list[Curve]:
        """One line a part, over x, at an instant; all begin or end at the pole where it stands."""
        return [
            Curve(part, ends[:, row].imag, color_of(k), width=2.5, x=ends[:, row].real)
            for k, (part, ends) in enumerate(self._images[name])
        ]
