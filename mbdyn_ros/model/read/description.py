"""A robot's description, whatever format it is in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ...errors import ModelError
from ..model import Model
from .dh_table import read_dh_table
from .mjcf.mjcf import read_mjcf
from .sdf.sdf import read_sdf
from .source_text import TEXT, NamedText, Source, load_text
from .urdf import read_urdf
from .xacro.xacro import expand_xacro
from .xml_source import OUTERMOST, parse_xml

SUFFIXES = (".yaml", ".yml")
"""Endings of files that hold a DH table."""

JOINTS = re.compile(r"""(?:^|[{,])\s*["']?joints["']?\s*:""", re.MULTILINE)

FORMATS = {"robot": read_urdf, "mujoco": read_mjcf, "sdf": read_sdf}
"""The formats of XML by the name of their outermost element, and their readers."""


def read_description(source: Source, xacro: Mapping[str, object] | None = None) -> Model:
    """Read a URDF or a DH table.

    Parameters
    ----------
    source : a path, or the text; see `is_dh_table` for what is taken as a table.
    xacro : see `described`.

    Raises
    ------
    ModelError
        As `described`, `read_urdf` and `read_dh_table`.

    Examples
    --------
    >>> read_description('<robot name="still"><link name="stone"/></robot>').root
    'stone'
    """
    found = described(source, xacro)
    if not isinstance(found, NamedText):
        return read_dh_table(found)
    return FORMATS.get(outermost(found.text), read_urdf)(found)


def described(source: Source, xacro: Mapping[str, object] | None = None) -> Source:
    """The XML of a description, xacro expanded; a DH table as it is given.

    Parameters
    ----------
    source : a path, or the text.
    xacro : arguments for xacro. A file that is xacro is expanded without them too, text only with
        them (they may be empty).

    Raises
    ------
    ModelError
        There is no such file, or it cannot be expanded.
    """
    if is_dh_table(source):
        return source
    if xacro is not None or is_xacro(source):
        return expand_xacro(source, xacro)
    return NamedText(*load_text(source))


def outermost(text: str) -> str:
    """The name of the outermost element of a document; empty where there is none."""
    found = OUTERMOST.match(text)
    return found.group(1) if found else ""


def is_dh_table(source: object) -> bool:
    """Whether a source is a DH table: a file that ends in .yaml or .yml, or YAML with `joints`.

    Examples
    --------
    >>> is_dh_table("arm.yaml"), is_dh_table("arm.urdf"), is_dh_table("joints:\\n- {name: elbow}")
    (True, False, True)
    """
    if isinstance(source, os.PathLike):
        return Path(source).suffix.lower() in SUFFIXES
    if not isinstance(source, str) or source.lstrip("\ufeff \t\r\n").startswith("<"):
        return False
    if "\n" in source or source.lstrip().startswith("{"):
        return JOINTS.search(source) is not None
    return source.lower().endswith(SUFFIXES)


def is_xacro(source: Source) -> bool:
    """Whether a source is to be expanded: a file .xacro, or any file that uses xacro.

    Text is not: a description from a topic is expanded only on request.
    """
    if isinstance(source, NamedText) or (isinstance(source, str) and "<" in source):
        return False
    if isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(".xacro"):
        return True
    return has_xacro(load_text(source)[1])


def has_xacro(text: str) -> bool:
    """Whether a document has elements of xacro or `${}` in it; comments do not count."""
    if "xacro" not in text and "${" not in text:
        return False
    try:
        root = parse_xml(text, TEXT)
    except ModelError:  # whoever reads it says so
        return False
    return any(
        element.prefix == "xacro"
        or any("${" in str(value) for value in element.attrib.values())
        or "${" in (element.text or "")
        for element in root.iter()
    )
