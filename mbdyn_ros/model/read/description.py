"""A robot's description, whichever kind it is: a URDF, or a table of Denavit and Hartenberg."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..model import Model
from .dh_table import read_dh_table
from .urdf import read_urdf

SUFFIXES = (".yaml", ".yml")
"""Endings of files that hold a DH table."""

JOINTS = re.compile(r"""(?:^|[{,])\s*["']?joints["']?\s*:""", re.MULTILINE)


def read_description(source: str | os.PathLike[str]) -> Model:
    """Read a URDF or a DH table.

    Parameters
    ----------
    source : a path, or the text; see `is_dh_table` for what is taken as a table.

    Raises
    ------
    ModelError
        As `read_urdf` and `read_dh_table`.

    Examples
    --------
    >>> read_description('<robot name="still"><link name="stone"/></robot>').root
    'stone'
    """
    return read_dh_table(source) if is_dh_table(source) else read_urdf(source)


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
