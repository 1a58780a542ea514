"""Parts of XML that all formats share: numbers with all their digits, rotations, references."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

import numpy as np
from lxml import etree

from ...errors import writing
from ..model import Array
from ..read.placement import rotation_from_rpy

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def number(value: float) -> str:
    """The shortest text that is read as this number; no -0.0.

    >>> number(0.1), number(-0.0), number(2.0)
    ('0.1', '0', '2')
    """
    text = repr(float(value) + 0.0)
    return text[:-2] if text.endswith(".0") else text


def numbers(values: Iterable[float]) -> str:
    """Several, with spaces between."""
    return " ".join(map(number, values))


def element(parent: Element, tag: str, **attributes: str) -> Element:
    """A new element at the end of another."""
    return etree.SubElement(parent, tag, attributes)


def xml_text(root: Element) -> str:
    """A document as text, one element a line."""
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0"?>\n{text}\n'


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a file at once or not at all.

    Raises
    ------
    InputError
        It cannot be written.
    """
    target = Path(path)
    half = target.with_name(target.name + ".part")
    with writing(target):
        half.write_text(text, encoding="utf-8")
        half.replace(target)
    return target


def moved_reference(file: str, source: Path | None, target: Path | None) -> str:
    """How a file in the folder `target` names a file that one in the folder `source` named.

    Packages, web addresses and absolute paths stay, and so does all where `source` is not known;
    where `target` is not known the path becomes absolute.
    """
    parts = urlparse(file)
    if source is None or not file or len(parts.scheme) > 1 or Path(file).is_absolute():
        return file
    if target is None:
        return (source.resolve() / file).as_posix()
    if source.resolve() == target.resolve():
        return file
    return Path(os.path.relpath(source.resolve() / file, target.resolve())).as_posix()


def quaternion(rotation: Array) -> Array:
    """The unit quaternion (w, x, y, z) of a rotation (3, 3), w or the first other one positive.

    Examples
    --------
    >>> quaternion(np.diag([-1.0, -1.0, 1.0]))
    array([0., 0., 0., 1.])
    """
    r = rotation
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    squares = np.array([np.trace(r), *(2 * r.diagonal() - np.trace(r))])
    largest = int(np.argmax(squares))
    if largest == 0:
        found = np.array([1 + squares[0], *skew])
    else:
        k = largest - 1
        found = np.array([skew[k], *(r[k] + r[:, k])])
        found[1 + k] = 1 + squares[largest]
    found /= np.linalg.norm(found)
    leading = next(x for x in found if x)
    result: Array = np.where(found == 0, 0.0, found) * np.sign(leading)
    return result + 0.0


Angles = tuple[float, float, float]

QUARTER = math.pi / 2
DIGITS = range(1, 15)
"""Digits after the point with which people and programs write angles."""

WRITTEN = 1e-15
"""Angle (rad) within which a number is taken for the one that was written."""

STEPS = (0, -1, 1)
"""Of the last digit, around the nearest angles; they are tried together."""


def roll_pitch_yaw(rotation: Array) -> Angles:
    """The angles (rad) of Rz(yaw) Ry(pitch) Rx(roll).

    Those with few digits, if they give this rotation to the last bit, else the nearest of some.

    Examples
    --------
    >>> roll_pitch_yaw(np.array(rotation_from_rpy(0.1, 1.5708, -0.3)))
    (0.1, 1.5708, -0.3)
    """
    if (rotation == np.eye(3)).all():
        return 0.0, 0.0, 0.0
    wanted = tuple(tuple(row) for row in rotation.tolist())
    near = math.inf
    for angles in _candidates(_angles(rotation)):
        rows = rotation_from_rpy(*angles)
        if rows == wanted:
            return angles
        gap = float(np.abs(np.array(rows) - rotation).max())
        if gap < near:
            near, best = gap, angles
    return best


def _angles(rotation: Array) -> Angles:
    """The angles up to rounding, also where roll and yaw turn about one axis."""
    r = rotation
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    yaw = math.atan2(r[1, 0], r[0, 0])
    across = math.cos(yaw) * r[1] - math.sin(yaw) * r[0]  # the second row of Rz(-yaw) R
    return float(math.atan2(-across[2], across[1])), float(pitch), float(yaw)


def _candidates(angles: Angles) -> Iterator[Angles]:
    roll, pitch, yaw = angles
    other = roll - math.copysign(math.pi, roll), math.pi - pitch, yaw - math.copysign(math.pi, yaw)
    for those in (angles, other):
        roll, pitch, yaw = map(_as_written, those)
        yield roll, pitch, yaw
    for steps in itertools.product(STEPS, repeat=3):
        roll, pitch, yaw = (
            math.nextafter(angle, step * math.inf) if step else angle
            for angle, step in zip(angles, steps, strict=True)
        )
        yield roll, pitch, yaw


def _as_written(angle: float) -> float:
    """The angle that was probably written: quarters of a turn, then few digits."""
    quarter = round(angle / QUARTER) * QUARTER
    written = [quarter, *(round(angle, digits) for digits in DIGITS)]
    return next((one + 0.0 for one in written if abs(one - angle) < WRITTEN), angle)
