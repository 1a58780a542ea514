"""The feed-forward node under test: how it starts, what it is sent, what it says."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy")
from ros_rig import ARM, Rig
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mbdyn_ros.ros.nodes.torque_feedforward import TorqueFeedforward

Q, V, A = [0.3, -0.7, 0.02], [0.5, 1.0, -0.1], [1.0, -2.0, 0.3]
NAME = "torque_feedforward"


def start(rig: Rig, **parameters: Any) -> tuple[Any, list[Any], Any]:
    """The node, the commands it sends, and a publisher of references; no joint states needed."""
    loose = {"start_tolerance": 0.0, "following_tolerance": 0.0, "longest_gap": 60.0}
    node = rig.add(
        TorqueFeedforward, **{"robot_description": ARM, "rate": 200.0, **loose, **parameters}
    )
    sent = rig.listen(Float64MultiArray, f"{NAME}/commands")
    return node, sent, rig.publisher(JointTrajectory, f"{NAME}/reference")


def state(q: list[float], v: Any = (), a: Any = (), names: Any = (), at: float = 0.0) -> Any:
    point = JointTrajectoryPoint(positions=q, velocities=v, accelerations=a)
    point.time_from_start.sec = int(at)
    point.time_from_start.nanosec = int(1e9 * (at % 1))
    return JointTrajectory(joint_names=list(names), points=[point])


def last_is(sent: list[Any], efforts: Any) -> bool:
    return bool(sent) and sent[-1].data.tolist() == pytest.approx(list(efforts), abs=1e-9)
