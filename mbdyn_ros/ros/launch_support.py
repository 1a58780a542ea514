"""Functions of the launch files: the robot's description, from a file or a name."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..model.read.description import read_description
from .messages.base_pose import WORLD_FRAME
from .robot_files import find_urdf


def robot_description(robot: str) -> str:
    """The text that describes a robot: its URDF or its DH table.

    Parameters
    ----------
    robot : path of a URDF, xacro or YAML file, or the name of an installed robot.
    """
    path = find_urdf(robot)
    return run_xacro(path) if path.suffix == ".xacro" else path.read_text()


def as_text(description: str) -> Any:
    """A parameter value that is not read as YAML, as launch does with text otherwise."""
    from launch_ros.parameter_descriptions import ParameterValue

    return ParameterValue(description, value_type=str)


def fixed_frame(description: str, floating_base: bool) -> str:
    """The frame that does not move: the root link, or the world where that moves."""
    return WORLD_FRAME if floating_base else read_description(description).root


def run_xacro(path: Path) -> str:
    """Expand a xacro file with the command of that name."""
    try:
        result = subprocess.run(["xacro", str(path)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError(
            f"{path} needs the command xacro: sudo apt install ros-$ROS_DISTRO-xacro"
        ) from None
    if result.returncode:
        raise InputError(f"xacro {path}: {result.stderr.strip()}")
    return result.stdout


def available(package: str) -> bool:
    """Whether a package is installed."""
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        get_package_share_directory(package)
    except PackageNotFoundError:
        return False
    return True


def parameter_files(name: str) -> list[str]:
    """A list of the parameter file, empty for none."""
    return [name] if name else []
