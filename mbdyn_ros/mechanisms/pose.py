"""Places of the parts of a mechanism as numbers: for pictures, coupler curves and joint angles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..equations.algebra.complex_plane import Complex
from ..model.model import Array
from .layout import Layout, Solved, directions, origins

Points = NDArray[np.complex128]


@dataclass(frozen=True)
class Pose:
    """The position of a mechanism at N states, points as complex numbers x + i y (m).

    origins, directions : (N,) of every part by name, and of the ground.
    slides : (N,) m, of the parts that slide.
    """

    layout: Layout
    origins: Mapping[str, Points]
    directions: Mapping[str, Points]
    slides: Mapping[str, Array]

    @staticmethod
    def of(layout: Layout, solved: Solved, count: int) -> Pose:
        """From the solved position."""

        def dense(parts: Mapping[str, Complex]) -> dict[str, Points]:
            return {
                name: np.broadcast_to(one.re + 1j * np.asarray(one.im), (count,)).astype(complex)
                for name, one in parts.items()
            }

        slides = {name: np.broadcast_to(one, (count,)) for name, one in solved.slides.items()}
        return Pose(
            layout, dense(origins(layout, solved)), dense(directions(layout, solved)), slides
        )

    def point(self, part: str, at: tuple[float, float]) -> Points:
        """A point of a part, given along and across it: its curve."""
        return self.origins[part] + self.directions[part] * complex(*at)

    def outline(self, part: str) -> list[Points]:
        """The pins of a part, to draw it: one for a block, two, or three."""
        piece = next(one.piece for one in self.layout.parts if one.name == part)
        return [self.point(part, at) for at in piece.pins]

    def angles(self) -> dict[str, Array]:
        """Angle of every turning part from x (rad), continuous from state to state."""
        return {
            part.name: np.unwrap(np.angle(self.directions[part.name]))
            for part in self.layout.parts
            if not part.slides
        }

    def joint_positions(self) -> Array:
        """(N, joints): turn of every part in its parent, continuous, or its slide (m)."""
        columns = []
        for part in self.layout.parts:
            if part.slides:
                columns.append(self.slides[part.name])
            else:
                turn = self.directions[part.name] / self.directions[part.parent]
                columns.append(np.unwrap(np.angle(turn)))
        return np.stack(columns, axis=-1)


