"""Gears between motors and joints: rotors that joints feel, and efforts at the motors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros import ModelError
from mbdyn_ros.model.read.urdf import read_urdf

ARM = """<robot name="arm"><link name="world"/>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="3"/>
    <inertia ixx="0.02" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0.05"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.06" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><axis xyz="0 0 1"/><parent link="world"/>
    <child link="upper"/>{more}</joint>
  <joint name="elbow" type="continuous"><axis xyz="0 1 0"/><parent link="upper"/>
    <child link="lower"/><origin xyz="0.4 0 0" rpy="0.3 0 0.1"/></joint>
  {drives}</robot>"""

OLD = """<transmission name="{kind}"><type>transmission_interface/{kind}Transmission</type>
  <actuator name="right"><role>actuator2</role><mechanicalReduction>{n2}</mechanicalReduction>{j2}
  </actuator><actuator name="left"><role>actuator1</role>
    <mechanicalReduction>{n1}</mechanicalReduction>{j1}</actuator>
  <joint name="shoulder"><role>joint1</role><mechanicalReduction>{m1}</mechanicalReduction></joint>
  <joint name="elbow"><role>joint2</role><mechanicalReduction>{m2}</mechanicalReduction></joint>
</transmission>"""

NEW = """<ros2_control name="system" type="system">
  <joint name="shoulder"><command_interface name="effort"/></joint>
  <joint name="elbow"><command_interface name="effort"/></joint>
  <transmission name="{kind}"><plugin>transmission_interface/{kind}Transmission</plugin>
    <actuator name="left" role="actuator1"><mechanical_reduction>{n1}</mechanical_reduction>{j1}
    </actuator><actuator name="right" role="actuator2">
      <mechanical_reduction>{n2}</mechanical_reduction>{j2}</actuator>
    <joint name="elbow" role="joint2"><mechanical_reduction>{m2}</mechanical_reduction></joint>
    <joint name="shoulder" role="joint1"><mechanical_reduction>{m1}</mechanical_reduction>
      <offset>0.1</offset></joint>
  </transmission></ros2_control>"""

NUMBERS = {"n1": 10.0, "n2": -20.0, "m1": 2.0, "m2": 3.0, "j1": "", "j2": ""}


def arm(drives: str = "", more: str = "") -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ARM.format(drives=drives, more=more))


def single(name: str, joint: str, reduction: object, rotor: float = 0.0) -> str:
    inertia = f"<motorInertia>{rotor}</motorInertia>" if rotor else ""
    return (
        f'<transmission name="{name}"><type>transmission_interface/SimpleTransmission</type>'
        f'<joint name="{joint}"/><actuator name="{name}_motor">{inertia}'
        f"<mechanicalReduction>{reduction}</mechanicalReduction></actuator></transmission>"
    )


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("text", [OLD, NEW], ids=["URDF", "ros2_control"])
@pytest.mark.parametrize("kind", ["Differential", "FourBarLinkage"])
def test_pairs_of_motors_do_the_work_of_their_joints(kind: str, text: str) -> None:
    """Velocities as ros2_control maps them; the powers on both sides are equal."""
    robot = arm(text.format(kind=kind, **NUMBERS))
    assert robot.motor_labels == ("left", "right")
    n1, n2, m1, m2 = (float(NUMBERS[key]) for key in ("n1", "n2", "m1", "m2"))
    motors = np.array([7.0, -3.0])
    if kind == "Differential":
        ends = motors[0] / n1 + motors[1] / n2, motors[0] / n1 - motors[1] / n2
        joints = np.array([ends[0] / (2 * m1), ends[1] / (2 * m2)])
    else:
        first = motors[0] / (n1 * m1)
        joints = np.array([first, (motors[1] / n2 - first) / m2])
    efforts = np.random.default_rng(1).normal(size=(5, 2))
    np.testing.assert_allclose(robot.motor_effort(efforts) @ motors, efforts @ joints, rtol=1e-12)


@pytest.mark.usefixtures("interpreted")
def test_a_motor_gives_its_rotor_what_it_takes() -> None:
    """Effort at the motor = rotor inertia times its acceleration + the joint's over reduction."""
    robot = arm(single("belt", "elbow", -50, 1e-3))
    bare = arm()
    assert robot.motor_labels == ("belt_motor", "shoulder")
    q, v, a = np.random.default_rng(2).normal(size=(3, 2))
    effort = robot.motor_effort(robot.inverse_dynamics(q, v, a))
    below = bare.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(effort, [1e-3 * (-50 * a[1]) + below[1] / -50, below[0]], rtol=1e-12)
    assert robot.model.joint("elbow").armature == pytest.approx(2.5)


def test_rotors_of_pairs_add_up_where_their_joints_stay_apart() -> None:
    alike = {**NUMBERS, "n1": 10.0, "n2": 10.0, "m1": 1.0, "m2": 1.0}
    rotor = "<motorInertia>{}</motorInertia>"
    both = {**alike, "j1": rotor.format(2), "j2": rotor.format(2)}
    text = OLD.format(kind="Differential", **both)
    model = read_urdf(ARM.format(drives=text, more=""))
    assert [model.joint(name).armature for name in ("shoulder", "elbow")] == [400.0, 400.0]
    text = OLD.format(kind="Differential", **{**alike, "j1": rotor.format(2), "j2": ""})
    model = read_urdf(ARM.format(drives=text, more=""))
    assert "its rotors tie the accelerations of its joints" in model.warnings[0]
    assert model.joint("elbow").armature == 0.0


def test_two_motors_at_a_joint_share_its_effort() -> None:
    robot = arm(single("one", "elbow", 30) + single("two", "elbow", 40))
    assert robot.motor_labels == ("one_motor", "two_motor", "shoulder")
    np.testing.assert_allclose(robot.motor_effort([5.0, 50.0]), [0.6, 0.8, 5.0])


def test_an_armature_that_is_written_stays() -> None:
    robot = arm(single("belt", "shoulder", 10, 0.01), more='<dynamics armature="3"/>')
    assert robot.model.joint("shoulder").armature == 3.0
    (warning,) = robot.warnings
    assert "the armature 1, and <dynamics armature=" in warning and "that is taken" in warning
    alike = arm(single("belt", "shoulder", 10, 0.01), more='<dynamics armature="1"/>')
    assert not alike.warnings


def test_drives_are_saved(tmp_path: Path) -> None:
    robot = arm(single("belt", "elbow", -50, 1e-3))
    other = mbdyn_ros.load(robot.save_urdf(tmp_path / "x.urdf").path)
    assert other.motor_labels == robot.motor_labels and not other.warnings
    np.testing.assert_array_equal(other.motor_effort([1.0, 2.0]), robot.motor_effort([1.0, 2.0]))
    assert other.model.joint("elbow").armature == robot.model.joint("elbow").armature


def test_edits_keep_transmissions() -> None:
    robot = arm(single("belt", "elbow", -50) + single("gear", "shoulder", 20))
    other = robot.renamed({"elbow": "knee"})
    effort = robot.motor_effort([3.0, 100.0])
    np.testing.assert_allclose(effort, [-2.0, 0.15])
    np.testing.assert_allclose(other.motor_effort([3.0, 100.0]), effort)
    locked = robot.locked({"shoulder": 0.0})
    assert locked.motor_labels == ("belt_motor",)
    np.testing.assert_allclose(locked.motor_effort([100.0]), [-2.0])
    np.testing.assert_allclose(robot.scaled(2.0).motor_effort([3.0, 100.0]), effort)


def test_gears_of_mujoco_are_transmissions(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    robot = mbdyn_ros.load("""<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
      <inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody>
      <actuator><motor name="servo" joint="hinge" gear="-80"/></actuator></mujoco>""")
    assert robot.motor_labels == ("servo",)
    np.testing.assert_allclose(robot.motor_effort([40.0]), [-0.5])
    other = mbdyn_ros.load(robot.save_urdf(tmp_path / "x.urdf").path)
    assert other.motor_labels == ("servo",)
    np.testing.assert_allclose(other.motor_effort([40.0]), [-0.5])


def test_words_of_a_template_are_no_reduction() -> None:
    with pytest.warns(
        mbdyn_ros.ModelWarning, match='"reduction" is not a number; the reduction is taken as 1'
    ):
        robot = arm(single("belt", "elbow", "reduction"))
    np.testing.assert_allclose(robot.model.transmissions[0].rates, [[1.0]])


@pytest.mark.parametrize(
    ("drives", "words"),
    [
        (single("belt", "elbow", 0), 'name="belt"> <mechanicalReduction>: the reduction is 0'),
        (single("belt", "elbow", "1.2.3"), '"1.2.3" is not a finite number'),
        (single("belt", "elbow", "fast", 0.1), '"fast" is not a finite number'),
        (single("belt", "elbow", 5, -1.0), "-1 is negative; no rotor has that inertia"),
    ],
)
def test_gears_that_there_are_not_are_refused(drives: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        arm(drives)
    assert words in str(caught.value)


def test_gears_that_are_not_understood_are_listed() -> None:
    text = single("belt", "elbow", 5).replace("SimpleTransmission", "WristTransmission")
    with pytest.warns(mbdyn_ros.ModelWarning, match="WristTransmission is not understood"):
        robot = arm(text)
    assert robot.motor_labels == ("shoulder", "elbow")
