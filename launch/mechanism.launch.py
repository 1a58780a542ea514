"""Simulate a planar linkage: ros2 launch mbdyn_ros mechanism.launch.py mechanism:=four_bar

`mbdyn mechanism list` names the mechanisms. All arguments of simulate.launch.py but `robot` serve
here too; `ros2 launch mbdyn_ros mechanism.launch.py --show-args` lists them.
"""

import tempfile
from pathlib import Path

from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnShutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mbdyn_ros.mechanisms import configured

SIMULATE = Path(__file__).parent / "simulate.launch.py"

ARGUMENTS = {
    "mechanism": ("four_bar", "name of a mechanism, as `mbdyn mechanism list` shows them"),
    "settings": ("", "what differs from its defaults: coupler_mass=2,crank_length=0.08"),
}


def start(context):
    """simulate.launch.py with the URDF of the mechanism."""
    name, settings = (LaunchConfiguration(one).perform(context) for one in ARGUMENTS)
    mechanism = configured(name, settings)
    folder = tempfile.TemporaryDirectory(prefix="mbdyn_ros-")
    urdf = Path(folder.name, f"{mechanism.name}.urdf")
    urdf.write_text(mechanism.urdf(), encoding="utf-8")
    arguments = {
        "robot": str(urdf),
        "mechanism": "",  # there it is a file beside the URDF
        "gravity": f"[0.0, 0.0, {-float(mechanism.gravity)!r}]",
    }
    return [
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SIMULATE)), launch_arguments=arguments.items()
        ),
        RegisterEventHandler(OnShutdown(on_shutdown=lambda *_: folder.cleanup())),
    ]


def generate_launch_description():
    """The launch description."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
