"""The shared part of launch files: their arguments, the robot's description, and the nodes."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError, MbdynError, suggestion
from ..model.read.description import described, read_description
from ..model.read.installed import find_robot
from ..model.read.source_text import NamedText
from ..model.read.xacro.xacro import xacro_arguments
from ..model.write.urdf import urdf_of
from .messages.base_pose import WORLD_FRAME

TO_THE_SIMULATOR = [("~/commands", "simulator/commands")]
"""Remappings of what drives the simulator: relative, so that both may be in any namespace."""

TO_PIEZO_SIMULATOR = [("~/pulses", "piezo_controller/pulses")]
"""Remappings of `piezo_simulator`, which is driven by the controller next to it."""

OWN_TRANSFORMS = [("/tf", "tf"), ("/tf_static", "tf_static")]
"""Remappings that give each namespace its own transforms: two robots have links of one name."""

NAMESPACE = ("", "namespace of all nodes and their topics, such as left")
XACRO = ("", 'arguments of a xacro file, such as "prefix:=left_ ur_type:=ur5e"')
SRDF = ("", "SRDF with homes, virtual joints and passive joints added to the URDF")
HOME = ("", "name of a configuration in the files, from which loops are closed")
PARAMS_FILE = ("", "YAML file with parameters of the nodes; wins over the other arguments")

WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

ROBOT = {
    "robot": ("crane", "path of a URDF or xacro file, or name of an installed robot"),
    "xacro": XACRO,
    "srdf": SRDF,
    "home": HOME,
    "mechanism": ("", "YAML file with loops and couplings added to the URDF"),
}
"""Arguments of what is loaded."""

GRAVITY = ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2")

TRANSFORMS = {"use_robot_state_publisher": ("true", "publish TF and robot_description")}


class Arguments:
    """The arguments of a launch file as they were given; what cannot be read is refused by name.

    Parameters
    ----------
    given : their texts by name, as `context.launch_configurations`.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def __getitem__(self, name: str) -> str:
        return self._given[name]

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def number(self, name: str) -> float:
        """A number."""
        return self._number(name, self[name])

    def numbers(self, name: str) -> list[float]:
        """Numbers such as [0.0, 0.0, -9.81]."""
        return [self._number(name, one) for one in self[name].strip("[] ").split(",")]

    def truth(self, name: str) -> bool:
        """Whether something is wanted."""
        word = self[name].strip().lower()
        if word not in WORDS:
            raise InputError(f"launch argument {name} is {self[name]!r}: it must be true or false")
        return WORDS[word]

    def files(self, name: str) -> list[str]:
        """A list of the file, empty for none."""
        if not self[name]:
            return []
        if not Path(self[name]).is_file():
            raise InputError(f"launch argument {name}: there is no file {self[name]}")
        return [self[name]]

    def description(self, name: str) -> str:
        """The text that describes a robot: its URDF or its DH table."""
        try:
            return robot_description(self[name], self._given.get("xacro", ""))
        except MbdynError as error:
            raise InputError(f"launch argument {name}: {error}") from None

    def _number(self, name: str, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(
                f"launch argument {name} is {self[name]!r}: {text.strip()!r} is not a finite number"
            )
        return number


def require_declared(
    typed: Sequence[str], arguments: Collection[str], files: Sequence[str], command: Sequence[str]
) -> None:
    """Refuse arguments of the command line that a launch file has not; launch ignores them.

    Parameters
    ----------
    typed : "name:=value" each, as `context.argv`.
    arguments : that the file has.
    files : its path, and those of files that include it and have no other arguments.
    command : that launch was started with; nothing is refused where it names none of `files`: one
        that includes them may have arguments of its own.
    """
    if not {Path(file).name for file in files} & {Path(word).name for word in command}:
        return
    for one in typed:
        name, given, _ = one.partition(":=")
        if given and name not in arguments:
            raise InputError(
                f"there is no launch argument {name!r}{suggestion(name, list(arguments))} "
                "(--show-args lists all)"
            )


def declared(
    arguments: Mapping[str, tuple[Any, str]], *files: str, further: Sequence[str] = ()
) -> list[Any]:
    """Launch arguments from a table: name -> (default, description); others are refused.

    files : of `require_declared`. further : arguments of files that include this one.
    """
    from launch.actions import DeclareLaunchArgument, OpaqueFunction

    def review(context: Any) -> None:
        require_declared(context.argv or (), [*arguments, *further], files, sys.argv)

    return [
        *(
            DeclareLaunchArgument(name, default_value=default, description=text)
            for name, (default, text) in arguments.items()
        ),
        OpaqueFunction(function=review),
    ]


def robot_description(robot: str, xacro: str = "") -> str:
    """The text that describes a robot: its URDF or its DH table. Other formats become URDF+.

    Parameters
    ----------
    robot : path of a file, or the name of an installed robot.
    xacro : arguments of a xacro file, such as "prefix:=left_ ur_type:=ur5e".
    """
    path = find_robot(robot)
    arguments = xacro_arguments(shlex.split(xacro), "launch argument xacro")
    found = described(path, arguments or None)
    return urdf_of(found) if isinstance(found, NamedText) else path.read_text()


def as_text(description: str) -> Any:
    """A parameter value that is not read as YAML, as launch does with text otherwise."""
    from launch_ros.parameter_descriptions import ParameterValue

    return ParameterValue(description, value_type=str)


def fixed_frame(description: str, floating_base: bool) -> str:
    """The frame that does not move: the root link, or the world where that moves."""
    model = read_description(description)
    return WORLD_FRAME if floating_base or model.floating_base else model.root


def available(package: str) -> bool:
    """Whether a package is installed."""
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        get_package_share_directory(package)
    except PackageNotFoundError:
        return False
    return True


def picture(configuration: str = "simulate.rviz") -> dict[str, tuple[Any, str]]:
    """Arguments of RViz, by a file of `config/`."""
    from launch.substitutions import PathJoinSubstitution
    from launch_ros.substitutions import FindPackageShare

    path = PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", configuration])
    return {"rviz": ("true", "open RViz"), "rviz_config": (path, "RViz configuration")}


def loaded(given: Arguments, description: str) -> dict[str, Any]:
    """Parameters of what is loaded, whichever of the arguments `ROBOT` there are."""
    texts = {name: as_text(given[name]) for name in ("mechanism", "srdf", "home") if name in given}
    return {"robot_description": as_text(description), **texts}


def own_node(
    given: Arguments,
    executable: str,
    parameters: Sequence[Mapping[str, Any]],
    remappings: Sequence[tuple[str, str]] = (),
    ended: str = "",
) -> Any:
    """A node of ours, with the file of parameters that was given.

    ended : what is said when all ends with it; empty where the others go on.
    """
    from launch.actions import Shutdown
    from launch_ros.actions import Node

    return Node(
        package="mbdyn_ros",
        executable=executable,
        namespace=given["namespace"],
        output="screen",
        parameters=[*parameters, *given.files("params_file")],
        remappings=list(remappings),
        on_exit=Shutdown(reason=ended) if ended else None,
    )


def robot_state_publisher(given: Arguments, parameters: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The node that publishes transforms, where the arguments `TRANSFORMS` want it."""
    if not given.truth("use_robot_state_publisher"):
        return []
    return _where_installed(
        given, "robot_state_publisher", [*parameters, {"publish_frequency": 60.0}]
    )


def rviz(given: Arguments, frame: str, clock: Mapping[str, Any]) -> list[Any]:
    """RViz in a frame that does not move, where the arguments `picture` want it."""
    if not given.truth("rviz"):
        return []
    return _where_installed(given, "rviz2", [clock], ["-d", given["rviz_config"], "-f", frame])


def _where_installed(
    given: Arguments,
    package: str,
    parameters: Sequence[Mapping[str, Any]],
    options: Sequence[str] = (),
) -> list[Any]:
    from launch.actions import LogInfo
    from launch_ros.actions import Node

    if not available(package):
        return [LogInfo(msg=f"{package} is not installed: going on without it")]
    node = Node(
        package=package,
        executable=package,
        namespace=given["namespace"],
        parameters=list(parameters),
        arguments=list(options),
        remappings=OWN_TRANSFORMS,
    )
    return [node]
