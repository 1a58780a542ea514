"""The words of an SDF: numbers, vectors and poses in the text of elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ....number import LARGEST, to_finite, to_float
from ...joints.quaternion import rotation_rows
from ...model import Pose
from ...roll_pitch_yaw import rotation_from_rpy
from ..placement import normalized, tidy
from ..xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

NO_BOUND = 1e16
"""Limits from here on are what SDF writes for none."""


def text_of(document: XmlSource, parent: Element | None, tag: str) -> str:
    """The text of a child; empty where it is not there."""
    child = None if parent is None else document.child(parent, tag)
    return "" if child is None else (child.text or "").strip()


def numbers_of(document: XmlSource, element: Element, count: tuple[int, ...]) -> list[float]:
    """The finite numbers in the text of an element, one of the counts of them; none for none."""
    words = (element.text or "").split()
    values = [to_finite(word) for word in words]
    found = [one for one in values if one is not None]
    if len(found) != len(words) or len(words) not in (0, *count):
        raise document.error(
            element,
            f'"{" ".join(words)}" is not {" or ".join(map(str, count))} finite numbers '
            f"(below {LARGEST:g})",
        )
    return found


def number(
    document: XmlSource, parent: Element | None, tag: str, default: float, infinite: bool = False
) -> float:
    """The number in a child; `default` where there is no child, or nothing in it."""
    child = None if parent is None else document.child(parent, tag)
    if child is None or not (child.text or "").strip():
        return default
    if infinite:
        value = to_float((child.text or "").strip())
        if value is not None and not math.isnan(value):
            return value if abs(value) < NO_BOUND else math.copysign(math.inf, value)
    return numbers_of(document, child, (1,))[0]


def vector(
    document: XmlSource, parent: Element | None, tag: str, default: tuple[float, ...]
) -> tuple[float, ...]:
    """The numbers in a child, as many as `default` has."""
    child = None if parent is None else document.child(parent, tag)
    found = [] if child is None else numbers_of(document, child, (len(default),))
    return tuple(found) or default


def truth(document: XmlSource, parent: Element, tag: str, default: bool = False) -> bool:
    """The true or false in a child."""
    word = text_of(document, parent, tag).lower()
    if word not in ("", "true", "false", "1", "0"):
        raise document.error(parent, f"<{tag}> is {word!r}; write true or false")
    return word in ("true", "1") if word else default


def pose_of(document: XmlSource, element: Element | None) -> Pose:
    """The pose in a `<pose>`: xyz (m) and roll, pitch, yaw, or a quaternion; identity for none."""
    if element is None:
        return Pose()
    form = element.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        raise document.error(element, f'rotation_format="{form}" is not euler_rpy or quat_xyzw')
    values = numbers_of(document, element, (6,) if form == "euler_rpy" else (7,))
    if not values:
        return Pose()
    if form == "euler_rpy":
        degrees = element.get("degrees", "false").lower() in ("true", "1")
        angles = (math.radians(one) if degrees else one for one in values[3:])
        return Pose(np.array(rotation_from_rpy(*angles)), np.array(values[:3]))
    quaternion = normalized(tuple(values[3:]))
    if quaternion is None:
        raise document.error(element, "the quaternion 0 0 0 0 has no direction; no turn is 0 0 0 1")
    return Pose(tidy(np.array(rotation_rows(*quaternion))), np.array(values[:3]))
