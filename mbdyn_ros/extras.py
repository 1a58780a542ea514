"""Extras of `pip install`, and ROS 2: packages that not everybody needs."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from types import TracebackType
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

OF_ROS = re.compile(r"_?rcl|rpyutils|rosidl|rosgraph|ament|launch|\w+_(msgs|srvs|interfaces)$")
"""How the modules of ROS 2 are named."""


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


def without_ros(error: ImportError) -> str:
    """The package to install or to source for a module that cannot be imported, in one line."""
    module = (error.name or "").partition(".")[0]
    if not module or module.startswith(("rclpy", "rpyutils", "_rclpy")):
        reason = " ".join(str(error).split())[:200]
        return (
            f"ROS 2 cannot be imported ({reason}): install it (https://docs.ros.org) and source "
            "it in this terminal: source /opt/ros/<distro>/setup.bash"
        )
    return (
        f"the Python module {module} is missing: source ROS 2 in this terminal (source "
        f"/opt/ros/<distro>/setup.bash), or install it: sudo apt install "
        f"ros-$ROS_DISTRO-{module.replace('_', '-')}"
    )


def say_without_ros() -> None:
    """End programs, whose imports begin after this, in one line where ROS 2 cannot be imported."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, ImportError) and OF_ROS.match(error.name or ""):
            print(without_ros(error), file=sys.stderr)
        else:
            before(kind, error, trace)

    sys.excepthook = hook
