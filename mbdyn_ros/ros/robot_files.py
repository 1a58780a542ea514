"""Robots by name: ours, and those of the PyPI package example-robot-data."""

from __future__ import annotations

import difflib
import os
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from ..errors import InputError
from ..model.read.description import SUFFIXES

FILES = (".urdf", ".xacro", ".xml", ".mjcf", ".sdf")
"""Endings of files in XML."""


def find_urdf(name: str) -> Path:
    """The file of a robot, given as a path or as the name of a file without its suffix.

    Raises
    ------
    InputError
        There is no such file; the message gives similar names.
    """
    if os.sep in name or Path(name).suffix in (*FILES, *SUFFIXES):
        path = Path(name).expanduser()
        if path.is_file():
            return path.resolve()
        raise InputError(f"there is no file {path}")
    known = known_urdfs()
    for candidate in (name, f"{name}_robot"):
        if candidate in known:
            return known[candidate]
    near = difflib.get_close_matches(name, known, n=8, cutoff=0.4) or sorted(known)[:8]
    listed = f"a name such as {', '.join(near)}" if near else "pip install example-robot-data"
    raise InputError(f"there is no robot {name!r}; give the path of a file, or {listed}")


def known_urdfs() -> dict[str, Path]:
    """Every robot that is installed, by name; ours win."""
    found = {}
    try:
        for one in files("example-robot-data") or []:
            if one.suffix == ".urdf":
                found[one.stem] = Path(str(one.locate())).resolve()
    except PackageNotFoundError:
        pass
    for folder in _own_folders():
        for path in sorted([*folder.glob("*.urdf"), *folder.glob("*.yaml")]):
            found[path.stem] = path.resolve()
    return found


def _own_folders() -> list[Path]:
    folders = [Path(__file__).resolve().parents[2] / "urdf"]
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        folders.append(Path(prefix) / "share" / "mbdyn_ros" / "urdf")
    return [folder for folder in folders if folder.is_dir()]
