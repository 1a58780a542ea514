"""All joints from measured ones, and trajectories in other joints, over real nodes."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from ros_rig import Rig, rig
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.ros.messages.measured_state import MeasuredState, SensedJoints, Trust
from mbdyn_ros.ros.nodes.loop_state_publisher import LoopStatePublisher
from mbdyn_ros.ros.nodes.trajectory_converter import TrajectoryConverter

__all__ = ["rig"]

URDF = str(Path(__file__).parents[2] / "urdf" / "manipulator.urdf")
ANGLES = ["slew_joint", "boom_joint", "jib_joint", "telescope_joint"]
RODS = ["slew_joint", "lift_rod_joint", "tilt_rod_joint", "telescope_joint"]
TRUST = Trust(timeout=0.1, jump=0.5, disagreement=0.05)


@pytest.fixture(scope="module")
def crane() -> mbdyn_ros.Robot:
    from interpreting import interpreting

    with interpreting():
        return mbdyn_ros.load(URDF)


def state_of(robot: mbdyn_ros.Robot, names: list[str], q: Any, v: Any = None) -> JointState:
    """A message of some joints."""
    position, velocity, _ = robot.joint_state(np.array(q, float), None if v is None else v)
    rows = [robot.joint_names.index(name) for name in names]
    message = JointState(name=names, position=position[rows].tolist())
    if velocity is not None:
        message.velocity = velocity[rows].tolist()
    return message


Q, V = [0.1, 0.05, -0.04, 0.2], np.array([0.1, -0.05, 0.02, 0.3])


def test_all_joints_of_a_message(crane: mbdyn_ros.Robot) -> None:
    sensed = SensedJoints(crane, ANGLES, [], TRUST)
    message = state_of(crane, ["boom_joint", "telescope_joint", "slew_joint", "jib_joint"], Q, V)
    message.name.append("camera_joint")  # of something else
    message.position.append(1.0)
    message.velocity.append(math.nan)
    message.effort = [10.0, 20.0, 30.0, 40.0, 50.0]
    assert sensed.take(message, 1.0, 1.0)
    position, velocity, _ = crane.joint_state(Q, V)
    assert sensed.message.name == list(crane.joint_names)
    assert sensed.message.position.tolist() == pytest.approx(position, abs=1e-12)
    assert sensed.message.velocity.tolist() == pytest.approx(velocity, abs=1e-12)
    assert sensed.message.effort.tolist() == [30.0, 10.0, 0, 0, 40.0, 0, 0, 20.0]
    bare = JointState(name=message.name, position=message.position)
    assert sensed.take(bare, 1.01, 1.01)
    assert not len(sensed.message.velocity) and not len(sensed.message.effort)
    without = JointState(name=message.name, position=message.position, effort=[math.nan] * 5)
    assert sensed.take(without, 1.01, 1.01) and not len(sensed.message.effort)


def test_states_that_name_a_joint_twice_are_not_taken() -> None:
    """Nobody knows which of its numbers counts."""
    state = MeasuredState(["hinge"])
    twice = JointState(name=["hinge", "hinge"], position=[1.0, 2.0], velocity=[0.0, 0.0])
    assert not state.take(twice, 1.0, 1.0)
    assert state.missing(1.0, 0.1) == (
        "no joint_states of all joints for 0.1 s: joint 'hinge' is named twice"
    )


def test_words_for_states_that_stop() -> None:
    """Stamped a little behind, and then no more: what is wrong is that none came."""
    state = MeasuredState(["hinge"])
    assert state.take(JointState(name=["hinge"], position=[1.0], velocity=[0.0]), 1.0, 0.99)
    assert state.missing(1.085, 0.1) == ""
    assert state.missing(1.095, 0.1) == "no joint_states of all joints for 0.1 s"


def test_several_sources(crane: mbdyn_ros.Robot) -> None:
    """Each measures some joints; nothing is sent before all are known, or when one is old."""
    sensed = SensedJoints(crane, RODS, [], TRUST)
    slew, rods = state_of(crane, RODS[:1], Q), state_of(crane, RODS[1:], Q)
    assert not sensed.take(slew, 1.0, 1.0)
    assert sensed.missing(1.0) == "lift_rod_joint"
    assert sensed.take(rods, 1.01, 1.01)
    assert sensed.message.position.tolist() == pytest.approx(crane.joint_state(Q)[0], abs=1e-12)
    assert not sensed.take(rods, 1.2, 1.2), "the slew is from 0.2 s ago"
    assert sensed.missing(1.2) == "slew_joint"
    assert not sensed.take(JointState(name=["other"], position=[1.0]), 1.2, 1.2)


BAD: dict[str, tuple[dict[str, list[Any]], str]] = {
    "twice": (
        dict(name=[*RODS, RODS[1]], position=[0.1, 0.05, -0.04, 0.2, 0.1], velocity=[0.0] * 5),
        "joint 'lift_rod_joint' is named twice",
    ),
    "no names": (dict(name=[]), "it has 4 positions, but names no joints"),
    "too few positions": (dict(position=[0.1]), "position has 1 numbers for 4 names"),
    "NaN": (dict(position=[0.1, math.nan, 0, 0]), "position of lift_rod_joint is nan"),
    "absurd": (dict(velocity=[0, 0, 1e300, 0]), r"velocity of tilt_rod_joint is 1e\+300"),
    "jump": (dict(position=[0.7, 0.05, -0.04, 0.2]), "slew_joint jumps by 0.6 .* largest_jump"),
    "open": (dict(position=[0.1, 0.5, 0.4, 0.2]), "loop .* cannot be closed"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_states_are_dropped(crane: mbdyn_ros.Robot, case: str) -> None:
    fields, words = BAD[case]
    sensed = SensedJoints(crane, RODS, [], TRUST)
    good = state_of(crane, RODS, Q, V)
    assert sensed.take(good, 1.0, 1.0)
    before = sensed.message.position.tolist()
    message = state_of(crane, RODS, Q, V)
    for name, numbers in fields.items():
        setattr(message, name, numbers if name == "name" else [float(one) for one in numbers])
    with pytest.raises(InputError, match=words):
        sensed.take(message, 1.01, 1.01)
    assert sensed.message.position.tolist() == before
    assert sensed.take(good, 1.02, 1.02), "the next one is taken"
    with pytest.raises(InputError, match="stamped 1 s behind this node's time"):
        sensed.take(good, 2.0, 1.0)
    if case == "jump":
        assert sensed.take(message, 5.0, 5.0), "how it came there is unknown"


def test_disagreement(crane: mbdyn_ros.Robot) -> None:
    """The boom's angle and its cylinder: fused by their deviations, refused when far apart."""
    joints = [*ANGLES, "lift_rod_joint"]
    sensed = SensedJoints(crane, joints, [1e-3, 1e-2, 1e-3, 1e-3, 1e-4], TRUST)
    message = state_of(crane, joints, Q)
    message.position[1] += 0.01
    assert sensed.take(message, 1.0, 1.0)
    exact = crane.joint_state(Q)[0]
    assert sensed.message.position.tolist() == pytest.approx(exact, abs=1e-4)
    name, apart = sensed.report()
    assert name == "boom_joint" and apart == pytest.approx(0.01, rel=0.01)
    assert sensed.report() == ("", 0.0)
    message.position[1] += 0.1
    words = "boom_joint is 0.1.* from where it and the other joints put it together"
    with pytest.raises(InputError, match=words):
        sensed.take(message, 1.01, 1.01)


def test_node(rig: Rig, interpreted: None, crane: mbdyn_ros.Robot) -> None:
    node = rig.add(LoopStatePublisher, urdf=URDF, joints=ANGLES)
    states = rig.listen(JointState, "joint_states")
    publisher = rig.publisher(JointState, "measured_joint_states")
    rig.wait(lambda: node._states.get_subscription_count() > 0)
    message = state_of(crane, ANGLES, Q, V)
    message.header.stamp = rig.client.get_clock().now().to_msg()
    publisher.publish(message)
    rig.wait(lambda: states)
    assert states[0].position.tolist() == pytest.approx(crane.joint_state(Q)[0], abs=1e-12)
    assert states[0].header.stamp == message.header.stamp
    assert states[0].header.frame_id == crane.model.root
    health = node.health()
    assert not health.errors and health.values["sent"] == 1
    message.position[1] = math.nan
    publisher.publish(message)
    rig.wait(lambda: node.refusals.count == 1)
    assert any("position of boom_joint is nan" in one for one in node.health().warnings)
    time.sleep(0.11)
    assert any(
        "no measured position of slew_joint for 0.1 s: nothing is sent" in one
        for one in node.health().warnings
    )
    publisher.publish(JointState(name=["crane_slew_joint"], position=[0.1]))
    rig.wait(lambda: node.sensed.stray())
    assert any(
        "nothing is sent; the last message is of other joints: crane_slew_joint" in one
        for one in node.health().warnings
    )
    assert rig.set(node, largest_jump=0.01, state_timeout=10.0) == ""
    assert node.sensed.trust == Trust(10.0, 0.01, 0.05)
    assert len(states) == 1


def test_joints_that_do_not_do(rig: Rig, interpreted: None) -> None:
    with pytest.raises(InputError, match="parameter joints or deviations: .* leave 1 freedom"):
        rig.add(LoopStatePublisher, urdf=URDF, joints=ANGLES[:3])


def test_converter(rig: Rig, interpreted: None, crane: mbdyn_ros.Robot) -> None:
    """There and back through two nodes."""
    there = rig.add(TrajectoryConverter, urdf=URDF)
    converted = rig.listen(JointTrajectory, "trajectory_converter/trajectory_out")
    publisher = rig.publisher(JointTrajectory, "trajectory_converter/trajectory_in")
    rig.wait(lambda: there._trajectories.get_subscription_count() > 0)
    plan = JointTrajectory(joint_names=ANGLES)
    plan.header.frame_id = "kept"
    for k in range(3):
        point = JointTrajectoryPoint(positions=[0.1 * k, 0.02, 0.01 * k, 0.0],
                                     velocities=[0.1, 0.0, 0.01, 0.0])  # fmt: skip
        point.time_from_start.sec = k
        plan.points.append(point)
    publisher.publish(plan)
    rig.wait(lambda: converted)
    (answer,) = converted
    assert answer.joint_names == RODS and answer.header.frame_id == "kept"
    assert [point.time_from_start.sec for point in answer.points] == [0, 1, 2]
    for point, wanted in zip(answer.points, plan.points, strict=True):
        position, velocity, _ = crane.joint_state(point.positions, point.velocities)
        rows = [crane.joint_names.index(name) for name in ANGLES]
        assert position[rows] == pytest.approx(wanted.positions, abs=1e-10)
        assert velocity is not None
        assert velocity[rows] == pytest.approx(wanted.velocities, abs=1e-10)
        assert not len(point.accelerations) and not len(point.effort)
    plan.points[1].velocities[0] = 0.9
    publisher.publish(plan)
    rig.wait(lambda: there.refusals.count == 1)
    words = "point 1: velocity of slew_joint is 0.9 rad/s, beyond its limit 0.8 rad/s"
    assert words in there.refusals.last
    assert words in there.health().values["limit passed last"]
    plan.points[1].velocities = []
    publisher.publish(plan)
    rig.wait(lambda: there.refusals.count == 2)
    assert "point 1 has 0 velocities, but others have 4" in there.refusals.last
    plan.joint_names.append("lift_rod_joint")
    plan.points[1].velocities = plan.points[0].velocities
    publisher.publish(plan)
    rig.wait(lambda: there.refusals.count == 3)
    assert "point 0 has 4 positions for 5 joints" in there.refusals.last
    assert len(converted) == 1
