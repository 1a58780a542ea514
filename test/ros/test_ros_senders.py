"""A second sender is noticed, and what is stamped as of another time is not taken for fresh."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("rclpy")

import rclpy
from ros_feedforward import start, state
from ros_rig import ARM, JOINTS, Rig, rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

import mbdyn_ros
from mbdyn_ros.ros.messages.joint_commands import JointCommands, NamedCommand
from mbdyn_ros.ros.messages.measured_state import MeasuredState
from mbdyn_ros.ros.node.inbox import Gaps
from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")


def joint_state(q: float) -> JointState:
    return JointState(name=JOINTS, position=[q] * 3, velocity=[0.0] * 3)


def test_joint_states_are_as_old_as_their_stamps() -> None:
    measured = MeasuredState(JOINTS)
    assert measured.missing(100.0, 0.1) == "no joint_states of all joints for 0.1 s"
    assert measured.take(joint_state(1.0), 100.0, 96.0)  # a replay, and nothing else
    assert measured.missing(100.0, 0.1) == "joint_states come stamped 4 s behind this node's clock"
    assert not measured.take(joint_state(2.0), 100.01, 2e9)
    assert measured.take(joint_state(3.0), 100.02, 100.0)  # one that is of today
    assert not measured.missing(100.02, 0.1) and measured.position[0] == 3.0
    for other in (96.1, 2e9):
        assert not measured.take(joint_state(4.0), 100.03, other)
    assert measured.position[0] == 3.0
    assert measured.missing(100.2, 0.1) == "no joint_states of all joints for 0.1 s"
    measured.forget()
    assert measured.take(joint_state(5.0), 1.0, 2e9)
    assert "s ahead of this node's clock" in measured.missing(1.0, 0.1)


def test_commands_in_turns_are_contested(interpreted: None) -> None:
    commands = JointCommands(mbdyn_ros.load(ARM))
    grip, elbow = (NamedCommand([name], effort=[2.0]) for name in ("grip", "elbow"))
    for k in range(20):
        commands.set_array([1.0] * 3, 0.01 * k, b"one")
        commands.set_named(grip, 0.01 * k, b"two" if k > 10 else b"one")
    assert commands.contested() == ["grip"]
    for k in range(20):  # each its own joint; and then another takes over
        commands.set_named(elbow, 1.0, b"one" if k < 10 else b"two")
        commands.set_named(grip, 1.0, b"two")
    assert commands.contested() == []


def test_a_second_simulator_is_noticed(rig: Rig) -> None:
    """By both, under the same name and under another; and so is a second commander."""
    robot = {"robot_description": ARM, "rate": 100.0, "command_timeout": 5.0, "namespace": "pair"}
    first = rig.add(Simulator, **robot)
    rig.wait(lambda: not any("also on" in one for one in first.health().warnings))
    second = rig.add(Simulator, **robot)
    for node in (first, second):
        rig.wait(lambda node=node: "another node has the same name" in node.health().warnings)
        rig.wait(
            lambda node=node: "/pair/simulator also on /pair/joint_states"
            in node.health().warnings
        )
    other = rclpy.create_node("other", context=rig.context)
    try:
        publishers = [
            rig.publisher(Float64MultiArray, "pair/simulator/commands"),
            other.create_publisher(Float64MultiArray, "pair/simulator/commands", 10),
        ]
        rig.wait(lambda: publishers[1].get_subscription_count() == 2)

        def contested() -> Any:
            for one in publishers * 4:
                one.publish(Float64MultiArray(data=[0.0] * 3))
                time.sleep(0.02)  # longer than a step: an inbox of depth 1 keeps the last one
            health = first.health()
            said = [one for one in health.warnings if "command in turns" in one]
            return said and "other" in str(health.values["commands from"]) and (said, health)

        (said,), health = rig.wait(contested)
        assert said == "several nodes command in turns: shoulder, elbow, grip"
        assert health.values["commands from"] == "/client, /other"
    finally:
        other.destroy_node()


def test_old_commands_are_refused(rig: Rig) -> None:
    node = rig.add(Simulator, robot_description=ARM, rate=100.0, publish_clock=True)
    command = JointState(name=["elbow"], effort=[1.0])
    command.header.stamp.sec = 1_500_000_000
    rig.publisher(JointState, "simulator/effort_command").publish(command)
    rig.wait(lambda: "s ahead of this node's time, more than command_timeout" in node.refusals.last)
    assert not node.session.motion.effort.any()


def test_replayed_joint_states_are_not_fresh(rig: Rig) -> None:
    """Nor are those of two robots taken for those of one without a word."""
    node, _, reference = start(rig, kp=[1.0], following_tolerance=0.0)
    other = rclpy.create_node("other", context=rig.context)
    try:
        live, replay = (one.create_publisher(JointState, "joint_states", 10)
                        for one in (rig.client, other))  # fmt: skip
        old = joint_state(0.02)
        old.header.stamp.sec = 1_000_000_000

        def measured(*messages: tuple[Any, JointState]) -> str:
            for publisher, message in messages:
                publisher.publish(message)
            with node.lock:
                return str(node.follower.measured.missing(node.time(), 1.0))

        rig.wait(lambda: "behind this node's clock" in measured((replay, old)))
        both = (live, joint_state(0.01)), (replay, old)
        rig.wait(lambda: not measured(*both) and not measured(*both))
        assert node.follower.measured.position.tolist() == [0.01] * 3
        now = joint_state(0.03)

        def warned() -> bool:
            measured((live, joint_state(0.01)), (replay, now))
            said = "joint_states of all joints come from several nodes: /client, /other"
            return said in node.health().warnings

        rig.wait(warned)
        second = other.create_publisher(JointTrajectory, reference.topic_name, 10)
        rig.wait(lambda: second.get_subscription_count() > 0)

        def planned() -> bool:
            for one in (reference, second):
                one.publish(state([0.0] * 3))
            time.sleep(0.05)
            said = "references come from several nodes: /client, /other"
            return said in node.health().warnings

        rig.wait(planned)
    finally:
        other.destroy_node()


def test_gaps_in_the_numbers_of_messages() -> None:
    """Of each publisher; what comes first, late or without a number is not a gap."""
    gaps = Gaps()
    for sender, number in ((1, 7), (1, 8), (1, 12), (2, 3), (1, 11), (2, 5), (2, None)):
        gid = {"data": [sender]}
        gaps.heed({"publication_sequence_number": number, "publisher_gid": gid})
    assert gaps.count == 4 and gaps.since_asked() == 4 and gaps.since_asked() == 0
