"""Serve torques: ros2 launch mbdyn_ros inverse_dynamics.launch.py robot:=/path/to/robot.urdf

Without `robot` the node takes the URDF from the latched topic robot_description.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from mbdyn_ros.ros.launch_support import as_text, parameter_files, robot_description

ARGUMENTS = {
    "robot": (
        "",
        "path of a URDF or xacro file, or name of an installed robot; empty: from the topic",
    ),
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
    "gravity": ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2"),
    "floating_base": ("false", "whether the root link moves freely in the world"),
    "params_file": ("", "YAML file with parameters of the node; wins over the other arguments"),
}


def start(context):
    """The node, for the arguments as they were given."""

    def value(name):
        return LaunchConfiguration(name).perform(context)

    parameters = {
        "mechanism": as_text(value("mechanism")),
        "gravity": [float(number) for number in value("gravity").strip("[] ").split(",")],
        "floating_base": value("floating_base").lower() in ("true", "1", "yes"),
    }
    if value("robot"):
        parameters["robot_description"] = as_text(robot_description(value("robot")))
    return [
        Node(
            package="mbdyn_ros",
            executable="inverse_dynamics_server",
            output="screen",
            parameters=[parameters, *parameter_files(value("params_file"))],
        )
    ]


def generate_launch_description():
    """The launch description."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
