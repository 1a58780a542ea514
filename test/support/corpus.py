"""The URDFs of `example-robot-data`: the robots every test over "the corpus" runs on."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

REFUSED = {
    "alex_psyonic_hands.urdf": 'its hands mimic "index_q1" and others, which are no joints of it',
    "ur3.urdf": "an empty <robot>",
}
"""Files that are refused, by design, and why; Pinocchio refuses the second one too, and the
first where mimics are asked for."""


@functools.cache
def urdf_files() -> tuple[Path, ...]:
    """Every URDF of the corpus, in alphabetical order; none where it is not installed."""
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return ()
    found = (Path(str(one.locate())).resolve() for one in listed if one.suffix == ".urdf")
    return tuple(sorted(found))


def readable_urdf_files() -> list[Path]:
    """The URDFs of the corpus that are robots."""
    return [path for path in urdf_files() if path.name not in REFUSED]


def urdf_file(name: str) -> Path:
    """The one file of that name."""
    (path,) = (path for path in urdf_files() if path.name == name)
    return path


def label(path: Path) -> str:
    """A short, unique name for test reports."""
    return f"{path.parent.parent.name}/{path.name}"
