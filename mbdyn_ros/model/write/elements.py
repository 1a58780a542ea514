"""Parts of XML that all formats share: numbers with all their digits, and shapes' references."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from lxml import etree

from ...errors import InputError

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
    try:
        half.write_text(text, encoding="utf-8")
        half.replace(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from None
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
