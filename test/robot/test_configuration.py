"""Positions as points of a space, limits as arrays, and what a robot says it is."""

from __future__ import annotations

import numpy as np
import pytest
from corpus import urdf_file
from own_robots import OWN, assert_close
from robot_text import body_text, hinge_text

import mbdyn_ros
from mbdyn_ros import InputError

pytestmark = pytest.mark.usefixtures("interpreted")

BALL = hinge_text(kind="spherical", axis="")
STICK = body_text("stick", 1, 1)


def test_differences_and_ways_are_those_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    from judge import Judge

    path = urdf_file("ur5_robot.urdf")
    robot = mbdyn_ros.load(path, floating_base=True)
    judge = Judge(str(path), robot.model, True)
    q0, q1 = robot.random(1, 2)
    np.testing.assert_array_equal(robot.random(1, 2), [q0, q1])
    theirs = pin.difference(judge.pin, judge.position(q0), judge.position(q1))
    way = robot.difference(q0, q1)
    assert_close(way, judge.matrix.T @ theirs, "difference")
    reached = pin.integrate(judge.pin, judge.position(q0), judge.matrix @ (0.3 * way))
    ours = robot.interpolate(q0, q1, 0.3)
    assert_close(judge.position(ours), reached, "interpolated")
    assert_close(judge.position(robot.neutral()), pin.neutral(judge.pin), "neutral")


@pytest.mark.parametrize("size", [1e-9, 1e-5, 1e-3, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["floating", "ball"])
def test_integrate_and_difference_are_inverse(kind: str, size: float) -> None:
    """To all digits, for small turns and for nearly half of one, one by one and in batches."""
    text, floating = (STICK, True) if kind == "floating" else (BALL, False)
    robot = mbdyn_ros.load(text, floating_base=floating)
    q = robot.random(0, 5)
    way = np.random.default_rng(1).normal(size=(5, robot.nv))
    way *= size / np.linalg.norm(way, axis=1, keepdims=True)
    there = robot.integrate(q, way)
    np.testing.assert_allclose(robot.difference(q, there), way, rtol=1e-9, atol=1e-15)
    single = robot.integrate(q[2], way[2])
    np.testing.assert_allclose(there[2], single, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(robot.difference(q, q), np.zeros_like(way), atol=1e-15)


def test_integrated_velocity_is_the_rate_of_poses() -> None:
    """A velocity that stays in the base's axes leads along a screw: the pose's exact rate."""
    robot = mbdyn_ros.load(STICK, floating_base=True)
    q, v = robot.random(3), np.random.default_rng(2).normal(size=robot.nv)
    step = 1e-5
    ahead, behind = (robot.frame_pose(robot.integrate(q, s * step * v), "stick") for s in (1, -1))
    rate = (ahead - behind)[:3, 3] / (2 * step)
    np.testing.assert_allclose(robot.frame_velocity(q, v, "stick")[:3], rate, atol=1e-9)


def test_random_positions_close_loops_and_keep_limits() -> None:
    robot = mbdyn_ros.load(OWN / "manipulator.urdf")
    q = robot.random(np.random.default_rng(0), 20)
    low, high = robot.position_limits
    assert q.shape == (20, robot.nq) and (q >= low).all() and (q <= high).all()
    assert np.isfinite(robot.joint_state(q)[0]).all()
    assert np.ptp(q, axis=0).min() > 0.01
    assert robot.random(0).shape == (robot.nq,)


def test_limits_as_arrays() -> None:
    robot = mbdyn_ros.load(urdf_file("ur5_robot.urdf"), floating_base=True)
    low, high = robot.position_limits
    assert (low[:7] == -np.inf).all() and (high[:7] == np.inf).all()
    np.testing.assert_allclose(high[7:], np.pi * np.array([2, 2, 1, 2, 2, 2]))
    assert (robot.velocity_limits[:6] == np.inf).all()
    np.testing.assert_allclose(robot.velocity_limits[6:], [3.15, 3.15, 3.15, 3.2, 3.2, 3.2])
    np.testing.assert_allclose(robot.effort_limits[6:], [150, 150, 150, 28, 28, 28])


def test_what_it_is() -> None:
    robot = mbdyn_ros.load(OWN / "boom.urdf")
    assert robot.links == tuple(link.name for link in robot.model.links)
    assert robot.frames["load"] == "boom" and robot.frames[robot.links[0]] == robot.model.root
    assert repr(robot) == (
        f"<Robot 'boom': nq 1, nv 1, 1 of {len(robot.joint_names)} joints actuated, 5 links, "
        f"{robot.total_mass:.4g} kg moving, 1 loop, fixed base>"
    )
    assert robot.mass_matrix(robot.home_position).shape == (1, 1)
    positions = robot.joint_state(robot.home_position)[0]
    np.testing.assert_allclose(positions, list(robot.home.values()), atol=1e-12)


def test_what_is_no_position_is_said() -> None:
    robot = mbdyn_ros.load(STICK, floating_base=True)
    q = robot.neutral()
    with pytest.raises(InputError, match="q0 has shape"):
        robot.difference(q[:3], q)
    with pytest.raises(InputError, match="unit quaternion"):
        robot.integrate(0 * q, np.zeros(robot.nv))
    with pytest.raises(InputError, match="t must be a finite number"):
        robot.interpolate(q, q, np.nan)
