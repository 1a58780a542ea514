"""Torque feed-forward: right efforts, and zeros whenever there is a reason."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from ros_feedforward import NAME, A, Q, V, last_is, start, state
from ros_rig import ARM, CART, JOINTS, STONE, Rig, rig
from sensor_msgs.msg import JointState
from slider_cranks import SLIDER
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.motion.reference import Reference
from mbdyn_ros.ros.nodes.feedforward import Feedforward
from mbdyn_ros.ros.nodes.follower import Conditions

__all__ = ["rig"]



@pytest.fixture
def arm(interpreted: None) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ARM)








def test_a_state_its_efforts_and_their_end(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(rig, reference_timeout=1.0)
    rig.wait(lambda: last_is(sent, [0, 0, 0]))
    assert "no reference yet" in node.health().warnings[-1]
    reference.publish(state(Q[::-1], V[::-1], A[::-1], JOINTS[::-1]))
    rig.wait(lambda: last_is(sent, arm.inverse_dynamics(Q, V, A)))
    rig.wait(lambda: last_is(sent, [0, 0, 0]))
    assert "the reference ended" in node.health().warnings[-1]


def test_order_of_joints_and_named_efforts(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    _, sent, reference = start(rig, joints=["grip", "shoulder"])
    named = rig.listen(JointState, f"{NAME}/effort")
    reference.publish(state(Q))
    effort = arm.gravity_vector(Q)
    rig.wait(lambda: last_is(sent, [effort[2], effort[0]]))
    rig.wait(lambda: named and any(named[-1].effort))
    assert named[-1].name == ["grip", "shoulder"]


@pytest.mark.alone
def test_a_trajectory_is_played(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(rig, reference_timeout=0.0)
    message = state([0.0, 0.0, 0.0])
    message.points += state([0.2, -0.1, 0.1], at=0.4).points
    reference.publish(message)
    rig.wait(lambda: last_is(sent, arm.gravity_vector([0.2, -0.1, 0.1])))  # and held
    assert len({tuple(one.data) for one in sent}) > 5
    count = len(sent)
    rig.wait(lambda: len(sent) > count + 20)
    assert last_is(sent, arm.gravity_vector([0.2, -0.1, 0.1]))


@pytest.mark.alone
def test_a_stamp_says_when(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(rig, reference_timeout=0.2)
    rig.wait(lambda: last_is(sent, [0, 0, 0]))
    for late, reason in ((-60, "its last point was due"), (1e4, "its first point is due in")):
        message = state(Q)
        message.header.stamp.sec = int(time.time() + late)
        reference.publish(message)
        rig.wait(lambda reason=reason: reason in node.refusals.last)
    assert last_is(sent, [0, 0, 0]) and node.idle_reason == "no reference yet"


def test_pd(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(
        rig, kp=[10.0], kd=[1.0, 2.0, 3.0], state_timeout=0.3, reference_timeout=0.0
    )
    states = rig.client.create_publisher(JointState, "joint_states", 10)
    reference.publish(state(Q, V, A))
    rig.wait(lambda: "no joint_states of all joints" in node.idle_reason)
    rig.wait(lambda: last_is(sent, [0, 0, 0]))
    measured = JointState(name=["mirror", *JOINTS])
    measured.position, measured.velocity = [0.0, 0.2, -0.5, 0.0], [0.0, 0.4, 1.1, 0.0]
    expected = arm.inverse_dynamics(Q, V, A) + 10 * (np.array(Q) - [0.2, -0.5, 0.0])
    expected += np.array([1, 2, 3]) * (np.array(V) - [0.4, 1.1, 0.0])

    def answered() -> bool:
        states.publish(measured)
        return last_is(sent, expected)

    rig.wait(answered)
    rig.wait(lambda: last_is(sent, [0, 0, 0]))  # no joint states any more
    assert rig.set(node, kp=[1.0, 2.0]).startswith("kp has 2 numbers; give none, one for all")
    assert rig.set(node, kp=[-1.0]) == "kp[0] is -1.0: it must be from 0 to 1e+12"
    assert rig.set(node, kp=[0.0], kd=[0.0]) == ""
    rig.wait(lambda: last_is(sent, arm.inverse_dynamics(Q, V, A)))


def test_pd_leaves_alone_what_is_on_its_way(arm: mbdyn_ros.Robot) -> None:
    """A joint that was on its reference when it was measured has no error, however late that is."""
    conditions = Conditions(np.inf, 60.0, 0.1, True, 0.1, 0.2)
    follower = Feedforward(arm, (), conditions)
    follower.set_gains([1e4], [1e2])
    motion = Reference(np.array([0.0, 1.0]), np.array([np.zeros(3), [1.0, -1.0, 0.1]]))
    follower.playback.follow(motion, 10.0)
    q, v, _ = motion.at(0.45)
    measured = JointState(name=list(arm.velocity_labels), position=q.tolist(), velocity=v.tolist())
    assert follower.take(measured, 10.5, 10.45)
    assert follower.efforts(10.5) == pytest.approx(arm.inverse_dynamics(*motion.at(0.5)), rel=1e-9)


def test_given_efforts(rig: Rig) -> None:
    """Those in the points of the reference, as the trajectory service fills them in; or none."""
    node, sent, reference = start(rig, feedforward="reference", reference_timeout=0.0)
    message = state(Q[::-1], names=JOINTS[::-1])
    reference.publish(message)
    rig.wait(lambda: "point 0 has no effort" in node.refusals.last)
    message.points[0].effort = [1.0, 2.0, 3.0]
    reference.publish(message)
    rig.wait(lambda: last_is(sent, [3, 2, 1]))
    message.points[0].effort = [1.0, 2.0]
    reference.publish(message)
    rig.wait(lambda: "point 0: effort has 2 numbers, expected 3" in node.refusals.last)
    assert rig.set(node, feedforward="guess").startswith("feedforward: 'guess' is not one of")
    assert rig.set(node, feedforward="none") == ""
    message.points[0].effort = [1.0, 2.0, 3.0]
    reference.publish(message)
    rig.wait(lambda: last_is(sent, [0, 0, 0]))


def test_efforts_are_clamped_and_reported(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(rig, reference_timeout=0.0, check_limits=False)
    reference.publish(state([0.0] * 3, [], [100.0, 0, 0]))
    free = arm.inverse_dynamics(np.zeros(3), np.zeros(3), [100.0, 0, 0])
    assert free[0] > 50
    rig.wait(lambda: last_is(sent, [50, free[1], np.clip(free[2], -20, 20)]))
    assert "shoulder" in str(node.health().values["clamped"])
    assert rig.set(node, enforce_effort_limits=False) == ""
    rig.wait(lambda: last_is(sent, free))


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (JointTrajectory(joint_names=JOINTS), "no points"),
        (state(Q[:2]), "point 0: position has 2 numbers, expected 3"),
        (state([0.0, math.nan, 0.0]), "point 0: position of elbow is nan"),
        (state(Q, names=["shoulder", "elbow", "knee"]), "no joint 'knee'"),
        (state(Q, names=["shoulder", "elbow", "elbow"]), "'elbow' is named twice"),
        (state(Q[:2], names=["shoulder", "elbow"]), "joint 'grip' is missing"),
        (JointTrajectory(points=state(Q, at=1.0).points + state(Q, at=0.5).points),
         "point 1: time_from_start is 0.5 s, not after the 1 s"),
        (JointTrajectory(points=state(Q, V).points + state(Q, at=0.5).points),
         "point 1 has no velocities, but others have"),
        (JointTrajectory(points=state(Q, [], A).points + state(Q, [], A, at=0.5).points),
         "accelerations but no velocities"),
        (state([0.0, 50.0, 0.2]), "position of grip is 0.2 at 0 s, outside its limits 0 to 0.1"),
        (state(Q, [0.0, 0.0, 1.1]), "velocity of grip is 1.1 at 0 s, outside its limits -1 to 1"),
        (state(Q, [], [100.0, 0.0, 0.0]), "effort of shoulder is"),
        (state(Q, [0.0, 1e200, 0.0]), "velocity of elbow is 1e+200: every number must be at most"),
        (JointTrajectory(points=state([0.0] * 3).points + state([1.0, 0.0, 0.0], at=0.1).points),
         "velocity of shoulder is 9."),
    ],
)  # fmt: skip
def test_bad_reference(rig: Rig, arm: mbdyn_ros.Robot, message: Any, reason: str) -> None:
    node, sent, reference = start(rig, reference_timeout=0.0)
    reference.publish(state(Q))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))
    reference.publish(message)
    rig.wait(lambda: reason in node.refusals.last)
    assert last_is(sent, arm.gravity_vector(Q))  # the good one goes on


def test_a_fault_sends_zeros_until_reset(
    rig: Rig, arm: mbdyn_ros.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, sent, reference = start(rig, reference_timeout=0.0, check_limits=False)

    def fail(now: float) -> Any:
        raise InputError("the effort of elbow is nan")

    with monkeypatch.context() as patch:
        patch.setattr(node.follower, "efforts", fail)
        reference.publish(state(Q))
        rig.wait(lambda: node.fault)
    assert "the effort of" in node.fault and node.health().errors == [node.fault]
    reference.publish(state(Q))
    count = len(sent)
    rig.wait(lambda: len(sent) > count + 20)
    assert last_is(sent, [0, 0, 0])
    assert "cleared: the effort of" in rig.call(Trigger, f"{NAME}/reset").message
    reference.publish(state(Q))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))


def test_zeros_follow_where_nothing_could_be_sent(
    rig: Rig, arm: mbdyn_ros.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A middleware that took no message ended the loop, for the zeros failed as the efforts had."""
    node, sent, reference = start(rig, reference_timeout=0.0)
    reference.publish(state(Q))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))
    failed: list[Any] = []

    def fail(message: Any) -> None:
        failed.append(message)
        raise RuntimeError("cannot publish data")

    with monkeypatch.context() as patch:
        patch.setattr(node._commands, "publish", fail)
        rig.wait(lambda: len(failed) > 4)
    assert "cannot publish data" in node.fault
    sent.clear()
    rig.wait(lambda: len(sent) > 20)
    assert last_is(sent, [0, 0, 0])
    assert rig.call(Trigger, f"{NAME}/reset").success
    reference.publish(state(Q))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))


def measure(rig: Rig, node: Any, q: list[float]) -> None:
    """Let the node know where the arm is; the message does not grow old."""
    states = rig.publisher(JointState, "joint_states")

    def known() -> bool:
        states.publish(JointState(name=JOINTS, position=q, velocity=[0.0] * 3))
        return bool(node.follower.measured.position.tolist() == q)

    rig.wait(known)
    rig.client.destroy_publisher(states)


def test_a_reference_begins_near_the_robot(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    """Otherwise, or where that is unknown, it is refused, unless there is time."""
    node, sent, reference = start(
        rig, start_tolerance=0.1, reference_timeout=0.0, state_timeout=600.0
    )
    reference.publish(state(Q))
    rig.wait(lambda: "no joint_states of all joints for 600 s: the distance" in node.refusals.last)
    measure(rig, node, [0.3, -0.4, 0.02])
    reference.publish(state(Q))
    words = "it begins 0.3 from the measured position of elbow, -0.4"
    rig.wait(lambda: words in node.refusals.last)
    assert node.idle_reason == "no reference yet"
    reference.publish(state(Q, at=0.01))
    rig.wait(lambda: "on the way to the first point, effort of" in node.refusals.last)
    reference.publish(state(Q, at=30.0))
    rig.wait(lambda: not node.idle_reason)
    assert node.follower.playback.at(node.follower.playback.start)[0] == pytest.approx(
        [0.3, -0.4, 0.02], abs=0.05
    )
    measure(rig, node, [0.3, -0.4, -0.02])  # beyond a limit: it may come back
    reference.publish(state([0.3, -0.4, -0.03]))
    rig.wait(lambda: "grip is -0.03 at 0 s, outside its limits -0.02 to 0.1" in node.refusals.last)
    near = [0.3, -0.45, -0.02]
    reference.publish(state(near))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(near)))


def test_a_robot_that_does_not_follow_is_a_fault(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(
        rig, following_tolerance=0.2, reference_timeout=0.0, state_timeout=600.0
    )
    reference.publish(state(Q))
    rig.wait(lambda: "which following_tolerance needs" in node.idle_reason)
    measure(rig, node, [0.3, -0.55, 0.02])
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))
    measure(rig, node, [0.3, -0.45, 0.02])
    rig.wait(lambda: "elbow is at -0.45, 0.25 from where the reference wants it" in node.fault)
    rig.wait(lambda: last_is(sent, [0, 0, 0]))


def test_zeros_are_sent_at_the_end(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(rig, reference_timeout=0.0)
    reference.publish(state(Q))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))
    node.stop()
    rig.wait(lambda: last_is(sent, [0, 0, 0]))


def test_gravity_and_rate_can_change(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node, sent, reference = start(rig, reference_timeout=0.0)
    reference.publish(state(Q))
    rig.wait(lambda: last_is(sent, arm.gravity_vector(Q)))
    assert rig.set(node, gravity=[0.0, 0.0, 0.0], rate=100.0) == ""
    rig.wait(lambda: last_is(sent, [0, 0, 0]))
    assert node.loop.rate == 100


def test_planar_joint(rig: Rig) -> None:
    _, sent, reference = start(rig, robot_description=CART)
    reference.publish(state([0.0] * 3, [], [1.0, 0.0, 0.0], ["glide"]))
    rig.wait(lambda: last_is(sent, [2, 0, 0]))


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kp": [1.0, 2.0]}, "kp has 2 numbers"),
        ({"joints": ["knee"]}, "no actuated joint 'knee'"),
        ({"rate": 0.0}, "rate"),
        ({"robot_description": STONE.replace("stone", "rock") + "x"}, "XML"),
    ],
)
def test_refused_at_start(rig: Rig, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(mbdyn_ros.MbdynError) as caught:
        start(rig, **parameters)
    assert message in str(caught.value)


def test_a_dead_point_of_an_actuator_is_refused_in_words(rig: Rig, interpreted: None) -> None:
    """A piston cannot push a crank in line with its rod: zero effort, not 1e17 N."""
    mechanism = "{independent: [turn], actuated: [stroke], home: {turn: 1.0}}"
    node, sent, reference = start(rig, robot_description=SLIDER, mechanism=mechanism)
    reference.publish(state([0.0], [0.0], [1.0]))
    said = rig.wait(lambda: [text for text in node.health().warnings if "refused" in text])
    assert "the actuator of stroke is at a dead point" in said[0]
    rig.wait(lambda: last_is(sent, [0]))
