"""Simulate a robot: ros2 launch mbdyn_ros simulate.launch.py robot:=/path/to/robot.urdf

The URDF goes to robot_state_publisher and to the simulator; RViz shows the motion. All names are
relative: `namespace:=left`, or PushRosNamespace of a launch file that includes this one, puts
everything into a namespace, transforms too.
`ros2 launch mbdyn_ros simulate.launch.py --show-args` lists the arguments.
"""

from launch.actions import LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from mbdyn_ros.ros.launch_support import (
    HOME,
    NAMESPACE,
    OWN_TRANSFORMS,
    PARAMS_FILE,
    SRDF,
    TO_THE_SIMULATOR,
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
    "environment": ("", "YAML file with walls that points of the robot hit"),
    "joint_limits": ("true", "whether position limits that hold at the start are stops"),
    "rate": ("1000.0", "simulation steps per second, Hz"),
    "real_time_factor": ("1.0", "simulated seconds per second"),
    "gravity": ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2"),
    "floating_base": ("false", "whether the root link moves freely in the world"),
    "joint_states": (
        "joint_states", "topic of the simulator's joint states, where another node owns that name"
    ),
    "hold_at_start": ("false", "whether joints keep their first position until commanded"),
    "start_paused": ("false", "wait for the service simulator/pause with data: false"),
    "feedforward": ("false", "also start torque_feedforward, which drives the simulator"),
    "publish_clock": ("false", "publish simulated time on /clock"),
    "use_sim_time": (
        LaunchConfiguration("publish_clock"), "whether the nodes beside it follow /clock"
    ),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
    "use_robot_state_publisher": ("true", "publish TF and robot_description"),
    "rviz": ("true", "open RViz"),
    "rviz_config": (
        PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", "simulate.rviz"]),
        "RViz configuration",
    ),
}  # fmt: skip


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    namespace, files = given["namespace"], given.files("params_file")
    floating = given.truth("floating_base")
    description = given.description("robot")
    clock = {"use_sim_time": given.truth("use_sim_time")}
    model = {
        "robot_description": as_text(description),
        "mechanism": as_text(given["mechanism"]),
        "srdf": as_text(given["srdf"]),
        "home": as_text(given["home"]),
    }
    gravity = {"gravity": given.numbers("gravity")}
    settings = {
        "environment": as_text(given["environment"]),
        "joint_limits": given.truth("joint_limits"),
        "rate": given.number("rate"),
        "real_time_factor": given.number("real_time_factor"),
        "floating_base": floating,
        "start_paused": given.truth("start_paused"),
        "publish_clock": given.truth("publish_clock"),
        "hold_at_start": given.truth("hold_at_start"),
    }
    actions = [
        Node(
            package="mbdyn_ros",
            executable="simulator",
            namespace=namespace,
            output="screen",
            parameters=[model, gravity, settings, *files],
            remappings=[*OWN_TRANSFORMS, ("joint_states", given["joint_states"])],
            on_exit=Shutdown(reason="the simulator ended"),
        )
    ]
    if given.truth("feedforward"):
        actions.append(
            Node(
                package="mbdyn_ros",
                executable="torque_feedforward",
                namespace=namespace,
                output="screen",
                parameters=[model, gravity, clock, *files],
                remappings=TO_THE_SIMULATOR,
            )
        )
    shown = ["-d", given["rviz_config"], "-f", fixed_frame(description, floating)]
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
