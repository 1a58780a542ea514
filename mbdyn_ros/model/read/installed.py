"""Robots by name: those in the box, and those of the PyPI package example-robot-data."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from ...errors import InputError, suggestion
from .description import SUFFIXES, is_dh_table

FILES = (".urdf", ".xacro", ".xml", ".mjcf", ".sdf")
"""Endings of files in XML."""

ALSO = {"crane": "manipulator"}
"""Other names of robots in the box."""


def find_robot(name: str) -> Path:
    """The file of a robot, given as a path or as the name of a file without its suffix.

    Raises
    ------
    InputError
        There is no such file; the message gives similar names.

    Examples
    --------
    >>> find_robot("crane").name
    'manipulator.urdf'
    """
    if os.sep in name or Path(name).suffix in (*FILES, *SUFFIXES):
        path = Path(name).expanduser()
        if path.is_file():
            return path.resolve()
        raise InputError(f"there is no file {path}{boxed_robot(name)}")
    boxed = own_robots()
    if name in boxed:  # the files of other packages are listed only where they are asked for
        return boxed[name]
    known = installed_robots()
    found = _same_name(name, known)
    if found is not None:
        return known[found]
    near = difflib.get_close_matches(name, known, n=8, cutoff=0.4) or sorted(own_robots())
    raise InputError(
        f"there is no robot {name!r}{suggestion(name, known)}; give the path of a file, or a name "
        f"such as {', '.join(near)}"
        + ("" if _foreign_robots() else " (`pip install example-robot-data` brings many more)")
    )


def boxed_robot(name: str) -> str:
    """How to get the robot in the box that somebody may have meant by a path; or nothing.

    Examples
    --------
    >>> boxed_robot("UR5.urdf")
    "; there is a robot 'ur5' in the box: mbdyn_ros.example('ur5'), or ur5 on the command line"
    >>> boxed_robot("my_arm.urdf")
    ''
    """
    meant = Path(name).stem if Path(name).suffix in (*FILES, *SUFFIXES) else name
    found = None if os.sep in name or "\n" in name else _same_name(meant, installed_robots())
    if found is None:
        return ""
    return (
        f"; there is a robot {found!r} in the box: mbdyn_ros.example({found!r}), or {found} on "
        "the command line"
    )


def _same_name(name: str, known: Mapping[str, Path]) -> str | None:
    """The robot of that name, whatever the case of its letters; None without one."""
    by_name = {one.lower(): one for one in sorted(known, reverse=True)}
    for candidate in (name, f"{name}_robot"):
        if candidate in known:
            return candidate
    return by_name.get(name.lower()) or by_name.get(f"{name.lower()}_robot")


def installed_robots() -> dict[str, Path]:
    """Every robot that is installed, by name; those in the box win."""
    return {**_foreign_robots(), **own_robots()}


def own_robots() -> dict[str, Path]:
    """The robots in the box, by name."""
    found: dict[str, Path] = {}
    for folder in _own_folders():
        for path in sorted([*folder.glob("*.urdf"), *folder.glob("*.yaml")]):
            if path.suffix == ".urdf" or is_dh_table(path.read_text()):
                found.setdefault(path.stem, path.resolve())
    return found | {other: found[name] for other, name in ALSO.items() if name in found}


def _foreign_robots() -> dict[str, Path]:
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    return {one.stem: Path(str(one.locate())).resolve() for one in listed if one.suffix == ".urdf"}


def _own_folders() -> list[Path]:
    """Folders of descriptions: of an installed package, of a clone, of ROS's share/."""
    package = Path(__file__).resolve().parents[2]
    folders = [package / "urdf", package.parent / "urdf"]
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        folders.append(Path(prefix) / "share" / "mbdyn_ros" / "urdf")
    return [folder for folder in folders if folder.is_dir()]
