"""SimulatedSystem: hardware of ros2_control in the controller manager's own process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from cpp_tools import CXX, INCLUDE, SOURCES, URDF, command, library_of, needs_cxx
from plugin_tools import PACKAGE, stand_in_headers, watched

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.robot import Robot
from mbdyn_ros.simulation.sensors import ForceTorque, Imu

pytestmark = needs_cxx

STEP = 1e-3
IMU = [f"orientation.{x}" for x in "xyzw"] + [
    f"{kind}.{x}" for kind in ("angular_velocity", "linear_acceleration") for x in "xyz"
]
FORCE_TORQUE = [f"{kind}.{x}" for kind in ("force", "torque") for x in "xyz"]
STATES = ("position", "velocity", "effort")

Run = Callable[[Iterable[str]], str]
"""Runs a program's lines, and returns what it prints."""


def block(robot: Robot, library: Path, *more: str) -> list[str]:
    """A block with all joints: the actuated ones commanded by everything."""
    lines = [f"param library {library}"]
    for name in robot.joint_names:
        lines += [f"joint {name}", *(f"state {one}" for one in STATES)]
        if name in robot.actuated_joints:
            lines += ["command position", "command velocity", "command effort"]
    return [*lines, *more, "init"]


def rows(text: str) -> np.ndarray:
    """The numbers of all lines that were shown."""
    assert "refused" not in text, text
    return np.array([[float(x) for x in line.split()] for line in text.splitlines()])


class Rig:
    """A robot, its library, and the plugin."""

    def __init__(self, program: Path, urdf: Path, folder: Path, imus: list[str],
                 force_torques: list[str]) -> None:  # fmt: skip
        self.robot, self.urdf, self._program = mbdyn_ros.load(urdf), urdf, program
        self.library = library_of(self.robot.generate_cpp(
            folder, imu_links=imus, force_torque_joints=force_torques
        ))  # fmt: skip

    def run(self, lines: Iterable[str]) -> str:
        """What is printed after these lines."""
        given = "\n".join(lines).encode() + b"\n"
        return command(self._program, self.urdf, given=given).decode()

    def block(self, *more: str) -> list[str]:
        """The block with all joints, and more lines of it."""
        return block(self.robot, self.library, *more)

    def states(self, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and efforts (N, joints) that were shown."""
        found = rows(text)[:, : 3 * len(self.robot.joint_names)]
        return found[:, 0::3], found[:, 1::3], found[:, 2::3]

    def independent(self, all_joints: np.ndarray) -> np.ndarray:
        """Columns of the independent joints."""
        names = list(self.robot.joint_names)
        return all_joints[:, [names.index(one) for one in self.robot.independent_joints]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin, with stand-ins for ROS."""
    folder = tmp_path_factory.mktemp("plugin")
    headers = stand_in_headers(folder / "headers")
    sources = ["robot_library", "simulated_robot", "simulated_system"]
    whole = folder / "whole.cpp"
    included = [*(PACKAGE / "src" / f"{one}.cpp" for one in sources), SOURCES / "simulated.cpp"]
    whole.write_text("".join(f'#include "{one}"\n' for one in included))
    command(CXX, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
            *watched("address"),
            '-DMBDYN_ROS_VERSION="test"', "-I", headers, "-I", SOURCES / "ros", "-I", SOURCES,
            "-I", PACKAGE / "include", "-I", INCLUDE, whole, "-o", folder / "simulated", "-ldl"
            )  # fmt: skip
    return folder / "simulated"


@pytest.fixture(scope="module")
def crane(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """The crane, two closed loops, with sensors at its tool and below its telescope."""
    folder = tmp_path_factory.mktemp("crane")
    return Rig(program, URDF / "manipulator.urdf", folder, ["tool", "column"],
               ["tool_joint", "telescope_joint"])  # fmt: skip


def test_efforts_move_it_as_simulate_does(crane: Rig) -> None:
    """Held by nothing but constant efforts, two loops: the events' integrator is the judge."""
    robot, lines = crane.robot, crane.block("param hold_joints false")
    q = robot.home_position
    efforts = robot.inverse_dynamics(q, np.zeros(robot.nv), [0.3, -0.2, 0.25, 0.1])
    for name, effort in zip(robot.actuated_joints, efforts, strict=True):
        lines += [f"begin {name}/effort", f"set {name}/effort {float(effort)!r}"]
    position, velocity, effort = crane.states(crane.run(
        [*lines, "show", *["cycle 0.002"] * 100, "show"]
    ))  # fmt: skip
    judge = mbdyn_ros.simulate(robot, q, np.zeros(robot.nv), 0.2, effort=efforts)
    np.testing.assert_allclose(position[0], robot.joint_state(q)[0], atol=1e-12)
    np.testing.assert_allclose(crane.independent(position)[1], judge.q[-1], atol=1e-9)
    np.testing.assert_allclose(crane.independent(velocity)[1], judge.v[-1], atol=1e-8)
    every = robot.joint_state(judge.q[-1], judge.v[-1])
    np.testing.assert_allclose(position[1], every[0], atol=1e-9)
    assert np.abs(position[1] - position[0]).max() > 1e-3
    np.testing.assert_allclose(crane.independent(effort)[1], efforts)


def test_positions_are_followed_and_what_is_free_is_held(crane: Rig) -> None:
    """The slew by positions alone, the lift by positions with velocities; the others stay."""
    slew, lift = crane.robot.actuated_joints[:2]
    lines = [*crane.block(), f"begin {slew}/position"]
    lines += [f"begin {lift}/position {lift}/velocity"]
    start = dict(zip(crane.robot.joint_names, crane.robot.joint_state(
        crane.robot.home_position)[0], strict=True))  # fmt: skip
    times = STEP * np.arange(1, 401)
    share = (times / times[-1]) ** 3 * (10 + (times / times[-1]) * (6 * times / times[-1] - 15))
    rate = np.gradient(share, times)
    turned, moved = start[slew] + 0.02 * share, start[lift] + 0.01 * share
    wanted = np.column_stack([turned, moved, 0.01 * rate])
    for a, b, speed in wanted.tolist():
        lines += [f"set {slew}/position {a!r}", f"set {lift}/position {b!r}",
                  f"set {lift}/velocity {speed!r}", f"cycle {STEP}", "show"]  # fmt: skip
    position, _, effort = crane.states(crane.run(lines))
    names = list(crane.robot.joint_names)
    assert np.abs(position[:, names.index(slew)] - turned).max() < 1e-5
    assert np.abs(position[:, names.index(lift)] - moved).max() < 1e-6
    for name in crane.robot.actuated_joints[2:]:
        assert np.abs(position[:, names.index(name)] - start[name]).max() < 1e-6
    assert np.abs(effort).max() > 1e3  # of a crane


def test_sensors_show_what_the_simulator_shows(crane: Rig) -> None:
    """By `Imu` and `ForceTorque` at the states that the hardware showed."""
    robot = crane.robot
    sensors = []
    for name, kind, at, interfaces in (
        ("at_tool", "link", "tool", IMU), ("on_column", "link", "column", IMU),
        ("wrist", "joint", "tool_joint", FORCE_TORQUE),
        ("telescope_joint", "", "telescope_joint", FORCE_TORQUE),
    ):  # fmt: skip
        sensors += [f"sensor {name}", *([f"of {kind} {at}"] if kind else [])]
        sensors += [f"state {one}" for one in interfaces]
    lines = crane.block("param hold_joints false", *sensors)
    slew = robot.actuated_joints[0]
    lines += [f"begin {slew}/effort", f"set {slew}/effort 2000", "show"]
    for _ in range(20):
        lines += [f"cycle {STEP}", "show"]
    text = crane.run(lines)
    position, velocity, _ = crane.states(text)
    shown = rows(text)[:, 3 * len(robot.joint_names) :]
    q, v = crane.independent(position), crane.independent(velocity)
    units = [Imu(robot, "tool"), Imu(robot, "column")]
    scales = [ForceTorque(robot, "tool_joint"), ForceTorque(robot, "telescope_joint")]
    for k, (now, speed) in enumerate(zip(q, v, strict=True)):
        for unit, found in zip(units, (shown[k, :10], shown[k, 10:20]), strict=True):
            reading = unit.read(STEP * k, now, speed)
            wanted = np.r_[reading.orientation, reading.turning, reading.acceleration]
            np.testing.assert_allclose(found, wanted, atol=1e-9)
        if k == 0:
            continue
        mean = (speed - v[k - 1]) / STEP
        for scale, found in zip(scales, (shown[k, 20:26], shown[k, 26:32]), strict=True):
            np.testing.assert_allclose(found, scale.read(now, speed, mean), rtol=1e-8, atol=1e-6)
    assert np.abs(shown[-1, 4:7]).max() > 1e-3 and np.abs(shown[-1, 20:26]).max() > 1.0


ARM = """<robot name="arm"><link name="base"/>
  <joint name="joint" type="revolute"><axis xyz="0 1 0"/><parent link="base"/><child link="rod"/>
    <limit lower="-2" upper="0.05" velocity="0.5" effort="9"/></joint>
  <link name="rod"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="gear" type="revolute"><axis xyz="0 1 0"/><parent link="base"/><child link="wheel"/>
    <limit lower="-0.09" upper="9" velocity="9" effort="9"/>
    <mimic joint="joint" multiplier="-2"/></joint>
  <link name="wheel"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.fixture(scope="module")
def arm(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """An arm with a wheel that turns back twice as fast, and whose limit comes first."""
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.urdf").write_text(ARM)
    return Rig(program, folder / "arm.urdf", folder / "code", ["rod"], ["joint"])


def test_limits_hold(arm: Rig) -> None:
    """Of effort, of velocity, and of the position of a joint that another one moves."""
    free = arm.block("param hold_joints false")
    position, velocity, _ = arm.states(arm.run([*free, *["cycle 0.001", "show"] * 400]))
    np.testing.assert_allclose(position[-1], [0.045, -0.09], atol=1e-12)  # fallen on the stop
    np.testing.assert_allclose(velocity[-1], 0, atol=1e-12)
    assert position[:, 1].min() > -0.09 - 1e-12
    lines = [*free, "begin joint/effort", "set joint/effort -1e5", "cycle 0.001", "show"]
    _, _, effort = arm.states(arm.run(lines))
    assert effort[0, 0] == -9.0
    lines = [*arm.block(), "begin joint/position", "set joint/position -1.5"]
    lines += ["cycle 0.001", "show"] * 4000
    position, velocity, effort = arm.states(arm.run(lines))
    assert 0.49 < np.abs(velocity[:, 0]).max() < 0.5 + 1e-4
    assert np.abs(effort).max() <= 9.0
    np.testing.assert_allclose(position[-1, 0], -1.5, atol=1e-9)
    lines = [*arm.block(), "begin joint/position", "set joint/position 3"]
    position, _, _ = arm.states(arm.run([*lines, *["cycle 0.001", "show"] * 1000]))
    np.testing.assert_allclose(position[-1], [0.045, -0.09], atol=1e-12)


def test_it_begins_where_the_block_says(arm: Rig) -> None:
    lines = arm.block()
    lines[2] = "state position -0.7"
    position, _, _ = arm.states(arm.run([*lines, "show", *["cycle 0.1"] * 5, "show"]))
    np.testing.assert_allclose(position, [[-0.7, 1.4]] * 2, atol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("joint gear", "joint geer", "joint 'geer' is not a joint of one coordinate"),
        ("state velocity", "state temperature", "joint 'joint' has the state interface 'temper"),
        ("command effort", "command torque", "joint 'joint' has the command interface 'torque'"),
        ("joint gear", "joint gear\ncommand effort", "joint 'gear' .* is not actuated"),
        ("init", "param stride 3\ninit", "hardware parameter stride is unknown; there are lib"),
        ("init", "param step 1e9\ninit", "hardware parameter step is '1e9'; expected a number"),
        ("init", "param step soon\ninit", "hardware parameter step is 'soon'"),
        ("init", "param hold_joints 1\ninit", "hold_joints is '1'; expected true or false"),
        ("joint gear\nstate position", "joint gear\nstate position 1", "joint 'gear' has an ini"),
        ("init", "sensor s\nof link wheel\nstate orientation.x\ninit", "no IMU on link 'wheel'"),
        ("init", "sensor gear\nstate force.x\ninit", "no force-torque sensor in joint 'gear'"),
        ("init", "sensor rod\nstate orientation.x\nstate force.x\ninit", "'rod' .* 'force.x'"),
        ("init", "init\nbegin joint/effort joint/position", "cannot be commanded together"),
    ],
)  # fmt: skip
def test_refusals(arm: Rig, old: str, new: str, words: str) -> None:
    text = "\n".join(arm.block())
    assert old in text
    with pytest.raises(AssertionError, match=words):
        rows(arm.run(text.replace(old, new, 1).splitlines()))


def test_what_does_not_float_or_lack_mass(program: Path, tmp_path: Path) -> None:
    ball = ARM.replace('type="revolute"><axis xyz="0 1 0"/><parent link="base"/><child link="rod"',
                       'type="floating"><parent link="base"/><child link="rod"', 1)  # fmt: skip
    ball = ball[: ball.index('<joint name="gear"')] + "</robot>"
    (tmp_path / "arm.urdf").write_text(ball)
    rig = Rig(program, tmp_path / "arm.urdf", tmp_path / "code", [], [])
    with pytest.raises(AssertionError, match="positions with quaternions"):
        rows(rig.run([f"param library {rig.library}", "init"]))


def test_a_sensor_among_loops_is_refused() -> None:
    robot = mbdyn_ros.load(URDF / "manipulator.urdf")
    with pytest.raises(InputError, match="loop .* joins what joint 'boom_joint' carries"):
        robot.generate_cpp("unused", force_torque_joints=["boom_joint"])
    with pytest.raises(InputError, match="no joint 'bom_joint' for a force-torque sensor .did you"):
        robot.generate_cpp("unused", force_torque_joints=["bom_joint"])
