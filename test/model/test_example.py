"""Robots in the box, by name, as `mbdyn_ros.example` and the verbs find them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.model.read.installed import own_robots

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["delta", "excavator", "gripper", "stewart"])
def test_loops_stay_closed_beside_zero(name: str) -> None:
    robot = mbdyn_ros.example(name)
    reach = np.where(np.isfinite(robot.position_limits), robot.position_limits, 1.0)
    random = np.random.default_rng(1)
    for _ in range(3):
        q = 0.5 * random.uniform(*reach)
        for loop in robot.model.loops:
            one = robot.frame_pose(q, loop.predecessor) @ _frame(loop.predecessor_frame)
            other = robot.frame_pose(q, loop.successor) @ _frame(loop.successor_frame)
            np.testing.assert_allclose(one[:3, 3], other[:3, 3], atol=1e-12)


def _frame(pose: object) -> np.ndarray:
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = pose.rotation, pose.translation  # type: ignore[attr-defined]
    return frame


def test_the_delta_never_turns_its_platform() -> None:
    robot = mbdyn_ros.example("delta")
    pose = robot.frame_pose([0.3, -0.2, 0.1], "platform")
    np.testing.assert_allclose(pose[:3, :3], np.eye(3), atol=1e-12)


def test_the_jaws_stay_parallel_and_symmetric() -> None:
    robot = mbdyn_ros.example("gripper")
    left, right = (robot.frame_pose([0.4], f"{side}_jaw") for side in ("left", "right"))
    np.testing.assert_allclose(left[:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(left[:3, 3], right[:3, 3] * [-1, 1, 1], atol=1e-12)


def test_the_quadruped_stands_on_its_feet_at_home() -> None:
    robot = mbdyn_ros.example("quadruped", floating_base=True)
    feet = [name for name in robot.links if name.endswith("_foot")]
    heights = [robot.frame_pose(robot.home_position, foot)[2, 3] for foot in feet]
    assert len(feet) == 4 and np.ptp(heights) < 1e-15 and heights[0] < -0.25


def test_names() -> None:
    assert mbdyn_ros.example("crane").model.name == "crane"
    with pytest.raises(mbdyn_ros.InputError, match="no robot 'cran'.* crane"):
        mbdyn_ros.example("cran")


def test_verbs_take_names_and_list_them() -> None:
    listed = json.loads(CliRunner().invoke(main, ["examples", "--json"]).stdout)
    assert {*listed, "manipulator"} == {*own_robots()}
    assert listed["crane"]["loops"] == 2 and listed["crane"]["mass"] == 1063
    text = CliRunner().invoke(main, ["examples"]).stdout
    assert "A crane for the forest" in text and "example-robot-data" in text
    result = CliRunner().invoke(main, ["inspect", "four_bar", "--json"])
    assert json.loads(result.stdout)["mobility"] == 1
