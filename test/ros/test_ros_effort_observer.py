"""External efforts, wrench, contact and payload over a real node."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros_rig import ARM, JOINTS, STONE, Rig, rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.control import Payload
from mbdyn_ros.errors import InputError
from mbdyn_ros.ros.nodes.effort_observer import EffortObserver
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer

__all__ = ["rig"]

Q = np.array([0.3, -0.5, 0.02])
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="module")
def arm() -> mbdyn_ros.Robot:
    from interpreting import interpreting

    with interpreting():
        return mbdyn_ros.load(ARM)


class Sensors:
    """Sends joint states of an arm at rest, with noise, that holds its weight and more."""

    def __init__(self, rig: Rig, robot: mbdyn_ros.Robot) -> None:
        self.publisher = rig.publisher(JointState, "joint_states")
        self._rig, self._hold = rig, robot.gravity_vector(Q)
        self._random = np.random.default_rng(0)

    def send(self, count: int, external: Array | list[float] = (0, 0, 0), **fields: Any) -> None:
        """Some messages, 4 ms apart, while the arm is pushed."""
        for _ in range(count):
            noise = 0.01 * self._random.normal(size=3)
            effort = self._hold - np.array(external, dtype=float) + noise
            state = dict(name=JOINTS, position=Q.tolist(), velocity=[0.0] * 3,
                         effort=effort.tolist())  # fmt: skip
            message = JointState(**{**state, **fields})
            message.header.stamp = self._rig.client.get_clock().now().to_msg()
            self.publisher.publish(message)
            time.sleep(0.004)


def test_it_feels_a_push(rig: Rig, interpreted: None, arm: mbdyn_ros.Robot) -> None:
    node = rig.add(EffortObserver, robot_description=ARM, link="finger", moment=False)
    efforts = rig.listen(JointState, "effort_observer/external_effort")
    wrenches = rig.listen(WrenchStamped, "effort_observer/external_wrench")
    contacts = rig.listen(Bool, "effort_observer/contact", LATCHED)
    sensors = Sensors(rig, arm)
    rig.wait(lambda: node._effort.get_subscription_count() > 0)
    learn = rig.call(SetBool, "effort_observer/learn", data=True)
    assert learn.success
    sensors.send(150)
    rig.wait(lambda: len(node.feeling.watch.free or ()) > 120)
    learned = rig.call(SetBool, "effort_observer/learn", data=False)
    assert learned.success and learned.message.startswith("thresholds: [")
    push = arm.jacobian(Q, "finger")[:3].T @ [0.0, 0.0, -20.0]
    sensors.send(60, push)
    rig.wait(lambda: efforts and np.abs(np.array(efforts[-1].effort) - push).max() < 0.1)
    assert efforts[-1].name == list(arm.velocity_labels)
    rig.wait(lambda: wrenches and contacts)
    force, turn = wrenches[-1].wrench.force, arm.frame_pose(Q, "finger")[:3, :3]
    assert wrenches[-1].header.frame_id == "finger"
    np.testing.assert_allclose(turn @ [force.x, force.y, force.z], [0, 0, -20], atol=0.3)
    assert contacts[-1].data
    assert "hit at" in str(node.health().values["contact"])
    sensors.send(60)
    rig.wait(lambda: not contacts[-1].data)
    assert node.health().values["contacts"] == 1


def test_nothing_is_felt_out_of_nothing(
    rig: Rig, interpreted: None, arm: mbdyn_ros.Robot
) -> None:
    """Without efforts, with stale states, and with efforts that never change while it moves."""
    node = rig.add(EffortObserver, robot_description=ARM)
    efforts = rig.listen(JointState, "effort_observer/external_effort")
    sensors = Sensors(rig, arm)

    def reported(words: str) -> None:
        rig.wait(lambda: any(words in one for one in node.health().warnings))

    reported("no joint_states of all joints for 0.1 s")
    sensors.send(3, effort=[])
    reported("they have no efforts of all of shoulder, elbow, grip")
    sensors.send(3, effort=[1.0, math.nan, 0.0])
    reported("they have no efforts of all of shoulder, elbow, grip")
    sensors.send(3, name=JOINTS[:2], position=[0.0] * 2, velocity=[0.0] * 2, effort=[0.0] * 2)
    reported("they lack grip")
    assert not efforts
    sensors.send(300, effort=[5.0, 1.0, 0.0], velocity=[0.5, 0.0, 0.0])
    reported("no effort has changed for 1 s while the robot moves")
    count = len(efforts)
    sensors.send(20, effort=[5.0, 1.0, 0.0], velocity=[0.5, 0.0, 0.0])
    assert len(efforts) <= count + 1
    assert rig.call(Trigger, "effort_observer/reset").success
    refused = rig.call(SetBool, "effort_observer/learn", data=False)
    assert not refused.success and "nothing is being learned" in refused.message
    assert "thresholds has 2 numbers" in rig.set(node, thresholds=[1.0, 2.0])


def test_a_payload_is_reported_and_handed_on(
    rig: Rig, interpreted: None, arm: mbdyn_ros.Robot
) -> None:
    """2 kg at the origin of the lower link, by gravity alone."""
    node = rig.add(EffortObserver, robot_description=ARM, payload_link="lower",
                   variable=["lower"])  # fmt: skip
    payloads = rig.listen(InertiaStamped, "effort_observer/payload")
    nothing = rig.call(Trigger, "effort_observer/apply_payload")
    assert not nothing.success and "nothing is known" in nothing.message
    sensors = Sensors(rig, arm)
    carried = arm.jacobian(Q, "lower")[:3].T @ [0.0, 0.0, -2.0 * 9.81]
    sensors.send(150, carried)
    rig.wait(lambda: "kg" in str(node.health().values.get("payload")))
    sensors.send(150, carried)
    found = node.feeling.estimator.payload()
    # Two moments of gravity determine the mass at known places alone: its deviation says so.
    assert found.remark and found.deviations[0] > 0
    answer = rig.call(Trigger, "effort_observer/apply_payload")
    assert answer.success == bool(found.determined[0] and found.mass >= 0)
    del payloads


def test_a_payload_goes_to_those_that_are_named(
    rig: Rig, interpreted: None, arm: mbdyn_ros.Robot
) -> None:
    """To a node by its service, to a controller by its topic; who is not there is said."""
    pytest.importorskip("mbdyn_ros_interfaces.srv")
    names = ["inverse_dynamics_server", "controller", "nobody"]
    node = rig.add(EffortObserver, robot_description=ARM, payload_link="lower",
                   payload_receivers=names)  # fmt: skip
    server = rig.add(InverseDynamicsServer, robot_description=ARM, variable=["lower"])
    taken = rig.listen(InertiaStamped, "controller/payload", LATCHED)
    before = server.robot.mass_matrix(Q)
    body = 2.0, np.array([0.1, 0.0, 0.05]), np.diag([0.02, 0.03, 0.04])
    payload = Payload("lower", *body, np.ones(10), np.full(10, 1e-3), (True,) * 10)
    sensors = Sensors(rig, arm)
    sensors.send(3)
    rig.wait(lambda: node._sent)
    node.feeling.estimator.payload = lambda: payload
    rig.wait(lambda: all(one.hand(node._stamped("lower", *body)) for one in node._receivers[:2]))
    answer = rig.call(Trigger, "effort_observer/apply_payload")
    assert answer.success and answer.message == (
        "lower carries 2 kg; handed to inverse_dynamics_server, controller; no node takes it at "
        "nobody"
    )
    expected = mbdyn_ros.load(ARM, variable=["lower"])
    expected.set_payload("lower", *body)
    rig.wait(lambda: not np.allclose(server.robot.mass_matrix(Q), before))
    np.testing.assert_allclose(server.robot.mass_matrix(Q), expected.mass_matrix(Q))
    rig.wait(lambda: taken)
    assert taken[-1].header.frame_id == "lower" and taken[-1].inertia.m == 2.0
    assert taken[-1].inertia.com.x == 0.1 and taken[-1].inertia.iyy == 0.03


def test_robots_that_do_not_do(rig: Rig, interpreted: None) -> None:
    loose = ARM.replace('name="shoulder" type="revolute"', 'name="shoulder" type="floating"')
    for text, words in ((STONE, "no joint moves"), (loose, "for a fixed base")):
        with pytest.raises(InputError, match=words):
            rig.add(EffortObserver, robot_description=text)
    with pytest.raises(InputError, match="there is no link 'hand'"):
        rig.add(EffortObserver, robot_description=ARM, link="hand")
