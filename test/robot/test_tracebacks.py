"""Refusals are shown where they were called for: one frame of ours, not six."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.errors import brief

OURS = 1 if sys.version_info >= (3, 11) else 2
ZEROS = np.zeros(1)

CALLS: dict[str, Callable[[mbdyn_ros.Robot], object]] = {
    "load": lambda robot: mbdyn_ros.load("nothing.urdf"),
    "load text": lambda robot: mbdyn_ros.load("<robot name='a'><link name='b'/><joint/></robot>"),
    "example": lambda robot: mbdyn_ros.example("nothing"),
    "shape": lambda robot: robot.inverse_dynamics([0.0, 0.0, 0.0], ZEROS, ZEROS),
    "NaN": lambda robot: robot.mass_matrix([np.nan]),
    "wrench": lambda robot: robot.inverse_dynamics(ZEROS, ZEROS, ZEROS, {"nothing": np.zeros(6)}),
    "frame": lambda robot: robot.frame_pose(ZEROS, "nothing"),
    "joint state": lambda robot: robot.joint_state("x"),
    "joint wrenches": lambda robot: robot.joint_wrenches(ZEROS, ZEROS, [0.0, 0.0]),
    "inverse kinematics": lambda robot: robot.inverse_kinematics("nothing", np.eye(4)),
    "payload": lambda robot: robot.set_payload("nothing", 1.0),
    "locked": lambda robot: robot.locked({"nothing": 1.0}),
    "bind": lambda robot: robot.bind("nothing"),
    "simulate": lambda robot: mbdyn_ros.simulate(robot, [0.0, 0.0], ZEROS, 1.0),
    "stepper": lambda robot: mbdyn_ros.Stepper(robot, -1.0),
    "surface": lambda robot: mbdyn_ros.Surface.plane(restitution=4.0, friction=0.0),
    "environment": lambda robot: mbdyn_ros.read_environment("surfaces: 3"),
}


@pytest.fixture(scope="module")
def four_bar() -> mbdyn_ros.Robot:
    return mbdyn_ros.example("four_bar")


@pytest.mark.parametrize("name", CALLS)
def test_at_most_one_frame_is_ours(name: str, four_bar: mbdyn_ros.Robot) -> None:
    with pytest.raises(mbdyn_ros.MbdynError) as caught:
        CALLS[name](four_bar)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[1].name == "<lambda>" and len(frames) - 2 <= OURS, frames


def test_faults_of_ours_keep_their_frames() -> None:
    """Only refusals are cut: what is no `MbdynError` is to be found and mended."""

    @brief
    def fails() -> float:
        return deep()

    def deep() -> float:
        return 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        fails()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "deep"
