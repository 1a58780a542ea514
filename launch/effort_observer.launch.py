"""Feel what acts on a robot: ros2 launch mbdyn_ros effort_observer.launch.py robot:=ur5 link:=tool0

effort_observer estimates external efforts, the wrench at a link, contacts and the payload from
joint states with efforts on `states`.
`ros2 launch mbdyn_ros effort_observer.launch.py --show-args` lists the arguments.
"""

from launch.actions import OpaqueFunction

from launch import LaunchDescription
from mbdyn_ros.ros.launch_nodes import (
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
    "states": ("joint_states", "topic of joint states with efforts"),
    "link": ("", "link whose wrench is estimated; empty: none"),
    "payload_link": ("", "link whose payload is estimated; empty: none"),
    "use_sim_time": ("false", "follow /clock"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
}


def start(context):
    """The node, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    model = loaded(given, given.description("robot"))
    chosen = {name: given[name] for name in ("link", "payload_link") if given[name]}
    observer = own_node(
        given,
        "effort_observer",
        [model, {"use_sim_time": given.truth("use_sim_time")}, *([chosen] if chosen else [])],
        [("joint_states", given["states"])],
        ended="effort_observer ended",
    )
    return [observer]


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS, __file__), OpaqueFunction(function=start)])
