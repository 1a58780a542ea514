"""Serve torques: ros2 launch mbdyn_ros inverse_dynamics.launch.py robot:=/path/to/robot.urdf

Without `robot` the node takes the URDF from the latched topic robot_description.
"""

from launch.actions import OpaqueFunction

from launch import LaunchDescription
from mbdyn_ros.ros.launch_nodes import (
    GRAVITY,
    NAMESPACE,
    PARAMS_FILE,
    ROBOT,
    Arguments,
    declared,
    loaded,
    own_node,
)

ARGUMENTS = {
    **ROBOT,
    "robot": (
        "",
        "path of a URDF or xacro file, or name of an installed robot; empty: from the topic",
    ),
    "gravity": GRAVITY,
    "floating_base": ("false", "whether the root link moves freely in the world"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
}


def start(context):
    """The node, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    model = loaded(given, given.description("robot") if given["robot"] else "")
    settings = {
        "gravity": given.numbers("gravity"),
        "floating_base": given.truth("floating_base"),
    }
    return [own_node(given, "inverse_dynamics_server", [model, settings])]


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS, __file__), OpaqueFunction(function=start)])
