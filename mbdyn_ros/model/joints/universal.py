"""Two turns about axes that cross at a right angle, both across the joint's axis: Cardan's joint.

It bends the axis in two directions and does not twist about it, as a universal closing joint.
"""

from __future__ import annotations

from ..pose import Array, across
from .joint_type import JointAxis, JointType
from .revolute import Revolute


def first_pin(axis: Array) -> Array:
    """The pin in the parent."""
    return across(axis)[0]


def second_pin(axis: Array) -> Array:
    """The pin in the child."""
    return across(axis)[1]


UNIVERSAL = JointType(
    "universal",
    (JointAxis(Revolute(), "first", first_pin), JointAxis(Revolute(), "second", second_pin)),
    in_urdf=False,
)
