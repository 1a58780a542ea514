"""Inverse kinematics: poses are reached exactly, or refused with the gap that is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from corpus import urdf_file
from random_loops import draw
from robot_text import hinge_text, slide_text
from scipy.optimize import minimize

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.robot.inverse_kinematics import least_step

pytestmark = pytest.mark.usefixtures("interpreted")


def reach(robot: mbdyn_ros.Robot, link: str, pose: Any, start: Any, **options: Any) -> np.ndarray:
    """The positions for a pose, from one start only."""
    found = robot.inverse_kinematics(link, pose, start=start, starts=1, **options)
    return found.require()


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(Path(__file__).parents[2] / "urdf" / "piezo_robot.yaml")


def test_places_within_reach(piezo: mbdyn_ros.Robot) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        pose = piezo.frame_pose(random.uniform(-1.5, 1.5, 6), "gripper")
        q = reach(piezo, "gripper", pose, random.uniform(-1, 1, 6), position_only=True)
        assert np.abs(piezo.frame_pose(q, "gripper")[:3, 3] - pose[:3, 3]).max() < 1e-9


def test_poses_within_reach(piezo: mbdyn_ros.Robot) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        near = random.uniform(-1.2, 1.2, 6)
        pose = piezo.frame_pose(near, "gripper")
        q = reach(piezo, "gripper", pose, near + random.uniform(-0.2, 0.2, 6))
        np.testing.assert_allclose(piezo.frame_pose(q, "gripper"), pose, rtol=0, atol=1e-9)


def test_half_a_turn() -> None:
    robot = mbdyn_ros.load(hinge_text(axis="0 0.6 0.8"))
    pose = robot.frame_pose([np.pi], "rod")
    q = reach(robot, "rod", pose, [0.0])
    assert abs(abs(q[0]) - np.pi) < 1e-9


def test_out_of_reach(piezo: mbdyn_ros.Robot) -> None:
    pose = np.eye(4)
    pose[:3, 3] = 0.0, 0.1, 0.0  # the arm is 80 mm long
    with pytest.raises(mbdyn_ros.InputError, match=r"gap of 0\.02 m\. Choose a pose within reach$"):
        reach(piezo, "gripper", pose, [0, 0.3, 0.8, -0.5, 0.6, 0], position_only=True)


def test_limits_hold() -> None:
    robot, pose = mbdyn_ros.load(slide_text(1, 0, 1, "1 0 0")), np.eye(4)
    pose[0, 3] = 1.25
    with pytest.raises(mbdyn_ros.InputError, match="gap of 0.25 m"):
        reach(robot, "block", pose, [0.5])


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        ("here", "must be a matrix"),
        (np.zeros((3, 3)), "finite matrix .4, 4."),
        (np.full((4, 4), np.nan), "finite matrix"),
        (np.diag([1.0, 1.0, 2.0, 1.0]), "the rotation of the pose is not a rotation matrix"),
    ],
)
def test_bad_poses(piezo: mbdyn_ros.Robot, pose: object, message: str) -> None:
    with pytest.raises(mbdyn_ros.InputError, match=message):
        reach(piezo, "gripper", pose, np.zeros(6))


CORPUS = [("ur5_robot.urdf", "tool0"), ("panda.urdf", "panda_hand"), ("xarm7.urdf", "link7")]
"""Robots of the corpus and the links that are to be brought to random reachable poses."""


def reached(robot: mbdyn_ros.Robot, link: str, count: int, **options: Any) -> int:
    """How many of as many random reachable poses are reached, each within the limits."""
    random, found = np.random.default_rng(3), 0
    low, high = robot.position_limits
    for q in robot.random(random, count):
        pose = robot.frame_pose(q, link)
        answer = robot.inverse_kinematics(link, pose, **options)
        if answer.success:
            found += 1
            np.testing.assert_allclose(robot.frame_pose(answer.q, link), pose, rtol=0, atol=1e-8)
            assert (answer.q >= low - 1e-12).all() and (answer.q <= high + 1e-12).all()
    return found


@pytest.mark.parametrize(("file", "link"), CORPUS)
def test_random_reachable_poses(file: str, link: str) -> None:
    robot = mbdyn_ros.load(urdf_file(file))
    link = link if link in robot.links else robot.links[-1]
    assert reached(robot, link, 15) == 15


def test_loops_and_the_limits_of_their_joints() -> None:
    """The crane's tool: cylinders keep their strokes whichever joints are independent."""
    crane = mbdyn_ros.load("urdf/manipulator.urdf")
    assert reached(crane, "tool", 15, starts=5) == 15
    angles = ("slew_joint", "boom_joint", "jib_joint", "telescope_joint")
    other = crane.with_independent(angles, crane.home)
    for q in crane.random(2, 10):
        pose = crane.frame_pose(q, "tool")
        answer = other.inverse_kinematics("tool", pose)
        assert answer.success
        for name, x in zip(other.joint_names, other.joint_state(answer.q)[0], strict=True):
            limits = other.model.joint(name).limits
            assert limits.lower - 1e-6 <= x <= limits.upper + 1e-6, name
    far = crane.inverse_kinematics("tool", np.array([9.0, 0, 1]), position_only=True)
    same = other.inverse_kinematics("tool", np.array([9.0, 0, 1]), position_only=True)
    assert not far.success and not same.success
    assert same.position_error == pytest.approx(far.position_error, rel=1e-3)
    for name, x in zip(other.joint_names, other.joint_state(same.q)[0], strict=True):
        limits = other.model.joint(name).limits
        assert limits.lower - 1e-6 <= x <= limits.upper + 1e-6, name


def test_loops_without_closed_form() -> None:
    pair = draw("spatial universal", 4).pair()
    robot = pair.robot
    link = robot.links[-1]
    for seed in range(3):
        q, _, _, _ = pair.state(seed, reach=0.2)
        pose = robot.frame_pose(q, link)
        answer = robot.inverse_kinematics(link, pose, starts=3)
        assert answer.success
        np.testing.assert_allclose(robot.frame_pose(answer.q, link), pose, rtol=0, atol=1e-8)


def test_a_point_of_the_link(piezo: mbdyn_ros.Robot) -> None:
    q = piezo.random(1)
    pose = piezo.frame_pose(q, "gripper")
    point = np.array([0.01, -0.02, 0.005])
    place = pose[:3, :3] @ point + pose[:3, 3]
    found = piezo.inverse_kinematics("gripper", place, point, position_only=True)
    assert found.success and found.orientation_error == 0.0
    there = piezo.frame_pose(found.q, "gripper")
    assert there[:3, :3] @ point + there[:3, 3] == pytest.approx(place, abs=1e-9)


def test_a_floating_base_stays() -> None:
    robot = mbdyn_ros.load(urdf_file("ur5_robot.urdf"), floating_base=True)
    base = np.array([1.0, 2, 3, 0.5, 0.5, 0.5, 0.5])
    q = np.concatenate([base, [0.3, -1.0, 1.2, 0.1, 0.5, 0.2]])
    pose = robot.frame_pose(q, "tool0")
    start = np.concatenate([base, np.full(6, 0.4)])
    found = robot.inverse_kinematics("tool0", pose, start=start)
    assert found.success and (found.q[:7] == base).all()
    np.testing.assert_allclose(robot.frame_pose(found.q, "tool0"), pose, rtol=0, atol=1e-8)


def test_steps_under_inequalities() -> None:
    """Scipy's solution of the same quadratic program."""
    random = np.random.default_rng(0)
    for _ in range(20):
        jacobian, gap = random.normal(size=(4, 6)), random.normal(size=4)
        rows, room = random.normal(size=(5, 6)), random.uniform(0, 0.1, 5)
        damping = 1e-2
        step = least_step(jacobian, gap, damping, rows, room)
        scale = damping * np.trace(jacobian.T @ jacobian)

        def cost(x: Any, jacobian: Any = jacobian, gap: Any = gap, scale: Any = scale) -> Any:
            return ((jacobian @ x - gap) ** 2).sum() + scale * (x**2).sum()

        best = minimize(
            cost, np.zeros(6), method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
            constraints={"type": "ineq", "fun": lambda x, a=rows, b=room: a @ x + b},
        )  # fmt: skip
        assert (rows @ step >= -room - 1e-9).all()
        assert cost(step) <= best.fun + 1e-7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "hand"}, "no link 'hand'"),
        ({"start": [0.0]}, "start has shape"),
        ({"point": [0.0, 1.0]}, "point has shape"),
        ({"tolerance": 0.0}, "tolerance must be a finite number above zero"),
        ({"starts": 0}, "starts must be from 1"),
    ],
)
def test_bad_arguments(piezo: mbdyn_ros.Robot, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mbdyn_ros.InputError, match=message):
        piezo.inverse_kinematics(**{"link": "gripper", "pose": np.eye(4), **options})


def test_the_verb() -> None:
    """`mbdyn ik` prints joints, or the nearest ones and the gap."""
    arguments = ["ik", "crane", "tool", "--xyz", "3.2", "0.4", "1.5", "--json"]
    there = CliRunner().invoke(main, arguments)
    assert there.exit_code == 0, there.output
    found = json.loads(there.stdout)
    crane = mbdyn_ros.example("crane")
    q = np.array([found["position"][name] for name in crane.independent_joints])
    assert found["success"] and crane.frame_pose(q, "tool")[:3, 3] == pytest.approx([3.2, 0.4, 1.5])
    assert list(found["joint_state"]) == list(crane.joint_names)
    beyond = ["--xyz", "30", "0", "0", "--rpy", "0", "0", "0"]
    far = CliRunner().invoke(main, [*arguments[:3], *beyond])
    assert far.exit_code == 1
    assert "crane" in far.stdout or "manipulator" in far.stdout
    assert "comes nearest" in far.stdout and "leaves a gap of" in far.stderr
