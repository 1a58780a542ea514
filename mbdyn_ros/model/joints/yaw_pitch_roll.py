"""A turn in any direction as three turns about axes, as URDF's `rpy`: yaw, pitch, roll."""

from __future__ import annotations

from .joint_type import JointAxis, in_parent
from .revolute import Revolute

YAW_PITCH_ROLL = (
    JointAxis(Revolute(), "yaw", in_parent(0.0, 0.0, 1.0)),
    JointAxis(Revolute(), "pitch", in_parent(0.0, 1.0, 0.0)),
    JointAxis(Revolute(), "roll", in_parent(1.0, 0.0, 0.0)),
)
"""Outwards: R = Rz(yaw) Ry(pitch) Rx(roll). At a pitch of a quarter turn yaw and roll are one."""
