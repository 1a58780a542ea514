"""A simulated piezo robot under control: ros2 launch mbdyn_ros piezo.launch.py

piezo_controller pulses the transducers, piezo_simulator moves by them; RViz shows the limbs, the
rotating force and the transducers at work. Move the gripper from another shell:

    ros2 topic pub --once /piezo_controller/target geometry_msgs/msg/PoseStamped \\
      "{pose: {position: {x: 0.05, y: 0.005, z: 0.045}}}"

`ros2 launch mbdyn_ros piezo.launch.py --show-args` lists the arguments.
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
    "robot": ("piezo_robot", "path of a DH table, URDF or xacro file, or name of a robot"),
    "rotor_link": ("gripper", "link that carries the rotor"),
    "rotor_speed": ("1000.0", "of the rotor, rad/s"),
    "rate": ("1000.0", "cycles of both nodes per second, Hz"),
    "initial_positions": ("[0.0, 0.3, 0.8, -0.5, 0.6, 0.0]", "of all joints, rad or m"),
    "params_file": ("", "YAML file with parameters of the nodes; wins over the other arguments"),
    "rviz": ("true", "open RViz"),
    "rviz_config": (
        PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", "piezo.rviz"]),
        "RViz configuration",
    ),
}


def start(context):
    """The nodes, for the arguments as they were given."""

    def value(name):
        return LaunchConfiguration(name).perform(context)

    description = robot_description(value("robot"))
    shared = {
        "robot_description": as_text(description),
        "rotor_link": value("rotor_link"),
        "rate": float(value("rate")),
    }
    initial = [float(number) for number in value("initial_positions").strip("[] ").split(",")]
    files = parameter_files(value("params_file"))
    simulated = {"rotor_speed": float(value("rotor_speed")), "initial_positions": initial}
    actions = [
        Node(
            package="mbdyn_ros",
            executable="piezo_simulator",
            output="screen",
            parameters=[shared, simulated, *files],
            remappings=[("~/pulses", "/piezo_controller/pulses")],
        ),
        Node(
            package="mbdyn_ros",
            executable="piezo_controller",
            output="screen",
            parameters=[shared, *files],
        ),
    ]
    if value("rviz").lower() in ("true", "1", "yes"):
        if available("rviz2"):
            options = ["-d", value("rviz_config"), "-f", fixed_frame(description, False)]
            actions.append(Node(package="rviz2", executable="rviz2", arguments=options))
        else:
            actions.append(LogInfo(msg="rviz2 is not installed: going on without it"))
    return actions


def generate_launch_description():
    """The launch description."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
