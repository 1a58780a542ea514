"""Control a robot: ros2 launch mbdyn_ros computed_torque.launch.py robot:=ur5 link:=tool0

Starts computed_torque, and the simulator as its robot; with `simulator:=false` it drives what
listens on `commands`. The mode changes while it runs:

    ros2 param set /computed_torque mode joint_impedance

`ros2 launch mbdyn_ros computed_torque.launch.py --show-args` lists the arguments.
"""

from launch.actions import OpaqueFunction

from launch import LaunchDescription
from mbdyn_ros.ros.launch_nodes import (
    GRAVITY,
    NAMESPACE,
    OWN_TRANSFORMS,
    PARAMS_FILE,
    ROBOT,
    TO_THE_SIMULATOR,
    Arguments,
    declared,
    loaded,
    own_node,
)

ARGUMENTS = {
    **ROBOT,
    "mode": ("gravity_compensation", "the law of control at the start"),
    "link": ("", "link that cartesian_impedance and ~/target are about"),
    "rate": ("500.0", "commands per second, Hz"),
    "gravity": GRAVITY,
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
    clocked, simulated = given.truth("publish_clock"), given.truth("simulator")
    model = loaded(given, given.description("robot"))
    model["gravity"] = given.numbers("gravity")
    control = {
        "mode": given["mode"],
        "link": given["link"],
        "rate": given.number("rate"),
        "autostart": given.truth("autostart"),
        "use_sim_time": clocked,
    }
    efforts = TO_THE_SIMULATOR if simulated else [("~/commands", given["commands"])]
    actions = [
        own_node(given, "computed_torque", [model, control], efforts, "the controller ended")
    ]
    if simulated:
        held = {"publish_clock": clocked, "hold_at_start": True}  # it falls before efforts come
        actions.append(
            own_node(given, "simulator", [model, held], OWN_TRANSFORMS, "the simulator ended")
        )
    return actions


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS, __file__), OpaqueFunction(function=start)])
