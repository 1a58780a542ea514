"""Commands as the hardware of ros2_control and others send them, and what comes of them."""

from __future__ import annotations

import itertools
import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rclpy.time import Time
from ros_rig import ARM, JOINTS, Rig, rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import mbdyn_ros
from mbdyn_ros import InputError, Robot
from mbdyn_ros.ros.messages.joint_commands import REST, JointCommands, NamedCommand
from mbdyn_ros.ros.nodes import command_inboxes
from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

NAN = math.nan
CONTROL = """<ros2_control name="topic" type="system"><hardware><plugin>p</plugin></hardware>
  <joint name="shoulder"><command_interface name="effort"/></joint>
  <joint name="elbow"><command_interface name="position"/><command_interface name="effort"/></joint>
  <joint name="grip"><command_interface name="velocity"/></joint>
  <joint name="mirror"><state_interface name="position"/></joint>
</ros2_control></robot>"""
DRIVEN = ARM.replace("</robot>", CONTROL)
NAMES = [*JOINTS, "mirror"]


@pytest.fixture(scope="module")
def arm() -> Robot:
    return mbdyn_ros.load(DRIVEN)


@pytest.fixture
def commands(arm: Robot) -> JointCommands:
    return JointCommands(arm)


def efforts(commands: JointCommands, now: float = 0.0, **options: float) -> list[float]:
    result = np.zeros(3)
    commands.write(result, now, 0.5, **options)
    return [float(one) for one in result]


def test_a_command_holds_then_fades(commands: JointCommands) -> None:
    """What fades differs from what was sent, from which on hardware sends it again."""
    commands.set_array([8.0, 0.0, 0.0], 1.0)
    assert [efforts(commands, 1 + age)[0] for age in (0.0, 0.25)] == [8.0, 8.0]
    assert 1e-5 < 8 - efforts(commands, 1.26)[0] < 1e-2
    assert efforts(commands, 1.375)[0] == pytest.approx(7.0)
    assert efforts(commands, 1.5)[0] == 0.0 and commands.stale(1.51, 0.5) == [*JOINTS]


def test_hardware_that_sends_on_change_is_not_starved(commands: JointCommands) -> None:
    """Its condition: the sum of |state - command| is above 1e-5."""
    state, wanted, sent, worst = np.zeros(3), np.array([9.0, -4.0, 0.01]), [], 0.0
    for k in range(4000):
        now = 1e-3 * k
        if k % 2 == 0 and np.abs(state - wanted).sum() > 1e-5:
            commands.set_array(wanted, now)
            sent.append(now)
        commands.write(state, now, 0.5)
        worst = max(worst, float(np.abs(state - wanted).max()))
    assert len(sent) < 20 and max(np.diff(sent)) < 0.3
    assert worst < 1e-3  # and not 9, once every half second


def test_a_command_that_never_changes(commands: JointCommands) -> None:
    for k in range(100):
        commands.set_array([1.0, 0.1 * k, 0.0], 0.1 * k)
    assert efforts(commands, 9.9, unchanged=2.0) == [0.0, pytest.approx(9.9), 0.0]
    assert efforts(commands, 9.9)[0] == 1.0


def test_nan_is_no_command(commands: JointCommands) -> None:
    commands.set_named(NamedCommand(JOINTS, effort=[NAN] * 3), 0.0)
    assert list(commands.remarks) == [REST] and efforts(commands) == [0.0] * 3
    commands.set_named(NamedCommand(JOINTS, effort=[NAN, 2.0, NAN]), 0.0)
    assert efforts(commands) == [0.0, 2.0, 0.0]
    assert commands.stale(1.0, 0.5) == ["elbow"]
    with pytest.raises(InputError, match="effort of grip is inf"):
        commands.set_named(NamedCommand(JOINTS, effort=[NAN, 3.0, math.inf]), 0.0)
    assert efforts(commands) == [0.0, 2.0, 0.0]


def test_names_of_joints_that_are_not_driven(commands: JointCommands) -> None:
    """Numbers are for those with the interface in <ros2_control>, else for the actuated ones."""
    command = NamedCommand(NAMES, effort=[1.0, 2.0], position=[0.5], velocity=[0.1])
    commands.set_named(command, 1.0)
    assert efforts(commands, 1.0) == [1.0, 0.0, 0.0]
    assert commands.targets.followed.tolist() == [False, True, True]
    assert commands.targets.placed.tolist() == [False, True, False]
    assert commands.targets.position[1] == 0.5 and commands.targets.velocity[2] == 0.1
    said = "ignoring effort commands for joints that take none: grip, mirror"
    assert said in commands.remarks
    plain = JointCommands(mbdyn_ros.load(ARM))
    plain.set_named(NamedCommand(NAMES, effort=[1.0, 2.0, 3.0]), 0.0)
    assert efforts(plain) == [1.0, 2.0, 3.0]
    with pytest.raises(InputError, match="no actuated joint 'mirror'"):
        plain.set_named(NamedCommand(NAMES, effort=[1.0, 2.0]), 0.0)
    with pytest.raises(InputError, match="no actuated joint 'knee'"):
        plain.set_named(NamedCommand(["knee", *JOINTS], effort=[1.0] * 3), 0.0)


def test_what_changes_last_moves_a_joint(commands: JointCommands) -> None:
    def send(now: float, position: float, effort: float) -> tuple[bool, float]:
        both = NamedCommand(["elbow"], position=[position], effort=[effort])
        commands.set_named(both, now)
        force = efforts(commands, now)[1]
        return bool(commands.targets.followed[1]), force

    assert send(0.0, NAN, 3.0) == (False, 3.0)
    assert send(0.1, 0.2, 3.0) == (True, 0.0)
    assert send(0.2, 0.3, 4.0) == (True, 0.0)  # both: the stiffer one
    assert send(0.3, 0.3, 5.0) == (False, 5.0)  # what is left of the other controller
    assert send(0.4, 0.4, 5.0) == (True, 0.0)
    commands.clear()
    assert not commands.follow


def test_a_stream_of_positions_has_a_velocity(commands: JointCommands) -> None:
    """Between commands, with uneven times of arrival; not after a pause, and not forever."""
    for k in range(100):
        at = 0.002 * k + (0.0005 if k % 3 else 0.0)
        commands.set_named(NamedCommand(["elbow"], position=[0.7 * at]), at)
    efforts(commands, 0.1999)
    assert commands.targets.velocity[1] == pytest.approx(0.7, rel=1e-9)
    assert commands.targets.position[1] == pytest.approx(0.7 * 0.1999, abs=1e-9)
    efforts(commands, 9.0)
    assert commands.targets.velocity[1] == 0.0
    assert commands.targets.position[1] == pytest.approx(0.7 * 0.2, abs=3e-3)
    commands.set_named(NamedCommand(["elbow"], position=[-2.0]), 10.0)
    efforts(commands, 10.0)
    assert (commands.targets.position[1], commands.targets.velocity[1]) == (-2.0, 0.0)


def test_a_motion_whose_velocity_was_sent_goes_on_when_messages_are_late(
    commands: JointCommands,
) -> None:
    """For 50 ms, and not beyond a limit."""
    command = NamedCommand(["elbow", "shoulder"], position=[0.5, 9.0], velocity=[0.7, 1.0])
    commands.set_named(command, 3.0)
    for late, way, speed in ((0.03, 0.03, 0.7), (0.2, 0.05, 0.0)):
        efforts(commands, 3.0 + late)
        assert commands.targets.position[1] == pytest.approx(0.5 + 0.7 * way)
        assert commands.targets.velocity[1] == speed
        assert (commands.targets.position[0], commands.targets.velocity[0]) == (3.0, 0.0)


def test_positions_beyond_limits_are_held_there(commands: JointCommands) -> None:
    commands.set_array([9.0, 0.0, 0.0], 0.0, quantity="position")
    efforts(commands)
    assert commands.targets.position[0] == 3.0
    assert commands.beyond() == ["shoulder (position 9, 3 allowed)"] and not commands.beyond()
    commands.set_array([0.0, 0.0, 7.0], 0.1, quantity="velocity")
    efforts(commands, 0.1)
    assert commands.targets.velocity[2] == 1.0 and commands.beyond()


def test_released_commands_end(commands: JointCommands) -> None:
    """Of the manager whose controllers were deactivated, and of nobody else."""
    commands.set_array([1.0, 2.0, 3.0], 0.0, b"manager/1")
    commands.set_named(NamedCommand(["grip"], effort=[4.0]), 0.0, b"other/1")
    gone = frozenset({("shoulder", "effort"), ("grip", "effort"), ("ghost", "effort")})
    commands.release(gone, (b"manager",))
    assert efforts(commands) == [0.0, 2.0, 4.0]
    again = NamedCommand(JOINTS, effort=[1.0, 2.5, 3.0], unclaimed=gone)
    commands.set_named(again, 0.1, b"manager/1")
    assert efforts(commands, 0.1) == [0.0, 2.5, 4.0]


def test_a_manager_is_heard_beside_the_one_that_was_killed(
    monkeypatch: pytest.MonkeyPatch, commands: JointCommands
) -> None:
    """It stays among the publishers for a while, and may be named first."""
    monkeypatch.setattr(command_inboxes, "where_installed", lambda name: SimpleNamespace(
        ControllerManagerActivity=None, ListHardwareInterfaces=SimpleNamespace(Request=object)
    ))  # fmt: skip
    killed, alive = b"killed      ", b"alive       "
    endpoints = [SimpleNamespace(endpoint_gid=[*one, 0, 0, 1, 2]) for one in (killed, alive)]
    watch = command_inboxes.ControllerWatch(SimpleNamespace(
        parameters={"controller_manager": "controller_manager"},
        create_subscription=lambda *_: SimpleNamespace(topic_name="activity"),
        create_client=lambda *_: None,
        get_publishers_info_by_topic=lambda _: endpoints,
    ))  # fmt: skip
    commands.set_array([1.0, 2.0, 3.0], 0.0, alive + b"1")
    assert watch.unclaimed(alive + b"1") == frozenset()
    idle = SimpleNamespace(name="shoulder/effort", is_claimed=False)
    answer = SimpleNamespace(command_interfaces=[idle])
    watch._take(SimpleNamespace(result=lambda: answer))
    watch.release(commands)
    assert efforts(commands) == [0.0, 2.0, 3.0]
    assert watch.unclaimed(alive + b"1") == {("shoulder", "effort")}
    assert watch.unclaimed(b"somebody else") == frozenset()


def test_joints_are_moved_to_positions(rig: Rig) -> None:
    """By name and by arrays; a joint that is sent efforts meanwhile keeps them."""
    node = rig.add(Simulator, robot_description=ARM, rate=200.0, gravity=[0.0, 0.0, 0.0],
                   command_timeout=50.0)  # fmt: skip
    states = rig.listen(JointState, "joint_states")
    rig.publisher(JointState, "simulator/effort_command").publish(
        JointState(name=["grip"], effort=[0.1])
    )
    named = rig.publisher(JointState, "simulator/position_command")
    named.publish(JointState(name=["shoulder", "elbow"], position=[0.2, -0.3]))

    def there(*wanted: float) -> bool:
        return bool(states) and np.allclose(states[-1].position[:2], wanted, atol=1e-5)

    rig.wait(lambda: there(0.2, -0.3))
    assert states[-1].effort[2] == pytest.approx(0.1)
    array = rig.publisher(Float64MultiArray, "simulator/velocity_commands")
    array.publish(Float64MultiArray(data=[-0.5, 0.0, 0.0]))
    rig.wait(lambda: states[-1].velocity[0] == pytest.approx(-0.5, rel=1e-6))
    every = rig.publisher(JointState, "simulator/joint_command")
    every.publish(JointState(name=JOINTS, position=[0.1, 0.1, 0.01], velocity=[0.0] * 3))
    rig.wait(lambda: there(0.1, 0.1))
    assert node.fault == ""


@pytest.mark.alone
def test_joint_states_are_those_of_their_stamps(rig: Rig) -> None:
    """A joint that is led at 1 rad/s is, at each stamp, where that wants it, not a step ahead."""
    rig.add(Simulator, robot_description=ARM, rate=50.0, gravity=[0.0, 0.0, 0.0])
    states = rig.listen(JointState, "joint_states")
    stream = rig.publisher(JointState, "simulator/position_command")
    clock = rig.client.get_clock()
    start = clock.now()

    def elapsed(stamp: Time) -> float:
        return float((stamp - start).nanoseconds / 1e9)

    def led() -> bool:
        now = clock.now()
        command = JointState(name=["elbow"], position=[elapsed(now)], velocity=[1.0])
        command.header.stamp = now.to_msg()
        stream.publish(command)
        return sum(one.velocity[1] == pytest.approx(1.0, abs=0.3) for one in states) > 100

    rig.wait(led)
    late = [
        one.position[1] - elapsed(Time.from_msg(one.header.stamp, clock_type=start.clock_type))
        for one in states[-80:]
    ]
    assert abs(np.median(late)) < 0.012  # a step: 0.02


def test_a_simulator_that_is_woken_late_is_where_its_stamps_say(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a constant speed, positions by the stamps lie on a line, however late steps are taken."""
    sleep, turns = time.sleep, itertools.count()
    monkeypatch.setattr(time, "sleep", lambda s: sleep(s + 0.013 * (next(turns) % 5 == 0)))
    rig.add(Simulator, robot_description=ARM, rate=200.0, gravity=[0.0, 0.0, 0.0],
            command_timeout=50.0)  # fmt: skip
    states = rig.listen(JointState, "joint_states")
    speeds = rig.publisher(Float64MultiArray, "simulator/velocity_commands")
    speeds.publish(Float64MultiArray(data=[-0.5, 0.0, 0.0]))
    rig.wait(lambda: sum(abs(one.velocity[0] + 0.5) < 1e-7 for one in states) > 40)
    stamps, start = [one.header.stamp for one in states[-40:]], states[-40].header.stamp.sec
    times = [one.sec - start + 1e-9 * one.nanosec for one in stamps]
    assert np.diff(times).max() > 0.014
    apart = [one.position[0] + 0.5 * t for one, t in zip(states[-40:], times, strict=True)]
    assert np.ptp(apart) < 2e-4  # 13 ms late: 65e-4


@pytest.mark.parametrize(
    ("topic", "message", "reason"),
    [
        ("position_command", JointState(name=["elbow"], effort=[1.0]), "has 0 positions, expected"),
        ("velocity_command", JointState(name=["elbow"], velocity=[NAN, 1.0]), "2 velocities"),
        ("joint_command", JointState(name=["elbow"], position=[math.inf]), "position of elbow"),
        ("position_commands", Float64MultiArray(data=[0.0, NAN, 0.0]), "position of elbow is nan"),
    ],
)  # fmt: skip
def test_bad_commands(rig: Rig, topic: str, message: Any, reason: str) -> None:
    node = rig.add(Simulator, robot_description=ARM, rate=100.0, start_paused=True)
    rig.publisher(type(message), f"simulator/{topic}").publish(message)
    rig.wait(lambda: node.refusals.last)
    assert reason in node.refusals.last and not node.session.commands.follow
