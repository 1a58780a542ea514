"""Inverse kinematics: poses are reached exactly, or refused with the gap that is left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.inverse_kinematics import inverse_kinematics

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(Path(__file__).parents[1] / "urdf" / "piezo_robot.yaml")


def test_places_within_reach(piezo: mbdyn_ros.Robot) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        pose = piezo.frame_pose(random.uniform(-1.5, 1.5, 6), "gripper")
        q = inverse_kinematics(piezo, "gripper", pose, random.uniform(-1, 1, 6), orientation=False)
        assert np.abs(piezo.frame_pose(q, "gripper")[:3, 3] - pose[:3, 3]).max() < 1e-9


def test_poses_within_reach(piezo: mbdyn_ros.Robot) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        near = random.uniform(-1.2, 1.2, 6)
        pose = piezo.frame_pose(near, "gripper")
        q = inverse_kinematics(piezo, "gripper", pose, near + random.uniform(-0.2, 0.2, 6))
        np.testing.assert_allclose(piezo.frame_pose(q, "gripper"), pose, rtol=0, atol=1e-9)


def test_half_a_turn() -> None:
    robot = mbdyn_ros.load(
        '<robot name="arm"><link name="world"/><link name="rod"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hinge" type="continuous"><axis xyz="0 0.6 0.8"/><parent link="world"/>'
        '<child link="rod"/></joint></robot>'
    )
    pose = robot.frame_pose([np.pi], "rod")
    q = inverse_kinematics(robot, "rod", pose, [0.0])
    assert abs(abs(q[0]) - np.pi) < 1e-9


def test_out_of_reach(piezo: mbdyn_ros.Robot) -> None:
    pose = np.eye(4)
    pose[:3, 3] = 0.0, 0.1, 0.0  # the arm is 80 mm long
    with pytest.raises(mbdyn_ros.InputError, match=r"gap of 0\.02 m\. Choose a pose within reach$"):
        inverse_kinematics(piezo, "gripper", pose, [0, 0.3, 0.8, -0.5, 0.6, 0], orientation=False)


def test_limits_hold() -> None:
    text = """<robot name="slide"><link name="world"/><link name="cart"><inertial>
      <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="rail" type="prismatic"><axis xyz="1 0 0"/><parent link="world"/>
      <child link="cart"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""
    robot, pose = mbdyn_ros.load(text), np.eye(4)
    pose[0, 3] = 1.25
    with pytest.raises(mbdyn_ros.InputError, match="gap of 0.25 m"):
        inverse_kinematics(robot, "cart", pose, [0.5])


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        ("here", "must be a matrix"),
        (np.zeros((3, 3)), "finite matrix .4, 4."),
        (np.full((4, 4), np.nan), "finite matrix"),
        (np.diag([1.0, 1.0, 2.0, 1.0]), "the rotation of the pose is none"),
    ],
)
def test_bad_poses(piezo: mbdyn_ros.Robot, pose: object, message: str) -> None:
    with pytest.raises(mbdyn_ros.InputError, match=message):
        inverse_kinematics(piezo, "gripper", pose, np.zeros(6))  # type: ignore[arg-type]
