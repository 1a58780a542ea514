"""Trajectories in joint angles and in cylinders: the same motion, the same work."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from random_loops import draw

import mbdyn_ros
from mbdyn_ros.motion import convert_trajectory
from mbdyn_ros.motion.joint_space import JointSpace

pytestmark = pytest.mark.usefixtures("interpreted")

ANGLES = ("slew_joint", "boom_joint", "jib_joint", "telescope_joint")
CYLINDERS = ("slew_joint", "lift_rod_joint", "tilt_rod_joint", "telescope_joint")


@pytest.fixture(scope="module")
def crane() -> mbdyn_ros.Robot:
    return mbdyn_ros.load("urdf/manipulator.urdf")


@pytest.fixture(scope="module")
def motion(crane: mbdyn_ros.Robot) -> tuple[np.ndarray, ...]:
    """Positions, velocities, accelerations and efforts of the cylinders, within all limits."""
    t = np.linspace(0, 2, 40)[:, None]
    reach, speed = np.array([0.4, 0.05, -0.06, 0.1]), np.array([0.7, 1.1, 1.3, 0.9])
    q, v = reach * np.sin(speed * t), reach * speed * np.cos(speed * t)
    a = -reach * speed**2 * np.sin(speed * t)
    return q, v, a, crane.inverse_dynamics(q, v, a)


def test_to_angles_and_back(crane: mbdyn_ros.Robot, motion: tuple[np.ndarray, ...]) -> None:
    there = convert_trajectory(crane, CYLINDERS, *motion, to=ANGLES)
    assert there.joints == there.labels == ANGLES and there.violation is None
    numbers = there.position, there.velocity, there.acceleration, there.effort
    back = convert_trajectory(crane, ANGLES, *numbers)
    assert back.joints == crane.actuated_joints
    for given, found in zip(motion, (back.position, back.velocity, back.acceleration, back.effort),
                            strict=True):  # fmt: skip
        assert found == pytest.approx(given, rel=1e-9, abs=1e-9)


def test_angles_are_those_of_the_state(
    crane: mbdyn_ros.Robot, motion: tuple[np.ndarray, ...]
) -> None:
    q, v, a, _ = motion
    there = convert_trajectory(crane, CYLINDERS, q, v, a, to=crane.joint_names)
    for expected, found in zip(
        crane.joint_state(q, v, a), (there.position, there.velocity, there.acceleration),
        strict=True,
    ):  # fmt: skip
        assert found == pytest.approx(expected, abs=1e-12)
    assert there.effort is None


def test_efforts_are_those_of_a_robot_driven_there(
    crane: mbdyn_ros.Robot, motion: tuple[np.ndarray, ...]
) -> None:
    """The same crane, described as driven at its boom and jib, takes the converted efforts."""
    q, v, a, effort = motion
    there = convert_trajectory(crane, CYLINDERS, q, v, a, effort, to=ANGLES)
    text = open("urdf/manipulator.urdf").read()
    for name in ("boom_joint", "jib_joint"):
        text = text.replace(
            f'name="{name}" type="continuous" independent="false"',
            f'name="{name}" type="continuous" independent="true"',
        )
    for name in ("lift_rod_joint", "tilt_rod_joint"):
        text = text.replace(
            f'name="{name}" type="prismatic" independent="true"',
            f'name="{name}" type="prismatic" independent="false"',
        )
    driven = mbdyn_ros.load(text)
    assert driven.actuated_joints == ANGLES
    assert there.velocity is not None and there.acceleration is not None
    expected = driven.inverse_dynamics(there.position, there.velocity, there.acceleration)
    assert there.effort == pytest.approx(expected, rel=1e-9)
    power = (effort * v).sum(axis=1)
    assert (there.effort * there.velocity).sum(axis=1) == pytest.approx(power, rel=1e-10)


def test_more_joints_than_freedoms_share_by_least_norm(
    crane: mbdyn_ros.Robot, motion: tuple[np.ndarray, ...]
) -> None:
    """Actuated joints carry all, where they are among those asked for; passive ones nothing."""
    q, v, _, effort = motion
    there = convert_trajectory(crane, CYLINDERS, q, v, None, effort, to=crane.joint_names)
    assert there.effort is not None
    driven = [crane.joint_names.index(name) for name in crane.actuated_joints]
    assert there.effort[:, driven] == pytest.approx(effort, rel=1e-9, abs=1e-9)
    assert not np.delete(there.effort, driven, axis=1).any()
    both = ("slew_joint", "boom_joint", "lift_barrel_joint", "jib_joint", "telescope_joint")
    shared = convert_trajectory(crane, CYLINDERS, q, v, None, effort, to=both)
    assert shared.effort is not None and shared.velocity is not None
    power = (effort * v).sum(axis=1)
    assert (shared.effort * shared.velocity).sum(axis=1) == pytest.approx(power, rel=1e-9)
    alone = convert_trajectory(crane, CYLINDERS, q, v, None, effort, to=ANGLES)
    assert alone.effort is not None
    assert (np.linalg.norm(shared.effort, axis=1) < np.linalg.norm(alone.effort, axis=1)).all()


@pytest.mark.parametrize("kind", ["spatial universal", "Stephenson"])
def test_a_long_way_stays_on_its_branch(kind: str) -> None:
    """Point by point: the state at one point is near that at the next."""
    pair = draw(kind, 3).pair()
    robot = pair.robot
    q, _, _, _ = pair.state(5, reach=0.2)
    way = robot.interpolate(robot.home_position, q, np.linspace(0, 1, 30))
    there = convert_trajectory(robot, robot.independent_joints, way, to=robot.joint_names)
    assert np.abs(np.diff(there.position, axis=0)).max() < 0.5
    for row in there.position[::7]:
        assert np.abs(pair.judge.at(row).residual).max() < 1e-9
    coarse = convert_trajectory(robot, robot.independent_joints, way[::29], to=robot.joint_names)
    assert coarse.position[-1] == pytest.approx(there.position[-1], abs=1e-9)


def test_first_violation(crane: mbdyn_ros.Robot, motion: tuple[np.ndarray, ...]) -> None:
    """In either space, by the point that comes first."""
    q, v, a, effort = (one.copy() for one in motion)
    v[7, 3] = 0.41
    q[12, 1] = 0.2401
    effort[3, 2] = -60001.0

    def said(*numbers: np.ndarray | None) -> str:
        there = convert_trajectory(crane, CYLINDERS, *numbers, to=ANGLES)
        back = convert_trajectory(
            crane, ANGLES, there.position, there.velocity, there.acceleration, there.effort
        )
        assert str(back.violation) == str(there.violation)
        return str(there.violation)

    assert said(q, v, a, effort) == (
        "point 3: effort of tilt_rod_joint is -60001 N, beyond its limit -60000 N"
    )
    assert said(q, v, a) == (
        "point 7: velocity of telescope_joint is 0.41 m/s, beyond its limit 0.4 m/s"
    )
    assert said(q) == (
        "point 12: position of lift_rod_joint is 0.2401 m, beyond its limit 0.24 m"
    )


def test_what_cannot_be_converted(crane: mbdyn_ros.Robot) -> None:
    q = np.zeros((3, 4))

    def refusal(*arguments: object, **options: object) -> str:
        with pytest.raises(mbdyn_ros.MbdynError) as error:
            convert_trajectory(crane, *arguments, **options)  # type: ignore[arg-type]
        return str(error.value)

    bad = q.copy()
    bad[2, 1] = 2.5
    said = refusal(CYLINDERS, bad)
    assert said.startswith("point 2: ") and "closed at lift_rod_joint = 2.5" in said
    bad[2, 1] = np.nan
    assert refusal(ANGLES, bad) == "point 2: position of boom_joint is nan"
    assert "leave 1 freedom" in refusal(ANGLES[:3], q[:, :3])
    assert "there are 3 positions, but of velocity 2" in refusal(ANGLES, q, q[:2])
    assert "there is no joint 'bom'" in refusal(ANGLES, q, to=["bom"])
    assert "requested twice" in refusal(ANGLES, q, to=["boom_joint", "boom_joint"])
    assert "no joint is requested" in refusal(ANGLES, q, to=[])
    assert "no points" in refusal(ANGLES, np.zeros((0, 4)))
    few = refusal(ANGLES, q, effort=q, to=["boom_joint"])
    assert "efforts of boom_joint cannot do the work of all 4 freedoms" in few
    every = np.tile(crane.joint_state(crane.home_position)[0], (3, 1))
    every[1, 2] += 0.01
    apart = refusal(crane.joint_names, every)
    assert "point 1: lift_barrel_joint is 0.01, but the other joints put it at" in apart


def test_a_dead_point() -> None:
    """Where the piston stands still, no force on it does the work of the crank's torque."""
    from slider_cranks import SLIDER_CRANK

    with pytest.warns(mbdyn_ros.ModelWarning):
        robot = mbdyn_ros.load(SLIDER_CRANK, home={"crank": 0.5, "rod": -0.66, "piston": 0.38})
    crank = np.array([[0.5], [0.0]])
    with pytest.raises(mbdyn_ros.DeadPointError, match="point 1: piston have no efforts"):
        convert_trajectory(robot, ["crank"], crank, effort=np.ones((2, 1)), to=["piston"])
    there = convert_trajectory(robot, ["crank"], crank[:1], effort=[[1.0]], to=["piston"])
    x, y = 0.1 * np.cos(0.5), 0.1 * np.sin(0.5)
    assert there.effort == pytest.approx(1 / (-y - x * y / np.sqrt(0.09 - y * y)), rel=1e-9)


def test_equations_in_other_joints_are_kept_with_their_robot() -> None:
    robot = mbdyn_ros.load("urdf/manipulator.urdf")
    chart = JointSpace(robot, ANGLES).chart
    assert chart is not robot and JointSpace(robot, ANGLES).chart is chart
    gone = weakref.ref(chart)
    del robot, chart
    gc.collect()
    assert gone() is None


def test_velocities_where_loops_have_no_closed_form() -> None:
    """They were NaN."""
    delta = mbdyn_ros.example("delta")
    q = delta.home_position + np.linspace(0, 0.2, 4)[:, None]
    rate = np.ones_like(q)
    found = convert_trajectory(delta, delta.independent_joints, q, rate, to=delta.joint_names)
    np.testing.assert_allclose(found.velocity, delta.joint_state(q, rate)[1], atol=1e-9)
