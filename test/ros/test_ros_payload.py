"""The service ~/set_payload: the next cycle has it, and so has every robot that is built anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import Inertia, Vector3
from ros_rig import ARM, Rig, rig, srv
from std_srvs.srv import Trigger

import mbdyn_ros
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer
from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]

Q = [0.3, -0.7, 0.02]
BALL = Inertia(m=1.5, com=Vector3(x=0.2), ixx=0.01, iyy=0.01, izz=0.01)


@pytest.fixture
def loaded(interpreted: None) -> mbdyn_ros.Robot:
    """The arm with the ball in its hand."""
    robot = mbdyn_ros.load(ARM, variable=["lower"])
    robot.set_payload("lower", 1.5, (0.2, 0.0, 0.0), 0.01 * np.eye(3))
    return robot


def put(rig: Rig, node: str, link: str, payload: Inertia) -> Any:
    return rig.call(srv.SetPayload, f"{node}/set_payload", link=link, payload=payload)


def test_the_server_answers_with_it_from_the_next_call_on(
    rig: Rig, loaded: mbdyn_ros.Robot
) -> None:
    node = rig.add(InverseDynamicsServer, robot_description=ARM, variable=["lower"])

    def efforts() -> list[float]:
        service = "inverse_dynamics_server/inverse_dynamics"
        return list(rig.call(srv.InverseDynamics, service, position=Q).effort)

    empty = efforts()
    answer = put(rig, node.NAME, "lower", BALL)
    assert answer.success and answer.message == "lower carries 1.5 kg"
    assert efforts() == pytest.approx(loaded.gravity_vector(Q))
    assert rig.set(node, gravity=[0.0, 0.0, -1.62]) == ""  # it is built anew
    moon = loaded.gravity_vector(Q) * (1.62 / 9.81)
    assert efforts() == pytest.approx(moon)
    assert rig.set(node, gravity=[0.0, 0.0, -9.81]) == ""
    assert put(rig, node.NAME, "lower", Inertia()).success
    assert efforts() == pytest.approx(empty)


def test_what_cannot_be_carried_is_said_and_nothing_changes(rig: Rig) -> None:
    node = rig.add(InverseDynamicsServer, robot_description=ARM, variable=["lower"])
    before = node.robot.total_mass
    for link, payload, words in (
        ("upper", BALL, "not one of the links whose payload may change (lower)"),
        ("lower", Inertia(m=-1.0), "less than 0"),
        ("lower", Inertia(m=float("nan")), "must be finite"),
        ("lower", Inertia(m=1e300), "too large"),
        ("lower", Inertia(m=1.0, ixx=1.0, iyy=1.0, izz=3.0), "larger than the other two"),
    ):
        answer = put(rig, node.NAME, link, payload)
        assert not answer.success and words in answer.message, answer.message
    assert node.robot.total_mass == before


@pytest.mark.long
@pytest.mark.usefixtures("compiled")
def test_the_simulated_robot_falls_with_it(rig: Rig, loaded: mbdyn_ros.Robot) -> None:
    """Its first step has the acceleration of the library."""
    node = rig.add(
        Simulator, robot_description=ARM, variable=["lower"], start_paused=True,
        joint_limits=False, publish_rate=10.0,
    )  # fmt: skip
    assert put(rig, node.NAME, "lower", BALL).success
    start = node.session.motion.q.copy()
    assert rig.call(Trigger, "simulator/step").success
    expected = loaded.forward_dynamics(start, np.zeros(3), np.zeros(3))
    assert node.session.motion.v / 1e-3 == pytest.approx(expected, rel=1e-2, abs=1e-3)
    unloaded = mbdyn_ros.load(ARM).forward_dynamics(start, np.zeros(3), np.zeros(3))
    assert np.abs(unloaded - expected).max() > 0.1



def test_gravity_and_what_acts_on_joints_change_while_it_runs(rig: Rig) -> None:
    """The robot stays; the description's numbers come back when nothing is given any more."""
    node = rig.add(
        InverseDynamicsServer, robot_description=ARM, variable=["gravity", "friction", "armature"],
        joint_dynamics="{elbow: {armature: 2.0}}",
    )  # fmt: skip
    robot, joint = node.robot, "elbow"
    k = robot.velocity_labels.index(joint)
    inertia = mbdyn_ros.load(ARM).mass_matrix(Q)[k, k]
    assert robot.mass_matrix(Q)[k, k] == pytest.approx(inertia + 2.0)
    moon = robot.gravity_vector(Q) * (1.62 / 9.81)
    assert rig.set(node, gravity=[0.0, 0.0, -1.62]) == ""
    assert node.robot is robot and robot.gravity_vector(Q) == pytest.approx(moon)
    assert rig.set(node, joint_dynamics="{elbow: {damping: 3.0, friction: 0.5}}") == ""
    assert robot.mass_matrix(Q)[k, k] == pytest.approx(inertia)
    still = mbdyn_ros.load(ARM).friction_vector(Q, np.ones(3))
    assert robot.friction_vector(Q, np.ones(3))[k] == pytest.approx(3.5)
    assert rig.set(node, joint_dynamics="") == ""
    assert robot.friction_vector(Q, np.ones(3)) == pytest.approx(still)
    for text, words in (
        ("{shoulder: {damping: 9.0}, elbow: {friction: -1.0}}", "friction of elbow is -1"),
        ("{elbow: {spring_stiffness: 5.0}}", "the parameter variable naming springs"),
        ("{elbow: {dampign: 5.0}}", 'has no "dampign"'),
        ("{ellbow: {damping: 5.0}}", "no movable joint 'ellbow'"),
        ("[1, 2]", "must be a mapping"),
    ):
        assert words in rig.set(node, joint_dynamics=text)
    assert robot.friction_vector(Q, np.ones(3)) == pytest.approx(still)
