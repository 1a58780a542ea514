"""Extras of `pip install`: packages that not everybody needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

from .errors import MissingPackageError


class Extra(NamedTuple):
    """A package that not everybody needs, what asks for it, and the extra that brings it."""

    package: str
    purpose: str
    extra: str

    @property
    def there(self) -> bool:
        """Whether it is installed."""
        return find_spec(self.package) is not None


EXTRAS = {
    "plot": Extra("matplotlib", "pictures (--plot, --graph, --gif)", "view"),
    "page": Extra("viser", "robots in the browser (mbdyn view)", "view"),
    "bag": Extra("rosbags", "recordings that ROS plays (.mcap, bags)", "bag"),
    "identify": Extra("clarabel", "physically consistent inertias (mbdyn identify)", "identify"),
    "mjcf": Extra("mujoco", "MuJoCo's files", "mjcf"),
    "symbolic": Extra("sympy", "closed forms in SymPy", "symbolic"),
    "dask": Extra("distributed", "sweeps on many machines", "dask"),
}
"""Packages that extras of setup.py install."""


def require(what: str) -> None:
    """Refuse to go on without a package of `EXTRAS`.

    Raises
    ------
    MissingPackageError
        It is not installed.

    Examples
    --------
    >>> require("plot")
    """
    package, purpose, extra = EXTRAS[what]
    if not EXTRAS[what].there:
        raise MissingPackageError(
            f"{purpose} need the package {package}, which is not installed: "
            f"pip install 'mbdyn_ros[{extra}]'"
        )
