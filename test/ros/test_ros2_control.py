"""The `<ros2_control>` block and the controllers that are made for a robot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from lxml import etree

pytest.importorskip("rclpy")

from ros_rig import ARM, STONE

import mbdyn_ros
from mbdyn_ros.errors import InputError, MbdynError
from mbdyn_ros.ros.launch_nodes import robot_description
from mbdyn_ros.ros.messages.commands import command_interfaces
from mbdyn_ros.ros.ros2_control import (
    SIMULATED_HARDWARE,
    ControlledRobot,
    controllers_text,
    require_packages,
)

pytestmark = pytest.mark.usefixtures("interpreted")

CONFIG = Path(__file__).resolve().parents[2] / "config"


@pytest.mark.parametrize("name", ["ur5", "manipulator"])
def test_files_of_controllers_are_those_that_are_made(name: str) -> None:
    robot = ControlledRobot(robot_description(name))
    file = (CONFIG / f"{name}_controllers.yaml").read_text()
    comment, _, text = file.partition("\n")
    assert comment.startswith(f"# Controllers of {name}")
    assert text == controllers_text(robot.controllers())
    made = robot.controllers_file(200)
    given = yaml.safe_load(made.read_text())["/**"]
    made.unlink()
    assert given["controller_manager"]["ros__parameters"]["update_rate"] == 200
    assert given["joint_trajectory_controller"]["ros__parameters"]["joints"] == robot.driven


def test_files_of_controllers_go_with_their_process() -> None:
    program = (
        "from mbdyn_ros.ros.ros2_control import ControlledRobot\n"
        "from mbdyn_ros.ros.launch_nodes import robot_description\n"
        "made = ControlledRobot(robot_description('four_bar')).controllers_file()\n"
        "print(made, made.is_file())"
    )
    said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    name, was_there = said.stdout.decode().split()
    assert was_there == "True" and not Path(name).exists()


def test_the_block() -> None:
    """In the place of those of the robot's maker; passive joints report where they are."""
    old = '<ros2_control name="real" type="system"><joint name="grip"/></ros2_control></robot>'
    robot = ControlledRobot(ARM.replace("</robot>", old))
    text = robot.description()
    assert text.count("<ros2_control") == 1 and "simulator/joint_command" in text
    model = mbdyn_ros.load(text).model
    interfaces = command_interfaces(model)
    assert list(interfaces) == ["shoulder", "elbow", "grip", "mirror"]
    assert interfaces["grip"] == {"position", "velocity", "effort"} and not interfaces["mirror"]
    other = robot.description("topic_based_ros2_control/TopicBasedSystem")
    assert "<plugin>topic_based_ros2_control/TopicBasedSystem</plugin>" in other


def test_the_block_of_hardware_that_simulates() -> None:
    """No topics, and sensors where they are asked for, of which others than it have none."""
    robot = ControlledRobot(robot_description("manipulator"))
    text = robot.description(SIMULATED_HARDWARE, ["tool"], ["tool_joint"])
    [block] = etree.fromstring(text.encode()).findall("ros2_control")
    assert block.findall("hardware/param") == [] and len(block.findall("joint")) == 8
    imu, scale = block.findall("sensor")
    assert (imu.get("name"), imu.findtext("param"), len(imu)) == ("tool", "tool", 11)
    assert [one.get("name") for one in scale[1:]] == [
        "force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"
    ]  # fmt: skip
    with pytest.raises(InputError, match="JointStateTopicSystem has no sensors; with mbdyn_ros_c"):
        robot.description(imu_links=["tool"])


@pytest.mark.parametrize("name", ["ur5", "manipulator"])
def test_our_robots_have_the_block_that_is_made(name: str) -> None:
    """Of those whose controllers are in `config`."""
    text = robot_description(name)
    own, made = (
        etree.fromstring(one.encode()).findall("ros2_control")
        for one in (text, ControlledRobot(text).description())
    )
    assert len(own) == 1 and _elements(own[0]) == _elements(made[0])


def _elements(root: etree._Element) -> list[tuple[str, dict[str, str], str]]:
    return [(str(one.tag), dict(one.attrib), (one.text or "").strip()) for one in root.iter()]


def test_loops_stay_in_the_description() -> None:
    robot = ControlledRobot(robot_description("manipulator"))
    crane = mbdyn_ros.load(robot.description())
    assert len(crane.model.loops) == 2 and list(crane.actuated_joints) == robot.driven


def test_refusals() -> None:
    with pytest.raises(MbdynError, match="stone has no joint that a controller can drive"):
        ControlledRobot(STONE)
    require_packages([])
    with pytest.raises(MbdynError, match="apt install ros-.ROS_DISTRO-controller-manager"):
        require_packages(["controller_manager"])
