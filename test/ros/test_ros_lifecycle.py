"""Managed nodes: their transitions, zeros on each way out, refusals while they are not active."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

pytest.importorskip("rclpy")

import rclpy
from lifecycle_msgs.srv import ChangeState, GetState
from ros_rig import ARM, JOINTS, Forks, Rig, rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mbdyn_ros.ros.nodes.torque_feedforward import TorqueFeedforward

__all__ = ["rig"]

NAME = "torque_feedforward"
ANYWHERE = {
    "robot_description": ARM, "rate": 200.0, "start_tolerance": 0.0, "following_tolerance": 0.0,
    "reference_timeout": 0.0, "longest_gap": 60.0,
}  # fmt: skip
POINT = JointTrajectory(points=[JointTrajectoryPoint(positions=[0.0, 0.0, 0.0])])


class Managed:
    """A node, what it sends, and its transitions by name."""

    def __init__(self, rig: Rig, **parameters: Any) -> None:
        self.rig, self.node = rig, rig.add(TorqueFeedforward, **ANYWHERE, **parameters)
        self.sent = rig.listen(Float64MultiArray, f"{NAME}/commands")

    def change(self, label: str) -> bool:
        """Ask for a transition; whether it was done."""
        request = ChangeState.Request()
        request.transition.label = label
        name = f"{NAME}/change_state"
        return bool(self.rig.call(ChangeState, name, transition=request.transition).success)

    @property
    def state(self) -> str:
        return str(self.rig.call(GetState, f"{NAME}/get_state").current_state.label)

    def drive(self) -> None:
        """Send a reference, and wait for efforts."""
        reference = self.rig.publisher(JointTrajectory, f"{NAME}/reference")
        reference.publish(POINT)
        self.rig.wait(lambda: self.sent and any(self.sent[-1].data))


def test_all_transitions(rig: Rig) -> None:
    managed = Managed(rig)
    node, sent = managed.node, managed.sent
    assert managed.state == "active"
    managed.drive()
    # inactive: zeros at once and on, references refused by name
    sent.clear()
    assert managed.change("deactivate") and managed.state == "inactive"
    rig.wait(lambda: len(sent) > 20)
    first = next(k for k, one in enumerate(sent) if not any(one.data))
    assert first < 40 and not any(any(one.data) for one in sent[first:])
    assert not managed.change("configure")
    rig.publisher(JointTrajectory, f"{NAME}/reference").publish(POINT)
    rig.wait(lambda: f"the node is inactive: it takes nothing until it is active (ros2 lifecycle "
             f"set /{NAME} activate)" in node.refusals.last)
    assert "zero effort: the node is inactive" in node.health().warnings
    # active again: what it followed is forgotten
    assert managed.change("activate")
    sent.clear()
    rig.wait(lambda: len(sent) > 20)
    assert not any(any(one.data) for one in sent)
    managed.drive()
    # unconfigured: a last zero, then silence
    assert managed.change("deactivate") and managed.change("cleanup")
    assert managed.state == "unconfigured" and not any(sent[-1].data)
    count = len(sent)
    assert node.follower is None and node.loop is None
    assert not [one for one in node.subscriptions if one.topic_name == f"/{NAME}/reference"]
    assert rig.set(node, rate=100.0) == ""
    assert managed.change("configure") and node.loop.rate == 100.0
    assert managed.change("activate")
    rig.wait(lambda: len(sent) > count)
    managed.drive()
    # finalized, from where it drives
    assert managed.change("shutdown") and managed.state == "finalized"
    rig.wait(lambda: not any(sent[-1].data))


def test_no_autostart_and_a_robot_that_cannot_be_loaded(rig: Rig) -> None:
    managed = Managed(rig, autostart=False, joints=["knee"])
    before = (len(list(managed.node.subscriptions)), len(list(managed.node.services)))
    assert managed.state == "unconfigured"
    for _ in range(2):
        assert not managed.change("configure") and managed.state == "unconfigured"
    assert before == (len(list(managed.node.subscriptions)), len(list(managed.node.services)))
    assert not managed.sent


@pytest.mark.parametrize("cycles", [10, pytest.param(200, marks=pytest.mark.long)])
def test_cycles_under_messages(rig: Rig, cycles: int) -> None:
    """A callback of a message that was taken before a cleanup finds nothing that is gone."""
    managed = Managed(rig)
    reference = rig.publisher(JointTrajectory, f"{NAME}/reference")
    states = rig.publisher(JointState, "joint_states")
    over, failed = threading.Event(), []
    managed.node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
    state = JointState(name=list(JOINTS), position=[0.0] * 3, velocity=[0.0] * 3)

    def flood() -> None:
        while not over.wait(0.002):
            reference.publish(POINT)
            states.publish(state)

    threads = [threading.Thread(target=flood) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(cycles):
            for label in ("deactivate", "cleanup", "configure", "activate"):
                if not managed.change(label):
                    failed.append(label)
        assert not failed and managed.state == "active" and not managed.node.fault
    finally:
        over.set()
        for thread in threads:
            thread.join()
    managed.drive()


def test_zeros_when_a_transition_fails(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = Managed(rig)
    managed.drive()

    def fail(state: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setitem(managed.node._callbacks, 14, fail)  # deactivating
    assert not managed.change("deactivate")
    assert managed.state == "unconfigured" and not managed.node.active
    rig.wait(lambda: not any(managed.sent[-1].data))


def test_a_process_waits_unconfigured(rig: Rig, forks: Forks) -> None:
    process = forks.start(NAME, "-p", "autostart:=false")
    rig.wait(lambda: "waits for ~/change_state" in forks.printed())  # it is made by then
    rig.wait(lambda: NAME in rig.client.get_node_names())
    os.kill(process, signal.SIGTERM)
    code, output = forks.ended()
    assert code == 0, output
