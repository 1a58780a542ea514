"""The tree robot falls inside a circle and bounces: ros2 launch mbdyn_ros impact.launch.py

`simulate.launch.py` with this robot, its wall and its start; the other arguments of that file,
such as `rviz:=false`, serve here too (`--show-args` lists them).
"""

from pathlib import Path

from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription

HERE = Path(__file__).resolve().parent.parent

ARGUMENTS = {
    "robot": "urdf/tree_robot.urdf",
    "environment": "config/tree_robot_walls.yaml",
    "params_file": "config/tree_robot.yaml",
    "rviz_config": "config/impact.rviz",
}


def generate_launch_description():
    """The launch description."""
    arguments = {name: str(HERE / path) for name, path in ARGUMENTS.items()}
    source = PythonLaunchDescriptionSource(str(HERE / "launch" / "simulate.launch.py"))
    included = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return LaunchDescription([included])
