"""Show a machine with loops: ros2 launch mbdyn_ros loop_states.launch.py robot:=/path/to/crane.urdf

loop_state_publisher computes the states of all joints from those that are measured on `measured`;
robot_state_publisher and RViz show the whole machine.
`ros2 launch mbdyn_ros loop_states.launch.py --show-args` lists the arguments.
"""

from launch.actions import OpaqueFunction

from launch import LaunchDescription
from mbdyn_ros.ros.launch_nodes import (
    NAMESPACE,
    PARAMS_FILE,
    ROBOT,
    TRANSFORMS,
    Arguments,
    declared,
    fixed_frame,
    loaded,
    own_node,
    picture,
    robot_state_publisher,
    rviz,
)

ARGUMENTS = {
    **ROBOT,
    "measured": ("measured_joint_states", "topic of the measured joint states"),
    "joints": ("", "joints that are measured, with commas between; empty: all actuated ones"),
    "use_sim_time": ("false", "follow /clock"),
    "namespace": NAMESPACE,
    "params_file": PARAMS_FILE,
    **TRANSFORMS,
    **picture(),
}


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    description = given.description("robot")
    model, clock = loaded(given, description), {"use_sim_time": given.truth("use_sim_time")}
    joints = [one.strip() for one in given["joints"].split(",") if one.strip()]
    publisher = own_node(
        given,
        "loop_state_publisher",
        [model, clock, *([{"joints": joints}] if joints else [])],
        [("measured_joint_states", given["measured"])],
        ended="loop_state_publisher ended",
    )
    return [
        publisher,
        *robot_state_publisher(given, [model, clock]),
        *rviz(given, fixed_frame(description, floating_base=False), clock),
    ]


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS, __file__), OpaqueFunction(function=start)])
