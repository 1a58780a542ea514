"""Recordings of NumPy, of controllers, of motors, in files of their own; and what filters do."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.actuators import HydraulicCylinder
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.recording import Recording, Sensors, read_recording, read_table
from mbdyn_ros.recording.bag import _table
from mbdyn_ros.recording.conditioning import ZeroPhase, chosen_cutoff, clipped, conditioned

pytestmark = pytest.mark.usefixtures("interpreted")

TIME = 0.004 * np.arange(2000)
Q = 0.8 * np.sin(TIME[:, None] * [1.0, 1.7] + 1)
EFFORT = np.cos(3 * Q)

TEXT = """<robot name="wrist"><link name="a"/><link name="b"/><link name="c"/>
<joint name="j1" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="j2" type="continuous"><parent link="b"/><child link="c"/></joint>
<transmission name="gears"><type>transmission_interface/FourBarLinkageTransmission</type>
<joint name="j1"><role>joint1</role></joint><joint name="j2"><role>joint2</role></joint>
<actuator name="m1"><role>actuator1</role><mechanicalReduction>45</mechanicalReduction></actuator>
<actuator name="m2"><role>actuator2</role><mechanicalReduction>32</mechanicalReduction></actuator>
</transmission></robot>"""


@pytest.fixture(scope="module")
def wrist() -> mbdyn_ros.Robot:
    text = TEXT.replace('"b"/><link', '"b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
                        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link')  # fmt: skip
    return mbdyn_ros.load(text)


def test_matrices_of_numpy(wrist: mbdyn_ros.Robot, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    np.savez(path, times=TIME, positions=Q, torques=EFFORT, target_positions=0 * Q)
    found = read_recording(wrist, path)
    kept = slice(13, -13)
    np.testing.assert_allclose(found.q, Q[kept])
    np.testing.assert_allclose(found.effort, EFFORT[kept])
    np.save(tmp_path / "bare.npy", Q)
    with pytest.raises(InputError, match="no arrays of numbers with names"):
        read_table(tmp_path / "bare.npy")
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="cannot be read as NumPy's"):
        read_table(tmp_path / "broken.npz")


def test_motors_lead_to_joints_by_transmissions(wrist: mbdyn_ros.Robot, tmp_path: Path) -> None:
    """Each quantity in a file of its own, whose columns name joints alone."""
    rates = np.array([[45.0, 0.0], [32.0, 32.0]])
    position, current = tmp_path / "pos.csv", tmp_path / "curr.csv"
    header = {"header": "J1,J2", "delimiter": ",", "comments": ""}
    np.savetxt(position, (Q - [0, 0.5]) @ rates.T, fmt="%.17g", **header)
    np.savetxt(current, EFFORT @ np.linalg.inv(rates) / [2.0, 1.0], fmt="%.17g", **header)
    sensors = Sensors(rate=250, motors=True, gains={"j1": 2.0}, zeros={"j2": 0.5})
    found = read_recording(wrist, f"position={position},effort={current}", sensors)
    kept = slice(13, -13)
    np.testing.assert_allclose(found.q, Q[kept], atol=1e-12)
    np.testing.assert_allclose(found.effort, EFFORT[kept], atol=1e-12)
    with pytest.raises(InputError, match="'j3' has no such number; there are j1, j2"):
        unknown = Sensors(250, gains={"j3": 1})
        read_recording(wrist, f"position={position},effort={current}", unknown)


def test_joints_that_were_not_recorded_are_named(wrist: mbdyn_ros.Robot, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    rows = np.column_stack([TIME, Q[:, 0], EFFORT])
    np.savetxt(path, rows, header="time,position/j1,effort/j1,effort/j2", delimiter=",",
               comments="")  # fmt: skip
    with pytest.raises(InputError, match="j2 are missing: record them, or lock them: mbdyn edit"):
        read_recording(wrist, path)


CONTROLLER_STATE = """std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
string[] multi_dof_joint_names"""


def test_sqlite_bags_of_a_trajectory_controller(tmp_path: Path) -> None:
    """The feedback counts; a bag without the definition of its messages (Humble's) says so."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kind = "control_msgs/msg/JointTrajectoryControllerState"
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg(CONTROLLER_STATE, kind))
    of = {name.split("/")[-1]: one for name, one in store.types.items()}
    none, bag = np.zeros(0), tmp_path / "bag"

    def point(q: Array, effort: Array) -> object:
        return of["JointTrajectoryPoint"](q, none, none, effort, of["Duration"](0, 0))

    with Writer(bag, version=8, storage_plugin=StoragePlugin.SQLITE3) as writer:
        topic = writer.add_connection("/arm/controller_state", kind, typestore=store)
        for k, time in enumerate(TIME[:30]):
            stamp = of["Time"](3, round(1e9 * time))
            message = of["JointTrajectoryControllerState"](
                of["Header"](stamp, ""), ["j2", "j1"], point(-Q[k], none), point(Q[k], EFFORT[k]),
                point(2 * Q[k], none), point(none, none), [],
            )  # fmt: skip
            writer.write(topic, k, store.serialize_cdr(message, kind))
    for path in (bag, bag / "bag.db3"):
        found = read_table(path)
        np.testing.assert_allclose(found["time"][""], TIME[:30], atol=1e-9)
        np.testing.assert_array_equal(found["position"]["j1"], Q[:30, 1])
        np.testing.assert_array_equal(found["effort"]["j2"], EFFORT[:30, 0])
        assert "velocity" not in found
    with sqlite3.connect(bag / "bag.db3") as data:
        data.execute("DELETE FROM message_definitions")
    with pytest.raises(InputError, match=f"no definition of {kind}, .* `ros2 bag convert`"):
        read_table(bag)


def test_a_bag_of_ros_1_with_two_senders_and_no_stamps(tmp_path: Path) -> None:
    """A gripper's states come between the arm's on one topic; commands go on another one."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    kind = "sensor_msgs/msg/JointState"
    header, stamp, state = (store.types[one] for one in (
        "std_msgs/msg/Header", "builtin_interfaces/msg/Time", kind
    ))  # fmt: skip
    with Writer(tmp_path / "run.bag") as writer:
        states, commands = (writer.add_connection(topic, kind, typestore=store)
                            for topic in ("/joint_states", "/joint_command"))  # fmt: skip
        for k, time in enumerate(TIME[:40]):
            for topic, later, names, rows in (
                (states, 0, ["j1", "j2"], Q[k]), (commands, 0, ["j1", "j2"], 2 * Q[k]),
                (states, 10**6, ["finger"], np.array([time])),
            ):  # fmt: skip
                message = state(header(k, stamp(0, 0), ""), names, rows, rows, rows)
                received = 10**18 + round(1e9 * time) + later
                writer.write(topic, received, store.serialize_ros1(message, kind))
    found = read_table(tmp_path / "run.bag")
    np.testing.assert_allclose(found["time"][""], TIME[:40], atol=1e-6)
    np.testing.assert_array_equal(found["position"]["j2"], Q[:40, 1])
    np.testing.assert_allclose(found["effort"]["finger"][1:], TIME[1:40] - 1e-3, atol=1e-6)


def test_states_of_joints_by_interfaces() -> None:
    """DynamicJointState of control_msgs."""
    stamp = SimpleNamespace(stamp=SimpleNamespace(sec=3, nanosec=5))
    values = [
        SimpleNamespace(interface_names=["position", "effort"], values=[k, 10.0 + k])
        for k in (1.0, 2.0)
    ]
    state = SimpleNamespace(header=stamp, joint_names=["a", "b"], interface_values=values)
    found = _table([state], [0], "DynamicJointState", "bag")
    assert found["effort"]["b"].tolist() == [12.0] and found["position"]["a"].tolist() == [1.0]


def test_the_filter_is_butterworths_run_to_and_fro() -> None:
    from scipy.signal import butter, sosfiltfilt  # slow to import

    noisy = Q + 0.1 * np.random.default_rng(0).normal(size=Q.shape)
    ours = ZeroPhase(5.0, 250.0)(noisy)
    theirs = sosfiltfilt(butter(4, 5 / 125, output="sos"), noisy, axis=0)
    np.testing.assert_allclose(ours[200:-200], theirs[200:-200], atol=2e-3)


def test_derivatives_of_a_motion_with_noise(wrist: mbdyn_ros.Robot) -> None:
    """A gap parts it, a spike is replaced; what is concluded is said."""
    random, rates = np.random.default_rng(0), np.array([1.0, 1.7])
    q = Q + 1e-5 * random.normal(size=Q.shape)
    q[700, 0] += 1
    kept = np.r_[0:900, 1000:2000]
    recording = Recording(TIME[kept], q[kept], 0 * q[kept], EFFORT[kept])
    found = conditioned(wrist, recording)
    assert 2 < found.cutoff < 7 and set(found.part) == {0, 1}
    phase = found.time[:, None] * rates + 1
    np.testing.assert_allclose(found.v, 0.8 * rates * np.cos(phase), atol=4e-3)
    np.testing.assert_allclose(found.a, -0.8 * rates**2 * np.sin(phase), atol=6e-2)
    text = " ".join(found.remarks)
    assert "1 gaps part the recording" in text and "1 samples are outliers" in text
    assert chosen_cutoff(q * 0 + 1, 250.0) == pytest.approx(50.0)


def test_efforts_at_a_bound_are_clipped() -> None:
    wave = 5 * np.sin(TIME)[:, None]
    assert not clipped(wave).any()
    cut = np.minimum(wave, 4.0)
    assert (clipped(cut) == (cut == 4.0)).all()


def test_pressures_of_chambers_are_efforts_of_cylinders(tmp_path: Path) -> None:
    """Of a crane whose slewing motor has an effort of its own."""
    side_car = find_robot("crane").with_name("manipulator_actuators.yaml")
    crane = mbdyn_ros.example("crane", mechanism=side_car)
    random, rows, count = np.random.default_rng(0), {}, len(TIME)
    for name in crane.position_labels:
        rows[f"position/{name}"] = 0.1 * np.sin(TIME + random.uniform(0, 6))
    rows["effort/slew_joint"] = random.normal(size=count)
    wanted = {"slew_joint": rows["effort/slew_joint"]}
    for one in crane.model.actuators:
        if isinstance(one, HydraulicCylinder):
            under, around = random.uniform(1e6, 2e7, (2, count))
            rows[f"pressure_a/{one.joint}"], rows[f"pressure_b/{one.joint}"] = under, around
            areas = np.pi / 4 * np.array([one.bore**2, one.bore**2 - one.rod**2])
            wanted[one.joint] = areas[0] * under - areas[1] * around
    path = tmp_path / "crane.npz"
    np.savez(path, time=TIME, **{name.replace("/", "__"): one for name, one in rows.items()})
    found = read_recording(crane, path)
    efforts = np.column_stack([wanted[one] for one in crane.effort_labels])
    np.testing.assert_allclose(found.effort, efforts[13:-13])
    assert any("that of pressure_a" in text and "cm^2" in text for text in found.remarks)
