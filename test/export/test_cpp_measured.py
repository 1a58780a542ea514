"""All joints from measured ones in C++: the numbers of `MeasuredJoints` in Python, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cpp_tools import command, compiled, library_of, needs_cxx, robot_of

import mbdyn_ros
from mbdyn_ros.motion.measured_joints import MeasuredJoints

pytestmark = [pytest.mark.usefixtures("interpreted"), needs_cxx, pytest.mark.long]
Array = np.ndarray


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that reads measured states."""
    return compiled("measured.cpp", tmp_path_factory.mktemp("measured") / "measured")


@pytest.fixture(scope="module")
def crane(tmp_path_factory: pytest.TempPathFactory) -> tuple[mbdyn_ros.Robot, Path]:
    """The crane and its library."""
    robot = robot_of("manipulator")
    return robot, library_of(robot.generate_cpp(tmp_path_factory.mktemp("crane"), links=[]))


def estimated(
    program: Path, library: Path, robot: mbdyn_ros.Robot, joints: dict[str, float], states: Array
) -> list[Array]:
    """Status, positions, velocities and disagreements at measured states (n, 2, k)."""
    given = [f"{joint}={deviation!r}" for joint, deviation in joints.items()]
    out = command(program, library, *given, given=np.asarray(states, dtype=float).tobytes())
    sizes = np.cumsum([1, len(robot.joint_names), len(robot.joint_names)])
    return np.split(np.frombuffer(out).reshape(len(states), -1), sizes, axis=1)


def measured(robot: mbdyn_ros.Robot, joints: list[str], count: int = 12) -> tuple[Array, Array]:
    """Positions and velocities of some joints (n, 2, k), and of all (n, 2, all), on a motion."""
    random = np.random.default_rng(3)
    places = [robot.joint_names.index(joint) for joint in joints]
    rows = []
    for share in np.linspace(0.0, 1.0, count):
        q = robot.home_position + share * np.array([0.8, 0.1, -0.15, 0.3])
        rows.append(robot.joint_state(q, random.normal(size=robot.nv))[:2])
    whole = np.array(rows, dtype=float)
    return whole[:, :, places], whole


BOOM = {"slew_joint": 1.0, "boom_joint": 1.0, "jib_joint": 1.0, "telescope_joint": 1.0}


@pytest.mark.parametrize("more", [(), ("lift_rod_joint",)])
def test_the_rest_follows_from_angles(
    more: tuple[str, ...], program: Path, crane: tuple[mbdyn_ros.Robot, Path]
) -> None:
    robot, library = crane
    joints = BOOM | dict.fromkeys(more, 0.01)
    states, whole = measured(robot, list(joints))
    status, position, velocity, disagreement = estimated(program, library, robot, joints, states)
    assert not status.any()
    np.testing.assert_allclose(position, whole[:, 0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(velocity, whole[:, 1], rtol=0, atol=1e-9)
    assert np.abs(disagreement).max() < 1e-11


def test_what_is_redundant_is_fused_as_in_python(
    program: Path, crane: tuple[mbdyn_ros.Robot, Path]
) -> None:
    robot, library = crane
    joints = BOOM | {"lift_rod_joint": 0.02, "tilt_rod_joint": 0.5}
    states, _ = measured(robot, list(joints))
    states = states + np.random.default_rng(5).normal(scale=1e-3, size=states.shape)
    states[6:, 0, 1] += 2 * np.pi  # an encoder that turned over: in a loop that changes nothing
    status, position, velocity, disagreement = estimated(program, library, robot, joints, states)
    assert not status.any()
    judge = MeasuredJoints(robot, list(joints), list(joints.values()))
    for k, (at, rate) in enumerate(states):
        judge.update(at, rate)
        turns = np.round((judge.position - position[k]) / (2 * np.pi))  # Python turns over with it
        assert set(np.flatnonzero(turns)) <= {1}
        expected = judge.position - 2 * np.pi * turns
        np.testing.assert_allclose(position[k], expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(velocity[k], judge.velocity, rtol=0, atol=1e-7)
        np.testing.assert_allclose(disagreement[k], judge.disagreement, rtol=0, atol=1e-9)
    assert np.abs(disagreement).max() > 1e-4


def test_what_cannot_be_stays_as_it_was(
    program: Path, crane: tuple[mbdyn_ros.Robot, Path]
) -> None:
    robot, library = crane
    joints = {"slew_joint": 1.0, "lift_rod_joint": 1.0, "tilt_rod_joint": 1.0,
              "telescope_joint": 1.0}  # fmt: skip
    good = measured(robot, list(joints), 2)[0]
    far, strange, wild = (np.array(good[1]) for _ in range(3))
    far[0, 1] = 3.0
    strange[0, 1] = np.nan
    wild[0, 1] = 1e9
    states = np.array([good[0], far, strange, wild, good[1]])
    status, position, *_ = estimated(program, library, robot, joints, states)
    assert status.ravel().tolist() == [0, 2, 1, 2, 0]
    assert all(np.array_equal(row, position[0]) for row in position[1:4])
    np.testing.assert_allclose(position[4], robot.joint_state(good[1][0])[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("joints", "words"),
    [
        ({"slew_joint": 1.0}, "4 freedoms, but fewer joints are measured: slew_joint"),
        (BOOM | {"boom": 1.0}, "no joint 'boom' of one coordinate; there are slew_joint, boom_"),
        (BOOM | {"lift_rod_joint": -1.0}, "deviation of lift_rod_joint is -1.0"),
        ({**BOOM, "tilt_rod_joint": 1.0, "jib_joint": float("nan")}, "deviation of jib_joint"),
        ({"slew_joint": 1.0, "boom_joint": 1.0, "lift_rod_joint": 1.0, "jib_joint": 1.0},
         "slew_joint, boom_joint, lift_rod_joint, jib_joint leave a freedom open"),
    ],
)  # fmt: skip
def test_too_little_is_refused(
    joints: dict[str, float], words: str, program: Path, crane: tuple[mbdyn_ros.Robot, Path]
) -> None:
    given = [f"{joint}={deviation!r}" for joint, deviation in joints.items()]
    assert words in command(program, crane[1], *given, given=b"").decode()
