"""A robot under ros2_control: ros2 launch mbdyn_ros ros2_control.launch.py robot:=robot.urdf

The simulator is the hardware of a controller manager: it follows positions and velocities, or takes
efforts. The `<ros2_control>` block and the controllers are made for the robot. Needs a full ROS 2
with ros2_control. `--show-args` lists the arguments; docs/ros2_control.md has the rest.
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
    XACRO,
    Arguments,
    as_text,
    available,
    declared,
    fixed_frame,
)
from mbdyn_ros.ros.ros2_control import (
    NEEDED,
    TOPIC_HARDWARE,
    TOPICS,
    ControlledRobot,
    require_packages,
)

ARGUMENTS = {
    "robot": ("ur5", "path of a URDF or xacro file, or name of an installed robot"),
    "xacro": XACRO,
    "home": HOME,
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
    "controllers_file": ("", "YAML file with controllers; empty: made for the robot"),
    "controllers": (
        "joint_state_broadcaster joint_trajectory_controller", "controllers that are activated"
    ),
    "idle_controllers": (
        "effort_trajectory_controller forward_effort_controller forward_velocity_controller "
        "forward_position_controller", "controllers that are loaded, and wait",
    ),
    "update_rate": ("500", "cycles of the controller manager per second, Hz"),
    "hardware": (TOPIC_HARDWARE, "plugin that passes commands and states on over topics"),
    "keep_blocks": ("false", "use the <ros2_control> blocks of the description as they are"),
    "environment": ("", "YAML file with walls that points of the robot hit"),
    "rate": ("1000.0", "simulation steps per second, Hz"),
    "real_time_factor": ("1.0", "simulated seconds per second"),
    "gravity": ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2"),
    "hold_at_start": ("true", "whether joints keep their first position until commanded"),
    "publish_clock": ("false", "publish simulated time on /clock"),
    "use_sim_time": (
        LaunchConfiguration("publish_clock"), "whether the nodes beside it follow /clock"
    ),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
    "rviz": ("true", "open RViz"),
    "rviz_config": (
        PathJoinSubstitution([FindPackageShare("mbdyn_ros"), "config", "simulate.rviz"]),
        "RViz configuration",
    ),
}  # fmt: skip


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    plugin = given["hardware"].partition("/")[0]
    require_packages([name for name in (*NEEDED, plugin) if not available(name)])
    namespace, files = given["namespace"], given.files("params_file")
    text = given.description("robot")
    robot = ControlledRobot(text, given["mechanism"], given["home"])
    if not given.truth("keep_blocks"):
        text = robot.description(given["hardware"])
    rate = given.number("update_rate")
    controllers = given.files("controllers_file") or [str(robot.controllers_file(round(rate)))]
    clock = {"use_sim_time": given.truth("use_sim_time")}
    description = {"robot_description": as_text(text)}
    settings = {
        "mechanism": as_text(given["mechanism"]),
        "home": as_text(given["home"]),
        "environment": as_text(given["environment"]),
        "gravity": given.numbers("gravity"),
        "rate": given.number("rate"),
        "real_time_factor": given.number("real_time_factor"),
        "hold_at_start": given.truth("hold_at_start"),
        "publish_clock": given.truth("publish_clock"),
    }
    actions = [
        LogInfo(msg=f"controllers: {controllers[0]}"),
        Node(
            package="mbdyn_ros",
            executable="simulator",
            namespace=namespace,
            output="screen",
            parameters=[description, settings, *files],
            remappings=[*OWN_TRANSFORMS, ("joint_states", TOPICS["joint_states_topic"])],
            on_exit=Shutdown(reason="the simulator ended"),
        ),
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            namespace=namespace,
            parameters=[description, clock],
            remappings=OWN_TRANSFORMS,
        ),
        Node(
            package="controller_manager",
            executable="ros2_control_node",
            namespace=namespace,
            output="screen",
            parameters=[clock, *controllers],
            remappings=[("~/robot_description", "robot_description")],
            on_exit=Shutdown(reason="the controller manager ended"),
        ),
    ]
    for argument, options in (("controllers", []), ("idle_controllers", ["--inactive"])):
        names = given[argument].split()
        if names:
            actions.append(
                Node(
                    package="controller_manager",
                    executable="spawner",
                    namespace=namespace,
                    output="screen",
                    arguments=[*names, *options, "--param-file", controllers[0]],
                )
            )
    if given.truth("rviz") and available("rviz2"):
        actions.append(
            Node(
                package="rviz2",
                executable="rviz2",
                namespace=namespace,
                parameters=[clock],
                arguments=["-d", given["rviz_config"], "-f", fixed_frame(text, False)],
                remappings=OWN_TRANSFORMS,
            )
        )
    return actions


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
