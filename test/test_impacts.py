"""Impacts: the paper's run, closed forms, conservation laws, refusals."""

from __future__ import annotations

from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros

ROOT = Path(__file__).parent.parent
START = -(1 + sqrt(3)) / 2
TREE_START = np.array(
    [START, START, pi / 6, pi / 6, -2 * pi / 3, pi / 6, pi / 6, -2 * pi / 3, pi / 3, 0,
     2 * pi / 3, -pi / 3]
)  # fmt: skip

PAPER = [  # time s, points O, angle of attack deg, velocity jump m/s, impulse per point N s
    (0.385191984, (1, 5), 33.121, 6.3295, 5.264426),
    (0.569731449, (2, 4), 25.412, 8.6194, 31.435721),
    (1.010620427, (8, 11), 36.615, 8.6501, 4.129074),
    (1.082274684, (3,), 0.0, 12.4670, 57.368350),
    (1.387334046, (1, 5), 33.704, 30.2792, 15.906487),
]


@pytest.fixture(scope="module")
def tree_run() -> tuple[mbdyn_ros.Robot, mbdyn_ros.Trajectory]:
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    walls = mbdyn_ros.read_environment(ROOT / "config" / "tree_robot_walls.yaml")
    return robot, mbdyn_ros.simulate(
        robot, TREE_START, np.zeros(12), 1.5, rtol=1e-11, atol=1e-12, environment=walls
    )


def test_the_papers_impacts(tree_run: tuple[mbdyn_ros.Robot, mbdyn_ros.Trajectory]) -> None:
    _, trajectory = tree_run
    assert len(trajectory.impacts) == len(PAPER)
    for impact, (time, points, angle, jump, impulse) in zip(
        trajectory.impacts, PAPER, strict=True
    ):
        assert tuple(k + 1 for k in impact.points) == points
        assert impact.time == pytest.approx(time, abs=5e-10)
        assert np.degrees(impact.angle_of_attack) == pytest.approx(angle, abs=5e-4)
        gained = impact.normal_velocity_after - impact.normal_velocity_before
        assert gained == pytest.approx(jump, abs=5e-5)
        assert impact.impulses == pytest.approx(impulse, abs=5e-7)
        assert abs(impact.energy_after - impact.energy_before) < 1e-11
    energy = trajectory.energy.sum(axis=1)
    assert energy[0] == pytest.approx(18.657872, abs=5e-7)
    assert np.ptp(energy) < 1e-9
