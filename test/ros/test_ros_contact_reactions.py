"""Contacts that `computed_torque` reacts to, and external efforts that it gives way to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from ros_rig import ARM, JOINTS, Rig, rig
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError
from mbdyn_ros.motion.reference import Reference
from mbdyn_ros.ros.nodes.computed_torque import ComputedTorque
from mbdyn_ros.ros.nodes.control_loop import ControlLoop, Doubts
from mbdyn_ros.ros.nodes.follower import Conditions

__all__ = ["rig"]

STEP = 2e-3
START = np.array([0.3, -0.7, 0.02])
PUSH = np.array([15.0, 6.0, 0.0])
GIVEN = {"link": "", "measured_joints": [], "observer_time_constant": 0.01,
         "thresholds": [4.0, 3.0, 2.0], "centers": [], "threshold_in_all": 1.5}  # fmt: skip


class Cell:
    """A control loop on an arm that the test pushes."""

    def __init__(self, robot: mbdyn_ros.Robot, mode: str, reaction: str = "none") -> None:
        conditions = Conditions(60.0, 60.0, 0.5, True, 0.0, 0.3)
        self.loop = ControlLoop(robot, (), conditions, Doubts(0.0, 0.0), GIVEN)
        self.robot, self.time, self.q, self.v = robot, 0.0, START.copy(), np.zeros(3)
        self.loop.control.set_gains(
            kp=[400.0], kd=[40.0], joint_stiffness=[400.0], joint_damping=[60.0],
            guiding_damping=[5.0], admittance_kp=[900.0], admittance_kd=[60.0],
            admittance_inertia=[2.0], admittance_damping=[30.0], admittance_stiffness=[100.0],
        )  # fmt: skip
        self.loop.react_by(reaction)
        self._show()
        self.loop.switch(mode, self.time)

    def _show(self) -> None:
        state = JointState(name=JOINTS, position=self.q.tolist(), velocity=self.v.tolist())
        assert self.loop.take(state, self.time, self.time)

    def run(self, duration: float, push: Array | float = 0.0) -> None:
        """Control it, with joint states of every cycle."""
        for _ in range(round(duration / STEP)):
            self._show()
            assert not self.loop.idle_reason(self.time)
            effort = self.loop.efforts(self.time)
            for _ in range(2):
                a = self.robot.forward_dynamics(self.q, self.v, effort + push)
                self.v += STEP / 2 * a
                self.q += STEP / 2 * self.v
            self.time += STEP


@pytest.fixture
def arm(interpreted: None) -> mbdyn_ros.Robot:
    robot = mbdyn_ros.load(ARM, variable=["armature"])
    for joint in robot.independent_joints:
        robot.set_armature(joint, 0.5)
    return robot


@pytest.mark.sparse
@pytest.mark.parametrize("reaction", ["none", "stop", "float", "retract"])
def test_it_reacts_until_it_is_reset(arm: mbdyn_ros.Robot, reaction: str) -> None:
    cell = Cell(arm, "computed_torque", reaction)
    loop, way = cell.loop, np.array([0.25, 0.2, 0.005])
    loop.follow(Reference(np.array([0.0, 4.0]), np.array([START, START + 4 * way])), 0.0, 0.0)
    cell.run(1.0)
    assert loop.watch.hits == 0 and loop.hit is None
    hit = cell.q.copy()
    cell.run(0.1, PUSH)
    assert loop.watch.hits == 1
    assert loop.watch.last is not None and 1.0 < loop.watch.last.time < 1.03
    cell.run(1.9)
    if reaction == "none":
        assert loop.hit is None
        np.testing.assert_allclose(cell.q, loop.playback.at(cell.time)[0], atol=0.01)
        return
    assert loop.mode == "computed_torque" != loop.control.mode
    with pytest.raises(InputError, match="reacts to a contact .*; call ~/reset"):
        loop.follow(Reference(np.zeros(1), cell.q[None]), cell.time, cell.time)
    if reaction != "float":
        np.testing.assert_allclose(cell.v, 0, atol=0.02)
        back = 0.5 * way if reaction == "retract" else 0.0
        np.testing.assert_allclose(cell.q, hit - back, atol=0.05)
    loop.drop()
    assert loop.hit is None and loop.control.mode == "computed_torque"
    assert loop.idle_reason(cell.time) == "no reference yet"


def test_another_mode_ends_a_reaction(arm: mbdyn_ros.Robot) -> None:
    cell = Cell(arm, "joint_impedance", "float")
    cell.run(0.2)
    cell.run(0.1, PUSH)
    assert cell.loop.hit is not None and cell.loop.control.mode == "gravity_compensation"
    cell.loop.switch("computed_torque", cell.time)
    assert cell.loop.hit is None and cell.loop.control.mode == "computed_torque"
    cell.run(0.2)


@pytest.mark.long
def test_it_gives_way_as_a_mass_with_damper_and_spring(arm: mbdyn_ros.Robot) -> None:
    """I y'' + D y' + K y = push, whatever the arm weighs; and it comes back."""
    cell = Cell(arm, "admittance")
    cell.run(0.3)
    np.testing.assert_allclose(cell.q, START, atol=1e-4)
    cell.run(0.15, PUSH)
    # Twice the pole that D^2 = 4.5 I K has, less the observer's delay of 10 ms.
    slow, fast = np.roots([2.0, 30.0, 100.0])[::-1]
    t = 0.15 - 0.012
    there = PUSH / 100 * (1 - (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow))
    np.testing.assert_allclose(cell.q - START, there, atol=0.006)
    cell.run(2.0, PUSH)
    stiff = np.linalg.solve(arm.mass_matrix(cell.q), PUSH) / 900  # kp leaves that of the push
    np.testing.assert_allclose(cell.q - START, PUSH / 100 + stiff, atol=0.002)
    cell.run(2.5)
    np.testing.assert_allclose(cell.q, START, atol=0.002)


def test_it_stops_at_the_joints_limits(arm: mbdyn_ros.Robot) -> None:
    cell = Cell(arm, "admittance")
    cell.loop.control.set_gains(admittance_stiffness=[0.0])
    cell.run(4.0, np.array([0.0, 0.0, 9.0]))
    high = arm.position_limits[1][2]
    assert cell.loop.control.wanted_q[2] + cell.loop.control.admittance.y[2] == high
    np.testing.assert_allclose(cell.q[2], high + 9.0 / 900, atol=0.003)


def test_the_node(rig: Rig, interpreted: None) -> None:
    """Thresholds are learned and refused, a hit is said, and a reset ends the reaction."""
    given: dict[str, Any] = {"robot_description": ARM, "rate": 200.0, "reaction": "stop"}
    node = rig.add(ComputedTorque, **given, guiding_damping=[2.0])
    states = rig.publisher(JointState, "joint_states")
    name = "computed_torque"

    def show(q: Any = START, v: Any = (0.0, 0.0, 0.0)) -> None:
        message = JointState(name=JOINTS, position=[*map(float, q)], velocity=[*map(float, v)])
        message.header.stamp = rig.client.get_clock().now().to_msg()
        states.publish(message)

    def shown(ready: Any, v: Any = (0.0, 0.0, 0.0)) -> None:
        def again() -> Any:
            show(START, v)
            return ready()

        rig.wait(again)

    shown(lambda: node.idle_reason == "")
    assert rig.set(node, thresholds=[1.0]) == "thresholds has 1 numbers for shoulder, elbow, grip"
    assert rig.set(node, thresholds=[1.0, 0.0, 1.0]).startswith("thresholds of elbow is 0")
    assert rig.set(node, reaction="run").startswith("reaction: 'run' is not one of")
    refused = rig.call(SetBool, f"{name}/learn", data=False)
    assert not refused.success and "nothing is being learned" in refused.message
    assert rig.set(node, thresholds=[50.0, 50.0, 50.0]) == ""
    shown(lambda: node.health().values["contact"] == "none")
    # An arm that stands still although it is commanded to move has hit something.
    shown(lambda: node.follower.hit is not None, (8.0, 8.0, 0.0))
    assert any("reacts (stop) to a hit at" in one for one in node.health().warnings)
    assert node.health().values["mode"] == "joint_impedance"
    assert rig.call(Trigger, f"{name}/reset").success
    rig.wait(lambda: node.health().values["mode"] == "gravity_compensation")
