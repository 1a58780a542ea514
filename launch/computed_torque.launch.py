"""Control a robot: ros2 launch mbdyn_ros computed_torque.launch.py robot:=ur5 link:=tool0

Starts computed_torque, and the simulator as its robot; with `simulator:=false` it drives what
listens on `commands`. The mode changes while it runs:

    ros2 param set /computed_torque mode joint_impedance

`ros2 launch mbdyn_ros computed_torque.launch.py --show-args` lists the arguments.
"""

from launch.actions import OpaqueFunction, Shutdown
from launch_ros.actions import Node

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
    declared,
)

ARGUMENTS = {
    "robot": ("manipulator", "path of a URDF or xacro file, or name of an installed robot"),
    "xacro": XACRO,
    "srdf": SRDF,
    "home": HOME,
    "mechanism": ("", "YAML file with loops and couplings beside the URDF"),
    "mode": ("gravity_compensation", "the law of control at the start"),
    "link": ("", "link that cartesian_impedance and ~/target are about"),
    "rate": ("500.0", "commands per second, Hz"),
    "gravity": ("[0.0, 0.0, -9.81]", "gravity in the world, m/s^2"),
    "autostart": ("true", "whether the controller is active at once"),
    "simulator": ("true", "whether the simulator is the robot"),
    "commands": ("forward_effort_controller/commands", "where efforts go without the simulator"),
    "publish_clock": ("false", "publish simulated time on /clock, and follow it"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
}


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    namespace, files = given["namespace"], given.files("params_file")
    clocked, simulated = given.truth("publish_clock"), given.truth("simulator")
    model = {
        "robot_description": as_text(given.description("robot")),
        "mechanism": as_text(given["mechanism"]),
        "srdf": as_text(given["srdf"]),
        "home": as_text(given["home"]),
        "gravity": given.numbers("gravity"),
    }
    control = {
        "mode": given["mode"],
        "link": given["link"],
        "rate": given.number("rate"),
        "autostart": given.truth("autostart"),
        "use_sim_time": clocked,
    }
    actions = [
        Node(
            package="mbdyn_ros",
            executable="computed_torque",
            namespace=namespace,
            output="screen",
            parameters=[model, control, *files],
            remappings=TO_THE_SIMULATOR if simulated else [("~/commands", given["commands"])],
            on_exit=Shutdown(reason="the controller ended"),
        )
    ]
    if simulated:
        actions.append(
            Node(
                package="mbdyn_ros",
                executable="simulator",
                namespace=namespace,
                output="screen",
                parameters=[model, {"publish_clock": clocked}, *files],
                remappings=OWN_TRANSFORMS,
                on_exit=Shutdown(reason="the simulator ended"),
            )
        )
    return actions


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=start)])
