"""The nodes of piezo robots over DDS: pulses along a reference, none where there is a reason."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from ros_feedforward import state
from ros_rig import ARM, Rig, rig
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

import mbdyn_ros
from mbdyn_ros.piezo import Rotor, pulse_windows
from mbdyn_ros.piezo.ros.piezo_controller import PiezoController
from mbdyn_ros.piezo.ros.piezo_simulator import PiezoSimulator
from mbdyn_ros.ros.node.health import Health

__all__ = ["rig"]

ROBOT = str(Path(__file__).parents[2] / "urdf" / "piezo_robot.yaml")
HOME = [0.0, 0.3, 0.8, -0.5, 0.6, 0.0]
CONTROLLER, SIMULATOR = "piezo_controller", "piezo_simulator"
LIMITED = ARM.replace('type="continuous"', 'type="revolute"').replace(
    '<child link="lower"/>',
    '<child link="lower"/><limit lower="-1" upper="1" effort="9" velocity="9"/>',
)


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ROBOT)


class Bench:
    """A controller, fed by hand."""

    def __init__(self, rig: Rig, **parameters: Any) -> None:
        from mbdyn_ros_interfaces.msg import PiezoPulses

        self.rig = rig
        self.node = rig.add(PiezoController, **{"urdf": ROBOT, "rate": 200.0, **parameters})
        self.pulses = rig.listen(PiezoPulses, f"{CONTROLLER}/pulses")
        self.commands = rig.listen(Float64MultiArray, f"{CONTROLLER}/commands")
        self._states = rig.publisher(JointState, "joint_states")
        self.phase, self.speed, self.q = 1.5, 1000.0, np.array(HOME)
        self._rotor, self.stamped, self.stamps = None, True, []
        if parameters.get("rotor_source") != "clock":
            self._rotor = rig.publisher(JointState, "rotor_state")

    def feed(self, states: bool = True, rotor: bool = True) -> None:
        names = list(self.node.measured._labels)
        if states:
            zeros = [0.0] * len(names)
            self._states.publish(
                JointState(name=names, position=self.q.tolist(), velocity=zeros)
            )
        if rotor and self._rotor is not None:
            message = JointState(name=["rotor"], position=[self.phase], velocity=[self.speed])
            if self.stamped:
                message.header.stamp = self.rig.client.get_clock().now().to_msg()
            self.stamps.append(message.header.stamp)
            self._rotor.publish(message)

    def until(self, ready: Any, **what: bool) -> Any:
        def fed() -> Any:
            self.feed(**what)
            time.sleep(0.005)
            return ready()

        return self.rig.wait(fed)

    def measured(self) -> bool:
        with self.node.lock:
            return not self.node.measured.missing(self.node.time(), 0.1)

    def on(self) -> bool:
        return bool(self.pulses and self.pulses[-1].rotor_speed)

    def idle(self, reason: str) -> Any:
        return lambda: self.off() and reason in self.node.idle_reason

    def off(self) -> bool:
        last = self.pulses[-1] if self.pulses else None
        return last is not None and not (
            last.rotor_speed or any(last.start_phase) or any(last.end_phase)
        )


def test_pulses_of_a_reference(rig: Rig, piezo: mbdyn_ros.Robot) -> None:
    bench = Bench(rig, reference_timeout=0.0)
    named = rig.listen(JointState, f"{CONTROLLER}/effort")
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    bench.until(bench.idle("no reference yet"))
    wanted = np.array(HOME) + [1e-3, 0, -5e-4, 2e-4, 0, 0]
    reference.publish(state(wanted.tolist()[::-1], names=piezo.joint_names[::-1]))
    bench.until(bench.on)
    message = bench.pulses[-1]
    assert message.name == list(piezo.joint_names) and message.rotor_speed == 1000.0
    assert message.header.stamp in bench.stamps and message.rotor_phase == 1.5
    mean = np.array(message.mean_torque)
    assert mean[[1, 4, 5]].tolist() == [0, 0, 0] and mean[0] > 0 > mean[2]
    judge = pulse_windows(piezo, HOME, Rotor(0.002, 0.005, 1000.0), mean, "gripper")
    np.testing.assert_allclose(message.start_phase, judge.on, atol=1e-9)
    np.testing.assert_allclose(message.end_phase, judge.off, atol=1e-9)
    assert list(message.saturated) == [False] * 6
    bench.until(lambda: bench.commands[-1].data.tolist() == mean.tolist())
    bench.until(lambda: named and named[-1].effort.tolist() == mean.tolist())
    far = np.array(HOME) + [0.5, 0, 0, 0, 0, 0.5]
    reference.publish(state(far.tolist()))
    bench.until(lambda: list(bench.pulses[-1].saturated) == [True] + [False] * 4 + [True])
    values = bench.until(
        lambda: (found := bench.node.health().values)["out of reach"] != "none" and found
    )
    assert (values["out of reach"], values["saturated"]) == ("twist_6", "turn_1")
    assert bench.pulses[-1].start_phase[5] == bench.pulses[-1].end_phase[5] == 0


def test_pulses_end_where_the_torque_stays_out_of_reach(rig: Rig, piezo: mbdyn_ros.Robot) -> None:
    bench = Bench(rig, reference_timeout=0.0, saturation_timeout=60.0)
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    far = np.array(HOME) + [0.5, 0, 1e-3, 0, 0, 0]
    reference.publish(state(far.tolist()))
    bench.until(lambda: bench.on() and bench.pulses[-1].mean_torque[0])
    most = pulse_windows(piezo, HOME, Rotor(0.002, 0.005, 1000.0), [9.0] * 6, "gripper")
    assert 0 < bench.pulses[-1].mean_torque[0] <= most.mean_torque[0] * (1 + 1e-9)
    assert rig.set(bench.node, saturation_timeout=0.1) == ""

    def held() -> Any:
        last = bench.pulses[-1]
        others = last.mean_torque[2] and not last.saturated[2]  # they go on
        return others and last.saturated[0] and not last.mean_torque[0] and last

    last = bench.until(held)
    assert last.start_phase[0] == last.end_phase[0] == 0 and last.rotor_speed == 1000.0
    bench.node.health()
    bench.until(lambda: bench.node.reach._held[0])
    warnings = bench.node.health().warnings
    assert "pulses off, the wanted torque is out of the rotor's reach: turn_1" in warnings
    bench.q = far - [1e-3, 0, 0, 0, 0, 0]
    bench.until(lambda: bench.pulses[-1].mean_torque[0] and not bench.pulses[-1].saturated[0])


def test_a_motion_starts_where_the_joints_are(rig: Rig) -> None:
    bench = Bench(rig)
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    goal = np.array(HOME) + 0.05
    bench.until(bench.measured)
    reference.publish(state(goal.tolist(), at=2.0))
    bench.until(bench.on)
    start = bench.node.playback.start
    for moment, place in ((0.0, HOME), (2.0, goal)):
        q, v, _ = bench.node.playback.at(start + moment)
        np.testing.assert_allclose(q, place, atol=1e-12)
        np.testing.assert_allclose(v, 0, atol=1e-12)


def test_references_follow_simulated_time(rig: Rig) -> None:
    bench = Bench(rig, use_sim_time=True, longest_gap=10.0)
    bench.stamped = False
    clock = rig.publisher(Clock, "/clock")
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    clock.publish(Clock(clock=Time(sec=100)))
    rig.wait(lambda: bench.node.get_clock().now().nanoseconds == 100 * 10**9)
    bench.until(bench.measured)
    reference.publish(state((np.array(HOME) + 0.05).tolist(), at=2.0))
    bench.until(bench.on)
    clock.publish(Clock(clock=Time(sec=101)))
    bench.until(lambda: bench.node.control.wanted_q[0] > 0.02)
    bench.until(bench.on)
    with bench.node.lock:  # half the way, and half a period ahead
        assert bench.node.control.wanted_q[0] == pytest.approx(0.025, abs=1e-3)
    clock.publish(Clock(clock=Time(sec=1)))
    bench.until(bench.idle("the clock went back by 100 s"))


def test_pulses_end_for_every_reason(rig: Rig) -> None:
    bench = Bench(rig, reference_timeout=0.0, state_timeout=0.2, rotor_timeout=0.2)
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    goal = state((np.array(HOME) + 0.001).tolist())

    reference.publish(goal)
    bench.until(bench.on)
    for what, reason in (("rotor", "no rotor_state for 0.2 s"),
                         ("states", "no joint_states of all joints for 0.2 s")):  # fmt: skip
        bench.until(bench.idle(reason), **{what: False})
        assert f"pulses off: {reason}" in bench.node.health().warnings
        bench.until(bench.on)
    for speed, reason in ((0.0, "stands still"), (-5.0, "turns backwards, at -5 rad/s")):
        bench.speed = speed
        bench.until(bench.idle(reason))
        bench.speed = 1000.0
        bench.until(bench.on)
    assert rig.set(bench.node, reference_timeout=0.05) == ""
    bench.until(bench.idle("the reference ended"))
    assert rig.set(bench.node, reference_timeout=0.0) == ""
    bench.until(bench.on)
    assert rig.call(Trigger, f"{CONTROLLER}/reset").success
    bench.until(bench.idle("no reference yet"))


def test_an_error_is_made_good_once(rig: Rig) -> None:
    """A state that grows old is not fed back beyond 1 / gain, here 0.5 s."""
    bench = Bench(rig, reference_timeout=0.0, state_timeout=60.0, gain=2.0)
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    reference.publish(state((np.array(HOME) + 0.001).tolist()))
    bench.until(lambda: bench.on() and any(bench.pulses[-1].mean_torque))
    bench.until(lambda: bench.on() and not any(bench.pulses[-1].mean_torque), states=False)
    bench.until(lambda: any(bench.pulses[-1].mean_torque))


@pytest.mark.alone
def test_phase_by_the_clock(rig: Rig) -> None:
    bench = Bench(rig, rotor_source="clock", rotor_speed=50.0)
    bench.until(lambda: bench.pulses)
    message = bench.pulses[-1]
    moment = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
    apart = (message.rotor_phase - 50.0 * moment) % (2 * math.pi)
    assert min(apart, 2 * math.pi - apart) < 1e-4
    assert rig.set(bench.node, rotor_speed=0.0) == ""
    bench.until(lambda: "the rotor stands still" in bench.node.idle_reason)


def test_bad_references_are_refused(rig: Rig) -> None:
    bench = Bench(rig)
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    changes: list[tuple[dict[str, Any], str]] = [
        ({"q": HOME[:5]}, "position has 5 numbers, expected 6"),
        ({"q": [0.0, math.inf, 0.0, 0.0, 0.0, 0.0]}, "position of twist_2 is inf"),
        ({"names": [*bench.node.control.robot.joint_names[:5], "roll"]}, "no joint 'roll'"),
    ]
    for change, reason in changes:
        reference.publish(state(**{"q": HOME, **change}))
        rig.wait(lambda reason=reason: reason in bench.node.refused_references.last)
    assert bench.node.idle_reason


def test_references_beyond_the_limits_are_refused(rig: Rig) -> None:
    bench = Bench(rig, robot_description=LIMITED, urdf="", rotor_link="lower")
    reference = rig.publisher(type(state([])), f"{CONTROLLER}/reference")
    reference.publish(state([0.0, 1.2, 0.0]))
    rig.wait(lambda: "position of elbow is 1.2 at 0 s, outside its limits -1 to 1"
             in bench.node.refused_references.last)  # fmt: skip
    bench.node.refused_references.report(Health())
    swing = state([0.0, 0.9, 0.0], [0.0, 5.0, 0.0])  # between its points it goes beyond
    swing.points += state([0.0, 0.9, 0.0], [0.0, -5.0, 0.0], at=1.0).points
    reference.publish(swing)
    rig.wait(lambda: "position of elbow is 1." in bench.node.refused_references.last)


def test_targets(rig: Rig, piezo: mbdyn_ros.Robot) -> None:
    bench = Bench(rig)
    target = rig.publisher(PoseStamped, f"{CONTROLLER}/target")
    goal = np.array(HOME) + [0.05, 0.0, 0.02, 0.0, -0.03, 0.0]
    message = PoseStamped()
    place = message.pose.position
    place.x, place.y, place.z = piezo.frame_pose(goal, "gripper")[:3, 3].tolist()
    target.publish(message)
    rig.wait(lambda: "no joint_states of all joints" in bench.node.refused_targets.last)
    bench.until(bench.measured)
    target.publish(message)
    bench.until(lambda: bench.pulses[-1].rotor_speed)
    end, _, _ = bench.node.playback.reference.at(99.0)
    apart = piezo.frame_pose(end, "gripper") - piezo.frame_pose(goal, "gripper")
    assert np.abs(apart[:3, 3]).max() < 1e-9 and abs(end[5]) < 1e-12
    place.x = 0.5
    target.publish(message)
    bench.until(lambda: "cannot be brought to (0.5," in bench.node.refused_targets.last)
    target.publish(PoseStamped())
    bench.until(lambda: "the target is an empty message" in bench.node.refused_targets.last)
    message.header.frame_id = "moon"
    target.publish(message)
    bench.until(lambda: "in frame 'moon'" in bench.node.refused_targets.last)
    message.header.frame_id, message.pose.orientation.w = "foot", 3.0
    assert rig.set(bench.node, target_orientation=True) == ""
    target.publish(message)
    bench.until(lambda: "must be a unit quaternion" in bench.node.refused_targets.last)


@pytest.mark.alone
def test_the_loop_is_closed(rig: Rig, piezo: mbdyn_ros.Robot) -> None:
    """Both nodes: the gripper comes to its target, and its way is shown."""
    from mbdyn_ros_interfaces.msg import PiezoPulses

    simulator = rig.add(PiezoSimulator, urdf=ROBOT, initial_positions=HOME, rate=200.0)
    rig.add(PiezoController, urdf=ROBOT, rate=200.0, target_speed=1.0, reference_timeout=0.0)
    rig.executor.wake()
    pulses = rig.publisher(PiezoPulses, f"{SIMULATOR}/pulses")
    rig.client.create_subscription(PiezoPulses, f"{CONTROLLER}/pulses", pulses.publish, 10)
    states = rig.listen(JointState, "joint_states", 1)
    markers = rig.listen(MarkerArray, f"{SIMULATOR}/markers", 1)
    target = rig.publisher(PoseStamped, f"{CONTROLLER}/target")
    goal = np.array(HOME) + [0.02, 0.0, 0.02, 0.0, 0.02, 0.0]
    message = PoseStamped()
    place = piezo.frame_pose(goal, "gripper")[:3, 3]
    message.pose.position.x, message.pose.position.y, message.pose.position.z = place.tolist()
    rig.wait(lambda: states)
    time.sleep(0.3)
    target.publish(message)

    def gap() -> float:
        return float(np.linalg.norm(
            piezo.frame_pose(np.array(states[-1].position), "gripper")[:3, 3] - place
        ))  # fmt: skip

    assert gap() > 1e-3
    rig.wait(lambda: gap() < 1e-5)
    shown = {one.ns for one in rig.wait(lambda: markers and markers[-1]).markers}
    assert shown == {"limb", "transducer", "mean_torque", "rotor_force"}
    assert not simulator.fault and simulator.motion.time > 0
    assert rig.call(SetBool, f"{SIMULATOR}/pause", data=True).success
    paused = simulator.motion.time
    assert rig.call(Trigger, f"{SIMULATOR}/reset").success
    rig.wait(lambda: states[-1].position.tolist() == HOME)
    assert paused > simulator.motion.time == 0.0


def test_the_simulator_holds_without_pulses(rig: Rig) -> None:
    from mbdyn_ros_interfaces.msg import PiezoPulses

    node = rig.add(
        PiezoSimulator, urdf=ROBOT, initial_positions=HOME, rate=200.0, pulse_timeout=0.3
    )
    pulses = rig.publisher(PiezoPulses, f"{SIMULATOR}/pulses")
    names = list(node.motion.robot.joint_names)
    message = PiezoPulses(
        name=names, start_phase=[1.0] * 6, end_phase=[2.0] * 6, mean_torque=[0.1] * 6,
        saturated=[False] * 6, rotor_speed=1000.0,
    )  # fmt: skip
    pulses.publish(message)
    rig.wait(lambda: node._count > 5)
    rig.wait(lambda: any("no pulses for 0.3 s" in one for one in node.health().warnings))
    assert not node.motion.free.any() and not node.motion.v.any()
    for field, value, reason in (
        ("name", names[::-1], "the pulses are of twist_6"),
        ("start_phase", [math.nan] * 6, "start_phase of turn_1 is nan"),
        ("end_phase", [1.0], "end_phase has 1 numbers, expected 6"),
    ):
        bad = PiezoPulses(
            **{"name": names, "start_phase": [1.0] * 6, "end_phase": [2.0] * 6,
               "mean_torque": [0.1] * 6, "rotor_speed": 1000.0, field: value}
        )  # fmt: skip
        pulses.publish(bad)
        rig.wait(lambda reason=reason: reason in node.refusals.last)
    assert rig.set(node, rotor_speed=0.0) == ""
    angle = node.motion.angle
    pulses.publish(message)
    time.sleep(0.1)
    assert node.motion.angle == angle and not node.motion.free.any()


def test_refused_at_start(rig: Rig) -> None:
    cases: list[tuple[type, dict[str, Any], str]] = [
        (PiezoController, {"rotor_link": "hand"}, "no link 'hand'"),
        (PiezoController, {"rotor_mass": 0.0}, "the rotor's mass is 0.0; it must be positive"),
        (PiezoController, {"target_link": "hand"}, "no link 'hand'"),
        (PiezoController, {"rotor_source": "moon"}, "'moon' is not one of"),
        (PiezoSimulator, {"rotor_radius": 0.0}, "the rotor's radius is 0.0"),
        (PiezoSimulator, {"initial_positions": [1.0]}, "1 positions are given for 6"),
    ]
    for kind, parameters, message in cases:
        with pytest.raises(mbdyn_ros.MbdynError, match=message):
            rig.add(kind, **{"urdf": ROBOT, **parameters})
