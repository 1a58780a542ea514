"""The inverse dynamics server: right answers, and every bad request refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped
from ros_rig import ARM, CART, GHOST, JOINTS, STONE, Rig, rig, shared_rig, srv
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.ros.messages.layout import Layout
from mbdyn_ros.ros.messages.trajectory_efforts import with_efforts
from mbdyn_ros.ros.node import interfaces
from mbdyn_ros.ros.node.description import LATCHED
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer

__all__ = ["rig", "shared_rig"]

Q, V, A = [0.3, -0.7, 0.02], [0.5, 1.0, -0.1], [1.0, -2.0, 0.3]
NAME = "inverse_dynamics_server"


@pytest.fixture(scope="module")
def server(shared_rig: Rig) -> Rig:
    shared_rig.add(InverseDynamicsServer, robot_description=ARM)
    return shared_rig


@pytest.fixture(scope="module")
def arm(interpreted_module: None) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ARM)


def ask(rig: Rig, **fields: Any) -> Any:
    return rig.call(srv.InverseDynamics, f"{NAME}/inverse_dynamics", **fields)


def test_inverse_dynamics(server: Rig, arm: mbdyn_ros.Robot) -> None:
    answer = ask(server, position=Q, velocity=V, acceleration=A)
    assert answer.success and answer.message == ""
    assert answer.name == JOINTS
    assert answer.effort.tolist() == pytest.approx(arm.inverse_dynamics(Q, V, A))
    state = answer.joint_state
    assert state.name == [*JOINTS, "mirror"]
    assert state.header.frame_id == "base"
    assert state.position.tolist() == pytest.approx([*Q, 0.04])
    assert state.velocity.tolist() == pytest.approx([*V, -0.2])
    assert state.effort.tolist() == pytest.approx([*answer.effort, 0])


def test_any_order_and_absent_rates(server: Rig, arm: mbdyn_ros.Robot) -> None:
    answer = ask(server, name=["grip", "shoulder", "elbow"], position=[Q[2], Q[0], Q[1]])
    assert answer.effort.tolist() == pytest.approx(arm.gravity_vector(Q))


def test_dependent_joints_may_be_named_if_they_agree(server: Rig, arm: mbdyn_ros.Robot) -> None:
    names = ["mirror", *JOINTS]
    answer = ask(server, name=names, position=[0.04, *Q], velocity=[-0.2, *V])
    assert answer.success
    assert answer.effort.tolist() == pytest.approx(arm.inverse_dynamics(Q, V, np.zeros(3)))
    answer = ask(server, name=names, position=[0.05, *Q])
    assert not answer.success
    assert "position of mirror is 0.05" in answer.message and "0.04" in answer.message


def test_external_wrenches(server: Rig, arm: mbdyn_ros.Robot) -> None:
    push = WrenchStamped()
    push.header.frame_id = "/lower"
    push.wrench.force.x, push.wrench.force.z, push.wrench.torque.y = 1.0, -2.0, 3.0
    answer = ask(server, position=Q, external_wrenches=[push, push])
    wrench = [2.0, 0, -4.0, 0, 6.0, 0]
    expected = arm.inverse_dynamics(Q, np.zeros(3), np.zeros(3), wrenches={"lower": wrench})
    assert answer.effort.tolist() == pytest.approx(expected)


BAD = {
    "nothing at all": ({}, "position has 0 numbers, expected 3: shoulder, elbow, grip"),
    "too short": ({"position": [0.0, 1.0]}, "position has 2 numbers, expected 3"),
    "too many velocities": (
        {"position": Q, "velocity": [0.0] * 4}, "velocity has 4 numbers, expected 3",
    ),
    "NaN": ({"position": [0.0, math.nan, 0.0]}, "position of elbow is nan"),
    "infinite": (
        {"position": Q, "acceleration": [0.0, 0.0, -math.inf]}, "acceleration of grip is -inf",
    ),
    "unknown joint": (
        {"name": ["shoulder", "knee", "grip"], "position": Q}, "there is no joint 'knee'",
    ),
    "repeated joint": (
        {"name": ["shoulder", "elbow", "elbow"], "position": Q}, "joint 'elbow' is named twice",
    ),
    "missing joint": (
        {"name": ["shoulder", "grip"], "position": Q[:2]}, "joint 'elbow' is missing",
    ),
    "absurd number": (
        {"position": Q, "velocity": [0.0, 1e308, 0.0]},
        "velocity of elbow is 1e+308: every number must be at most 1e+12 in size",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_request(server: Rig, case: str) -> None:
    fields, message = BAD[case]
    answer = ask(server, **fields)
    assert not answer.success and not len(answer.effort)
    assert message in answer.message
    assert ask(server, position=Q).success


@pytest.mark.parametrize(
    ("link", "force", "message"),
    [
        ("wing", 1.0, "no link 'wing'"),
        ("", 1.0, "names no link"),
        ("lower", math.nan, "fx of"),
        ("lower", 1e308, "fx of the wrench on lower is 1e+308: every number must be at most 1e+12"),
    ],
)
def test_bad_wrench(server: Rig, link: str, force: float, message: str) -> None:
    push = WrenchStamped()
    push.header.frame_id, push.wrench.force.x = link, force
    answer = ask(server, position=Q, external_wrenches=[push])
    assert not answer.success and message in answer.message


def test_forward_dynamics(server: Rig, arm: mbdyn_ros.Robot) -> None:
    def ask_forward(**fields: Any) -> Any:
        return server.call(srv.ForwardDynamics, f"{NAME}/forward_dynamics", **fields)

    effort = [3.0, -1.0, 0.5]
    answer = ask_forward(
        name=JOINTS[::-1], position=Q[::-1], velocity=V[::-1],
        effort_name=["elbow", "grip", "shoulder"], effort=[-1.0, 0.5, 3.0],
    )  # fmt: skip
    assert answer.success and answer.name == JOINTS
    assert answer.acceleration.tolist() == pytest.approx(arm.forward_dynamics(Q, V, effort))
    assert answer.joint_state.effort.tolist() == pytest.approx([*effort, 0])
    free = ask_forward(position=Q)
    assert free.acceleration.tolist() == pytest.approx(
        arm.forward_dynamics(Q, np.zeros(3), np.zeros(3))
    )
    for fields, message in (
        ({"effort": [1.0]}, "effort has 1 numbers, expected 3"),
        ({"effort_name": ["elbow"], "effort": [1.0]}, "actuated joint 'shoulder' is missing"),
        ({"effort_name": ["mirror"], "effort": [1.0]}, "no actuated joint 'mirror'"),
        ({"effort": [1.0, math.inf, 0.0]}, "effort of elbow is inf"),
    ):
        answer = ask_forward(position=Q, **fields)
        assert not answer.success and message in answer.message


def test_dynamic_terms(server: Rig, arm: mbdyn_ros.Robot) -> None:
    answer = server.call(srv.DynamicTerms, f"{NAME}/dynamic_terms", position=Q, velocity=V)
    assert answer.success and answer.name == JOINTS
    assert answer.mass_matrix.tolist() == pytest.approx(arm.mass_matrix(Q).ravel())
    assert answer.coriolis.tolist() == pytest.approx(arm.coriolis_vector(Q, V))
    assert answer.gravity.tolist() == pytest.approx(arm.gravity_vector(Q))
    assert answer.friction.tolist() == pytest.approx(arm.friction_vector(Q, V))
    total = np.reshape(answer.mass_matrix, (3, 3)) @ A
    total += np.array(answer.coriolis) + answer.gravity + answer.friction
    assert total == pytest.approx(arm.inverse_dynamics(Q, V, A))


def trajectory(*points: tuple[list[float], list[float], list[float]], names: Any = ()) -> Any:
    message = JointTrajectory(joint_names=list(names))
    message.header.frame_id = "kept"
    for k, (q, v, a) in enumerate(points):
        point = JointTrajectoryPoint(positions=q, velocities=v, accelerations=a)
        point.time_from_start.sec = k
        message.points.append(point)
    return message


def test_trajectory(server: Rig, arm: mbdyn_ros.Robot) -> None:
    names = ["grip", "mirror", "elbow", "shoulder"]
    points = [([0.02, 0.04, -0.7, 0.3], [], []), ([0.0, 0.0, 0.1, 0.2], [0.0, 0.0, 1.0, 2.0], [])]
    answer = server.call(
        srv.InverseDynamicsTrajectory,
        f"{NAME}/inverse_dynamics_trajectory",
        trajectory=trajectory(*points, names=names),
    )
    assert answer.success
    result = answer.trajectory
    assert result.joint_names == names and result.header.frame_id == "kept"
    for point, (q, v, _) in zip(result.points, points, strict=True):
        rates = np.array([v[3], v[2], v[0]]) if v else np.zeros(3)
        effort = arm.inverse_dynamics([q[3], q[2], q[0]], rates, np.zeros(3))
        assert point.effort.tolist() == pytest.approx([effort[2], 0, effort[1], effort[0]])
        assert point.positions.tolist() == q and point.velocities.tolist() == v
    assert result.points[1].time_from_start.sec == 1


@pytest.mark.parametrize(
    ("points", "names", "message"),
    [
        ([], JOINTS, "the trajectory has no points"),
        ([(Q, [], []), (Q[:2], [], [])], JOINTS, "point 1: position has 2 numbers"),
        ([(Q, [], []), (Q, [0, math.nan, 0], [])], JOINTS, "point 1: velocity of elbow is nan"),
        ([(Q, [], [])], ["shoulder", "elbow", "knee"], "no joint 'knee'"),
        ([(Q, V, []), (Q, [1e200] * 3, [])], JOINTS, "point 1: velocity of shoulder is 1e+200"),
        ([([], [], [])], JOINTS, "point 0: position has 0 numbers"),
    ],
)
def test_bad_trajectory(server: Rig, points: Any, names: Any, message: str) -> None:
    answer = server.call(
        srv.InverseDynamicsTrajectory,
        f"{NAME}/inverse_dynamics_trajectory",
        trajectory=trajectory(*points, names=names),
    )
    assert not answer.success and message in answer.message


def test_what_a_controller_would_refuse(server: Rig) -> None:
    """Efforts come all the same: they do not depend on times."""
    service = f"{NAME}/inverse_dynamics_trajectory"

    def remark(message: JointTrajectory) -> str:
        answer = server.call(srv.InverseDynamicsTrajectory, service, trajectory=message)
        assert answer.success and len(answer.trajectory.points[-1].effort) == 3
        return str(answer.message)

    points = [(Q, V, A), (Q, V, A), (Q, [0.0] * 3, A)]
    fit = trajectory(*points, names=JOINTS)
    assert remark(fit) == ""
    for seconds, words in (
        ([0, 1, 1], "point 2 is at 1 s, not after the 1 s of the point before"),
        ([0, 2, 1], "point 2 is at 1 s, not after the 2 s of the point before"),
        ([-1, 0, 1], "point 0 is at -1 s, before the start"),
    ):
        for point, second in zip(fit.points, seconds, strict=True):
            point.time_from_start.sec = second
        refusal = f"joint_trajectory_controller would refuse this trajectory: {words}"
        assert remark(fit) == refusal
    mixed = trajectory((Q, V, []), (Q, [], []), names=JOINTS)
    assert "point 1 has no velocities, but others have" in remark(mixed)
    moving = trajectory((Q, V, A), (Q, V, A), names=[])
    assert f"shoulder still moves at the last point, at {V[0]:g}" in remark(moving)


def test_large_requests(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are not read one by one, where nothing is wrong with them."""
    node = rig.add(InverseDynamicsServer, robot_description=ARM)
    message = trajectory(*[(Q, [], [])] * 3000)
    message.points[2999].positions = [0.0, math.nan, 0.0]
    with pytest.raises(InputError, match="point 2999: position of elbow is nan"):
        with_efforts(node.robot, message)
    message.points[2999].positions = Q
    with monkeypatch.context() as patch:
        patch.setattr(Layout, "state", None)
        assert len(with_efforts(node.robot, message)[0].points[2999].effort) == 3
    assert rig.set(node, largest_request=2999) == ""
    with pytest.raises(InputError, match="3000 points, and the parameter largest_request is 2999"):
        node._filled(node.robot, message)
    answer = ask(rig, position=Q, external_wrenches=[WrenchStamped()] * 3000)
    assert not answer.success and "the request has 3000 wrenches" in answer.message


def test_topic_twin_without_the_interfaces(
    rig: Rig, arm: mbdyn_ros.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interfaces, "srv", None)
    node = rig.add(InverseDynamicsServer, robot_description=ARM)
    served = [service.srv_name.rpartition("/")[2] for service in node.services]
    assert "inverse_dynamics" not in served
    results = rig.listen(JointTrajectory, f"{NAME}/trajectory_out")
    publisher = rig.publisher(JointTrajectory, f"{NAME}/trajectory_in")
    rig.wait(lambda: node._trajectories.get_subscription_count() > 0)
    publisher.publish(trajectory())
    publisher.publish(trajectory((Q, V, A)))
    rig.wait(lambda: results)
    assert results[0].points[0].effort.tolist() == pytest.approx(arm.inverse_dynamics(Q, V, A))
    assert results[0].joint_names == JOINTS


def test_description_by_topic(rig: Rig) -> None:
    rig.add(InverseDynamicsServer)
    answer = ask(rig, position=[0.0])
    assert not answer.success and "there is no robot yet" in answer.message
    publisher = rig.publisher(String, "robot_description", LATCHED)
    publisher.publish(String(data=ARM))
    rig.wait(lambda: ask(rig, position=Q).success)
    for bad in ("<robot", "", "not xml"):
        publisher.publish(String(data=bad))
    publisher.publish(String(data=ARM.replace('mass value="2.0"', 'mass value="-2"')))
    rig.wait(lambda: "mass" in rig.nodes[0].description.refusal)
    assert ask(rig, position=Q).success
    publisher.publish(String(data=CART))
    rig.wait(lambda: ask(rig, position=Q).name == ["glide"])


def test_planar_joint_is_a_block(rig: Rig) -> None:
    rig.add(InverseDynamicsServer, robot_description=CART)
    answer = ask(rig, name=["glide"], position=[0.1, 0.2, 0.3], acceleration=[1.0, 0, 0])
    assert answer.name == ["glide"]
    assert answer.effort.tolist() == pytest.approx([2, 0, 0], abs=1e-12)
    assert answer.joint_state.name == []


def test_floating_base(rig: Rig) -> None:
    rig.add(InverseDynamicsServer, robot_description=STONE, floating_base=True)
    pose = [0.0, 0, 0, 0, 0, 0, 1]
    answer = ask(rig, position=pose)
    assert answer.name == ["floating_base"]
    assert answer.effort.tolist() == pytest.approx([0, 0, 2 * 9.81, 0, 0, 0])
    named = ask(rig, name=["floating_base"], position=pose)
    assert named.effort == answer.effort
    answer = ask(rig, position=[0.0, 0, 0, 0, 0, 0, 2])
    assert not answer.success and "unit quaternion" in answer.message


def test_gravity_can_change(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    node = rig.add(InverseDynamicsServer, robot_description=ARM)
    assert rig.set(node, gravity=[0.0, 0.0]) == "gravity: it has 2 numbers, not 3 (x, y, z)"
    assert rig.set(node, gravity=[0.0, 0.0, -1.62]) == ""
    expected = 1.62 / 9.81 * arm.gravity_vector(Q)
    assert ask(rig, position=Q).effort.tolist() == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
def test_massless_link(rig: Rig) -> None:
    rig.add(InverseDynamicsServer, robot_description=GHOST)
    assert ask(rig, position=[0.0]).success
    answer = rig.call(srv.ForwardDynamics, f"{NAME}/forward_dynamics", position=[0.0])
    assert not answer.success and "'nothing'" in answer.message
