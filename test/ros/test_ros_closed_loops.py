"""The nodes with closed loops: passive joints, consistent requests, loop markers, dead centres."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from robot_text import joint, link, robot_text
from ros_rig import MOMENTS, Rig, rig, shared_rig, srv
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

import mbdyn_ros
from mbdyn_ros.ros.node.description import LATCHED
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.ros.nodes.torque_feedforward import TorqueFeedforward

__all__ = ["rig", "shared_rig"]

URDF = Path(__file__).resolve().parents[2] / "urdf"
MANIPULATOR = str(URDF / "manipulator.urdf")
FOUR_BAR = str(URDF / "four_bar.urdf")
DRIVES = ["slew_joint", "lift_rod_joint", "tilt_rod_joint", "telescope_joint"]
Q, V, A = [0.4, 0.1, -0.1, 0.2], [0.2, 0.1, -0.1, 0.1], [0.5, 0.2, 0.3, -0.4]


OPEN = robot_text(
    *(link(name, 1, MOMENTS, "0.2 0 0") for name in ("a", "b", "c")),
    joint("a_joint", "ground", "a", "0 -1 0"),
    joint("b_joint", "a", "b", "0 -1 0", "0.2 0 0"),
    joint("c_joint", "ground", "c", "0 -1 0", "0.5 0 0"),
    name="bars", base="ground",
)  # fmt: skip
MECHANISM = """
loops:
  - {name: pin, type: revolute, axis: [0, -1, 0],
     predecessor: {link: b, xyz: [0.5, 0, 0]}, successor: {link: c, xyz: [0.4, 0, 0]}}
independent: [a_joint]
actuated: [a_joint]
home: {a_joint: 0.9, b_joint: -0.4, c_joint: 1.6}
"""


@pytest.fixture(scope="module")
def crane(interpreted_module: None) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(MANIPULATOR)


@pytest.fixture(scope="module")
def server(shared_rig: Rig) -> Rig:
    shared_rig.add(InverseDynamicsServer, urdf=MANIPULATOR)
    return shared_rig


def ask(rig: Rig, **fields: Any) -> Any:
    return rig.call(srv.InverseDynamics, "inverse_dynamics_server/inverse_dynamics", **fields)


def test_inverse_dynamics(server: Rig, crane: mbdyn_ros.Robot) -> None:
    answer = ask(server, name=DRIVES[::-1], position=Q[::-1], velocity=V[::-1],
                 acceleration=A[::-1])  # fmt: skip
    assert answer.success and answer.name == DRIVES
    assert answer.effort.tolist() == pytest.approx(crane.inverse_dynamics(Q, V, A), rel=1e-12)
    state = answer.joint_state
    position, velocity, _ = crane.joint_state(Q, V)
    assert state.name == list(crane.joint_names)
    assert state.position.tolist() == pytest.approx(position.tolist())
    assert state.velocity.tolist() == pytest.approx(velocity.tolist())
    efforts = dict(zip(state.name, state.effort, strict=True))
    assert efforts["boom_joint"] == 0 and efforts["slew_joint"] == answer.effort[0]


def test_a_whole_joint_state_may_be_sent(server: Rig, crane: mbdyn_ros.Robot) -> None:
    names = list(crane.joint_names)
    position, velocity = (one.tolist() for one in crane.joint_state(Q, V)[:2])
    answer = ask(server, name=names, position=position, velocity=velocity)
    assert answer.success, answer.message
    k = names.index("boom_joint")
    position[k] += 2 * np.pi
    assert ask(server, name=names, position=position, velocity=velocity).success
    position[k] += 0.01
    answer = ask(server, name=names, position=position, velocity=velocity)
    assert not answer.success
    assert "position of boom_joint" in answer.message and "a gap of 0.0" in answer.message
    position[k] -= 0.01
    velocity[k] += 0.1
    answer = ask(server, name=names, position=position, velocity=velocity)
    assert not answer.success and "velocity of boom_joint" in answer.message


def test_unreachable(server: Rig) -> None:
    answer = ask(server, position=[0.0, 2.0, 0.0, 0.0])
    assert not answer.success
    for words in ("'lift_pin' cannot be closed", "a gap of", "the nearest that can be reached"):
        assert words in answer.message
    assert "joint 'slew_joint' is missing" in ask(server, name=["boom_joint"], position=[0.0]
                                                  ).message  # fmt: skip


def trajectory(names: list[str], *positions: list[float]) -> Any:
    message = JointTrajectory(joint_names=names)
    for k, position in enumerate(positions):
        message.points.append(JointTrajectoryPoint(positions=position))
        message.points[-1].time_from_start.sec = k
    return message


def test_trajectory(server: Rig, crane: mbdyn_ros.Robot) -> None:
    def fill(message: Any) -> Any:
        name = "inverse_dynamics_server/inverse_dynamics_trajectory"
        return server.call(srv.InverseDynamicsTrajectory, name, trajectory=message)

    answer = fill(trajectory(DRIVES[::-1], Q[::-1], [0.0] * 4))
    assert answer.success, answer.message
    assert answer.trajectory.points[0].effort.tolist() == pytest.approx(
        crane.gravity_vector(Q)[::-1].tolist()
    )
    answer = fill(trajectory(DRIVES, [0.0] * 4, [0.0, 0.0, -3.0, 0.0]))
    assert "point 1: " in answer.message and "'tilt_pin' cannot be closed" in answer.message


def test_actuated_joints_that_are_not_planned(rig: Rig) -> None:
    mechanism = MECHANISM.replace("independent: [a_joint]", "independent: [c_joint]")
    rig.add(InverseDynamicsServer, robot_description=OPEN, mechanism=mechanism)
    robot = mbdyn_ros.load(OPEN, mechanism)
    answer = ask(rig, name=["c_joint"], position=[1.7], velocity=[0.1])
    assert answer.success and answer.name == ["a_joint"]
    zero = np.zeros(1)
    assert answer.effort.tolist() == pytest.approx(robot.inverse_dynamics([1.7], [0.1], zero))
    service = "inverse_dynamics_server/inverse_dynamics_trajectory"
    refused = rig.call(
        srv.InverseDynamicsTrajectory, service, trajectory=trajectory(["c_joint"], [1.7])
    )
    assert not refused.success and "'a_joint' is not among the joints given" in refused.message
    a = float(robot.joint_state([1.7])[0][0])
    filled = rig.call(
        srv.InverseDynamicsTrajectory, service,
        trajectory=trajectory(["c_joint", "a_joint"], [1.7, a]),
    )  # fmt: skip
    effort = robot.inverse_dynamics([1.7], zero, zero)[0]
    assert filled.trajectory.points[0].effort.tolist() == pytest.approx([0, effort])
    forward = rig.call(
        srv.ForwardDynamics, "inverse_dynamics_server/forward_dynamics",
        name=["c_joint"], position=[1.7], effort_name=["a_joint"], effort=[effort],
    )  # fmt: skip
    assert forward.name == ["c_joint"] and abs(forward.acceleration[0]) < 1e-9


def test_home_parameters(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "bars.yaml"
    file.write_text(MECHANISM)
    other = {"home_joints": ["a_joint", "b_joint", "c_joint"], "home_positions": [0.9, -2.3, -1.0]}
    rig.add(InverseDynamicsServer, robot_description=OPEN, mechanism=str(file), **other)
    state = ask(rig, position=[0.9]).joint_state
    assert state.position[2] < 0  # the other branch
    for wrong, words in (
        ({"home_joints": ["a_joint"]}, "home_positions has 0 numbers for the 1 joints"),
        ({"home_joints": ["a_joint"] * 2, "home_positions": [0.0, 0.0]}, "'a_joint' twice"),
        ({"home_joints": ["knee"], "home_positions": [0.0]}, "knee"),
        ({"mechanism": "/no/such.yaml"}, "/no/such.yaml"),
    ):
        with pytest.raises(mbdyn_ros.MbdynError) as caught:
            rig.add(
                InverseDynamicsServer,
                **{"robot_description": OPEN, "mechanism": MECHANISM, **wrong},
            )
        assert words in str(caught.value)


@pytest.mark.usefixtures("compiled")
def test_simulator(rig: Rig, crane: mbdyn_ros.Robot) -> None:
    node = rig.add(Simulator, urdf=MANIPULATOR, rate=200.0, start_paused=True, marker_rate=50.0)
    states = rig.listen(JointState, "joint_states")
    markers = rig.listen(MarkerArray, "simulator/markers", LATCHED)
    assert rig.call(srv.SetState, "simulator/set_state", position=Q, velocity=V).success
    commands = rig.publisher(Float64MultiArray, "simulator/commands")
    commands.publish(Float64MultiArray(data=crane.inverse_dynamics(Q, V, A).tolist()))
    rig.wait(lambda: any(node.session.commands.effort.value))
    assert rig.call(Trigger, "simulator/step").success
    assert node.session.motion.v == pytest.approx(np.array(V) + 0.005 * np.array(A), rel=1e-3)
    rig.wait(lambda: states and any(states[-1].effort))
    state, motion = states[-1], node.session.motion
    position, velocity, _ = crane.joint_state(motion.q, motion.v)
    assert state.name == list(crane.joint_names)
    assert state.position.tolist() == pytest.approx(position.tolist(), abs=1e-9)
    assert state.velocity.tolist() == pytest.approx(velocity.tolist(), abs=1e-9)
    markers.clear()
    rig.wait(lambda: len(markers) > 2)
    found = {(one.ns, one.text): one for one in markers[-1].markers if one.text}
    assert set(found) == {(ns, pin) for ns in ("loop_force", "loop_gap")
                          for pin in ("lift_pin", "tilt_pin")}  # fmt: skip
    arrow, line = found["loop_force", "lift_pin"], found["loop_gap", "lift_pin"]
    assert arrow.header.frame_id == "lift_rod" and line.type == line.LINE_LIST
    way = [getattr(arrow.points[1], axis) - getattr(arrow.points[0], axis) for axis in "xyz"]
    force = crane.loop_forces(motion.q, motion.v, motion_acceleration(crane, node))["lift_pin"][:3]
    assert way == pytest.approx((0.3 * force / (9.81 * 1063)).tolist(), rel=0.01, abs=1e-6)
    gap = [getattr(line.points[1], axis) - getattr(line.points[0], axis) for axis in "xyz"]
    assert np.linalg.norm(gap) < 1e-12


def motion_acceleration(robot: mbdyn_ros.Robot, node: Any) -> Any:
    motion = node.session.motion
    return robot.forward_dynamics(motion.q, motion.v, motion.effort)


@pytest.mark.usefixtures("compiled")
def test_set_state_must_close(rig: Rig) -> None:
    node = rig.add(Simulator, urdf=MANIPULATOR, rate=100.0, start_paused=True)
    before = node.session.motion.q.tolist()
    answer = rig.call(srv.SetState, "simulator/set_state", position=[0.0, 2.0, 0.0, 0.0])
    assert not answer.success and "cannot be closed" in answer.message
    assert node.session.motion.q.tolist() == before
    with pytest.raises(mbdyn_ros.InputError, match="cannot be closed"):
        rig.add(Simulator, urdf=MANIPULATOR, initial_positions=[0.0, 2.0, 0.0, 0.0])


@pytest.mark.alone
def test_feedforward(rig: Rig) -> None:
    """The PD acts on the actuated joint, which is not the planned one."""
    mechanism = MECHANISM.replace("independent: [a_joint]", "independent: [c_joint]")
    robot = mbdyn_ros.load(OPEN, mechanism)
    rig.add(
        TorqueFeedforward, robot_description=OPEN, mechanism=mechanism, rate=200.0,
        kp=[10.0], kd=[1.0], state_timeout=100.0, reference_timeout=0.0,
        start_tolerance=0.0, following_tolerance=0.0,
    )  # fmt: skip
    sent = rig.listen(Float64MultiArray, "torque_feedforward/commands")
    states = rig.publisher(JointState, "joint_states")
    reference = rig.publisher(JointTrajectory, "torque_feedforward/reference")
    reference.publish(trajectory(["c_joint"], [1.7]))
    states.publish(JointState(name=["a_joint"], position=[0.8], velocity=[0.2]))
    a = float(robot.joint_state([1.7])[0][0])
    wanted = robot.inverse_dynamics([1.7], [0.0], [0.0])[0] + 10 * (a - 0.8) - 0.2
    rig.wait(lambda: sent and sent[-1].data.tolist() == pytest.approx([wanted]))


@pytest.mark.long
@pytest.mark.usefixtures("compiled")
def test_past_a_dead_centre(rig: Rig) -> None:
    """The rocker turns back while the crank goes round: its dead centres are passed."""
    robot = mbdyn_ros.load(FOUR_BAR)
    home = dict(zip(robot.joint_names, robot.joint_state([0.5])[0].tolist(), strict=True))
    text = Path(FOUR_BAR).read_text()
    text = text.replace('"continuous" independent="true"', '"continuous" independent="false"')
    for line in text.splitlines():
        if 'name="rocker_joint"' in line:
            text = text.replace(line, line.replace('"false"', '"true"'))
    node = rig.add(
        Simulator, robot_description=text, rate=500.0,
        home_joints=list(home), home_positions=list(home.values()),
    )  # fmt: skip
    start = robot.joint_state([0.5], [8.0])
    at = robot.joint_names.index("rocker_joint")
    answer = rig.call(
        srv.SetState, "simulator/set_state",
        name=["rocker_joint"], position=[start[0][at]], velocity=[start[1][at]],
    )  # fmt: skip
    assert answer.success, answer.message
    rig.wait(lambda: node.session.motion.coordinates != ("rocker_joint",))
    energy, end = sum(node.session.motion.energy), node.session.motion.time + 0.5
    rig.wait(lambda: node.session.motion.time > end)
    assert not node.fault
    assert sum(node.session.motion.energy) == pytest.approx(energy, abs=1e-3)
    assert rig.set(node, gravity=[0.0, 0.0, -1.62]) == ""
    rig.wait(lambda: node.session.robot.gravity[2] == -1.62)
    time.sleep(0.1)
    assert not node.fault and node.session.motion.coordinates != ("rocker_joint",)
    assert rig.call(Trigger, "simulator/reset").success
