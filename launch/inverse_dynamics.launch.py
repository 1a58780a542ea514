"""Serve torques: ros2 launch mbdyn_ros inverse_dynamics.launch.py robot:=/path/to/robot.urdf

Without `robot` the node takes the URDF from the latched topic robot_description.
"""

from launch.actions import OpaqueFunction
from launch_ros.actions import Node

from launch import LaunchDescription
from mbdyn_ros.ros.launch_support import (
    HOME,
    NAMESPACE,
    PARAMS_FILE,
    SRDF,
    XACRO,
    Arguments,
    as_text,
    declared,
)

ARGUMENTS = {
    "robot": (
        "",
        "path of a URDF or xacro file, or name of an installed robot; empty: from the topic",
    ),
    "xacro": XACRO,
    "srdf": SRDF,
    "home": HOME,
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
    "gravity": ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2"),
    "floating_base": ("false", "whether the root link moves freely in the world"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
}


def start(context):
    """The node, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    parameters = {
        "mechanism": as_text(given["mechanism"]),
        "srdf": as_text(given["srdf"]),
        "home": as_text(given["home"]),
        "gravity": given.numbers("gravity"),
        "floating_base": given.truth("floating_base"),
    }
    if given["robot"]:
        parameters["robot_description"] = as_text(given.description("robot"))
    return [
        Node(
            package="mbdyn_ros",
            executable="inverse_dynamics_server",
            namespace=given["namespace"],
            output="screen",
            parameters=[parameters, *given.files("params_file")],
        )
    ]


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
