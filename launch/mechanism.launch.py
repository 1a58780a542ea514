"""Simulate a planar linkage: ros2 launch mbdyn_ros mechanism.launch.py mechanism:=four_bar

`mbdyn mechanism list` names the mechanisms. The arguments of simulate.launch.py but `robot` and
`gravity` serve here too; `ros2 launch mbdyn_ros mechanism.launch.py --show-args` lists them.
"""

import tempfile
from pathlib import Path

from launch.actions import (
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    SetLaunchConfiguration,
)
from launch.event_handlers import OnShutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mbdyn_ros.errors import MbdynError
from mbdyn_ros.mechanisms import configured
from mbdyn_ros.ros.launch_nodes import declared

SIMULATE = Path(__file__).parent / "simulate.launch.py"

ARGUMENTS = {
    "mechanism": ("four_bar", "name of a mechanism, as `mbdyn mechanism list` shows them"),
    "settings": ("", "what differs from its defaults: coupler_mass=2,crank_length=0.08"),
}


def write(context):
    """Write the URDF of the mechanism; say where it is, and in which gravity it moves."""
    name, settings = (LaunchConfiguration(one).perform(context) for one in ARGUMENTS)
    try:
        mechanism = configured(name, settings)
    except MbdynError as error:
        raise type(error)(f"launch argument mechanism or settings: {error}") from None
    folder = tempfile.TemporaryDirectory(prefix="mbdyn_ros-")
    urdf = Path(folder.name, f"{mechanism.name}.urdf")
    urdf.write_text(mechanism.urdf(), encoding="utf-8")
    return [
        SetLaunchConfiguration("mechanism_urdf", str(urdf)),
        SetLaunchConfiguration("mechanism_gravity", str([0.0, 0.0, -float(mechanism.gravity)])),
        RegisterEventHandler(OnShutdown(on_shutdown=lambda *_: folder.cleanup())),
    ]


def generate_launch_description():
    """The launch description."""
    arguments = {
        "robot": LaunchConfiguration("mechanism_urdf"),
        "mechanism": "",  # there it is a file next to the URDF
        "gravity": LaunchConfiguration("mechanism_gravity"),
    }
    # Included here and not in `write`, where --show-args would not find its arguments.
    simulate = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SIMULATE)), launch_arguments=arguments.items()
    )
    return LaunchDescription([*declared(ARGUMENTS), OpaqueFunction(function=write), simulate])
