"""The types of joints by name.

A new type is a declaration in `types` and a line in `JOINT_TYPES`: its coordinates, its units, its
motion and what holds of it are declared there, on numbers and symbols alike, and asked by
everything else.
"""

from __future__ import annotations

from ..closing_types import named_type
from .joint_type import CoordinatePart, JointType, MotionType
from .types import CONTINUOUS, FLOATING, PLANAR, PRISMATIC, REVOLUTE, SCREW, SPHERICAL, UNIVERSAL

JOINT_TYPES = {
    one.name: one
    for one in (
        JointType("fixed"),
        REVOLUTE,
        CONTINUOUS,
        PRISMATIC,
        PLANAR,
        FLOATING,
        SCREW,
        UNIVERSAL,
        SPHERICAL,
    )
}
"""The types of joints by name."""

__all__ = ["JOINT_TYPES", "CoordinatePart", "JointType", "MotionType", "joint_type"]

ELSEWHERE = {
    "cylindrical": "a revolute and a prismatic joint along one axis, with a link between",
}
"""How what other formats have is written here."""


def joint_type(name: str | None, what: str = "") -> JointType:
    """The joint type of that name.

    Raises
    ------
    ModelError
        There is none: the message, which `what` begins, lists those that there are.
    """
    return named_type(name, JOINT_TYPES, what, _known, ELSEWHERE)


def _known() -> str:
    known = f"the types of URDF are {_names(True)}"
    more = _names(False)
    return f"{known}; beyond URDF there are {more}" if more else known


def _names(in_urdf: bool) -> str:
    return ", ".join(one.name for one in JOINT_TYPES.values() if one.in_urdf is in_urdf)
