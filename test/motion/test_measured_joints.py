"""The state of all joints from measured ones: Pinocchio closes the loops, scipy fuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from random_loops import KINDS, draw
from robot_text import hinge_text
from scipy.optimize import least_squares
from slider_cranks import SLIDER_CRANK

import mbdyn_ros
from mbdyn_ros.motion import JointSpace, MeasuredJoints

pytestmark = pytest.mark.usefixtures("interpreted")

CRANE = "urdf/manipulator.urdf"
ANGLES = ["slew_joint", "boom_joint", "jib_joint", "telescope_joint"]


@pytest.fixture(scope="module")
def crane() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(CRANE)


def some_kinds() -> list[object]:
    quick = ("triangle", "slider-crank", "Stephenson", "floating", "mimic", "coupling",
             "planar joint", "spatial universal", "spatial floating")  # fmt: skip
    return [pytest.param(one, marks=[] if one in quick else [pytest.mark.long]) for one in KINDS]


@pytest.mark.sparse
@pytest.mark.parametrize("kind", some_kinds())
def test_any_sufficient_joints(kind: str) -> None:
    """The state is closed by the judge, and is what was measured; too few joints are refused."""
    pair = draw(kind, 3).pair()
    robot, judge = pair.robot, pair.judge
    q, v, _, _ = pair.state(5, reach=0.05)
    home = judge.at(pair.whole(robot.home_position))
    blocks = robot.system.coordinates.joint_blocks
    size = robot.nv - judge.base
    names = list(blocks)
    random = np.random.default_rng(7)
    tries = [
        chosen
        for count in range(1, size + 1)
        for chosen in itertools.combinations(names, count)
        if sum(blocks[name].v.stop - blocks[name].v.start for name in chosen) == size
    ]
    random.shuffle(tries)

    def regularity(chosen: tuple[str, ...]) -> float:
        rows = [judge.base + k for x in chosen for k in range(blocks[x].v.start, blocks[x].v.stop)]
        return float(home.regularity([*range(judge.base), *rows]))

    good = [one for one in tries[:60] if regularity(one) > 0.1][:2]
    assert good
    position, velocity, _ = robot.joint_state(q, v)
    assert velocity is not None
    for chosen in good:
        measured = MeasuredJoints(robot, chosen)
        own = [names_of.index(x) for names_of in (robot.system.coordinates.joint_labels,)
               for x in measured.labels]  # fmt: skip
        measured.update(position[own], velocity[own])
        whole = np.hstack([robot.home_position[: 7 * (judge.base > 0)], measured.position])
        assert np.abs(judge.at(whole).residual).max(initial=0) < 1e-9
        assert measured.position[own] == pytest.approx(position[own], abs=1e-14)
        assert measured.position == pytest.approx(position, abs=1e-8)
        assert measured.velocity == pytest.approx(velocity, rel=1e-7, abs=1e-7)
        assert not measured.disagreement.any()
    with pytest.raises(mbdyn_ros.InputError, match=r"leave \d+ freedoms? of the robot open"):
        JointSpace(robot, good[0][1:])


def test_fusion_is_least_squares(crane: mbdyn_ros.Robot) -> None:
    """Scipy minimizes the same sum in the robot's own coordinates."""
    joints = [*crane.independent_joints, "boom_joint", "jib_joint", "tilt_barrel_joint"]
    deviations = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 0.3]) * 1e-3
    measured = MeasuredJoints(crane, joints, deviations)
    own = [crane.joint_names.index(name) for name in joints]
    random = np.random.default_rng(1)
    q = np.array([0.1, 0.05, 0.02, -0.1])
    for _ in range(5):
        q = q + random.normal(size=4) * 0.01
        exact, rates, _ = crane.joint_state(q, random.normal(size=4))
        assert rates is not None
        noisy = exact[own] + random.normal(size=7) * 0.02
        rate = rates[own] + random.normal(size=7) * 0.1
        measured.update(noisy, rate)

        def left(x: np.ndarray, noisy: np.ndarray = noisy) -> np.ndarray:
            return (noisy - crane.joint_state(x)[0][own]) / deviations

        judged = least_squares(left, q, xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac")
        expected = crane.joint_state(judged.x)[0]
        assert measured.position == pytest.approx(expected, abs=2e-8)
        assert measured.disagreement == pytest.approx(noisy - measured.position[own], abs=1e-15)
        assert crane.independent_state(measured.position, measured.velocity)
        name, number = measured.worst()
        assert abs(number) == np.abs(measured.disagreement).max()
        assert measured.labels[int(np.abs(measured.disagreement).argmax())] == name


def test_consistent_sensors_agree(crane: mbdyn_ros.Robot) -> None:
    measured = MeasuredJoints(crane, crane.joint_names)
    for q in crane.random(0, 20):
        position, velocity, _ = crane.joint_state(q, np.ones(4))
        measured.update(position, velocity)
        assert measured.position == pytest.approx(position, abs=1e-12)
        assert measured.velocity == pytest.approx(velocity, abs=1e-11)
        assert np.abs(measured.disagreement).max() < 1e-12


def test_beyond_the_dead_centre() -> None:
    """A crank that is measured may turn on where the piston, which drives it, stands still."""
    robot = mbdyn_ros.load(SLIDER_CRANK, home={"crank": 0.5, "rod": -0.66, "piston": 0.38})
    measured = MeasuredJoints(robot, ["crank"])
    for angle in np.linspace(-7, 7, 57):
        measured.update([angle], [1.0])
        x, y = 0.1 * np.cos(angle), 0.1 * np.sin(angle)
        place = x + np.sqrt(0.09 - y * y)
        rate = -y - x * y / np.sqrt(0.09 - y * y)
        assert measured.position[[0, 2]] == pytest.approx([angle, place], abs=1e-12)
        assert measured.velocity[2] == pytest.approx(rate, abs=1e-12)
    both = MeasuredJoints(robot, ["piston", "crank"])
    both.update([0.4 + 1e-4, 0.0])  # beyond the reach of the rod
    assert both.disagreement[0] == pytest.approx(1e-4, rel=1e-6)


def test_encoders_that_count_other_turns() -> None:
    """A joint in a loop whose encoder starts elsewhere is taken at the turn that closes."""
    robot = mbdyn_ros.load("urdf/four_bar.urdf")
    rocker = robot.joint_names[-1]
    home = robot.joint_state(robot.home_position)[0][-1]
    measured, other = MeasuredJoints(robot, [rocker]), MeasuredJoints(robot, [rocker])
    measured.update([home + 0.02])
    for turns in (1, -2, 0):
        other.update([home + 0.02 + 2 * np.pi * turns])
        assert other.position == pytest.approx(measured.position, abs=1e-12)


@pytest.mark.parametrize(
    ("joints", "words"),
    [
        (["slew_joint", "boom_joint"], "leave 2 freedoms of the robot open, in which jib_joint, "),
        (ANGLES[:3], "leave 1 freedom of the robot open, in which telescope_joint moves at home. "
         "Add telescope_joint"),
        (["bom_joint"], 'there is no joint \'bom_joint\' (did you mean "boom_joint"?)'),
        (["slew_joint", "slew_joint"], "joint 'slew_joint' is named twice"),
        ([], "no joints leave 4 freedoms of the robot open"),
    ],
)  # fmt: skip
def test_joints_that_do_not_do(crane: mbdyn_ros.Robot, joints: list[str], words: str) -> None:
    with pytest.raises(mbdyn_ros.InputError) as refusal:
        MeasuredJoints(crane, joints)
    assert words in str(refusal.value)


def test_bad_numbers(crane: mbdyn_ros.Robot) -> None:
    with pytest.raises(mbdyn_ros.InputError, match="deviation of boom_joint is 0: it must be"):
        MeasuredJoints(crane, ANGLES, [1, 0, 1, 1])
    with pytest.raises(mbdyn_ros.InputError, match="2 deviations are given for 4"):
        MeasuredJoints(crane, ANGLES, [1, 1])
    lengths = ["slew_joint", "lift_rod_joint", "jib_joint", "telescope_joint"]
    measured = MeasuredJoints(crane, lengths)
    measured.update([0.1, 0.1, 0.1, 0.1])
    before = measured.position.copy()
    for bad, words in (
        ([0.1, np.nan, 0, 0], "position of lift_rod_joint is nan"),
        ([0.1], "has shape"),
        ([0.1, 2.5, 0, 0], "cannot be closed at lift_rod_joint = 2.5"),
    ):
        with pytest.raises(mbdyn_ros.InputError, match=words):
            measured.update(bad)
        assert (measured.position == before).all()
    measured.update([0.1, 0.1, 0.1, 0.1])
    every = MeasuredJoints(crane, crane.joint_names)
    every.update([0.0, 2.5, 0, 0, 0, 0, 0, 0])
    assert abs(every.worst()[1]) > 0.5
    with pytest.raises(mbdyn_ros.InputError, match="lift_rod_joint is 9.* from where the others"):
        every.update([0.0, 0, 0, 9, 0, 0, 0, 0])


def test_quaternions_are_refused() -> None:
    robot = mbdyn_ros.load(hinge_text(kind="spherical", axis=""))
    with pytest.raises(mbdyn_ros.InputError, match=r"'hinge' \(spherical\) turns by a quaternion"):
        MeasuredJoints(robot, ["hinge"])
