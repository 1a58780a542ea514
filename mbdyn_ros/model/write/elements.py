"""Parts of XML that all formats share: numbers with all their digits, rotations, references."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

import numpy as np
from lxml import etree

from ...errors import writing
from ..model import Array

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
