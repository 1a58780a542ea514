"""The modes of control: the law of each, its gains, and its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..program.declaration import Declaration
from . import control_laws as laws


@dataclass(frozen=True)
class Mode:
    """One mode of control.

    law : its program.
    follows : "joints" or "pose": a motion of the joints or of a link; "" for nothing.
    gains : inputs of the law by the names that users give them.
    """

    law: Declaration
    follows: str
    gains: Mapping[str, str]


MODES = {
    "gravity_compensation": Mode(
        laws.gravity_compensation, "", {"guiding_damping": "damping"}
    ),
    "computed_torque": Mode(laws.computed_torque, "joints", {"kp": "kp", "kd": "kd"}),
    "joint_impedance": Mode(
        laws.joint_impedance, "joints", {"joint_stiffness": "stiffness", "joint_damping": "damping"}
    ),
    "virtual_decomposition": Mode(
        laws.virtual_decomposition, "joints",
        {"required_rate": "rate", "body_rate": "body_rate", "required_damping": "damping"},
    ),
    "cartesian_impedance": Mode(
        laws.cartesian_impedance, "pose",
        {
            "link_stiffness": "stiffness", "link_damping": "damping",
            "posture_stiffness": "posture_stiffness", "posture_damping": "posture_damping",
        },
    ),
}  # fmt: skip
"""The modes by name. Gains of a link are along and about the world's axes (x y z, then about them),
all others are those of the independent joints."""

AXES_OF_LINK = ("x", "y", "z", "about x", "about y", "about z")
"""Directions of the numbers in a link's gains."""


def gains() -> dict[str, Mode]:
    """The mode of every gain, by its name."""
    return {name: mode for mode in MODES.values() for name in mode.gains}
