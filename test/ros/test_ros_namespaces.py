"""Two robots side by side, each in a namespace of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticArray
from ros_rig import ARM, Rig, rig
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mbdyn_ros.ros.launch_nodes import TO_THE_SIMULATOR
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.ros.nodes.torque_feedforward import TorqueFeedforward

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

ANYWHERE = {"reference_timeout": 0.0, "start_tolerance": 0.0, "following_tolerance": 0.0}
"""The arms fall until a reference comes."""


def test_two_robots_in_two_namespaces(rig: Rig) -> None:
    """With the remappings of the launch file, torques reach the robot of their namespace alone."""
    simulators = []
    for side in ("left", "right"):
        robot = {"robot_description": ARM, "rate": 50.0}
        rig.add(TorqueFeedforward, side, TO_THE_SIMULATOR, **robot, **ANYWHERE)
        simulators.append(rig.add(Simulator, side, **robot))
    left, right = simulators
    statuses = rig.listen(DiagnosticArray, "/diagnostics")
    reference = rig.publisher(JointTrajectory, "left/torque_feedforward/reference")
    reference.publish(JointTrajectory(points=[JointTrajectoryPoint(positions=[0.0, 0.0, 0.0])]))
    rig.wait(lambda: left.session.motion.effort.any())
    begin = right.session.motion.time
    rig.wait(lambda: right.session.motion.time > begin + 0.1)
    assert not right.session.motion.effort.any()
    for name in ("commands", "joint_states"):
        found = [topic for topic, _ in rig.client.get_topic_names_and_types() if name in topic]
        assert found and all(topic.startswith(("/left/", "/right/")) for topic in found)

    def named() -> set[tuple[str, str]]:
        return {(one.name, one.hardware_id) for message in statuses for one in message.status}

    rig.wait(lambda: len(named()) == 4)
    assert named() == {
        (f"{side}/{node}", f"{side}/arm")
        for side in ("left", "right")
        for node in ("simulator", "torque_feedforward")
    }
