"""A robot's `<ros2_control>` block, with the simulator as hardware, and its controllers."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from lxml import etree

from ..control.default_gains import locked_masses
from ..errors import InputError, MbdynError
from ..prepare.coordinates import JointBlock
from ..robot import Robot, load

QUANTITIES_SENT = ("position", "velocity", "effort")
"""Interfaces of a joint: both its command and its state interfaces."""

TOPIC_HARDWARE = "joint_state_topic_hardware_interface/JointStateTopicSystem"
"""The hardware that passes commands and states on over topics."""

SIMULATED_HARDWARE = "mbdyn_ros_controllers/SimulatedSystem"
"""The hardware that simulates the robot in the process of the controller manager."""

IMU_INTERFACES = [
    *(f"orientation.{axis}" for axis in "xyzw"),
    *(f"{kind}.{axis}" for kind in ("angular_velocity", "linear_acceleration") for axis in "xyz"),
]
"""States of an IMU, as imu_sensor_broadcaster reads them."""

FORCE_TORQUE_INTERFACES = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
"""States of a force-torque sensor, as force_torque_sensor_broadcaster reads them."""

TOPICS = {
    "joint_commands_topic": "simulator/joint_command",
    "joint_states_topic": "simulator/joint_states",
    "trigger_joint_command_threshold": "-1",
}
"""Its parameters: every command is sent, those that are obeyed already too."""

NEEDED = (
    "controller_manager", "joint_state_broadcaster", "joint_trajectory_controller",
    "forward_command_controller",
)  # fmt: skip
"""Packages without which nothing runs, besides those of the hardware and the description."""

PD_FREQUENCY = 20.0
"""rad/s of the PD of effort controllers, critically damped: their gains are M w^2 and 2 M w."""


class ControlledRobot:
    """A robot for ros2_control: its joints of one coordinate, the actuated ones driven.

    Parameters
    ----------
    description : text of a URDF. mechanism : loops added to it, path or text; empty for none.
    """

    def __init__(self, description: str, mechanism: str = "", home: str = "") -> None:
        self._description = description
        self._robot: Robot = load(description, mechanism or None, home or None)
        blocks: Mapping[str, JointBlock] = self._robot.system.coordinates.joint_blocks
        self._joints = [name for name, block in blocks.items() if block.kind.nv == 1]
        self.driven = [name for name in self._robot.actuated_joints if name in self._joints]
        if not self.driven:
            raise MbdynError(f"{self._robot.model.name} has no joint that a controller can drive")

    def description(
        self,
        hardware: str = TOPIC_HARDWARE,
        imu_links: Sequence[str] = (),
        force_torque_joints: Sequence[str] = (),
    ) -> str:
        """The URDF with a block for simulated hardware in the place of those that it has.

        imu_links, force_torque_joints : where `SIMULATED_HARDWARE` has sensors, each named as its
            link or joint: topics carry states of joints alone.

        Raises
        ------
        InputError
            Other hardware has no sensors.
        """
        if hardware != SIMULATED_HARDWARE and (imu_links or force_torque_joints):
            raise InputError(
                f"hardware {hardware} has no sensors; with {SIMULATED_HARDWARE} imu_links and "
                "force_torque_joints are state interfaces"
            )
        root = etree.fromstring(self._description.encode())
        for block in root.findall("ros2_control"):
            root.remove(block)
        block = etree.SubElement(root, "ros2_control", name="simulated_robot", type="system")
        system = etree.SubElement(block, "hardware")
        etree.SubElement(system, "plugin").text = hardware
        for name, value in () if hardware == SIMULATED_HARDWARE else TOPICS.items():
            etree.SubElement(system, "param", name=name).text = value
        for name in self._joints:
            joint = etree.SubElement(block, "joint", name=name)
            for kind in QUANTITIES_SENT if name in self.driven else ():
                etree.SubElement(joint, "command_interface", name=kind)
            for kind in QUANTITIES_SENT:
                etree.SubElement(joint, "state_interface", name=kind)
        for kind, names, interfaces in (
            ("link", imu_links, IMU_INTERFACES),
            ("joint", force_torque_joints, FORCE_TORQUE_INTERFACES),
        ):
            for name in names:
                sensor = etree.SubElement(block, "sensor", name=name)
                etree.SubElement(sensor, "param", name=kind).text = name
                for one in interfaces:
                    etree.SubElement(sensor, "state_interface", name=one)
        return str(etree.tostring(root, encoding="unicode"))

    def controllers(self, rate: int = 500) -> dict[str, Any]:
        """Parameters of a controller manager at a rate, Hz, and of controllers for the robot."""
        robot, kinds = self._robot, {
            "joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster",
            "joint_trajectory_controller": "joint_trajectory_controller/JointTrajectoryController",
            "effort_trajectory_controller": "joint_trajectory_controller/JointTrajectoryController",
        }  # fmt: skip
        forward = "forward_command_controller/ForwardCommandController"
        kinds |= {f"forward_{one}_controller": forward for one in QUANTITIES_SENT}
        types = {name: {"type": kind} for name, kind in kinds.items()}
        states = {"state_interfaces": ["position", "velocity"]}
        joints = {"joints": list(self.driven)}
        parameters: dict[str, Any] = {
            "controller_manager": {"update_rate": rate, **types},
            "joint_trajectory_controller": {
                **joints, "command_interfaces": ["position", "velocity"], **states,
            },
            "effort_trajectory_controller": {
                **joints, "command_interfaces": ["effort"], **states, "gains": self._gains(robot),
            },
        }  # fmt: skip
        for one in QUANTITIES_SENT:
            parameters[f"forward_{one}_controller"] = {**joints, "interface_name": one}
        return {"/**": {name: {"ros__parameters": one} for name, one in parameters.items()}}

    def controllers_file(self, rate: int = 500) -> Path:
        """A YAML file with `controllers`, which is removed when this process ends."""
        with NamedTemporaryFile(
            "w", prefix=f"{self._robot.model.name}_controllers_", suffix=".yaml", delete=False
        ) as file:
            file.write(controllers_text(self.controllers(rate)))
        path = Path(file.name)
        atexit.register(path.unlink, missing_ok=True)
        return path

    def _gains(self, robot: Robot) -> dict[str, dict[str, float]]:
        """Gains of a PD by the inertia at each joint, the other actuated ones locked, at home."""
        masses, gains = locked_masses(robot), {}
        for name in self.driven:
            mass = float(masses[robot.effort_labels.index(name)])
            p, d = mass * PD_FREQUENCY**2, 2.0 * mass * PD_FREQUENCY
            gains[name] = {"p": float(f"{p:.2g}"), "i": 0.0, "d": float(f"{d:.2g}")}
        return gains


class _Plain(yaml.SafeDumper):
    """Writes lists out wherever they stand: parsers of ROS know no references."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def controllers_text(parameters: dict[str, Any]) -> str:
    """Parameters as the YAML that ROS reads."""
    text = yaml.dump(parameters, Dumper=_Plain, sort_keys=False, default_flow_style=None, width=96)
    return str(text)


def require_packages(missing: list[str]) -> None:
    """Refuse to start without packages, by name.

    Raises
    ------
    MbdynError
        What is missing, and how it is installed.
    """
    if missing:
        wanted = " ".join(f"ros-$ROS_DISTRO-{name.replace('_', '-')}" for name in missing)
        raise MbdynError(
            f"ros2_control.launch.py needs {', '.join(missing)}: sudo apt install {wanted}"
        )
