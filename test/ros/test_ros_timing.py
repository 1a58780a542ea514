"""Paths timed by the inverse dynamics server, by service and by topic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from ros_rig import ARM, JOINTS, Rig, rig, srv
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import mbdyn_ros
from examples.moveit_timing import of_the_group, with_the_rest
from mbdyn_ros.errors import InputError
from mbdyn_ros.ros.messages.trajectory_efforts import timed, unfit_for_a_controller
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer

__all__ = ["rig"]

NAME = "inverse_dynamics_server"
POINTS = ([0.3, -0.7, 0.02], [0.6, -0.2, 0.06], [0.2, 0.4, 0.03])


@pytest.fixture(scope="module")
def arm() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ARM)


@pytest.fixture
def server(rig: Rig) -> Rig:
    rig.add(InverseDynamicsServer, robot_description=ARM)
    return rig


def path(*positions: list[float]) -> JointTrajectory:
    points = [JointTrajectoryPoint(positions=one) for one in positions]
    return JointTrajectory(joint_names=JOINTS, points=points)


def ask(rig: Rig, **fields: Any) -> Any:
    return rig.call(srv.TimeTrajectory, f"{NAME}/time_trajectory", **fields)


def test_a_path_is_timed_for_a_controller(server: Rig, arm: mbdyn_ros.Robot) -> None:
    answer = ask(server, path=path(*POINTS), limit_names=["elbow"], max_effort=[8.0], rate=200.0)
    assert answer.success, answer.message
    made = answer.trajectory
    assert unfit_for_a_controller(made) == "" and made.joint_names == JOINTS
    efforts = np.array([one.effort for one in made.points])
    states = [
        [getattr(one, field) for one in made.points]
        for field in ("positions", "velocities", "accelerations")
    ]
    inside = slice(1, -1)
    expected = arm.inverse_dynamics(*(np.array(one)[inside] for one in states))
    np.testing.assert_allclose(efforts[inside], expected, atol=1e-9)
    assert (np.abs(efforts) <= np.array([50.0, 8.0, 20.0]) * 1.001).all()
    np.testing.assert_allclose(states[0][0], POINTS[0])
    np.testing.assert_allclose(states[0][-1], POINTS[-1], atol=1e-9)
    assert len(answer.limits) == len(answer.since) and answer.since[0] == 0.0
    longer = ask(server, path=path(*POINTS), limit_names=["elbow"], max_effort=[8.0],
                 straight=True)  # fmt: skip
    assert longer.success
    assert longer.trajectory.points[-1].time_from_start.sec >= 0


def test_a_plan_of_moveit(arm: mbdyn_ros.Robot) -> None:
    """Positions of a group in its own order, all at time 0; its gripper stays where it is."""
    group = ["elbow", "shoulder"]
    points = [JointTrajectoryPoint(positions=[elbow, shoulder]) for shoulder, elbow, _ in POINTS]
    plan = JointTrajectory(joint_names=group, points=points)
    with pytest.raises(InputError, match=r"'grip' is missing: name all independent joints"):
        timed(arm, plan, 10000)
    start = JointState(name=[*JOINTS, "mirror"], position=[*POINTS[0], 2 * POINTS[0][2]])
    motion, _ = timed(arm, with_the_rest(plan, start), 10000)
    assert motion.joint_names == [*group, "grip", "mirror"]
    sent = of_the_group(motion, group)
    assert unfit_for_a_controller(sent) == ""
    assert sent.joint_names == group
    assert list(sent.points[-1].positions) == pytest.approx(list(points[-1].positions))
    middle = len(sent.points) // 2
    assert motion.points[middle].positions[2] == pytest.approx(POINTS[0][2])
    states = (
        np.array([*getattr(sent.points[middle], field)[::-1], rest])
        for field, rest in (("positions", POINTS[0][2]), ("velocities", 0), ("accelerations", 0))
    )
    expected = arm.inverse_dynamics(*states)
    assert list(sent.points[middle].effort) == pytest.approx(expected[[1, 0]], abs=1e-6)


def test_wrong_requests(server: Rig) -> None:
    assert "waypoints 0 and 1 are the same" in ask(server, path=path(POINTS[0], POINTS[0])).message
    few = ask(server, path=path(*POINTS), limit_names=["elbow"], max_effort=[1.0, 2.0])
    assert not few.success and "max_effort has 2 numbers for 1 limit_names" in few.message
    weak = ask(server, path=path(*POINTS), limit_names=["shoulder"], max_effort=[5.0])
    assert "the robot cannot be held there" in weak.message and "shoulder" in weak.message
    assert "rate is -1" in ask(server, path=path(*POINTS), rate=-1.0).message
    assert "largest_request" in ask(server, path=path(*POINTS), rate=1e9).message


def test_the_topic(server: Rig) -> None:
    results = server.listen(JointTrajectory, f"{NAME}/timed_out")
    publisher = server.publisher(JointTrajectory, f"{NAME}/path_in")
    node = server.nodes[0]
    server.wait(lambda: node._timed.get_subscription_count() > 0)
    publisher.publish(path(POINTS[0]))
    publisher.publish(path(*POINTS))
    server.wait(lambda: results)
    assert len(results) == 1 and results[0].points[0].effort
