"""Time: what is played, aged or timed out follows the node's clock, its pauses and its jumps."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time as Stamp
from rclpy.clock import ROSClock
from rclpy.clock_type import ClockType
from rclpy.time import Time
from ros_feedforward import A, Q, V, last_is, start, state
from ros_rig import ARM, JOINTS, Rig, rig
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.motion.playback import Playback, approach, require_timely
from mbdyn_ros.motion.reference import Reference
from mbdyn_ros.ros.node.node_clock import NodeClock
from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]


def stamp(seconds: float) -> Stamp:
    return Stamp(sec=int(seconds), nanosec=round(1e9 * (seconds % 1)))


def show(clock: ROSClock, seconds: float) -> None:
    nanoseconds = round(1e9 * seconds)
    clock.set_ros_time_override(Time(nanoseconds=nanoseconds, clock_type=ClockType.ROS_TIME))


def test_simulated_time() -> None:
    ros = ROSClock()
    clock = NodeClock(ros)
    wall = clock.now()
    assert clock.now() >= wall and not clock.waiting and clock.era == 0
    now = 1e-9 * ros.now().nanoseconds
    assert clock.at(stamp(now + 5.0), wall) == pytest.approx(wall + 5.0, abs=0.1)
    assert clock.at(Stamp(), wall) == wall
    ros._set_ros_time_is_active(True)
    assert clock.now() == 0.0 and "no time on /clock yet" in clock.waiting
    assert clock.era == 1 and clock.jump == "use_sim_time became true"
    assert not (paused := NodeClock(ros, lambda: True)).now() and not paused.waiting
    show(ros, 100.0)
    assert clock.now() == clock.now() == 100.0 and not clock.waiting
    assert clock.at(stamp(7.5), 100.0) == 7.5
    show(ros, 250.0)
    assert clock.now(200.0) == 250.0 and clock.era == 1
    show(ros, 1.0)
    assert clock.now() == 1.0
    assert clock.era == 2 and clock.jump == "the clock went back by 249 s"
    show(ros, 3.0)
    assert clock.now(1.5) == 3.0
    assert clock.era == 3 and clock.jump == "2 s passed between two cycles"


def line(first: float = 0.0, last: float = 1.0) -> Reference:
    """From 1 to 2 rad at 3 rad/s and 4 rad/s^2."""
    q, v = np.array([[1.0], [2.0]]), np.full((2, 1), 3.0)
    return Reference(np.array([first, last]), q, v, np.full((2, 1), 4.0))


def test_a_thread_that_waits_between_two_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """It loses its core for 5 ms after each of three readings: stamps and ages are still right."""
    epoch, waits = 1_700_000_000_000_000_000, iter([5_000_000] * 3)
    passed = [10_000_000_000]

    def read() -> int:
        moment = passed[0]
        passed[0] += next(waits, 100)
        return moment

    monkeypatch.setattr(time, "perf_counter_ns", read)
    monkeypatch.setattr(time, "time_ns", lambda: epoch + read())
    clock = NodeClock(ROSClock())
    assert abs(clock.stamp(8.0) - (epoch + 8_000_000_000)) < 1000
    waits = iter([5_000_000] * 3)
    stamp = Stamp(sec=1_700_000_007)
    assert clock.at(stamp, 0.0) == pytest.approx(7.0, abs=1e-6)


def test_a_late_first_point_is_led_up_to() -> None:
    """From the state at the time of arrival, without a jump of position, velocity or effort."""
    present = np.array([0.2]), np.array([0.3]), np.array([0.4])
    reference, player = line(0.5, 1.0), Playback()
    way = approach(reference, 20.0, 12.0, present)
    player.follow(reference, 20.0, way)
    for moment, there in ((12.0, present), (20.5, ([1.0], [3.0], [4.0]))):
        for one, other in zip(player.at(moment), there, strict=True):
            assert one == pytest.approx(other, abs=1e-9)
    before, after = player.at(20.5 - 1e-9), player.at(20.5 + 1e-9)
    assert [float(one[0]) for one in before] == pytest.approx([float(one[0]) for one in after])
    assert player.at(12.0, lead=8.5)[0] == pytest.approx(1.0)
    assert approach(reference, 20.0, 20.5, present) is None
    rest = np.zeros(1)
    still = approach(Reference(np.zeros(1), np.ones((1, 1))), 5.0, 0.0, (np.ones(1), rest, rest))
    assert still is not None and still.at(2.0)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (9.0, ""), (-0.9, ""), (10.0, ""),
        (10.1, "its first point is due in 10.1 s by the node's clock, more than the parameter "
               "longest_wait"),
        (2.1e9, "look at header.stamp, and at use_sim_time"),
        (-1.6, "its last point was due 0.6 s ago"),
    ],
)  # fmt: skip
def test_absurd_stamps_are_refused(start: float, reason: str) -> None:
    if not reason:
        return require_timely(line(), start, 0.0, 0.5, 10.0)
    with pytest.raises(InputError) as caught:
        require_timely(line(), start, 0.0, 0.5, 10.0)
    assert reason in str(caught.value)


class Clockwork:
    """A feed-forward by simulated time, which stands where it is put."""

    def __init__(self, rig: Rig, **parameters: Any) -> None:
        parameters = {"use_sim_time": True, "reference_timeout": 0.5, **parameters}
        self.rig = rig
        self.node, self.sent, self.reference = start(rig, **parameters)
        self.reference.publish(state(Q))
        rig.wait(lambda: "no time on /clock yet" in self.node.refusals.last)
        rig.wait(lambda: "no time on /clock yet" in self.node.idle_reason)
        self._clock = rig.publisher(Clock, "/clock")

    def show(self, seconds: float) -> None:
        """Bring the node's clock there, and wait for what it sends then."""
        self._clock.publish(Clock(clock=stamp(seconds)))
        now = self.node.get_clock().now
        self.rig.wait(lambda: now().nanoseconds == round(1e9 * seconds))
        self.sent.clear()
        self.rig.wait(lambda: len(self.sent) > 4)


def test_references_follow_simulated_time(rig: Rig, interpreted: None) -> None:
    """Through a pause, jumps ahead and back; nothing runs on by the clock on the wall."""
    arm, work = mbdyn_ros.load(ARM), Clockwork(rig)
    motion = state([0.0] * 3, [0.0] * 3, names=JOINTS)
    motion.points += state(Q, [0.0] * 3, at=2.0).points
    motion.header.stamp = stamp(101.0)
    rig.wait(lambda: not work.node.idle_reason.startswith("use_sim_time"))  # /clock is found
    work.show(100.0)
    work.reference.publish(motion)
    rig.wait(lambda: not work.node.idle_reason)
    wanted = work.node.follower.playback.reference
    for moment in (102.0, 102.5, 102.9):
        work.show(moment)
        efforts = arm.inverse_dynamics(*wanted.at(moment - 101.0))
        assert all(one.data.tolist() == pytest.approx(efforts.tolist()) for one in work.sent[2:])
    work.show(103.6)
    assert last_is(work.sent, [0, 0, 0]) and "ended 0.60 s ago" in work.node.idle_reason
    work.reference.publish(state(Q, V, A, JOINTS))
    rig.wait(lambda: last_is(work.sent, arm.inverse_dynamics(Q, V, A)))
    work.show(1.0)
    assert last_is(work.sent, [0, 0, 0])
    assert work.node.idle_reason == "the clock went back by 102.6 s"
    work.reference.publish(state(Q, V, A, JOINTS))
    rig.wait(lambda: last_is(work.sent, arm.inverse_dynamics(Q, V, A)))
    assert rig.set(work.node, longest_gap=0.2, reference_timeout=0.0) == ""
    work.show(1.5)
    assert last_is(work.sent, [0, 0, 0])
    assert work.node.idle_reason == "0.5 s passed between two cycles"


def test_a_reference_ahead_does_not_act_at_once(rig: Rig, interpreted: None) -> None:
    """The state that is followed moves to the first point over the waiting time."""
    arm, work = mbdyn_ros.load(ARM), Clockwork(rig, reference_timeout=0.0)
    work.show(10.0)
    work.reference.publish(state([0.0] * 3))
    held = arm.gravity_vector([0.0] * 3)
    rig.wait(lambda: last_is(work.sent, held))
    ahead = state(Q)
    ahead.header.stamp = stamp(14.0)
    work.reference.publish(ahead)
    rig.wait(lambda: work.node.follower.playback.start == 14.0)
    work.sent.clear()
    rig.wait(lambda: len(work.sent) > 4)
    assert last_is(work.sent, held)  # not those of the first point
    work.show(12.0)
    q, v, a = work.node.follower.playback.at(12.0)
    assert q == pytest.approx(np.array(Q) / 2) and abs(v[0]) > 0.1
    assert last_is(work.sent, arm.inverse_dynamics(q, v, a))
    work.show(14.0)
    assert last_is(work.sent, arm.gravity_vector(Q))


@pytest.mark.usefixtures("compiled")
def test_commands_age_by_the_time_that_the_simulator_makes(rig: Rig) -> None:
    """Not while it is paused."""
    node = rig.add(
        Simulator, robot_description=ARM, rate=100.0, command_timeout=0.035,
        publish_clock=True, start_paused=True,
    )  # fmt: skip
    commands = rig.publisher(Float64MultiArray, "simulator/commands")
    commands.publish(Float64MultiArray(data=[3.0] * 3))
    rig.wait(lambda: node.health().values["commands from"] == "/client")
    time.sleep(0.1)
    efforts = []
    for _ in range(6):
        assert rig.call(Trigger, "simulator/step").success
        efforts.append(node.session.motion.effort.tolist())
    fading = 3 * (1 - (2 * 0.02 / 0.035 - 1) ** 3), 3 * (1 - (2 * 0.03 / 0.035 - 1) ** 3)
    wanted = [[one] * 3 for one in (3.0, 3.0, *fading, 0.0, 0.0)]
    assert np.array(efforts) == pytest.approx(np.array(wanted), abs=1e-9)
