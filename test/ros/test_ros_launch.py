"""Launch files, parameter files and the RViz configuration.

The launch files themselves need launch_ros, which is part of a full ROS 2 only.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy")

from ros_rig import ARM, DOMAIN, PATIENCE, Forks, Rig, rig
from sensor_msgs.msg import JointState

from mbdyn_ros.errors import InputError
from mbdyn_ros.model.read.installed import find_robot, installed_robots
from mbdyn_ros.piezo.ros.parameters import PIEZO_CONTROLLER, PIEZO_SIMULATOR
from mbdyn_ros.ros import launch_nodes
from mbdyn_ros.ros.nodes.parameters import (
    COMPUTED_TORQUE,
    EFFORT_OBSERVER,
    LOOP_STATE_PUBLISHER,
    SIMULATOR,
    TORQUE_FEEDFORWARD,
    TRAJECTORY_CONVERTER,
)

__all__ = ["rig"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.mark.sparse
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("node", "table"),
    [
        ("simulator", SIMULATOR),
        ("torque_feedforward", TORQUE_FEEDFORWARD),
        ("computed_torque", COMPUTED_TORQUE),
        ("loop_state_publisher", LOOP_STATE_PUBLISHER),
        ("effort_observer", EFFORT_OBSERVER),
        ("trajectory_converter", TRAJECTORY_CONVERTER),
        ("piezo_controller", PIEZO_CONTROLLER),
        ("piezo_simulator", PIEZO_SIMULATOR),
    ],
)
def test_parameter_file(
    rig: Rig, forks: Forks, urdf: Path, node: str, table: tuple[Any, ...]
) -> None:
    if node.startswith("piezo"):
        urdf = ROOT / "urdf" / "piezo_robot.yaml"
    file = ROOT / "config" / f"{node}.yaml"
    given = yaml.safe_load(file.read_text())["/**"][node]["ros__parameters"]
    defaults = {spec.name: spec.default for spec in table}
    for name, value in given.items():
        assert defaults[name] == value, "the file shows the defaults"
    process = forks.start(node, "-p", f"urdf:={urdf}", "--params-file", str(file))
    rig.wait(lambda: node in rig.client.get_node_names())
    rig.wait(lambda: rig.client.count_publishers("/diagnostics") > 0)
    os.kill(process, signal.SIGTERM)
    code, output = forks.ended()
    assert code == 0, output
    assert "Traceback" not in output and "Error" not in output


def test_rviz_shows_what_is_published() -> None:
    config = yaml.safe_load((ROOT / "config" / "simulate.rviz").read_text())
    displays = {one["Name"]: one for one in config["Visualization Manager"]["Displays"]}
    topic = displays["Robot"]["Description Topic"]
    assert (topic["Value"], topic["Durability Policy"]) == ("robot_description", "Transient Local")
    assert displays["Efforts and masses"]["Topic"]["Value"] == "simulator/markers"
    for file in ("simulate", "impact"):
        config = yaml.safe_load((ROOT / "config" / f"{file}.rviz").read_text())
        displays = {one["Name"]: one for one in config["Visualization Manager"]["Displays"]}
        topic = displays["Walls"]["Topic"]
        assert (topic["Value"], topic["Durability Policy"]) == (
            "simulator/walls", "Transient Local",
        )  # fmt: skip
        assert displays["Impulses and energy"]["Topic"]["Value"] == "simulator/impulses"
    config = yaml.safe_load((ROOT / "config" / "piezo.rviz").read_text())
    displays = {one["Name"]: one for one in config["Visualization Manager"]["Displays"]}
    topic = displays["Limbs, transducers and rotor"]["Topic"]["Value"]
    assert topic == "piezo_simulator/markers"


def test_find_robot(urdf: Path) -> None:
    assert find_robot(str(urdf)) == urdf
    own = installed_robots()["manipulator"]
    assert own.parent.name == "urdf" and find_robot("manipulator") == own
    with pytest.raises(InputError, match="no file /no/such.urdf"):
        find_robot("/no/such.urdf")
    with pytest.raises(InputError, match="no robot 'manipulater'.* manipulator"):
        find_robot("manipulater")


def test_xacro(tmp_path: Path) -> None:
    source = tmp_path / "arm.urdf.xacro"
    named = '<xacro:arg name="prefix" default=""/><link name="$(arg prefix)stone"/>'
    source.write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{named}</robot>')
    assert 'link name="stone"' in launch_nodes.robot_description(str(source))
    assert '"left_stone"' in launch_nodes.robot_description(str(source), "prefix:=left_")
    given = {"robot": str(source), "xacro": "prefx:=left_"}
    with pytest.raises(InputError, match='launch argument robot: .*"prefx".*did you mean "prefix"'):
        launch_nodes.Arguments(given).description("robot")


def test_other_formats_become_urdf(tmp_path: Path) -> None:
    source = tmp_path / "arm.sdf"
    source.write_text(
        '<sdf version="1.9"><model name="r"><link name="stone"><inertial/></link></model></sdf>'
    )
    text = launch_nodes.robot_description(str(source))
    assert launch_nodes.fixed_frame(text, floating_base=False) == "world"
    assert text.startswith("<?xml") and '<link name="stone">' in text and "<floating_base/>" in text


def test_fixed_frame() -> None:
    assert launch_nodes.fixed_frame(ARM, floating_base=False) == "base"
    assert launch_nodes.fixed_frame(ARM, floating_base=True) == "world"


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        ("number", "fast", "'fast' is not a finite number"),
        ("number", "inf", "'inf' is not a finite number"),
        ("numbers", "[0, 0, down]", "'down' is not a finite number"),
        ("truth", "maybe", "it must be true or false"),
        ("files", "/nope.yaml", "there is no file /nope.yaml"),
        ("description", "/nope.urdf", "there is no file /nope.urdf"),
    ],
)
def test_launch_arguments_are_refused_by_name(name: str, given: str, complaint: str) -> None:
    arguments = launch_nodes.Arguments({"that": given})
    with pytest.raises(InputError, match=f"^launch argument that.*{re.escape(complaint)}"):
        getattr(arguments, name)("that")


def test_unknown_launch_arguments_are_refused_by_name() -> None:
    def review(typed: str, *command: str) -> None:
        launch_nodes.require_declared([typed], ["robot", "rate"], ["/a/x.launch.py"], command)

    review("robot:=ur5", "ros2", "launch", "mbdyn_ros", "x.launch.py")
    review("robto:=ur5", "ros2", "launch", "another.launch.py")  # which may have that
    with pytest.raises(InputError, match=r"no launch argument 'robto' \(did you mean \"robot\"\?"):
        review("robto:=ur5", "ros2", "launch", "mbdyn_ros", "x.launch.py")


def test_launch_arguments(urdf: Path) -> None:
    given = {"rate": "100", "gravity": "[0, 0, -1.6]", "rviz": "True", "file": ""}
    arguments = launch_nodes.Arguments({**given, "urdf": str(urdf)})
    assert arguments["rate"] == "100" and arguments.number("rate") == 100.0
    assert arguments.numbers("gravity") == [0.0, 0.0, -1.6]
    assert arguments.truth("rviz") is True
    assert arguments.files("file") == [] and arguments.files("urdf") == [str(urdf)]
    assert arguments.description("urdf") == ARM


@pytest.mark.parametrize("file", ["simulate", "mechanism", "impact", "ros2_control"])
def test_launch_files_list_their_arguments(file: str) -> None:
    """As `ros2 launch --show-args` finds them: without running anything."""
    pytest.importorskip("launch_ros")
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    from launch import LaunchContext

    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / f"{file}.launch.py"))
    found = source.get_launch_description(LaunchContext()).get_launch_arguments()
    assert {"rate", "namespace", "use_sim_time", "rviz"} <= {one.name for one in found}


def launch(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, file: str, **arguments: str
) -> list[JointState]:
    """Run a launch file until joint states come; return those."""
    pytest.importorskip("launch_ros")
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    from launch import LaunchDescription, LaunchService

    monkeypatch.setenv("ROS_DOMAIN_ID", str(DOMAIN))
    monkeypatch.setenv("CC", "none")  # nodes start sooner than where they compile
    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / file))
    include = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([include]))
    states = rig.listen(JointState, "joint_states")

    async def run() -> int:
        running = asyncio.ensure_future(service.run_async())
        for _ in range(round(PATIENCE / 0.05)):
            await asyncio.sleep(0.05)
            if states:
                break
        stopping = service.shutdown()
        if stopping is not None:
            await stopping
        return await running

    assert asyncio.run(run()) == 0
    assert states
    return states


def test_launch_file(rig: Rig, urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {"robot": str(urdf), "rate": "100", "rviz": "false", "feedforward": "true"}
    states = launch(rig, monkeypatch, "simulate.launch.py", **arguments)
    assert "mirror" in states[0].name


def test_piezo_launch_file(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    states = launch(rig, monkeypatch, "piezo.launch.py", rate="100", rviz="false")
    assert states[0].name[2] == "tilt_3" and states[0].position[2] == 0.8


def test_impact_launch_file(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"rviz": "false", "start_paused": "true"}
    states = launch(rig, monkeypatch, "impact.launch.py", **options)
    assert states[0].position[0] == pytest.approx(-(1 + 3**0.5) / 2)


def test_mechanism_launch_file(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    states = launch(
        rig, monkeypatch, "mechanism.launch.py", mechanism="slider_crank",
        settings="offset=0.03,coupler_mass=2", rate="100", rviz="false",
    )  # fmt: skip
    assert list(states[0].name) == ["crank_joint", "coupler_joint", "slider_joint"]
