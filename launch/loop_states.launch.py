"""Show a machine with loops: ros2 launch mbdyn_ros loop_states.launch.py robot:=/path/to/crane.urdf

loop_state_publisher tells the states of all joints from those that are measured on `measured`;
robot_state_publisher and RViz show the whole machine.
`ros2 launch mbdyn_ros loop_states.launch.py --show-args` lists the arguments.
"""

from launch.actions import LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from mbdyn_ros.ros.launch_support import (
    HOME,
    NAMESPACE,
    OWN_TRANSFORMS,
    PARAMS_FILE,
    SRDF,
    XACRO,
    Arguments,
    as_text,
    available,
    declared,
    fixed_frame,
)

ARGUMENTS = {
    "robot": ("manipulator", "path of a URDF or xacro file, or name of an installed robot"),
    "xacro": XACRO,
    "srdf": SRDF,
    "home": HOME,
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
    "measured": ("measured_joint_states", "topic of the measured joint states"),
    "joints": ("", "joints that are measured, with commas between; empty: all actuated ones"),
    "use_sim_time": ("false", "follow /clock"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
    "use_robot_state_publisher": ("true", "publish TF and robot_description"),
    "rviz": ("true", "open RViz"),
    "rviz_config": (
        PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", "simulate.rviz"]),
        "RViz configuration",
    ),
}


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    namespace, files = given["namespace"], given.files("params_file")
    description = given.description("robot")
    clock = {"use_sim_time": given.truth("use_sim_time")}
    model = {
        "robot_description": as_text(description),
        "mechanism": as_text(given["mechanism"]),
        "srdf": as_text(given["srdf"]),
        "home": as_text(given["home"]),
    }
    joints = [one.strip() for one in given["joints"].split(",") if one.strip()]
    actions = [
        Node(
            package="mbdyn_ros",
            executable="loop_state_publisher",
            namespace=namespace,
            output="screen",
            parameters=[model, clock, *([{"joints": joints}] if joints else []), *files],
            remappings=[("measured_joint_states", given["measured"])],
            on_exit=Shutdown(reason="loop_state_publisher ended"),
        )
    ]
    shown = ["-d", given["rviz_config"], "-f", fixed_frame(description, floating_base=False)]
    for argument, package, parameters, options in (
        ("use_robot_state_publisher", "robot_state_publisher",
         [model, clock, {"publish_frequency": 60.0}], []),
        ("rviz", "rviz2", [clock], shown),
    ):  # fmt: skip
        if not given.truth(argument):
            continue
        if not available(package):
            actions.append(LogInfo(msg=f"{package} is not installed: going on without it"))
            continue
        actions.append(
            Node(
                package=package,
                executable=package,
                namespace=namespace,
                parameters=parameters,
                arguments=options,
                remappings=OWN_TRANSFORMS,
            )
        )
    return actions


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
