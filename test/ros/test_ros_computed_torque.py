"""Control on measured joint states: right efforts, modes, and zeros whenever there is a reason."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseStamped
from ros_feedforward import last_is, state
from ros_rig import ARM, JOINTS, STONE, Rig, rig
from sensor_msgs.msg import JointState
from slider_cranks import SLIDER
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.ros.nodes.computed_torque import ComputedTorque
from mbdyn_ros.ros.nodes.control_loop import ControlLoop, Doubts
from mbdyn_ros.ros.nodes.follower import Conditions

__all__ = ["rig"]

ROOT = Path(__file__).resolve().parents[2]
NAME = "computed_torque"
Q, V = [0.3, -0.7, 0.02], [0.5, 1.0, -0.1]


class Bench:
    """The node, the joint states that it is shown, and what it sends."""

    def __init__(self, rig: Rig, **parameters: Any) -> None:
        loose = {"reference_timeout": 0.0, "state_timeout": 0.5, "longest_gap": 60.0}
        given = {"robot_description": ARM, "rate": 200.0, **loose, **parameters}
        name = given.pop("namespace", "")
        self.rig, self.node = rig, rig.add(ComputedTorque, name, **given)
        self.sent = rig.listen(Float64MultiArray, f"{name}/{NAME}/commands".lstrip("/"))
        self._states = rig.publisher(JointState, f"{name}/joint_states".lstrip("/"))

    def show(self, q: Any = Q, v: Any = V, names: Any = JOINTS) -> None:
        """Publish joint states."""
        self._states.publish(JointState(name=list(names), position=list(q), velocity=list(v)))

    def until(
        self, ready: Callable[[], object], q: Any = Q, v: Any = V, names: Any = JOINTS
    ) -> None:
        """Show a state again and again until that."""

        def shown() -> object:
            self.show(q, v, names)
            return ready()

        self.rig.wait(shown)

    def until_sent(self, publisher: Any, message: Any, efforts: Any, v: Any = V) -> None:
        """Publish this too, until these efforts come: states may be stale on a busy machine."""

        def heard() -> bool:
            publisher.publish(message)
            return last_is(self.sent, efforts)

        self.until(heard, v=v)

    def idle(self, words: str) -> bool:
        """Zeros, for this reason."""
        return words in self.node.idle_reason and last_is(self.sent, [0, 0, 0])


@pytest.fixture
def arm(interpreted: None) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ARM)


def test_hand_guiding_and_its_end(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    bench = Bench(rig, guiding_damping=[2.0])
    rig.wait(lambda: bench.idle("no joint_states of all joints for 0.5 s"))
    expected = arm.gravity_vector(Q) - 2 * np.array(V)
    bench.until(lambda: last_is(bench.sent, expected))
    rig.wait(lambda: bench.idle("no joint_states of all joints for 0.5 s"))
    values = bench.node.health().values
    assert values["mode"] == "gravity_compensation" and values["state"] == "active"


def test_computed_torque_follows(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    bench = Bench(rig, mode=NAME, kp=[50.0], kd=[5.0, 6.0, 7.0], jump_tolerance=0.0)
    reference = rig.publisher(JointTrajectory, f"{NAME}/reference")
    bench.until(lambda: bench.idle("no reference yet"))
    wanted = np.array([0.35, -0.68, 0.03]), np.array([0.1, 0.2, 0.05]), np.array([1.0, -2, 0.3])
    a = wanted[2] + 50 * (wanted[0] - Q) + np.array([5, 6, 7]) * (wanted[1] - V)
    expected = arm.inverse_dynamics(Q, V, a, friction=False) + arm.friction_vector(Q, wanted[1])
    bench.until_sent(reference, state(*(one.tolist() for one in wanted)), expected)
    assert rig.set(bench.node, kp=[1.0, 2.0]).startswith("kp has 2 numbers; give none, one for all")
    far = Q[0] + 0.25, *Q[1:]
    bench.until(lambda: "shoulder is 0.2 from where it is wanted" in bench.node.fault, far)
    rig.wait(lambda: last_is(bench.sent, [0, 0, 0]))
    assert rig.call(Trigger, f"{NAME}/reset").success
    bench.until(lambda: bench.idle("no reference yet"))


def test_modes_change_without_a_jump_and_need_their_topics(rig: Rig) -> None:
    bench = Bench(
        rig, link="lower", fading_time=0.5, joint_stiffness=[200.0], link_stiffness=[500.0],
        following_tolerance=0.0, guiding_damping=[30.0],
    )  # fmt: skip
    node, sent = bench.node, bench.sent
    assert rig.set(node, mode="joint_impedance").startswith("no joint_states of all joints")
    bench.until(lambda: sent and any(sent[-1].data))
    assert rig.set(node, mode="joint_impedance") == (
        f"mode joint_impedance: no node publishes on /{NAME}/reference, which it follows"
    )
    assert rig.set(node, mode="velocity").startswith("mode: 'velocity' is not one of")
    rig.publisher(JointTrajectory, f"{NAME}/reference")
    rig.publisher(PoseStamped, f"{NAME}/target")
    size = max(map(abs, sent[-1].data))
    for mode in ("joint_impedance", "cartesian_impedance", NAME, "gravity_compensation"):
        sent.clear()
        bench.until(lambda: sent)
        assert rig.set(node, mode=mode) == ""
        begin = time.monotonic()
        bench.until(lambda begin=begin: time.monotonic() > begin + 0.2)
        efforts = np.array([one.data for one in sent])
        assert len(efforts) > 10 and np.abs(np.diff(efforts, axis=0)).max() < 0.4 * size
        assert np.abs(efforts).min(axis=0)[0] > 0.1  # no zeros in between


def test_a_target(rig: Rig, arm: mbdyn_ros.Robot) -> None:
    bench = Bench(rig, mode="cartesian_impedance", link="lower", link_stiffness=[300.0])
    node = bench.node
    targets = rig.publisher(PoseStamped, f"{NAME}/target")
    bench.until(lambda: bench.idle("no target yet"), v=[0, 0, 0])
    pose = arm.frame_pose(Q, "lower")
    half = (Q[0] + Q[1]) / 2
    message = PoseStamped()
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = pose[:3, 3] + [0.02, 0.0, -0.01]
    turn.y, turn.w = math.sin(half), math.cos(half)
    expected = arm.gravity_vector(Q) + 300 * arm.jacobian(Q, "lower")[:3].T @ [0.02, 0, -0.01]
    bench.until_sent(targets, message, expected, [0, 0, 0])
    for change, words in (
        (lambda: setattr(place, "x", place.x + 1), "the place of lower is 1.02"),
        (lambda: setattr(turn, "w", 3.0), "it must be a unit quaternion"),
        (lambda: setattr(place, "x", math.nan), "the target's position of x is nan"),
        (lambda: setattr(message.header, "frame_id", "moon"), "in frame 'moon'; give it in"),
    ):
        change()
        targets.publish(message)
        bench.until(lambda words=words: words in node.refused_targets.last, v=[0, 0, 0])
    assert last_is(bench.sent, expected)
    assert rig.call(Trigger, f"{NAME}/reset").success
    bench.until(lambda: bench.idle("no target yet"), v=[0, 0, 0])


def test_bad_joint_states(rig: Rig) -> None:
    """Each is dropped, with the joint and its numbers; none is followed by an effort."""
    bench = Bench(rig, state_timeout=0.2)
    node = bench.node
    for words, q, names in (
        ("they lack elbow, grip", Q[:1], JOINTS[:1]),
        ("position of elbow is nan", [0.0, math.nan, 0.0], JOINTS),
        ("position has 2 numbers for 3 names", Q[:2], JOINTS),
        ("mirror is measured at 0.2, but the joints it follows put it at 0.04", [*Q, 0.2],
         [*JOINTS, "mirror"]),
    ):  # fmt: skip
        v = V if len(names) == 3 else [0.0] * len(names)
        bench.until(lambda words=words: bench.idle(words), q, v, names)
    bench.until(lambda: any(bench.sent[-1].data), [*Q, 0.04], [*V, 0.0], [*JOINTS, "mirror"])
    jumped = "joint_states jump: elbow from -0.7 to 1.7"
    bench.until(lambda: jumped in node.fault, [0.3, 1.7, 0.02], [0.0] * 3)
    rig.wait(lambda: last_is(bench.sent, [0, 0, 0]))
    assert any("joint_states jump" in one for one in node.health().errors)


def test_states_on_either_side_of_a_stop_are_no_jump(arm: mbdyn_ros.Robot) -> None:
    """A node that was stopped for a second at times stayed in a fault until it was reset."""
    loop = ControlLoop(arm, (), Conditions(1.0, 60.0, 0.5, True, 0.0, 0.0), Doubts(0.0, 0.1),
                       {"link": "", "measured_joints": [], "observer_time_constant": 0.01,
                        "thresholds": [], "centers": []})  # fmt: skip

    def take(elbow: float, now: float) -> bool:
        message = JointState(name=JOINTS, position=[0.3, elbow, 0.02], velocity=[0.0] * 3)
        return loop.take(message, now, now)

    assert take(-0.7, 5.0)
    loop.efforts(5.0)
    with pytest.raises(InputError, match="joint_states jump: elbow from -0.7 to 1.7"):
        take(1.7, 5.1)
    loop.forget("1 s passed between two cycles")
    assert take(-0.7, 6.0) and take(1.7, 6.1)


def test_other_joints_are_measured(rig: Rig) -> None:
    """The rocker of a four-bar says where its crank is; both are fused, unless they disagree."""
    path = ROOT / "urdf" / "four_bar.urdf"
    robot = mbdyn_ros.load(path)
    q, v = np.array(robot.home_position) + 0.2, np.array([0.5])
    positions, rates, _ = robot.joint_state(q, v)
    assert rates is not None
    crank, other = robot.independent_joints[0], robot.dependent_joints[-1]
    row = robot.joint_names.index(other)
    given = {"robot_description": "", "urdf": str(path), "guiding_damping": [2.0]}
    bench = Bench(rig, measured_joints=[other], **given)
    expected = robot.gravity_vector(q) - 2 * v
    bench.until(lambda: last_is(bench.sent, expected), positions[[row]], rates[[row]], [other])
    both = Bench(rig, namespace="both", measured_joints=[crank, other], **given)
    names, found = [crank, other], (np.append(q, positions[row]), np.append(v, rates[row]))
    both.until(lambda: last_is(both.sent, expected), *found, names)
    found[0][1] += 0.1
    both.until(lambda: "from where the others put it" in both.node.idle_reason, *found, names)
    rig.wait(lambda: last_is(both.sent, [0]))


def test_unstable_gains_are_refused(rig: Rig) -> None:
    bench = Bench(rig, mode=NAME, following_tolerance=0.0)
    bench.until(lambda: bench.node.follower.posture(bench.node.time()) is not None)
    control = bench.node.follower.control
    before = {name: numbers.copy() for name, numbers in control._gains.items()}
    for gains in ({"kd": [500.0]}, {"kp": [1e9]}, {"kp": [1e12], "kd": [1e12]}):
        words = rig.set(bench.node, **gains)
        assert words.endswith("or set the parameter allow_unstable_gains to true"), words
        for name, numbers in control._gains.items():
            assert numbers.tolist() == before[name].tolist()
    # of another mode: refused with the mode
    rig.publisher(JointTrajectory, f"{NAME}/reference")
    rig.wait(lambda: bench.node.count_publishers(f"{NAME}/reference"))
    assert rig.set(bench.node, joint_damping=[1e6]) == ""
    assert "unstable" in rig.set(bench.node, mode="joint_impedance")
    assert control.mode == NAME


def test_unstable_gains_are_refused_at_the_start(rig: Rig) -> None:
    with pytest.raises(InputError, match="kp.*unstable|unstable.*allow_unstable_gains"):
        rig.add(ComputedTorque, robot_description=ARM, mode=NAME, rate=200.0, kd=[1e6])


def test_unstable_gains_are_warned_of_where_they_are_allowed(rig: Rig) -> None:
    bench = Bench(rig, mode=NAME, following_tolerance=0.0, allow_unstable_gains=True)
    bench.until(lambda: bench.node.follower.posture(bench.node.time()) is not None)
    assert not [one for one in bench.node.health().warnings if "unstable" in one]
    assert rig.set(bench.node, kd=[500.0]) == ""
    health = bench.node.health()
    (words,) = [one for one in health.warnings if "unstable" in one]
    assert "at 200 Hz and one period of delay the eigenvalue" in words
    assert float(str(health.values["largest eigenvalue"]).split()[0]) > 1


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "cartesian_impedance"}, "cartesian_impedance needs a link"),
        ({"link": "hand"}, "there is no link 'hand'"),
        ({"joint_stiffness": [1.0, 2.0]}, "joint_stiffness has 2 numbers"),
        ({"robot_description": SLIDER, "joints": ["knee"]}, "there is no actuated joint 'knee'"),
    ],
)
def test_wrong_parameters(rig: Rig, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        rig.add(ComputedTorque, **{"robot_description": ARM, **given})


def test_a_robot_without_joints(rig: Rig) -> None:
    node = rig.add(ComputedTorque, robot_description=STONE)
    assert node.follower.order.tolist() == [] and node.health().values["mode"]
