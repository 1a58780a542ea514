"""A turn about an axis that carries its body along it: a nut on a spindle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..pose import Array
from .joint_type import ANGLE, JointAxis, JointType, MotionType, Number


@dataclass(frozen=True)
class Screw(MotionType):
    """A turn about the axis and a way of `pitch` times its angle along it (m/rad)."""

    pitch: float = math.nan

    kind = "screw"
    positions = velocities = ANGLE
    is_hinge = True

    def subspace(self, axis: Array) -> tuple[Array, Array]:
        return axis.reshape(3, 1), self.pitch * axis.reshape(3, 1)

    def shift(self, axis: Any, q: Any) -> Any:
        return axis * (self.pitch * q[0])


PITCH = Number("pitch", "way along the axis in metres per radian (the lead divided by 2 pi)")

SCREW = JointType("screw", (JointAxis(Screw()),), in_urdf=False, numbers=(PITCH,))
