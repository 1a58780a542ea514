"""A motion in the plane across an axis: two slides and a turn."""

from __future__ import annotations

from ..pose import Array, rotation_onto
from .joint_type import JointAxis, JointType
from .prismatic import Prismatic
from .revolute import Revolute


def first_across(axis: Array) -> Array:
    """The x axis of the plane, turned with z onto the axis by the shortest way."""
    return rotation_onto(axis)[:, 0]


def second_across(axis: Array) -> Array:
    """The y axis of the plane."""
    return rotation_onto(axis)[:, 1]


PLANAR = JointType(
    "planar",
    (
        JointAxis(Prismatic(), "x", first_across),
        JointAxis(Prismatic(), "y", second_across),
        JointAxis(Revolute(), "theta"),
    ),
)
