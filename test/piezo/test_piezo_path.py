"""A piezo robot on its way round a circle: library, command and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.piezo import PiezoMotion, PulseController, Rotor, circle, follow, pulse_windows
from mbdyn_ros.piezo.plots import plot_pulses, plot_run

pytestmark = pytest.mark.usefixtures("interpreted")

ROBOT = Path(__file__).parents[2] / "urdf" / "piezo_robot.yaml"
HOME = np.array([0.0, 0.3, 0.8, -0.5, 0.6, 0.0])
START = json.dumps(HOME.tolist())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["piezo", str(ROBOT), "--position", START, *arguments])


def test_circle_and_run() -> None:
    robot, rotor = mbdyn_ros.load(ROBOT), Rotor(0.002, 0.005, 1000.0)
    path = circle(robot, "gripper", HOME, 0.001, 1.0, points=31)
    places = robot.frame_pose(path.positions, "gripper")[:, :3, 3]
    np.testing.assert_allclose(places[0], places[-1], atol=1e-9)
    across = np.linalg.norm(places[:, None] - places[None], axis=-1).max()
    assert across == pytest.approx(0.002, rel=0.01)
    assert np.linalg.svd(places - places.mean(axis=0))[1][2] < 1e-9  # in a plane
    position, velocity = path.at(2.0)
    np.testing.assert_allclose(position, path.positions[-1], atol=1e-12)
    np.testing.assert_allclose(velocity, 0, atol=1e-12)
    motion = PiezoMotion(robot, rotor, "gripper", step=0.25)
    motion.set_state(HOME)
    done = follow(PulseController(robot, rotor, "gripper"), motion, path, 1.3)
    assert done.gap.max() < 3e-4 and done.gap[-1] < 1e-5
    assert done.torque_error(1e-4) < 0.01 and done.torque_error(1e9) == 0.0
    assert len(done.time) == 1300 and done.time[-1] == pytest.approx(1.3)
    held = ~done.free & ~np.roll(done.free, 1, axis=0)
    assert not done.v[held].any() and done.v.any()
    figure = plot_run(robot, done)
    assert any("phase portrait" in axis.get_title(loc="left") for axis in figure.axes)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "turn_1", "twist_2", "tilt_3", "tilt_4", "swing_5"
    ]  # fmt: skip


def test_mean_torques_at_the_lowest_rate() -> None:
    """At 50 Hz the windows hold for three turns: they are made for the pose in the middle."""
    robot, rotor = mbdyn_ros.load(ROBOT), Rotor(0.002, 0.005, 1000.0)
    path = circle(robot, "gripper", HOME, 0.002, 1.5, points=31)
    motion = PiezoMotion(robot, rotor, "gripper", step=0.25)
    motion.set_state(HOME)
    reported: list[float] = []
    control = PulseController(robot, rotor, "gripper")
    done = follow(control, motion, path, 1.7, rate=50.0, progress=reported.append)
    np.testing.assert_allclose(reported, done.time)
    assert done.torque_error(1e-4) < 0.01 and done.gap[-1] < 1e-5


def test_picture_of_the_pulses() -> None:
    robot = mbdyn_ros.load(ROBOT)
    wanted = [0.02, -0.02, 9.0, 0.0, 0.01, 0.01]
    windows = pulse_windows(robot, HOME, Rotor(0.002, 0.005, 1000.0), wanted, "gripper")
    titles = [axis.get_title("left") for axis in plot_pulses(robot, windows).axes]
    assert titles[0] == "turn_1: mean +0.02 N m" and titles[3] == "tilt_4: held"
    assert titles[2].endswith("N m, saturated")
    assert titles[5] == "twist_6: held: the rotor cannot move it here"


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    files = [tmp_path / "run.png", tmp_path / "pulses.svg"]
    result = run(
        "--radius", "0.001", "--duration", "0.3", "--json",
        "--plot", str(files[0]), "--pulses", str(files[1]),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["gap_end"] < 1e-5 and document["torque_error"] < 0.01
    assert document["joints"]["twist_6"]["pulses"] == 0 < document["joints"]["tilt_3"]["pulses"]
    assert document["files"] == [str(file) for file in files]
    assert all(file.stat().st_size > 10_000 for file in files)
    assert "mm at the end" in run("--radius", "0.001", "--duration", "0.2").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--radius", "0.1"], "cannot be brought to"),
        (["--radius", "0"], "the radius is 0.0; it must be positive"),
        (["--rotor-speed", "0"], "the rotor's speed is 0.0; it must be positive"),
        (["--link", "hand"], "there is no link 'hand'"),
        (["--rate", "0"], "--rate is 0.0"),
        (["--plot", "run.txt"], "run.txt"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1 and message in result.output


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("file", "rotor", "start", "idle"),
    [
        ("piezo_chain.yaml", Rotor(0.008, 0.005, 1000.0),
         {"tilt_3": 0.4, "tilt_4": -0.3, "swing_5": 0.3, "tilt_9": 0.5, "tilt_10": -0.4,
          "swing_11": 0.3}, ["twist_12"]),
        ("piezo_branches.urdf", Rotor(0.002, 0.005, 1000.0),
         {"tilt_2": 0.3, "roll_3": 0.2, "swing_left": 0.4},
         ["twist_left", "swing_right", "twist_right"]),
    ],
)  # fmt: skip
def test_several_spheres_and_branches(
    file: str, rotor: Rotor, start: dict[str, float], idle: list[str]
) -> None:
    """The rotor moves what lies between it and the foot, except for its own axis."""
    robot = mbdyn_ros.load(ROBOT.parent / file)
    q = np.array([start.get(name, 0.0) for name in robot.position_labels])
    path = circle(robot, "gripper", q, 0.0005, 0.3, points=16)
    motion = PiezoMotion(robot, rotor, "gripper", step=0.25)
    motion.set_state(q)
    done = follow(PulseController(robot, rotor, "gripper"), motion, path, 0.7)
    assert done.gap[-1] < 2e-5 and done.torque_error(1e-3) < 0.01
    moved = {pulse.joint for pulse in done.pulses}
    assert moved == set(robot.position_labels) - set(idle)


@pytest.mark.long
def test_options_of_the_contact() -> None:
    small = ("--radius", "0.0003", "--duration", "0.02", "--rate", "200", "--json")
    done = run(*small, "--holding", "0.6", "--ring-up", "1e-4", "--drive", "0.02,1000,1e-7")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["gap_end"] < 1e-4
    for options, message in (
        (("--ring-up", "1e-4"), "goes with --holding"),
        (("--holding", "0.6", "--drive", "fast"), "give STALL,NO_LOAD"),
        (("--holding", "0"), "nothing would hold"),
    ):
        done = run(*small, *options)
        assert done.exit_code and message in done.output
