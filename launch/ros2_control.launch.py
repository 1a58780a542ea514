"""A robot under ros2_control: ros2 launch mbdyn_ros ros2_control.launch.py robot:=robot.urdf

The simulator is the hardware of a controller manager, over topics or in its process
(hardware:=mbdyn_ros_controllers/SimulatedSystem): it follows positions and velocities, or takes
efforts. The `<ros2_control>` block and the controllers are made for the robot. Needs a full ROS 2
with ros2_control. `--show-args` lists the arguments; docs/ros2_control.md has the rest.
"""

from launch.actions import LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
from mbdyn_ros.errors import InputError
from mbdyn_ros.ros.launch_nodes import (
    GRAVITY,
    NAMESPACE,
    OWN_TRANSFORMS,
    PARAMS_FILE,
    ROBOT,
    TRANSFORMS,
    Arguments,
    as_text,
    available,
    declared,
    fixed_frame,
    own_node,
    picture,
    robot_state_publisher,
    rviz,
)
from mbdyn_ros.ros.ros2_control import (
    NEEDED,
    SIMULATED_HARDWARE,
    TOPIC_HARDWARE,
    TOPICS,
    ControlledRobot,
    require_packages,
)

ARGUMENTS = {
    "robot": ("ur5", ROBOT["robot"][1]),
    **{name: ROBOT[name] for name in ("xacro", "home", "mechanism")},
    "controllers_file": ("", "YAML file with controllers; empty: made for the robot"),
    "controllers": (
        "joint_state_broadcaster joint_trajectory_controller", "controllers that are activated"
    ),
    "idle_controllers": (
        "effort_trajectory_controller forward_effort_controller forward_velocity_controller "
        "forward_position_controller", "controllers that are loaded, and wait",
    ),
    "update_rate": ("500", "cycles of the controller manager per second, Hz"),
    "hardware": (
        TOPIC_HARDWARE, "plugin that passes commands and states on over topics, or "
        f"{SIMULATED_HARDWARE}, which simulates in the controller manager",
    ),
    "imu_links": ("", "links with IMUs as state interfaces, of hardware that simulates itself"),
    "force_torque_joints": ("", "joints with force-torque sensors, likewise"),
    "keep_blocks": ("false", "use the <ros2_control> blocks of the description as they are"),
    "environment": ("", "YAML file with walls that points of the robot hit"),
    "rate": ("1000.0", "simulation steps per second, Hz"),
    "real_time_factor": ("1.0", "simulated seconds per second"),
    "gravity": GRAVITY,
    "hold_at_start": ("true", "whether joints keep their first position until commanded"),
    "publish_clock": ("false", "publish simulated time on /clock"),
    "use_sim_time": (
        LaunchConfiguration("publish_clock"), "whether the other nodes follow /clock"
    ),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
    **TRANSFORMS,
    **picture(),
}  # fmt: skip


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    plugin = given["hardware"].partition("/")[0]
    needed = [*NEEDED, plugin]
    if given.truth("use_robot_state_publisher"):  # else another one sends the manager the robot
        needed.append("robot_state_publisher")
    require_packages([name for name in needed if not available(name)])
    text = given.description("robot")
    robot = ControlledRobot(text, given["mechanism"], given["home"])
    if not given.truth("keep_blocks"):
        sensors = given["imu_links"].split(), given["force_torque_joints"].split()
        text = robot.description(given["hardware"], *sensors)
    over_topics = given["hardware"] != SIMULATED_HARDWARE
    for name in () if over_topics else ("mechanism", "home", "environment", "params_file"):
        if given[name]:
            raise InputError(
                f"launch argument {name} is for the node simulator; {SIMULATED_HARDWARE} knows the "
                "robot's description alone"
            )
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
    hardware = own_node(
        given,
        "simulator",
        [description, settings],
        [*OWN_TRANSFORMS, ("joint_states", TOPICS["joint_states_topic"])],
        ended="the simulator ended",
    )
    manager = Node(
        package="controller_manager",
        executable="ros2_control_node",
        namespace=given["namespace"],
        output="screen",
        parameters=[clock, *controllers],
        remappings=[("~/robot_description", "robot_description")],
        on_exit=Shutdown(reason="the controller manager ended"),
    )
    spawners = [
        Node(
            package="controller_manager",
            executable="spawner",
            namespace=given["namespace"],
            output="screen",
            arguments=[*names, *options, "--param-file", controllers[0]],
        )
        for argument, options in (("controllers", []), ("idle_controllers", ["--inactive"]))
        if (names := given[argument].split())
    ]
    return [
        LogInfo(msg=f"controllers: {controllers[0]}"),
        *([hardware] if over_topics else []),
        *robot_state_publisher(given, [description, clock]),
        manager,
        *spawners,
        *rviz(given, fixed_frame(text, floating_base=False), clock),
    ]


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS, __file__), OpaqueFunction(function=start)])
