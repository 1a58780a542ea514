"""Places of the parts of a mechanism as numbers: for pictures, coupler curves and joint angles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..equations.algebra.complex_plane import Complex
from ..model.model import Array
from .layout import (
    GROUND,
    GearMesh,
    MechanismLayout,
    SolvedPosition,
    directions,
    origins,
    wheel_radii,
)
from .link import Wheel

Points = NDArray[np.complex128]

RIM = np.linspace(0.0, 2 * np.pi, 49)
"""Angles of the points of a drawn wheel, rad."""


@dataclass(frozen=True)
class MechanismPose:
    """The position of a mechanism at N states, points as complex numbers x + i y (m).

    origins, directions : (N,) of every part by name, and of the ground.
    slides : (N,) m, of the parts that slide. counted : (N,) rad, angles of wheels in the plane,
    however far they turn.
    """

    layout: MechanismLayout
    origins: Mapping[str, Points]
    directions: Mapping[str, Points]
    slides: Mapping[str, Array]
    counted: Mapping[str, Array]

    @staticmethod
    def of(layout: MechanismLayout, solved: SolvedPosition, count: int) -> MechanismPose:
        """From the solved position."""

        def dense(parts: Mapping[str, Complex]) -> dict[str, Points]:
            return {
                name: np.broadcast_to(one.re + 1j * np.asarray(one.im), (count,)).astype(complex)
                for name, one in parts.items()
            }

        slides, counted = (
            {name: np.broadcast_to(one, (count,)) for name, one in values.items()}
            for values in (solved.slides, solved.angles)
        )
        places = dense(origins(layout, solved)), dense(directions(layout, solved))
        return MechanismPose(layout, *places, slides, counted)

    def point(self, part: str, at: tuple[float, float]) -> Points:
        """A point of a part, given along and across it: its curve."""
        return self.origins[part] + self.directions[part] * complex(*at)

    def outline(self, part: str) -> list[Points]:
        """Points of a part, to draw it: its pins, and of a wheel its pitch circle."""
        piece = next(one.piece for one in self.layout.parts if one.name == part)
        points = list(piece.pins)
        if isinstance(piece, Wheel):
            rim = wheel_radii(self.layout).get(part, 0.0) * np.exp(1j * RIM)
            points += [(one.real, one.imag) for one in rim]
        return [self.point(part, at) for at in points]

    def pitch_point(self, mesh: GearMesh) -> Points:
        """Where two wheels that mesh touch; of those on one axle, the axle."""
        driver, driven = (
            self.origins[mesh.carrier if one == GROUND else one]
            for one in (mesh.driver, mesh.driven)
        )
        return driver + (driven - driver) * (mesh.ratio / (mesh.ratio - 1))

    def angles(self) -> dict[str, Array]:
        """Angle of every turning part from x (rad), continuous from state to state."""
        return {part.name: self._angle(part.name) for part in self.layout.parts if not part.slides}

    def _angle(self, part: str) -> Array:
        if part in self.counted:
            return self.counted[part]
        return np.unwrap(np.angle(self.directions[part]))

    def joint_positions(self) -> Array:
        """(N, joints): turn of every part in its parent, continuous, or its slide (m)."""
        columns = []
        for part in self.layout.parts:
            if part.slides:
                columns.append(self.slides[part.name])
            elif part.name in self.counted:
                columns.append(self.counted[part.name] - self._angle(part.parent))
            else:
                turn = self.directions[part.name] / self.directions[part.parent]
                columns.append(np.unwrap(np.angle(turn)))
        return np.stack(columns, axis=-1)
