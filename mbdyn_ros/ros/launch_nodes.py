"""The shared part of launch files: arguments of a robot and of its picture, and their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .launch_support import HOME, OWN_TRANSFORMS, SRDF, XACRO, Arguments, as_text, available

ROBOT = {
    "robot": ("manipulator", "path of a URDF or xacro file, or name of an installed robot"),
    "xacro": XACRO,
    "srdf": SRDF,
    "home": HOME,
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
}
"""Arguments of what is loaded."""

GRAVITY = ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2")

TRANSFORMS = {"use_robot_state_publisher": ("true", "publish TF and robot_description")}


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
