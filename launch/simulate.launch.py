"""Simulate a robot: ros2 launch mbdyn_ros simulate.launch.py robot:=/path/to/robot.urdf

The URDF goes to robot_state_publisher and to the simulator; RViz shows the motion. With
`world:=/path/to/world.yaml` it shows several robots and bodies, whose description and transforms
are the simulator's own, because they come and go. All names are
relative: `namespace:=left`, or PushRosNamespace of a launch file that includes this one, puts
everything into a namespace, transforms too.
`ros2 launch mbdyn_ros simulate.launch.py --show-args` lists the arguments.
"""

from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mbdyn_ros.ros.launch_nodes import (
    GRAVITY,
    NAMESPACE,
    OWN_TRANSFORMS,
    PARAMS_FILE,
    ROBOT,
    TO_THE_SIMULATOR,
    TRANSFORMS,
    WORLD_FRAME,
    Arguments,
    as_text,
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
    "world": ("", "YAML file or MJCF with several robots, bodies and walls; instead of robot"),
    "environment": ("", "YAML file with walls that points of the robot hit"),
    "joint_limits": ("true", "whether position limits that hold at the start are stops"),
    "rate": ("1000.0", "simulation steps per second, Hz"),
    "real_time_factor": ("1.0", "simulated seconds per second"),
    "gravity": GRAVITY,
    "floating_base": ("false", "whether the root link moves freely in the world"),
    "joint_states": (
        "joint_states", "topic of the simulator's joint states, where another node owns that name"
    ),
    "hold_at_start": ("false", "whether joints keep their first position until commanded"),
    "start_paused": ("false", "wait for the service simulator/pause with data: false"),
    "feedforward": ("false", "also start torque_feedforward, which drives the simulator"),
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
    floating, world = given.truth("floating_base"), given["world"]
    clock = {"use_sim_time": given.truth("use_sim_time")}
    if world:
        model, publisher, frame = {"world": as_text(world)}, [], WORLD_FRAME
    else:
        description = given.description("robot")
        model = loaded(given, description)
        publisher = robot_state_publisher(given, [model, clock])
        frame = fixed_frame(description, floating)
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
    states = [*OWN_TRANSFORMS, ("joint_states", given["joint_states"])]
    actions = [
        own_node(given, "simulator", [model, gravity, settings], states, "the simulator ended")
    ]
    if given.truth("feedforward"):
        shared = [*([] if world else [model]), gravity, clock]
        actions.append(own_node(given, "torque_feedforward", shared, TO_THE_SIMULATOR))
    return [
        *actions,
        *publisher,
        *rviz(given, frame, clock),
    ]


def generate_launch_description():
    """The launch description."""
    including = "impact.launch.py", "mechanism.launch.py"
    arguments = declared(ARGUMENTS, __file__, *including, further=("mechanism", "settings"))
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
