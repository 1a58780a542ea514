"""The parallel-serial paper's experiments against a second program, and their pages."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros
from benchmarks.joint_wrenches import along, wrenches
from benchmarks.parallel_serial import AGREEMENT, MOTIONS, ROUND_TRIP, Motion, accuracy

pytestmark = pytest.mark.usefixtures("interpreted")
DOCS = Path(__file__).parents[3] / "docs"
PAGE, PAPERS = ((DOCS / f"{name}.md").read_text() for name in ("parallel_serial", "papers"))


def figures(line: str) -> list[float]:
    """The numbers with an exponent in a line."""
    return [float(one) for one in re.findall(r"\d\.\d+e-\d+", line)]


@pytest.mark.sparse
@pytest.mark.parametrize("motion", MOTIONS, ids=lambda one: one.name)
def test_forward_dynamics_beside_a_second_program(motion: Motion) -> None:
    """Figures 3 and 4 at 101 of their times: round trip, and Pinocchio's tree with an SVD."""
    found = accuracy(motion, step=0.1)
    trip, _, gap, share = found.row
    assert trip <= ROUND_TRIP and share / 100 <= AGREEMENT
    kinds = (f"| FD undoes ID: {motion.name} ", f"| another program: {motion.name} ")
    rows = [figures(line) for line in PAGE.splitlines() if line.startswith(kinds)]
    assert [row[0] for row in rows] == [motion.paper[0], motion.paper[2]]
    assert trip < 2 * rows[0][2] and gap < 2 * rows[1][-2]
    trips = next(one for one in PAPERS.splitlines() if f"{motion.paper[0]:.2e}" in one)
    assert figures(trips)[-1] == rows[0][2]
    (gaps,) = (one for one in PAPERS.splitlines() if one.startswith("| figures 3c, 4c"))
    place = MOTIONS.index(motion)
    assert figures(gaps)[place::2] == [motion.paper[2], rows[1][-2]]
    # how fast they move, by the errors and per cents that the paper gives
    implied = 100 * motion.paper[0] / motion.paper[1]
    reported = re.findall(r"(\d\.\d+) and (\d\.\d+)(?= \(m/s²|\.)", PAGE.replace("\n", " "))
    sizes, theirs = (float(one[place]) for one in reported[:2])
    assert found.size == pytest.approx(sizes, rel=0.02)
    assert implied == pytest.approx(theirs, rel=0.03)
    times = re.findall(r"by (\d+) and (\d+) times", PAPERS)[0][place]
    assert found.size / implied == pytest.approx(float(times), rel=0.06)


def test_half_a_digit_of_the_efforts() -> None:
    """What rounding the efforts does to accelerations, signs at random: no forward dynamics can
    come nearer."""
    robot = mbdyn_ros.load(DOCS.parent / "urdf" / "manipulator.urdf")
    q, v, a = MOTIONS[1].at(np.linspace(0, 10, 101))
    efforts = robot.inverse_dynamics(q, v, a)
    signs = np.random.default_rng(0).choice([-0.5, 0.5], efforts.shape)
    moved = np.linalg.solve(robot.mass_matrix(q), (signs * np.spacing(abs(efforts)))[..., None])
    text = re.findall(r"accelerations by ([\d.e-]+\d)\.", PAGE.replace("\n", " "))[0]
    assert np.abs(moved[..., 0]).sum(axis=1).mean() == pytest.approx(float(text), rel=0.2, abs=0)


def test_wrenches_of_actuators_are_their_efforts() -> None:
    """Eq. (16): the force of an actuator is its wrench on its axis; (37): the base carries all."""
    times = np.linspace(0, 10, 21)
    robot, found = wrenches(times)
    q, v, a = MOTIONS[1].at(times)
    efforts = robot.inverse_dynamics(q, v, a, friction=False)
    for k, joint in enumerate(robot.actuated_joints):
        if joint != "slew_joint":
            force = along(robot, found, joint)
            np.testing.assert_allclose(force, efforts[:, k], rtol=1e-9, atol=1e-6)
    rate = 1e-4  # the base's force is the change of momentum, less weight
    before, after = (
        robot.centroidal_momentum(*MOTIONS[1].at(times + s)[:2])[:, :3] for s in (-rate, rate)
    )
    change = (after - before) / (2 * rate) - robot.total_mass * robot.gravity
    turns = robot.frame_pose(q, robot.model.joint("slew_joint").child)[:, :3, :3]
    force = np.einsum("nij,nj->ni", turns, found["slew_joint"][:, :3])
    np.testing.assert_allclose(force, change, rtol=1e-6, atol=1e-3)
