"""The simulator: it moves as it should, and wrong commands do not stop it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from interpreting import interpreting
from nav_msgs.msg import Odometry
from ros_rig import ARM, CART, GHOST, JOINTS, STONE, Rig, rig, srv
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

import mbdyn_ros
from mbdyn_ros.errors import SimulationError
from mbdyn_ros.ros.messages import base_pose
from mbdyn_ros.ros.node.description import LATCHED
from mbdyn_ros.ros.node.parameters import ParameterError
from mbdyn_ros.ros.nodes.inverse_dynamics_server import InverseDynamicsServer
from mbdyn_ros.ros.nodes.simulator import Simulator
from mbdyn_ros.simulation.stepped.prepared_stepper import PreparedStepper

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

START = [0.3, -0.7, 0.02]


def simulate(rig: Rig, **parameters: Any) -> Any:
    return rig.add(Simulator, **{"robot_description": ARM, "rate": 200.0, **parameters})


def values(node: Any) -> dict[str, str]:
    """What the diagnostics would say now."""
    return {key: str(value) for key, value in node.health().values.items()}


def resting(rig: Rig, **parameters: Any) -> tuple[Any, Callable[[], list[float]]]:
    """A paused simulator, and a function that makes one step and returns the accelerations."""
    node = simulate(rig, start_paused=True, initial_positions=START, **parameters)

    def step() -> list[float]:
        before = node.session.motion.v.copy()
        assert rig.call(Trigger, "simulator/step").success
        return ((node.session.motion.v - before) / node.session.motion.step).tolist()

    return node, step


def test_joint_states_of_all_joints(rig: Rig) -> None:
    simulate(rig, initial_positions=START)
    states = rig.listen(JointState, "joint_states")
    rig.wait(lambda: len(states) > 20)
    for state in states:
        assert state.name == [*JOINTS, "mirror"]
        assert state.header.frame_id == "base"
        position = state.position
        assert len(state.velocity) == len(state.effort) == 4
        assert position[3] == pytest.approx(2 * position[2])
    stamps = [state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec for state in states]
    assert (np.diff(stamps) > 0).all()
    assert abs(stamps[-1] - time.time()) < 2


def test_without_compilers_it_says_what_to_install(rig: Rig) -> None:
    """Nodes that take no steps go on in the interpreter."""
    with interpreting():
        with pytest.raises(SimulationError, match=r"^a Stepper moves in .*install both .*g\+\+"):
            simulate(rig)
        rig.add(InverseDynamicsServer, robot_description=ARM)
        answer = rig.call(
            srv.InverseDynamics, "inverse_dynamics_server/inverse_dynamics",
            name=JOINTS, position=START,
        )  # fmt: skip
        still = mbdyn_ros.load(ARM).gravity_vector(START)
    assert answer.success and answer.effort.tolist() == pytest.approx(still.tolist())


def test_it_falls_as_gravity_says_and_keeps_energy(rig: Rig) -> None:
    text = ARM.replace('<dynamics damping="1"/>', "")
    node = simulate(rig, robot_description=text, rate=1000.0, start_paused=True)
    motion, robot = node.session.motion, node.session.robot
    start = sum(robot.energy(motion.q, motion.v))
    assert rig.call(SetBool, "simulator/pause", data=False).success
    rig.wait(lambda: motion.time > 0.2)
    assert rig.call(SetBool, "simulator/pause", data=True).success
    assert motion.v[0] > 0.5  # gravity turns the arm about +y
    assert sum(robot.energy(motion.q, motion.v)) == pytest.approx(start, abs=1e-6)


def test_array_and_named_commands(rig: Rig) -> None:
    node, step = resting(rig, joints=["elbow", "shoulder"])
    robot = node.session.robot
    rest = robot.forward_dynamics(START, np.zeros(3), np.zeros(3))
    assert step() == pytest.approx(rest, rel=0.1, abs=0.1)
    arrays = rig.publisher(Float64MultiArray, "simulator/commands")
    named = rig.publisher(JointState, "simulator/effort_command")
    arrays.publish(Float64MultiArray(data=[7.0, 40.0]))
    named.publish(JointState(name=["grip"], effort=[-3.0]))
    rig.wait(lambda: node.session.commands.effort.value == [40.0, 7.0, -3.0])
    states = rig.listen(JointState, "joint_states")
    step()
    rig.wait(lambda: states and states[-1].effort.tolist() == [40, 7, -3, 0])


@pytest.mark.alone
def test_a_command_gets_stale(rig: Rig) -> None:
    node = simulate(rig, command_timeout=0.1)
    named = rig.publisher(JointState, "simulator/effort_command")
    named.publish(JointState(name=["elbow"], effort=[5.0]))
    rig.wait(lambda: node.session.motion.effort[1] == 5)
    rig.wait(lambda: node.session.motion.effort[1] == 0)
    health = node.health()
    assert "no command for 0.1 s, zero effort: elbow" in health.warnings
    assert health.values["stale"] == "elbow"


def test_a_push_from_outside(rig: Rig) -> None:
    """Twice its weight upwards, for 0.2 s of its own time, and then it falls again."""
    node = simulate(
        rig, robot_description=STONE, floating_base=True, wrench_duration=0.2, publish_clock=True,
        start_paused=True,
    )  # fmt: skip
    push = rig.publisher(WrenchStamped, "simulator/wrench")
    message = WrenchStamped()
    message.wrench.force.z = 4 * 9.81
    push.publish(message)
    rig.wait(lambda: "names no link" in node.refusals.last)
    message.header.frame_id = "stone"
    for absurd in (1e13, 1e300):
        message.wrench.force.x = absurd
        push.publish(message)
        rig.wait(lambda number=absurd: f"is {number:g}: every number must" in node.refusals.last)
    message.wrench.force.x = 0.0
    push.publish(message)
    rig.wait(lambda: node.session.pushes._sent)
    for _ in range(60):
        assert rig.call(Trigger, "simulator/step").success
    q, v = node.session.motion.q, node.session.motion.v
    assert v[2] == pytest.approx(9.81 * (0.2 - 0.1), abs=0.1)
    assert q[2] == pytest.approx(9.81 / 2 * 0.04 + 9.81 * 0.02 - 9.81 / 2 * 0.01, abs=0.03)
    assert not node.session.pushes._sent and not node.session.motion.effort.any()


def test_diagnostics_of_a_state_that_is_not_finite(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are published all the same, with words and without a traceback."""
    node = simulate(rig, robot_description=STONE, floating_base=True, start_paused=True)
    seen = rig.listen(DiagnosticArray, "/diagnostics")

    def fail(*_: object) -> None:
        raise SimulationError("v of stone/vx is nan")

    monkeypatch.setattr(PreparedStepper, "chart", property(fail))
    rig.wait(lambda: seen and "not known: v of stone/vx is nan" in str(seen[-1].status[0].values))
    monkeypatch.setattr(node.session.limits, "report", fail)  # whatever else fails so
    rig.wait(lambda: seen[-1].status[0].message == "v of stone/vx is nan")
    assert seen[-1].status[0].level == DiagnosticStatus.ERROR


def test_a_state_with_a_quaternion_of_zeros_is_refused(rig: Rig) -> None:
    simulate(rig, robot_description=STONE, floating_base=True, start_paused=True)
    answer = rig.call(srv.SetState, "simulator/set_state", position=[0.0] * 7)
    assert not answer.success and "quaternion" in answer.message


def test_an_imu(rig: Rig) -> None:
    """In free fall it shows nothing; before, its weight."""
    simulate(rig, robot_description=STONE, floating_base=True, imu_links=["stone"])
    readings = rig.listen(Imu, "simulator/imu/stone")
    rig.wait(lambda: len(readings) > 5)
    for reading in readings[-3:]:
        assert reading.header.frame_id == "stone" and reading.orientation.w == 1
        assert abs(reading.linear_acceleration.z) < 1e-6


def test_efforts_are_clamped_and_reported(rig: Rig) -> None:
    node = simulate(rig, command_timeout=100.0)
    commands = rig.publisher(Float64MultiArray, "simulator/commands")
    commands.publish(Float64MultiArray(data=[-80.0, 70.0, 0.0]))
    rig.wait(lambda: node.session.motion.effort.tolist() == [-50, 70, 0])
    clamped = "shoulder (80 wanted, 50 allowed)"
    assert values(node)["clamped"] == clamped
    assert rig.set(node, enforce_effort_limits=False) == ""
    rig.wait(lambda: node.session.motion.effort.tolist() == [-80, 70, 0])


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Float64MultiArray(data=[1.0]), "the command has 1 efforts, expected 3"),
        (Float64MultiArray(data=[]), "the command has 0 efforts, expected 3"),
        (Float64MultiArray(data=[0.0, math.nan, 0.0]), "effort of elbow is nan"),
        (JointState(), "the command names no joint"),
        (JointState(name=["knee"], effort=[1.0]), "no actuated joint 'knee'"),
        (JointState(name=["mirror"], effort=[1.0]), "no actuated joint 'mirror'"),
        (JointState(name=["grip", "grip"], effort=[1.0, 1.0]), "'grip' is named twice"),
        (JointState(name=["grip"], effort=[]), "the command has 0 efforts, expected 1: grip"),
        (JointState(name=["grip"], effort=[math.inf]), "effort of grip is inf"),
        (JointState(name=["elbow"], effort=[1e308]),
         "effort of elbow is 1e+308: every number must be at most 1e+12 in size"),
    ],
)
def test_bad_command(rig: Rig, message: Any, reason: str) -> None:
    node = simulate(rig)
    topic = "effort_command" if isinstance(message, JointState) else "commands"
    rig.publisher(type(message), f"simulator/{topic}").publish(message)
    rig.wait(lambda: reason in node.refusals.last)
    assert not node.fault and not node.session.motion.effort.any()
    assert any(reason in warning for warning in node.health().warnings)


def test_pause_step_reset(rig: Rig) -> None:
    node = simulate(rig, initial_joints=["elbow"], initial_positions=[0.5])
    assert "call ~/pause" in rig.call(Trigger, "simulator/step").message
    rig.wait(lambda: node.session.motion.time > 0.05)
    assert rig.call(SetBool, "simulator/pause", data=True).message.startswith("paused at t = ")
    moment = node.session.motion.time
    time.sleep(0.05)
    assert node.session.motion.time == moment and node.held
    assert rig.call(Trigger, "simulator/step").success
    assert node.session.motion.time == pytest.approx(moment + 0.005)
    assert rig.call(Trigger, "simulator/reset").success
    assert node.session.motion.time == 0 and node.session.motion.q.tolist() == [0, 0.5, 0]
    assert node.paused and not node.held  # stopped, as simulation_interfaces calls it


def test_set_state(rig: Rig) -> None:
    node = simulate(rig, start_paused=True)
    answer = rig.call(
        srv.SetState, "simulator/set_state",
        name=["grip", "elbow", "shoulder"], position=[0.05, 2.0, 1.0], velocity=[0.1, 0.2, 0.3],
    )  # fmt: skip
    assert answer.success
    assert node.session.motion.q.tolist() == [1, 2, 0.05]
    assert node.session.motion.v.tolist() == [0.3, 0.2, 0.1]
    for fields, message in (
        ({}, "position has 0 numbers"),
        ({"position": [0.0, math.nan, 0.0]}, "position of elbow is nan"),
        ({"name": ["elbow"], "position": [0.0]}, "joint 'shoulder' is missing"),
        (
            {"position": START, "velocity": [0.0, 1e11, 0.0]},
            "velocity of elbow is 1e+11 rad/s, more than 628.319, half a turn in a step of 0.005 s",
        ),
        ({"position": START, "velocity": [0, 0, -1e6]}, "velocity of grip is -1e+06 m/s, more"),
    ):
        answer = rig.call(srv.SetState, "simulator/set_state", **fields)
        assert not answer.success and message in answer.message
    assert node.session.motion.q.tolist() == [1, 2, 0.05]


def test_an_explosion_stops_the_motion_not_the_node(rig: Rig) -> None:
    node = simulate(rig)
    statuses = rig.listen(DiagnosticArray, "/diagnostics")
    states = rig.listen(JointState, "joint_states")
    with node.lock:
        node.session.set_state(np.array(START), np.array([1e11, 0.0, 0.0]))
    rig.wait(lambda: node.fault)
    assert "left the finite numbers" in node.fault
    states.clear()
    rig.wait(lambda: len(states) > 5)
    assert not any(states[-1].effort) and np.isfinite(states[-1].position).all()
    errors = rig.wait(
        lambda: [one.status[0] for one in statuses if one.status[0].level == DiagnosticStatus.ERROR]
    )
    assert "left the finite numbers" in errors[0].message
    rig.call(SetBool, "simulator/pause", data=True)
    assert "call ~/reset first" in rig.call(Trigger, "simulator/step").message
    rig.call(SetBool, "simulator/pause", data=False)
    assert "cleared: " in rig.call(Trigger, "simulator/reset").message
    rig.wait(lambda: node.session.motion.time > 0.02)
    assert not node.fault


def test_an_unforeseen_exception_is_a_fault_too(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    node = simulate(rig)
    monkeypatch.setattr(PreparedStepper, "advance", lambda motion: 1 / 0)
    rig.wait(lambda: node.fault)
    assert node.fault == "ZeroDivisionError: division by zero"
    monkeypatch.undo()
    assert rig.call(Trigger, "simulator/reset").success
    rig.wait(lambda: node.session.motion.time > 0.02)


@pytest.mark.alone
def test_diagnostics(rig: Rig) -> None:
    simulate(rig, joint_limits=False)
    statuses = rig.listen(DiagnosticArray, "/diagnostics")
    rig.wait(lambda: len(statuses) > 1)
    status = statuses[-1].status[0]
    assert status.name == "simulator"
    found = {item.key: item.value for item in status.values}
    assert 100 < float(found["rate (Hz)"]) < 250
    assert found["wanted rate (Hz)"] == "200" and found["method"] == "rk4"
    for key in ("worst overrun (us)", "mean compute time (us)", "energy (J)", "fault"):
        assert key in found


@pytest.mark.alone
def test_rate_and_gravity_can_change(rig: Rig) -> None:
    node = simulate(rig, start_paused=True, initial_positions=START)
    assert "rate" in rig.set(node, rate=0.0)
    assert rig.set(node, rate=math.nan)
    assert rig.set(node, rate=500.0, substeps=2) == ""
    assert node.session.motion.step == pytest.approx(1e-3)
    rig.wait(lambda: float(values(node)["rate (Hz)"]) > 300)
    assert rig.set(node, gravity=[0.0, 0.0, 0.0]) == ""
    rig.wait(lambda: not node.session.robot.gravity.any())
    assert node.session.motion.q.tolist() == START
    assert rig.call(SetBool, "simulator/pause", data=False).success
    rig.wait(lambda: node.session.motion.time > 0.02)
    assert not node.session.motion.v.any()


@pytest.mark.alone
def test_clock_and_real_time_factor(rig: Rig) -> None:
    node = simulate(
        rig, publish_clock=True, real_time_factor=4.0, publish_rate=50.0, joint_limits=False
    )
    clocks = rig.listen(Clock, "/clock")
    states = rig.listen(JointState, "joint_states")
    rig.wait(lambda: len(clocks) > 20 and len(states) > 20)
    stamps = np.array([one.clock.sec + 1e-9 * one.clock.nanosec for one in clocks])
    assert stamps[-1] < 30  # simulated seconds, not those of the world
    assert np.median(np.diff(stamps)) == pytest.approx(0.02, abs=0.006)
    begin, moment = time.perf_counter(), node.session.motion.time
    time.sleep(0.25)
    passed = (node.session.motion.time - moment) / (time.perf_counter() - begin)
    assert 2.5 < passed < 4.5
    assert states[-1].header.stamp.sec < 30


def test_floating_base(rig: Rig) -> None:
    pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    node = simulate(rig, robot_description=STONE, floating_base=True, initial_positions=pose)
    odometry = rig.listen(Odometry, "simulator/odometry")
    rig.wait(lambda: odometry and odometry[-1].pose.pose.position.z < 2.9)
    last = odometry[-1]
    assert (last.header.frame_id, last.child_frame_id) == ("world", "stone")
    assert last.pose.pose.position.x == 1 and last.pose.pose.orientation.w == 1
    z, speed = last.pose.pose.position.z, last.twist.twist.linear.z
    assert speed == pytest.approx(-math.sqrt(2 * 9.81 * (3 - z)), rel=1e-6)
    assert not node.fault


def test_transforms_where_tf2_msgs_is(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """tf2_msgs is not among the wheels: another type with that field replaces it."""
    sent: list[Any] = []

    class Publisher:
        publish = sent.append

    monkeypatch.setattr(base_pose, "TFMessage", lambda transforms: transforms)
    node = rig.client
    monkeypatch.setattr(node, "create_publisher", lambda *arguments: Publisher)
    robot = mbdyn_ros.load(CART)
    poses = base_pose.PosePublisher(node, robot)
    poses.publish(np.array([1.0, 2.0, math.pi / 2]), np.zeros(3), 7_000_000_008)
    (transform,) = sent[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("floor", "sled")
    assert transform.header.stamp.sec == 7
    move, turn = transform.transform.translation, transform.transform.rotation
    assert robot.frame_pose([1.0, 2.0, math.pi / 2], "sled")[:3, 3] == pytest.approx(
        [move.x, move.y, move.z]
    )
    assert abs(turn.z) == pytest.approx(math.sqrt(0.5)) and abs(turn.w) == pytest.approx(
        math.sqrt(0.5)
    )


def test_transform_of_a_joint_that_a_loop_took_apart(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The links between are ours; others know the joint as one."""
    sent: list[Any] = []

    class Publisher:
        publish = sent.append

    monkeypatch.setattr(base_pose, "TFMessage", lambda transforms: transforms)
    node = rig.client
    monkeypatch.setattr(node, "create_publisher", lambda *arguments: Publisher)
    loop = """<loop name="rail" type="prismatic"><axis xyz="1 0 0"/><predecessor link="floor"/>
      <successor link="sled"/></loop></robot>"""
    robot = mbdyn_ros.load(CART.replace("</robot>", loop))
    assert len(robot.joint_names) == 3 and robot.nv == 1
    poses = base_pose.PosePublisher(node, robot)
    poses.publish(np.array([0.7]), np.zeros(1), 0)
    (transform,) = sent[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("floor", "sled")
    assert transform.transform.translation.x == pytest.approx(robot.frame_pose([0.7], "sled")[0, 3])


def test_planar_joint(rig: Rig) -> None:
    node = simulate(rig, robot_description=CART, command_timeout=100.0)
    commands = rig.publisher(Float64MultiArray, "simulator/commands")
    commands.publish(Float64MultiArray(data=[2.0, 0.0, 0.0]))
    rig.wait(lambda: node.session.motion.v[0] > 0.05)
    assert not node.fault


def test_markers(rig: Rig) -> None:
    node = simulate(rig, command_timeout=100.0)
    markers = rig.listen(MarkerArray, "simulator/markers", LATCHED)
    commands = rig.publisher(Float64MultiArray, "simulator/commands")
    commands.publish(Float64MultiArray(data=[-25.0, 0.0, 0.0]))
    rig.wait(lambda: node.session.motion.effort[0] == -25)
    markers.clear()
    rig.wait(lambda: len(markers) > 3)
    by_space: dict[str, list[Any]] = {}
    for marker in markers[-1].markers:
        by_space.setdefault(marker.ns, []).append(marker)
    assert [marker.header.frame_id for marker in by_space["mass"]] == [
        "upper", "lower", "finger", "thumb",
    ]  # fmt: skip
    arrow = by_space["effort"][0]
    assert arrow.header.frame_id == "upper" and arrow.scale.x == pytest.approx(0.15)
    turn = arrow.pose.orientation  # x to -y: a quarter turn about -z
    assert turn.z == pytest.approx(-math.sqrt(0.5)) and turn.w == pytest.approx(math.sqrt(0.5))


def test_description_by_topic(rig: Rig) -> None:
    node = rig.add(Simulator, rate=100.0)
    assert "there is no robot yet" in rig.call(Trigger, "simulator/reset").message
    states = rig.listen(JointState, "joint_states")
    publisher = rig.publisher(String, "robot_description", LATCHED)
    publisher.publish(String(data=ARM))
    rig.wait(lambda: states)
    assert node.session.robot.model.name == "arm"
    publisher.publish(String(data="<robot/>"))
    rig.wait(lambda: node.description.refusal)
    assert node.session.robot.model.name == "arm" and not node.fault
    publisher.publish(String(data=CART))
    rig.wait(lambda: node.session.robot.model.name == "cart")
    rig.wait(lambda: node.session.motion.time > 0.05)


@pytest.mark.sparse
@pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"robot_description": GHOST}, "link 'nothing'"),
        ({"robot_description": "<robot"}, "XML"),
        ({"robot_description": "", "urdf": "/no/such/file.urdf"}, "/no/such/file.urdf"),
        ({"rate": -1.0}, "rate"),
        ({"rate": math.nan}, "rate"),
        ({"rate": 100}, "decimal point"),
        ({"gravity": [0, 0, -9]}, "decimal point"),
        ({"gravity": [1.0]}, "gravity: it has 1 numbers, not 3"),
        ({"gravity": [0.0, 0.0, math.inf]}, "gravity[2] is inf"),
        ({"joints": ["shoulder", "knee"]}, "no actuated joint 'knee'"),
        ({"initial_joints": ["knee"], "initial_positions": [1.0]}, "no independent joint 'knee'"),
        ({"initial_positions": [1.0]}, "1 positions are given for 3"),
        ({"initial_positions": [0.0, math.nan, 0.0]}, "initial_positions[1] is nan"),
    ],
)
def test_refused_at_start(rig: Rig, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(mbdyn_ros.MbdynError) as caught:
        simulate(rig, **parameters)
    assert message in str(caught.value)


def test_read_only_parameters(rig: Rig) -> None:
    node = simulate(rig)
    assert "read-only" in rig.set(node, frame_id="other")
    description = node.describe_parameter("rate")
    assert description.description and description.floating_point_range[0].to_value == 10000
    assert isinstance(ParameterError("x"), mbdyn_ros.MbdynError)
