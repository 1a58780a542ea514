"""A simulated piezo robot under control: ros2 launch mbdyn_ros piezo.launch.py

piezo_controller pulses the transducers, piezo_simulator moves by them; RViz shows the limbs, the
rotating force and the transducers at work. Move the gripper from another shell:

    ros2 topic pub --once /piezo_controller/target geometry_msgs/msg/PoseStamped \\
      "{pose: {position: {x: 0.05, y: 0.005, z: 0.045}}}"

`ros2 launch mbdyn_ros piezo.launch.py --show-args` lists the arguments.
"""

from launch.actions import OpaqueFunction

from launch import LaunchDescription
from mbdyn_ros.ros.launch_nodes import (
    NAMESPACE,
    PARAMS_FILE,
    TO_PIEZO_SIMULATOR,
    XACRO,
    Arguments,
    declared,
    fixed_frame,
    loaded,
    own_node,
    picture,
    rviz,
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
    **picture("piezo.rviz"),
}


def start(context):
    """The nodes, for the arguments as they were given."""
    given = Arguments(context.launch_configurations)
    description = given.description("robot")
    shared = loaded(given, description)
    shared.update(rotor_link=given["rotor_link"], rate=given.number("rate"))
    simulated = {
        "rotor_speed": given.number("rotor_speed"),
        "initial_positions": given.numbers("initial_positions"),
    }
    return [
        own_node(
            given,
            "piezo_simulator",
            [shared, simulated],
            TO_PIEZO_SIMULATOR,
            ended="the simulator ended",
        ),
        own_node(given, "piezo_controller", [shared]),
        *rviz(given, fixed_frame(description, False), {}),
    ]


def generate_launch_description():
    """The launch description."""
    return LaunchDescription([*declared(ARGUMENTS, __file__), OpaqueFunction(function=start)])
