"""Where the folders of packages lie that descriptions name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

PATHS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
"""Environment variables that say where packages lie."""


def package_folders(
    package: str, folder: Path | None, variables: Iterable[str] = PATHS
) -> Iterator[Path]:
    """The folders that may be a package's, the likeliest first; not all are there.

    Parameters
    ----------
    package : its name.
    folder : of the file that names it, looked at with the folders above it; None for text.
    variables : environment variables with folders to look at then.
    """
    for above in [] if folder is None else [folder, *folder.parents]:
        if above.name == package:
            yield above
        if above.parent != above:  # the root of the file system holds no packages
            yield above / package
    for variable in variables:
        for root in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(root) / package
            yield Path(root) / "share" / package


def find_package(
    package: str, folder: Path | None, variables: Iterable[str] = PATHS
) -> Path | None:
    """The first of `package_folders` that is there; None if there is none."""
    return next((one for one in package_folders(package, folder, variables) if one.is_dir()), None)
