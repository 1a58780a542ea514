"""The action follow_joint_trajectory, by a client of its own; and the paths it follows."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ros_rig import ARM, JOINTS, Rig, rig
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mbdyn_ros import InputError
from mbdyn_ros.ros.messages.conversions import fill_time
from mbdyn_ros.ros.messages.joint_path import JointPath, Tolerances
from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

REST = np.zeros((3, 2))


def trajectory(*points: tuple[float, ...], names: tuple[str, ...] = ("a", "b")) -> JointTrajectory:
    """Points as time, positions, velocities, accelerations."""
    message, size = JointTrajectory(joint_names=list(names)), len(names)
    for time, *numbers in points:
        parts = [numbers[k : k + size] for k in (0, size, 2 * size)]
        fields = dict(zip(("positions", "velocities", "accelerations"), parts, strict=True))
        point = JointTrajectoryPoint(**fields)
        fill_time(point.time_from_start, round(time * 1e9))
        message.points.append(point)
    return message


def test_positions_alone_are_joined_by_lines() -> None:
    path = JointPath(trajectory((1.0, 2.0, 0.0), (3.0, 2.0, 4.0)), REST)
    for time, q, v in ((0.5, [1, 0], [2, 0]), (2.0, [2, 2], [0, 2]), (9.0, [2, 4], [0, 0])):
        state = path.at(time)
        assert state[0] == pytest.approx(q) and state[1] == pytest.approx(v)
    assert [path.index(time) for time in (0.5, 1.5, 9.0)] == [0, 0, 1]


def test_polynomials_between_points() -> None:
    """From where the joints are, with the velocity that they have."""
    present = np.array([[0.1, 0.2], [0.3, 0.4], [0.0, 0.0]])
    cubic = JointPath(trajectory((2.0, 1.0, 1.0, 0.0, 0.0)), present)
    assert cubic.at(0.0)[1] == pytest.approx([0.3, 0.4])
    h, way = 2.0, 0.9
    middle = 0.1 + way / 2 + 0.3 * h / 8
    assert cubic.at(1.0)[0][0] == pytest.approx(middle)
    quintic = JointPath(trajectory((2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)), REST)
    assert quintic.at(1.0)[0] == pytest.approx([0.5, 0.5])
    assert quintic.at(1.0)[1] == pytest.approx([15 / 16, 15 / 16])


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ((), "no points"),
        (((1.0,),), "no positions"),
        (((1.0, 2.0),), "point 0 has 1 positions, expected 2: a, b"),
        (((1.0, 2.0, math.nan),), "point 0: positions of b is nan"),
        (((1.0, 0.0, 0.0), (1.0, 1.0, 1.0)), "time_from_start"),
        (((1.0, 0.0, 0.0, 0.0, 0.5),), "velocity of b is 0.5, it must be 0"),
    ],
)
def test_refused_paths(points: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        JointPath(trajectory(*points), REST)


def test_a_path_that_is_over() -> None:
    with pytest.raises(InputError, match="ended 4 s ago: header.stamp is too old"):
        JointPath(trajectory((1.0, 0.0, 0.0)), REST, 5.0)


def test_tolerances() -> None:
    sent = [SimpleNamespace(name="b", position=-1.0, velocity=0.5)]
    most = Tolerances(["a", "b"], 0.1, sent)
    wanted = (np.zeros(2), np.zeros(2), np.zeros(2))
    assert most.violation(wanted, np.array([0.1, 9.0]), np.array([9.0, 0.5])) == ""
    said = most.violation(wanted, np.array([-0.2, 0.0]), np.zeros(2))
    assert said == "position of a is -0.2 from the path, more than 0.1"
    assert "velocity of b" in most.violation(wanted, np.zeros(2), np.ones(2))
    with pytest.raises(InputError, match="a tolerance is for 'c', which does not move"):
        Tolerances(["a"], 0.1, [SimpleNamespace(name="c", position=1.0, velocity=0.0)])


@pytest.fixture
def client(rig: Rig) -> Any:
    """Sends goals; what comes back is in its attributes."""
    actions = pytest.importorskip("control_msgs.action")
    messages = pytest.importorskip("control_msgs.msg")
    from rclpy.action import ActionClient

    action = ActionClient(
        rig.client, actions.FollowJointTrajectory, "simulator/follow_joint_trajectory"
    )

    def send(message: JointTrajectory, *tolerance: float, **fields: Any) -> SimpleNamespace:
        goal = actions.FollowJointTrajectory.Goal(trajectory=message, **fields)
        for name in message.joint_names if tolerance else ():
            one = messages.JointTolerance(name=name, position=tolerance[0])
            goal.path_tolerance.append(one)
        seen: list[Any] = []
        assert action.wait_for_server(30.0)
        sent = action.send_goal_async(goal, lambda message: seen.append(message.feedback))
        rig.wait(sent.done)
        handle = sent.result()
        result = handle.get_result_async() if handle.accepted else None
        return SimpleNamespace(handle=handle, result=result, feedback=seen)

    yield SimpleNamespace(send=send)
    action.destroy()


def move(seconds: float = 0.5, *, by: float = 0.3) -> JointTrajectory:
    goal = (by, -by, 0.05)
    return trajectory((seconds, *goal, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), names=tuple(JOINTS))


def test_goals(rig: Rig, client: Any) -> None:
    """Followed to their end; replaced, canceled, taken over and refused on the way."""
    node = rig.add(Simulator, robot_description=ARM, rate=500.0, hold_at_start=True)
    states = rig.listen(JointState, "joint_states")
    goal = client.send(move(), 1e-3)
    rig.wait(goal.result.done)
    assert (goal.result.result().status, goal.result.result().result.error_code) == (4, 0)
    rig.wait(lambda: states[-1].position[0] == pytest.approx(0.3, abs=1e-6))
    assert len(goal.feedback) > 3 and list(goal.feedback[0].joint_names) == JOINTS
    worst = max(np.abs(one.error.positions).max() for one in goal.feedback)
    assert worst < 1e-4

    first, second = client.send(move(9.0, by=0.0)), client.send(move(9.0, by=-0.1))
    rig.wait(first.result.done)
    assert first.result.result().status == 6
    assert first.result.result().result.error_string == "another goal came"
    rig.wait(lambda: second.feedback)
    second.handle.cancel_goal_async()
    rig.wait(second.result.done)
    assert second.result.result().status == 5
    rig.wait(lambda: np.abs(states[-1].velocity).max() < 1e-6)

    third = client.send(move(9.0))
    rig.wait(lambda: third.feedback)
    command = JointState(name=["elbow"], position=[0.1])
    rig.publisher(JointState, "simulator/position_command").publish(command)
    rig.wait(third.result.done)
    assert "another command came" in third.result.result().result.error_string
    rig.wait(lambda: states[-1].position[1] == pytest.approx(0.1, abs=1e-6))

    for bad, words in (
        (trajectory((1.0, 0.0), names=("knee",)), "no actuated joint 'knee'"),
        (trajectory((1.0, 9.0), names=("shoulder",)), "outside its limits -3 to 3"),
        (trajectory(names=("shoulder",)), "no points"),
    ):
        assert not client.send(bad).handle.accepted
        assert words in node.refusals.last
    fourth = client.send(move(9.0))
    assert rig.call(Trigger, "simulator/reset").success
    rig.wait(fourth.result.done)
    assert "reset" in fourth.result.result().result.error_string


def test_tolerances_of_goals(rig: Rig, client: Any) -> None:
    """An arm that is too weak leaves its path; a joint at its stop never gets there."""
    weak = ARM.replace('effort="50"', 'effort="5"')
    rig.add(Simulator, robot_description=weak, rate=500.0, hold_at_start=True)
    goal = client.send(move(), 0.01)
    rig.wait(goal.result.done)
    result = goal.result.result().result
    assert result.error_code == -4 and "shoulder is" in result.error_string
    goal = client.send(move())
    rig.wait(goal.result.done)
    assert goal.result.result().result.error_code == -5
