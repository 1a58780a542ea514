"""The simulator of a robot with actuators: valves in, pressures out."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

from hydraulics import LIFT, SLED, WEIGHT
from ros_rig import Rig, rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")


def test_valves_in_and_pressures_out(rig: Rig) -> None:
    mechanism = LIFT.format(air=0, leakage=0, bandwidth=0, relief="2.5e+7")
    node = rig.add(
        Simulator, robot_description=SLED, mechanism=mechanism, rate=200.0, command_timeout=60.0
    )
    pressures = rig.listen(JointState, "simulator/actuator_states")
    joints = rig.listen(JointState, "joint_states")
    commands = rig.publisher(Float64MultiArray, "simulator/commands")
    rig.wait(lambda: len(pressures) > 3 and len(joints) > 3)
    assert list(pressures[-1].name) == ["lift/pressure_a", "lift/pressure_b"]
    assert joints[-1].effort[0] == pytest.approx(WEIGHT, rel=1e-6)  # closed, it holds
    assert abs(joints[-1].position[0]) < 1e-6
    commands.publish(Float64MultiArray(data=[0.2]))
    rig.wait(lambda: joints[-1].position[0] > 0.005)
    assert joints[-1].velocity[0] > 0.01 and pressures[-1].position[1] > 3e6
    commands.publish(Float64MultiArray(data=[1.5]))
    rig.wait(lambda: "the command of rail is 1.5; its actuator takes -1 to 1" in node.refusals.last)
