"""Motions through points: they meet the points, and are as smooth as they should be."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Duration, Time
from rclpy.serialization import serialize_message
from robot_text import link
from ros_rig import ARM, MOMENTS
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.model import Array
from mbdyn_ros.motion.playback import approach
from mbdyn_ros.motion.poses import Turns
from mbdyn_ros.motion.reference import Reference
from mbdyn_ros.ros.messages.limits import ReferenceLimits
from mbdyn_ros.ros.messages.measured_state import MeasuredState
from mbdyn_ros.ros.messages.trajectory_message import read_trajectory

TIMES = np.array([0.0, 0.5, 1.3, 2.0])


def points(seed: int = 1) -> tuple[Array, Array, Array]:
    q, v, a = np.random.default_rng(seed).normal(size=(3, 4, 2))
    return q, v, a


@pytest.mark.parametrize("given", [0, 1, 2])
def test_it_meets_the_points(given: int) -> None:
    q, v, a = points()
    reference = Reference(TIMES, q, v if given > 0 else None, a if given > 1 else None)
    for k, time in enumerate(TIMES):
        state = reference.at(float(time))
        wanted = (q, v, a)[: given + 1]
        for one, other in zip(state, wanted, strict=False):
            assert one == pytest.approx(other[k], abs=1e-9)


@pytest.mark.parametrize("given", [0, 1, 2])
def test_rates_are_derivatives(given: int) -> None:
    q, v, a = points()
    reference = Reference(TIMES, q, v if given > 0 else None, a if given > 1 else None)
    step = 1e-6
    for time in (0.1, 0.77, 1.9):
        before, here, after = (reference.at(time + k * step) for k in (-1, 0, 1))
        for order in (0, 1):
            slope = (after[order] - before[order]) / (2 * step)
            assert here[order + 1] == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_positions_alone_give_a_smooth_motion_at_rest_at_the_ends() -> None:
    reference = Reference(TIMES, points()[0])
    assert reference.at(0.0)[1] == pytest.approx(0) and reference.at(2.0)[1] == pytest.approx(0)
    for knot in TIMES[1:-1]:
        before, after = reference.at(knot - 1e-9), reference.at(knot + 1e-9)
        assert before[2] == pytest.approx(after[2], abs=1e-5)


def test_outside() -> None:
    q, v, a = points()
    reference = Reference(TIMES, q, v, a)
    for time, k in ((-1.0, 0), (2.1, -1)):
        position, velocity, acceleration = reference.at(time)
        assert position.tolist() == q[k].tolist()
        assert not velocity.any() and not acceleration.any()
    single = Reference(TIMES[:1], q[:1], v[:1], a[:1])
    assert [one.tolist() for one in single.at(5.0)] == [q[0].tolist(), v[0].tolist(), a[0].tolist()]


@pytest.mark.parametrize("given", [0, 1, 2])
def test_samples_lie_on_the_motion(given: int) -> None:
    q, v, a = points()
    reference = Reference(TIMES, q, v if given > 0 else None, a if given > 1 else None)
    (samples,) = reference.samples()
    times, inner = samples[0], np.diff(samples[0], append=9.0) > 0
    assert set(TIMES) <= set(times) and inner.sum() == len(times) - 2
    for k in np.flatnonzero(inner[:-1] & inner[1:]).tolist():
        for one, other in zip(reference.at(times[k]), samples[1:], strict=True):
            np.testing.assert_allclose(one, other[k], atol=1e-9)
    ((moment, *single),) = Reference(TIMES[1:2], q[:1], v[:1], a[:1]).samples()
    assert moment.tolist() == [0.5] and [one.tolist() for one in single] == [
        q[:1].tolist(), v[:1].tolist(), a[:1].tolist()
    ]  # fmt: skip


def test_times_must_increase() -> None:
    with pytest.raises(InputError, match=r"point 2: time_from_start is 0\.5 s"):
        Reference(np.array([0.0, 0.5, 0.5, 1.0]), points()[0])


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e308])
def test_absurd_joint_states_are_not_taken(number: float) -> None:
    """They would end in a fault of whoever computes with them."""
    measured = MeasuredState(["elbow", "grip"])
    names = ["grip", "wheel", "elbow"]
    zero = [0.0] * 3
    assert measured.take(joint_state(names, [1.0, number, 3.0], zero), 5.0, 5.0)
    assert measured.position.tolist() == [3.0, 1.0] and measured.age(6.0) == 1.0
    assert not measured.take(joint_state(names, [1.0, 2.0, 4.0], [number, 0, 0]), 7.0, 7.0)
    assert not measured.take(joint_state(names, [number, 2.0, 4.0], zero), 7.0, 7.0)
    assert measured.position.tolist() == [3.0, 1.0] and measured.age(6.0) == 1.0


def test_continuous_joints_go_the_shortest_way_round(interpreted: None) -> None:
    """Where whole turns mean nothing: not for a joint that others follow, nor for a slide."""
    robot = mbdyn_ros.load(ARM)
    names, zero = list(robot.velocity_labels), np.zeros(3)
    turns = Turns(robot, names)
    measured = MeasuredState(names, turns)
    assert measured.take(joint_state(names, [0.1, 3.1, 0.02], [0.0] * 3), 1.0, 1.0)
    wanted = np.array([0.1 + math.tau, -3.1, 0.02])
    np.testing.assert_allclose(measured.error(wanted), [math.tau, math.tau - 6.2, 0.0], atol=1e-12)
    assert measured.farthest(wanted) == ("shoulder", 0.1, pytest.approx(math.tau))
    goal = Reference(np.array([2.0]), np.array([[0.1, -3.1, 0.02]]))
    way = approach(goal, 0.0, 1.0, (measured.position, zero, zero), turns)
    assert way is not None
    assert way.at(1.0)[0] == pytest.approx([0.1, 3.1 - math.tau, 0.02])
    assert np.ptp([way.at(time)[0][1] for time in np.linspace(1, 2)]) < 0.1

    follower = ARM.replace("</robot>", f'''{link("wheel", 1, MOMENTS)}
        <joint name="spin" type="continuous"><parent link="upper"/><child link="wheel"/><axis/>
        <mimic joint="elbow" multiplier="0.5"/></joint></robot>''')
    assert Turns(mbdyn_ros.load(follower), names).shortest(wanted).tolist() == wanted.tolist()


def test_a_trajectory_is_read_from_its_bytes() -> None:
    """As rclpy reads it; the loop goes on meanwhile."""
    sent = JointTrajectory(joint_names=["elbow", "wörist"])
    sent.header.frame_id, sent.header.stamp = "base", Time(sec=-3, nanosec=7)
    for k in range(4):  # lengths that put numbers at all alignments
        point = JointTrajectoryPoint(positions=[1.5] * k, velocities=[-2.0] * (k % 2))
        point.accelerations, point.effort = [3.0] * (k % 3), [0.25 * k]
        point.time_from_start = Duration(sec=k, nanosec=10 * k)
        sent.points.append(point)
    data = serialize_message(sent)
    read = read_trajectory(data)
    assert read.joint_names == ["elbow", "wörist"] and read.header.stamp == sent.header.stamp
    for one, other in zip(read.points, sent.points, strict=True):
        assert one.time_from_start == (other.time_from_start.sec, other.time_from_start.nanosec)
        for name in ("positions", "velocities", "accelerations", "effort"):
            assert getattr(one, name).tolist() == list(getattr(other, name))
    for bad in (b"", b"\x00\x03" + data[2:], data[:200], data[:40], data[:30] + b"\xff" * 9):
        with pytest.raises(InputError, match="the message holds no trajectory"):
            read_trajectory(bad)


def joint_state(names: list[str], position: list[float], velocity: list[float]) -> JointState:
    return JointState(name=names, position=position, velocity=velocity)


def test_joints_that_follow_have_limits_too(interpreted: None) -> None:
    """At the points and between them, in position and velocity."""
    narrow = ARM.replace('upper="0.2" effort="20" velocity="1"', 'upper="0.1" velocity="1"')
    limits = ReferenceLimits(mbdyn_ros.load(narrow))
    times, still = np.array([0.0, 1.0]), np.zeros((2, 3))

    def grip(q: float, v: float = 0.0) -> Reference:
        ends = np.array([[0.0, 0.0, q]] * 2)
        return Reference(times, ends, still + [[0.0, 0.0, v], [0.0, 0.0, -v]])

    limits.require(grip(0.04))
    with pytest.raises(InputError, match=r"at first, position of mirror is 0\.1\d+ at 0\.\d+ s"):
        limits.require(grip(0.04, 0.1), None, "at first, ")
    limits.require(grip(0.08), np.array([0.0, 0.0, 0.08]))
    with pytest.raises(InputError, match="velocity of mirror is 1.2 at 0 s, outside its limits -1"):
        limits.require(Reference(times[:1], still[:1], np.array([[0.0, 0.0, 0.6]])))
