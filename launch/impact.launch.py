"""The tree robot falls inside a circle and bounces: ros2 launch mbdyn_ros impact.launch.py

`simulate.launch.py` with this robot, its wall and its start; `rviz:=false` leaves RViz out.
"""

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

PASSED_ON = {
    "rviz": ("true", "open RViz"),
    "use_robot_state_publisher": ("true", "publish TF and robot_description"),
    "start_paused": ("false", "wait for the service /simulator/pause with data: false"),
}


def share(*path):
    """A file of this package."""
    return PathJoinSubstitution([FindPackageShare("mbdyn_ros"), *path])


def generate_launch_description():
    """The launch description."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in PASSED_ON.items()
    ]
    arguments = {
        "robot": share("urdf", "tree_robot.urdf"),
        "environment": share("config", "tree_robot_walls.yaml"),
        "params_file": share("config", "tree_robot.yaml"),
        "rviz_config": share("config", "impact.rviz"),
        **{name: LaunchConfiguration(name) for name in PASSED_ON},
    }
    source = PythonLaunchDescriptionSource(share("launch", "simulate.launch.py"))
    included = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return LaunchDescription([*declared, included])
