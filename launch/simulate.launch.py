"""Simulate a robot: ros2 launch mbdyn_ros simulate.launch.py robot:=/path/to/robot.urdf

The URDF goes to robot_state_publisher and to the simulator; RViz shows the motion.
`ros2 launch mbdyn_ros simulate.launch.py --show-args` lists the arguments.
"""

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from mbdyn_ros.ros.launch_support import (
    as_text,
    available,
    fixed_frame,
    parameter_files,
    robot_description,
)

ARGUMENTS = {
    "robot": ("manipulator", "path of a URDF or xacro file, or name of an installed robot"),
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
    "environment": ("", "YAML file with walls that points of the robot hit"),
    "rate": ("1000.0", "simulation steps per second, Hz"),
    "gravity": ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2"),
    "floating_base": ("false", "whether the root link moves freely in the world"),
    "start_paused": ("false", "wait for the service /simulator/pause with data: false"),
    "feedforward": ("false", "also start torque_feedforward, which drives the simulator"),
    "params_file": ("", "YAML file with parameters of the nodes; wins over the other arguments"),
    "use_robot_state_publisher": ("true", "publish TF and robot_description"),
    "rviz": ("true", "open RViz"),
    "rviz_config": (
        PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", "simulate.rviz"]),
        "RViz configuration",
    ),
}


def start(context):
    """The nodes, for the arguments as they were given."""

    def value(name):
        return LaunchConfiguration(name).perform(context)

    def wanted(name):
        return value(name).lower() in ("true", "1", "yes")

    description = robot_description(value("robot"))
    model = {
        "robot_description": as_text(description),
        "mechanism": as_text(value("mechanism")),
    }
    environment = {"environment": as_text(value("environment"))}
    gravity = {"gravity": [float(number) for number in value("gravity").strip("[] ").split(",")]}
    files = parameter_files(value("params_file"))
    actions = [
        Node(
            package="mbdyn_ros",
            executable="simulator",
            output="screen",
            parameters=[
                model,
                gravity,
                environment,
                {
                    "rate": float(value("rate")),
                    "floating_base": wanted("floating_base"),
                    "start_paused": wanted("start_paused"),
                },
                *files,
            ],
        )
    ]
    if wanted("feedforward"):
        actions.append(
            Node(
                package="mbdyn_ros",
                executable="torque_feedforward",
                output="screen",
                parameters=[model, gravity, *files],
                remappings=[("~/commands", "/simulator/commands")],
            )
        )
    for argument, package, executable, parameters in (
        ("use_robot_state_publisher", "robot_state_publisher", "robot_state_publisher",
         [model, {"publish_frequency": 60.0}]),
        ("rviz", "rviz2", "rviz2", []),
    ):  # fmt: skip
        if not wanted(argument):
            continue
        if not available(package):
            actions.append(LogInfo(msg=f"{package} is not installed: going on without it"))
            continue
        options = []
        if package == "rviz2":
            frame = fixed_frame(description, wanted("floating_base"))
            options = ["-d", value("rviz_config"), "-f", frame]
        actions.append(
            Node(package=package, executable=executable, parameters=parameters, arguments=options)
        )
    return actions


def generate_launch_description():
    """The launch description."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
