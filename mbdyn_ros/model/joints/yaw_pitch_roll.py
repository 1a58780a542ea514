"""A turn in any direction as three turns about axes, as URDF's `rpy`: yaw, pitch, roll."""

from __future__ import annotations

from ..pose import Array, constant
from .joint_type import Step
from .revolute import Revolute


def _about(axis: list[float]) -> Array:
    return constant(axis, (3,))


YAW_PITCH_ROLL = (
    Step(Revolute(), "yaw", lambda _: _about([0.0, 0.0, 1.0])),
    Step(Revolute(), "pitch", lambda _: _about([0.0, 1.0, 0.0])),
    Step(Revolute(), "roll", lambda _: _about([1.0, 0.0, 0.0])),
)
"""Outwards: R = Rz(yaw) Ry(pitch) Rx(roll). At a pitch of a quarter turn yaw and roll are one."""
