"""mbdyn doctor: what works on this machine, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import click

from ..extras import EXTRAS
from .printing import print_json, print_table


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: whether it serves, what was found, how to get it."""

    what: str
    serves: bool
    found: str
    cure: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(as_json: bool) -> None:
    """Report what works on this machine, what is missing, and how to get it.

    Nothing is changed. The library works where only Python and its required packages are there.

    \b
    Examples:
      mbdyn doctor
      mbdyn doctor --json
    """
    findings = [*_machine(), *_extras(), *_ros()]
    if as_json:
        print_json([vars(one) for one in findings])
        return
    rows = [(one.what, "yes" if one.serves else "no", one.found, one.cure) for one in findings]
    print_table("This machine", ("", "there", "found", "to get it"), rows, 4)


def _machine() -> list[Finding]:
    found = [
        Finding("Python", True, f"{platform.python_version()}, {platform.machine()}"),
        Finding("mbdyn_ros", True, f"{_version('mbdyn_ros')}, {Path(__file__).parents[1]}"),
        _compiler(),
        _compiler_cpp(),
        _cache(),
    ]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [*found, Finding("cores", True, f"{cores}, which batches and rollouts share")]


def _compiler() -> Finding:
    from ..compiler.gcc import CompilationError, toolchain

    what = "C compiler"
    cure = "sudo apt install build-essential; until then programs are interpreted"
    chosen = toolchain()
    if chosen is None:
        return Finding(what, False, "none of $CC, cc, gcc, clang", cure)
    command = " ".join(chosen.command)
    try:
        return Finding(what, True, f"{command}, vectors of {chosen.lanes} numbers")
    except CompilationError as error:
        return Finding(what, False, f"{command}: {error}", cure)


def _compiler_cpp() -> Finding:
    from ..compiler.gcc import CompilationError, toolchain_cpp

    what = "C++ compiler"
    try:
        return Finding(what, True, " ".join(toolchain_cpp().command))
    except CompilationError as error:
        cure = "sudo apt install build-essential; until then nothing steps among walls"
        return Finding(what, False, str(error), cure)


def _cache() -> Finding:
    from ..compiler.cache import cache_folder

    folder = cache_folder()
    files = [one.stat().st_size for one in folder.glob("*") if one.is_file()]
    size = f"{len(files)} files, {sum(files) / 1e6:.1f} MB"
    return Finding("compiled programs", True, f"{folder}: {size}", "")


def _extras() -> list[Finding]:
    rows = []
    for extra in EXTRAS.values():
        found = f"{extra.package} {_version(extra.package)}" if extra.there else ""
        cure = "" if extra.there else f"pip install 'mbdyn_ros[{extra.extra}]'"
        rows.append(Finding(extra.purpose, extra.there, found, cure))
    return rows


def _ros() -> list[Finding]:
    distribution = os.environ.get("ROS_DISTRO", "")
    if find_spec("rclpy") is None:
        source = "source /opt/ros/jazzy/setup.sh, or make in a clone"
        return [Finding("ROS 2", False, "no rclpy", source)]
    import resource  # not on Windows, where there is no rclpy above either

    middleware = os.environ.get("RMW_IMPLEMENTATION", "its default middleware")
    built = find_spec("mbdyn_ros_interfaces") is not None
    _, hard = resource.getrlimit(resource.RLIMIT_RTPRIO)
    return [
        Finding("ROS 2", True, f"{distribution or 'ROS_DISTRO is not set'}, {middleware}"),
        Finding(
            "services of the nodes", built, "mbdyn_ros_interfaces", "" if built
            else "colcon build --base-paths . mbdyn_ros_interfaces, and source its setup file",
        ),
        Finding(
            "real-time priorities", hard != 0, f"up to {'any' if hard < 0 else hard}",
            "" if hard else "rtprio in /etc/security/limits.conf; nodes run without, less evenly",
        ),
    ]  # fmt: skip


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
