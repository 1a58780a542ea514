"""Extras of `pip install`: packages that not everybody needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

from .errors import MissingPackageError


class Extra(NamedTuple):
    """A package by which an extra is known, and what asks for it."""

    package: str
    purpose: str

    @property
    def there(self) -> bool:
        """Whether it is installed."""
        return find_spec(self.package) is not None


EXTRAS = {
    "plot": Extra("matplotlib", "pictures (--plot, --graph, --gif)"),
    "page": Extra("viser", "robots in the browser (mbdyn view)"),
    "mesh": Extra("trimesh", "meshes"),
    "bag": Extra("rosbags", "recordings that ROS plays (.mcap, bags)"),
    "identify": Extra("clarabel", "inertias that bodies can have (mbdyn identify)"),
    "mjcf": Extra("mujoco", "MuJoCo's files"),
    "symbolic": Extra("sympy", "closed forms in SymPy"),
    "dask": Extra("distributed", "sweeps on many machines"),
}
"""Extras by their names in setup.py."""


def require(extra: str) -> None:
    """Refuse to go on without the package of an extra.

    Raises
    ------
    MissingPackageError
        It is not installed.

    Examples
    --------
    >>> require("plot")
    """
    package, purpose = EXTRAS[extra]
    if not EXTRAS[extra].there:
        raise MissingPackageError(
            f"{purpose} need the package {package}, which is not installed: "
            f"pip install 'mbdyn_ros[{extra}]'"
        )
