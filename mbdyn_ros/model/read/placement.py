"""Placements and directions read from a description: rotations exact where they can be.

A joint's child may have its frame elsewhere than where the joint leaves it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..joints.quaternion import rotation_rows
from ..model import Array, Joint, Link, Pose, constant
from ..pose import SNAPPED, Vector, rotation_from_rpy, snap_number
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


IDENTITY = Pose()
X_AXIS = constant((1.0, 0.0, 0.0), (3,))


def normalized(values: Vector) -> Vector | None:
    """The unit vector along `values`, None for zero; one that is unit already is kept as it is.

    >>> normalized((0.0, 0.0, -2.5)), normalized((0.0, 0.0, 0.0))
    ((0.0, 0.0, -1.0), None)
    """
    largest = max(abs(value) for value in values)
    if largest == 0.0:
        return None
    norm = math.hypot(*values)
    if abs(norm - 1.0) > SNAPPED:
        exponent = -math.frexp(largest)[1]  # a power of two: no rounding, no overflow
        values = tuple(math.ldexp(value, exponent) for value in values)
        norm = math.hypot(*values)
        values = tuple(value / norm for value in values)
    return tuple(snap_number(value) for value in values)


def read_pose(source: XmlSource, parent: Element, tag: str = "origin") -> Pose:
    """The `<origin>` of an element, or the child of another tag: identity where it is missing."""
    origin = source.child(parent, tag)
    return IDENTITY if origin is None else pose_of(source, origin)


def pose_of(source: XmlSource, origin: Element) -> Pose:
    """The pose in the attributes of an element; a missing xyz (m) or rpy (rad) is zero.

    The `quat_xyzw` of URDF 1.1 is read in a file that says it is one (`<robot version="1.1">`).
    """
    xyz = np.array(source.vector(origin, "xyz", (0.0, 0.0, 0.0)))
    if origin.get("quat_xyzw") is not None:
        return Pose(_read_quaternion(source, origin), xyz)
    rpy = source.vector(origin, "rpy", (0.0, 0.0, 0.0))
    return Pose(np.array(rotation_from_rpy(*rpy)) if any(rpy) else IDENTITY.rotation, xyz)


def in_degrees(rpy: Iterable[float]) -> str:
    """Words about angles that can hardly be radians; empty where they can.

    >>> in_degrees((0.0, 90.0, 0.0))[:27], in_degrees((0.0, 1.57, -3.15))
    ('rpy="0 90 0" looks like deg', '')
    """
    angles = tuple(rpy)
    if max(map(abs, angles)) <= 2 * math.pi:
        return ""
    return (
        f'rpy="{" ".join(f"{angle:g}" for angle in angles)}" looks like degrees: it turns by more '
        "than a whole turn. Angles are in radians; 90 degrees are 1.5707963267948966"
    )


def read_axis(source: XmlSource, parent: Element, tag: str = "axis") -> Array:
    """The unit vector along the `<axis>` of an element: (1, 0, 0) where it is missing."""
    axis = source.child(parent, tag)
    if axis is None:
        return X_AXIS
    unit = normalized(source.vector(axis, "xyz", (1.0, 0.0, 0.0)))
    if unit is None:
        raise source.error(
            axis, f'xyz="{axis.get("xyz")}" has no direction; give one such as "0 0 1"'
        )
    return np.array(unit)


def _read_quaternion(source: XmlSource, origin: Element) -> Array:
    if source.root.get("version", "1.0") in ("1", "1.0"):
        raise source.error(
            origin,
            f'quat_xyzw="{origin.get("quat_xyzw")}" needs URDF 1.1; write '
            '<robot version="1.1"> or give rpy',
        )
    if origin.get("rpy") is not None:
        raise source.error(origin, "has both rpy and quat_xyzw; keep one")
    quaternion = normalized(source.vector(origin, "quat_xyzw", (0.0, 0.0, 0.0, 1.0)))
    if quaternion is None:
        raise source.error(origin, 'quat_xyzw="0 0 0 0" has no direction; no turn is "0 0 0 1"')
    return np.array([[snap_number(entry) for entry in row] for row in rotation_rows(*quaternion)])


COMPOSED = 1e-14
"""Entries of rotations, and lengths (m), that composing placements leaves instead of 0 or 1."""

TURNED_ALONG = ("revolute", "continuous", "prismatic", "screw", "spherical", "floating")
"""Types whose motion is the same when joint and axis are turned alike."""


def placed_joint(joint: Joint, end: Pose) -> tuple[list[Joint], list[Link]]:
    """The joint to its child where that is at `end` in the frame that the joint moves.

    Where another place of the joint on its axis will do, that is all. Else the joint moves the
    link `name/axis` of no mass, to which the joint `name/end` fixes the child.

    Returns
    -------
    joints, links
        The joints that replace it, and the links between.
    """
    origin, axis, kind = joint.origin, joint.axis, joint.kind
    if not kind.nv:
        return [replace(joint, origin=snapped(origin @ end))], []
    if joint.type in TURNED_ALONG:
        origin, axis = origin @ Pose(end.rotation), end.rotation.T @ axis
        end = Pose(translation=end.rotation.T @ end.translation)
        along = end.translation
        if joint.type != "prismatic":
            along = axis * (axis @ along) if kind.has_axis else np.zeros(3)
        origin, end = origin @ Pose(translation=along), Pose(translation=end.translation - along)
    joint, end = replace(joint, origin=snapped(origin), axis=tidy(axis)), snapped(end)
    if np.array_equal(end.matrix(), np.eye(4)):
        return [joint], []
    between = Link(f"{joint.name}/axis", line=joint.line)
    fixed = Joint(f"{joint.name}/end", "fixed", between.name, joint.child, end, line=joint.line)
    return [replace(joint, child=between.name), fixed], [between]


def snapped(pose: Pose) -> Pose:
    """The pose with 0 and 1 where composing has left something near them."""
    return Pose(tidy(pose.rotation), tidy(pose.translation, (0.0,)))


def tidy(values: Array, exact: tuple[float, ...] = (0.0, 1.0, -1.0)) -> Array:
    """Numbers that are exactly those which they nearly are."""
    result = np.array(values)
    for number in exact:
        result[np.abs(result - number) <= COMPOSED] = number
    return result
