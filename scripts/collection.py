"""Load every robot of a folder, and print what is refused and a row of numbers.

    python scripts/collection.py FOLDER...

A robot is a file that describes one: `.urdf`, `.urdf.xacro`, `.sdf`, and `.xml` in MuJoCo's
format. It loads where it is read and its loops are closed. Of files with the same text one counts.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import mbdyn_ros

FORMATS = {".urdf": "URDF", ".urdf.xacro": "xacro", ".sdf": "SDF", ".xml": "MJCF"}
"""What a file's name ends in."""

PATIENCE = 120
"""Seconds for a robot."""


def robots(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a folder that describe robots, and their formats."""
    seen = set()
    for path in sorted(folder.rglob("*")):
        form = next((FORMATS[end] for end in FORMATS if path.name.endswith(end)), None)
        if form is None or not path.is_file():
            continue
        text = path.read_bytes()
        digest = hashlib.sha256(text).digest()
        parts = form == "MJCF" and (b"<worldbody" not in text or b"<mujocoinclude" in text)
        if digest in seen or parts:
            continue
        seen.add(digest)
        yield path, form


def refusal(path: Path) -> tuple[str, int]:
    """Why a robot is refused, nothing if it loads; and its number of loops."""
    signal.alarm(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "", len(mbdyn_ros.load(path).model.loops)
    except (mbdyn_ros.MbdynError, TimeoutError) as error:
        return str(error).replace("\n", " "), 0
    finally:
        signal.alarm(0)


def row(folder: Path) -> str:
    """Robots that load, of all, by their formats; and how many have loops."""
    found, loaded, looped = Counter[str](), Counter[str](), 0
    for path, form in robots(folder):
        found[form] += 1
        why, loops = refusal(path)
        loaded[form] += not why
        looped += loops > 0
        if why:
            print(f"{path.relative_to(folder)}: {why}", file=sys.stderr)
    each = ", ".join(f"{loaded[form]} of {found[form]} {form}" for form in sorted(found))
    return f"| {folder.resolve().name} | {each} | {looped} |"


def give_up(*_: object) -> None:
    """Of a robot that takes too long."""
    raise TimeoutError(f"not loaded in {PATIENCE} s")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, give_up)
    for one in map(Path, sys.argv[1:]):
        above = os.pathsep.join([str(one.resolve()), os.environ.get("ROS_PACKAGE_PATH", "")])
        os.environ["ROS_PACKAGE_PATH"] = above
        print(row(one), flush=True)
