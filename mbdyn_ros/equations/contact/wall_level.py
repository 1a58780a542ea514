"""Program of a curved wall by itself, which compiled steps ask where whole shapes touch it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...program.program import Closing, program
from ...program.symbols import serialized
from ..algebra.spatial import SX, by_rows


@dataclass(frozen=True, eq=False)
class WallFace:
    """One face of a wall, as the subject of a program.

    face : g, its gradient and second derivatives of a world point, see `face_of`.
    """

    face: ca.Function
    parameters: SX | None = None
    with_home: bool = False
    quaternions: tuple[int, ...] = ()

    @property
    def closing(self) -> Closing:
        """No loops."""
        return Closing((), (), np.zeros(0), list)

    def shape(self, name: str) -> tuple[int, int]:
        """The point."""
        return 3, 1

    @serialized
    def digest(self) -> str:
        """Hash of the equations of the wall."""
        return hashlib.sha256(self.face.serialize().encode()).hexdigest()


@program("x", output="level", internal=True)
def wall_level(wall: WallFace, x: SX, z: SX) -> SX:
    """g (1), its gradient (3) and second derivatives (9) at a point x (3, 1)."""
    value, gradient, second = wall.face(x)
    return ca.vertcat(value, gradient, by_rows(ca.densify(second)))
