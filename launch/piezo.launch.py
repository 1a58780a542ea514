"""A simulated piezo robot under control: ros2 launch mbdyn_ros piezo.launch.py

piezo_controller pulses the transducers, piezo_simulator moves by them; RViz shows the limbs, the
rotating force and the transducers at work. Move the gripper from another shell:

    ros2 topic pub --once /piezo_controller/target geometry_msgs/msg/PoseStamped \\
      "{pose: {position: {x: 0.05, y: 0.005, z: 0.045}}}"

`ros2 launch mbdyn_ros piezo.launch.py --show-args` lists the arguments.
"""

from launch.actions import LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from mbdyn_ros.ros.launch_support import (
    NAMESPACE,
    PARAMS_FILE,
    TO_PIEZO_SIMULATOR,
    XACRO,
    Arguments,
    as_text,
    available,
    declared,
    fixed_frame,
)

ARGUMENTS = {
    "robot": ("piezo_robot", "path of a DH table, URDF or xacro file, or name of a robot"),
    "xacro": XACRO,
    "rotor_link": ("gripper", "link that carries the rotor"),
    "rotor_speed": ("1000.0", "of the rotor, rad/s"),
    "rate": ("1000.0", "cycles of both nodes per second, Hz"),
    "initial_positions": ("[0.0, 0.3, 0.8, -0.5, 0.6, 0.0]", "of all joints, rad or m"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
    "rviz": ("true", "open RViz"),
    "rviz_config": (
        PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", "piezo.rviz"]),
        "RViz configuration",
    ),
}


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    namespace, files = given["namespace"], given.files("params_file")
    description = given.description("robot")
    shared = {
        "robot_description": as_text(description),
        "rotor_link": given["rotor_link"],
        "rate": given.number("rate"),
    }
    simulated = {
        "rotor_speed": given.number("rotor_speed"),
        "initial_positions": given.numbers("initial_positions"),
    }
    actions = [
        Node(
            package="mbdyn_ros",
            executable="piezo_simulator",
            namespace=namespace,
            output="screen",
            parameters=[shared, simulated, *files],
            remappings=TO_PIEZO_SIMULATOR,
            on_exit=Shutdown(reason="the simulator ended"),
        ),
        Node(
            package="mbdyn_ros",
            executable="piezo_controller",
            namespace=namespace,
            output="screen",
            parameters=[shared, *files],
        ),
    ]
    if given.truth("rviz"):
        if available("rviz2"):
            options = ["-d", given["rviz_config"], "-f", fixed_frame(description, False)]
            actions.append(
                Node(package="rviz2", executable="rviz2", namespace=namespace, arguments=options)
            )
        else:
            actions.append(LogInfo(msg="rviz2 is not installed: going on without it"))
    return actions


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
