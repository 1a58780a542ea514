"""Services of the inverse dynamics server about poses, other joints and efforts between points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import Point, WrenchStamped
from ros_rig import Rig, shared_rig, srv
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import mbdyn_ros
from mbdyn_ros.ros.messages.base_pose import pose_message, rotation_of
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer

__all__ = ["shared_rig"]

URDF = str(Path(__file__).parents[2] / "urdf" / "manipulator.urdf")
ANGLES = ["slew_joint", "boom_joint", "jib_joint", "telescope_joint"]
RODS = ["slew_joint", "lift_rod_joint", "tilt_rod_joint", "telescope_joint"]
Q, V = np.array([0.1, 0.05, -0.04, 0.2]), np.array([0.1, -0.05, 0.02, 0.3])
SERVER = "inverse_dynamics_server"


@pytest.fixture(scope="module")
def server(shared_rig: Rig) -> Rig:
    shared_rig.add(InverseDynamicsServer, urdf=URDF)
    return shared_rig


@pytest.fixture(scope="module")
def crane(interpreted_module: None) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(URDF)


def trajectory(names: list[str], *points: Any) -> JointTrajectory:
    """Points a second apart, each positions, velocities, ..."""
    message = JointTrajectory(joint_names=names)
    for k, fields in enumerate(points):
        names = ["positions", "velocities", "accelerations", "effort"][: len(fields)]
        point = JointTrajectoryPoint(
            **{name: [float(x) for x in one] for name, one in zip(names, fields, strict=True)}
        )
        point.time_from_start.sec = k
        message.points.append(point)
    return message


def test_poses_and_jacobians(server: Rig, crane: mbdyn_ros.Robot) -> None:
    state = {"name": RODS[::-1], "position": Q[::-1].tolist(), "velocity": V[::-1].tolist()}
    answer = server.call(srv.ForwardKinematics, f"{SERVER}/forward_kinematics", **state)
    assert answer.success and answer.links == list(crane.links)
    assert answer.joint_state.position.tolist() == pytest.approx(crane.joint_state(Q)[0])
    for link, pose, twist in zip(answer.links, answer.poses, answer.twists, strict=True):
        expected = crane.frame_pose(Q, link)
        place, turn = pose.position, pose.orientation
        assert [place.x, place.y, place.z] == pytest.approx(expected[:3, 3], abs=1e-12)
        rotation = rotation_of(np.array([turn.x, turn.y, turn.z, turn.w]))
        np.testing.assert_allclose(rotation, expected[:3, :3], rtol=0, atol=1e-12)
        both = [*(getattr(twist.linear, x) for x in "xyz"),
                *(getattr(twist.angular, x) for x in "xyz")]  # fmt: skip
        assert both == pytest.approx(crane.frame_velocity(Q, V, link), abs=1e-12)
    some = server.call(
        srv.ForwardKinematics, f"{SERVER}/forward_kinematics", position=Q.tolist(), links=["hand"]
    )
    assert not some.success and "'hand'" in some.message and not some.links

    point = [0.1, -0.2, 0.3]
    answer = server.call(
        srv.Jacobian, f"{SERVER}/jacobian", position=Q.tolist(), link="tool",
        point=Point(**dict(zip("xyz", point, strict=True))),
    )  # fmt: skip
    assert answer.success and answer.name == RODS

    def place_at(q: np.ndarray) -> np.ndarray:
        pose = crane.frame_pose(q, "tool")
        return pose[:3, :3] @ point + pose[:3, 3]

    found = np.reshape(answer.jacobian, (6, 4))
    step = 1e-6
    for k, way in enumerate(step * np.eye(4)):
        moved = (place_at(Q + way) - place_at(Q - way)) / (2 * step)
        assert found[:3, k] == pytest.approx(moved, abs=1e-8)
    assert found[3:] == pytest.approx(crane.jacobian(Q, "tool")[3:], abs=1e-12)


def test_energies(server: Rig, crane: mbdyn_ros.Robot) -> None:
    answer = server.call(
        srv.Energies, f"{SERVER}/energies", position=Q.tolist(), velocity=V.tolist()
    )
    assert answer.success
    assert (answer.kinetic, answer.potential) == pytest.approx(crane.energy(Q, V))


def test_inverse_kinematics(server: Rig, crane: mbdyn_ros.Robot) -> None:
    def ask(**fields: Any) -> Any:
        return server.call(
            srv.InverseKinematics, f"{SERVER}/inverse_kinematics", **{"link": "tool", **fields}
        )

    request = srv.InverseKinematics.Request()
    pose = pose_message(request.pose, crane.frame_pose(Q, "tool"))
    answer = ask(pose=pose, start_name=["slew_joint"], start_position=[0.3])
    assert answer.success and answer.name == RODS and answer.message == ""
    np.testing.assert_allclose(
        crane.frame_pose(np.array(answer.position), "tool"), crane.frame_pose(Q, "tool"),
        rtol=0, atol=1e-8,
    )  # fmt: skip
    assert answer.joint_state.name == list(crane.joint_names)
    assert max(answer.position_error, answer.orientation_error) < 1e-9
    pose.position.x += 20.0
    far = ask(pose=pose, position_only=True)
    assert not far.success and far.position_error > 10 and far.orientation_error == 0.0
    assert "leaves a gap of" in far.message and len(far.position) == 4
    pose.orientation.w += 1.0
    assert "must be a unit quaternion" in ask(pose=pose).message
    assert "no independent joint 'boom_joint'" in ask(start_name=["boom_joint"]).message


def test_conversion(server: Rig, crane: mbdyn_ros.Robot) -> None:
    def ask(message: JointTrajectory, names: list[str] | None = None) -> Any:
        return server.call(
            srv.ConvertTrajectory, f"{SERVER}/convert_trajectory", trajectory=message,
            joint_names=names or [],
        )  # fmt: skip

    effort = crane.inverse_dynamics(Q, V, V)
    there = ask(trajectory(RODS, (Q, V, V, effort), (Q, V, V, effort)), ANGLES)
    assert there.success and there.violation == "" and there.trajectory.joint_names == ANGLES
    back = ask(there.trajectory)
    assert back.success and back.trajectory.joint_names == RODS
    for name, numbers in (("positions", Q), ("velocities", V), ("accelerations", V),
                          ("effort", effort)):  # fmt: skip
        for point in back.trajectory.points:
            assert getattr(point, name).tolist() == pytest.approx(numbers, rel=1e-9, abs=1e-9)
    fast = V.copy()
    fast[1] = 0.31
    beyond = ask(trajectory(RODS, (Q, V), (Q, fast)), ANGLES)
    assert beyond.success
    words = "point 1: velocity of lift_rod_joint is 0.31 m/s, beyond its limit 0.3 m/s"
    assert beyond.violation.startswith(words)
    refused = ask(trajectory(ANGLES[:3], (Q[:3],)))
    assert not refused.success and "leave 1 freedom" in refused.message
    assert "point 1 has 3 positions" in ask(trajectory(RODS, (Q,), (Q[:3],))).message


def test_efforts_between_points(server: Rig, crane: mbdyn_ros.Robot) -> None:
    def ask(**fields: Any) -> Any:
        service = f"{SERVER}/inverse_dynamics_trajectory"
        return server.call(srv.InverseDynamicsTrajectory, service, **fields)

    rest = np.zeros(4)
    message = trajectory(RODS, (Q, rest), (Q + 0.05, rest))
    push = WrenchStamped()
    push.header.frame_id, push.wrench.force.z = "tool", -1000.0
    answer = ask(trajectory=message, external_wrenches=[push], effort_tolerance=5.0)
    assert answer.success and answer.violation == "" and answer.message == ""
    points = answer.trajectory.points
    assert len(points) > 4
    assert [points[0].time_from_start.sec, points[-1].time_from_start.sec] == [0, 1]
    # A cubic from rest to rest: the acceleration is straight, from 0.3 to -0.3.
    wrench = {"tool": [0.0, 0, -1000.0, 0, 0, 0]}
    for point in points:
        t = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
        q = Q + 0.05 * (3 * t**2 - 2 * t**3)
        v = np.full(4, 0.05 * (6 * t - 6 * t**2))
        expected = crane.inverse_dynamics(q, v, np.full(4, 0.05 * (6 - 12 * t)), wrench)
        assert point.positions.tolist() == pytest.approx(q, abs=1e-8)
        assert point.effort.tolist() == pytest.approx(expected, rel=1e-5)
        assert not len(point.accelerations)
    message.points[1].velocities[0] = 0.0
    assert "has no velocities" in ask(
        trajectory=trajectory(RODS, (Q,), (Q,)), effort_tolerance=1.0
    ).message
    bad = ask(trajectory=message, effort_tolerance=-1.0)
    assert "effort_tolerance is -1: it must be 0 or more" in bad.message
    node = server.nodes[0]
    before = node.parameters["largest_request"]
    assert server.set(node, largest_request=100) == ""
    many = ask(trajectory=message, effort_tolerance=1e-3)
    assert server.set(node, largest_request=before) == ""
    assert not many.success
    assert "take more than 100 points, the parameter largest_request" in many.message
    message.points[1].time_from_start.sec = 0
    still = ask(trajectory=message, effort_tolerance=5.0)
    assert not still.success and "point 1 is at 0 s, not after the 0 s" in still.message
    strong = ask(trajectory=trajectory(RODS, (Q, rest, np.full(4, 1e4))))
    assert strong.success and strong.violation.startswith("point 0: effort of slew_joint is ")
