"""A turn in any direction as three turns about axes, as URDF's `rpy`: yaw, pitch, roll."""

from __future__ import annotations

from .joint_type import Step, in_parent
from .revolute import Revolute

YAW_PITCH_ROLL = (
    Step(Revolute(), "yaw", in_parent(0.0, 0.0, 1.0)),
    Step(Revolute(), "pitch", in_parent(0.0, 1.0, 0.0)),
    Step(Revolute(), "roll", in_parent(1.0, 0.0, 0.0)),
)
"""Outwards: R = Rz(yaw) Ry(pitch) Rx(roll). At a pitch of a quarter turn yaw and roll are one."""
