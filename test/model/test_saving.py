"""Robots saved as URDF+ and read again: nothing changes, nothing is lost."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from corpus import readable_urdf_files
from hypothesis import given
from same_models import difference

import mbdyn_ros
from mbdyn_ros.model import Model, ModelError, edit, read_dh_table, read_mechanism, read_urdf
from mbdyn_ros.model.pose import Pose, roll_pitch_yaw, rotation_from_rpy
from mbdyn_ros.model.write.urdf import urdf_text

pytest.importorskip("pinocchio")
from random_loops import KINDS, draw  # noqa: E402
from random_robots import RandomRobot, explore, model_of, robots  # noqa: E402

OWN = sorted((Path(__file__).resolve().parents[2] / "urdf").glob("*.urdf"))

SCREWED = """<robot name="screwed"><link name="a"/>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <visual name="v"><origin xyz="0 0 1"/><geometry><mesh filename="meshes/b.stl"
      scale="1 2 3"/></geometry><material name="red"/></visual>
    <collision name="c"><geometry><capsule radius="0.1" length="2"/></geometry></collision>
    <sensor name="s" type="camera"/></link>
  <link name="c"/>
  <joint name="j" type="revolute"> <parent link="a"/> <child link="b"/> <axis xyz="0 0 1"/>
    <safety_controller k_velocity="1"/> </joint>
  <joint name="spindle" type="screw"> <parent link="b"/> <child link="c"/> <axis xyz="0 0 1"/>
    <screw pitch="0.001"/> <limit lower="-1" upper="2" effort="3" velocity="4"/>
    <dynamics damping="0.5" friction="0.25" armature="0.125" spring_stiffness="3"
      spring_reference="-0.5"/> </joint>
  <material name="red"><color rgba="1 0 0 1"/></material>
  <transmission name="t"><joint name="j"/></transmission>
  <gazebo reference="b"><mu1>0.2</mu1></gazebo></robot>"""


def again(model: Model) -> Model:
    return model_of(urdf_text(model))


@pytest.mark.sparse
@pytest.mark.parametrize("path", [*OWN, *readable_urdf_files()], ids=lambda path: path.stem)
def test_real_robots_come_back(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        model = read_urdf(path)
    assert difference(model, again(model)) < 1e-15


@given(robots())
@explore(15)
def test_random_robots_come_back(robot: RandomRobot) -> None:
    model = model_of(robot.urdf())
    assert difference(model, again(model)) < 1e-15


@pytest.mark.sparse
@pytest.mark.parametrize("kind", KINDS)
def test_random_mechanisms_come_back(kind: str) -> None:
    for seed in range(2):
        model = draw(kind, seed)._model()
        assert difference(model, again(model)) < 1e-15


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("kind", ["crank-rocker", "planar joint", "coupling", "floating"])
def test_results_come_back(kind: str, tmp_path: Path) -> None:
    robot = draw(kind, 1).load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        saved = robot.save_urdf(tmp_path / "robot.urdf")
        other = mbdyn_ros.load(saved.path)
    assert other.independent_joints == robot.independent_joints
    assert other.actuated_joints == robot.actuated_joints
    q, v = robot.home_position, np.linspace(0.1, 0.9, robot.nv)
    effort = robot.inverse_dynamics(q, v, v)
    np.testing.assert_allclose(
        other.inverse_dynamics(q, v, v), effort, rtol=1e-12, atol=1e-12 * np.abs(effort).max()
    )


def test_tables_come_back() -> None:
    model = read_dh_table(OWN[0].parent / "piezo_robot.yaml")
    assert difference(model, again(model)) < 1e-15


def test_what_others_read_comes_back() -> None:
    model = model_of(SCREWED)
    other = again(model)
    assert difference(model, other) == 0.0
    assert [one.tag for one in other.foreign] == [
        "transmission", "gazebo", "sensor", "safety_controller"
    ]  # fmt: skip
    assert other.driven == ("j",)
    (visual,) = other.link("b").visuals
    assert visual.color == (1, 0, 0, 1) and visual.name == "v" and visual.material == "red"


def test_other_readers_read_it() -> None:
    import pinocchio as pin

    assert pin.buildModelFromXML(urdf_text(model_of(SCREWED.replace("screw", "revolute")))).nv == 2


@pytest.mark.parametrize("name", ['a&b<c>"d"', "zwei Worte", "名前", "a'b", "x/y"])
def test_names_are_escaped(name: str) -> None:
    model = model_of(SCREWED)
    link = model.joint("j").child
    text = urdf_text(model).replace(f'link="{link}"', 'link="LINK"')
    written = text.replace(f'<link name="{link}"', '<link name="LINK"').replace(
        "LINK", name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    )
    named = model_of(written)
    assert named.joint("j").child == name
    assert again(named).joint("j").child == name


def test_choices_of_a_side_car_stand_in_the_file() -> None:
    text = (OWN[0].parent / "manipulator.urdf").read_text().replace('independent="', 'x="')
    base = model_of(text)
    names = [joint.name for joint in base.joints if joint.nv][::-1]
    side = f"independent: [{', '.join(names)}]\nactuated: [{names[0]}]\nhome: {{{names[1]}: 0.25}}"
    model = read_mechanism(side, base)
    other = again(model)
    assert other.independent == tuple(names) and other.actuated == (names[0],)
    assert other.home == {names[1]: 0.25}


def test_what_other_formats_say_stands_in_the_file() -> None:
    said = replace(
        model_of(SCREWED), gravity=(0.0, 0.5, -1.62), floating_base=True,
        homes={"ready": {"j": 0.5}, "rest": {"spindle": -0.25}},
    )  # fmt: skip
    assert difference(said, again(said)) == 0.0


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        ("<home><joint name='k' position='1'/></home>", "is not a joint of this robot"),
        ("<home><joint name='j'/></home>", 'has no attribute "position"'),
        ("<actuated/>", "names no joint"),
        ("<independent><joint name='j'/><joint name='j'/></independent>", "twice"),
    ],
)
def test_wrong_choices_are_refused(choice: str, problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        model_of(SCREWED.replace("</robot>", f"{choice}</robot>"))


@pytest.mark.filterwarnings("ignore:.*no mass resists")
def test_meshes_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "robot.urdf").write_text(SCREWED)
    (tmp_path / "out").mkdir()
    saved = mbdyn_ros.load(tmp_path / "robot.urdf").save_urdf(tmp_path / "out" / "x.urdf")
    assert 'filename="../meshes/b.stl"' in saved.path.read_text()
    there = mbdyn_ros.load(saved.path).save_urdf(tmp_path / "y.urdf")
    assert 'filename="meshes/b.stl"' in there.path.read_text()


@pytest.mark.filterwarnings("ignore:.*no mass resists")
def test_what_was_set_is_saved(tmp_path: Path) -> None:
    variable = ["b", "friction", "armature", "springs"]
    robot = mbdyn_ros.load(SCREWED, variable=variable, gravity=(0, 0, -1.62))
    robot.set_payload("b", 2.0, (0.1, 0.2, 0.3))
    robot.set_friction("spindle", 7.0, 0.125)
    robot.set_armature("spindle", 0.75)
    robot.set_spring("spindle", 3.0, 0.5)
    saved = mbdyn_ros.save_urdf(robot, tmp_path / "x.urdf")
    assert [text.split(":")[0] for text in saved.omitted] == ["which numbers are variable"]
    other = mbdyn_ros.load(saved.path)
    assert other.model.joint("spindle").damping == 7.0
    q, v = np.array([0.3, 0.4]), np.array([0.5, 0.6])
    effort = robot.inverse_dynamics(q, v, v)
    np.testing.assert_allclose(other.inverse_dynamics(q, v, v), effort, rtol=1e-14)
    robot.set_payload("b", [1.0, 2.0])
    with pytest.raises(mbdyn_ros.InputError, match="has 2 values, one a row"):
        robot.save_urdf(tmp_path / "x.urdf")
    with pytest.raises(mbdyn_ros.InputError, match="cannot be written"):
        other.save_urdf(tmp_path / "nowhere" / "x.urdf")


def test_angles_are_those_that_were_written() -> None:
    for angles in [(0.0, 1.5708, 0.0), (0.3, -0.7, 3.1415), (1.57079632679, 0.0, -0.25)]:
        assert roll_pitch_yaw(np.array(rotation_from_rpy(*angles))) == angles
    random = np.random.default_rng(3)
    for _ in range(200):
        pitch = random.choice([np.pi / 2, -np.pi / 2, 1.5707963, random.uniform(-2, 2)])
        rotation = np.array(rotation_from_rpy(*random.uniform(-9, 9, 1), pitch, 2.0))
        found = np.array(rotation_from_rpy(*roll_pitch_yaw(Pose(rotation).rotation)))
        assert np.abs(found - rotation).max() < 5e-16


DRIVEN = """<robot name="driven"><link name="world"/><link name="b"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="j" type="prismatic"><parent link="world"/><child link="b"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"/>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction>
      <motorInertia>0.001</motorInertia></actuator></transmission></robot>"""


def test_rotors_count_once() -> None:
    model = model_of(DRIVEN)
    unsaid = DRIVEN.replace("<mechanicalReduction>50</mechanicalReduction>", "")
    inside = DRIVEN.replace("<transmission ", "<ros2_control><transmission ")
    inside = inside.replace("</transmission>", "</transmission></ros2_control>")
    assert model.joint("j").armature == 2.5 and model_of(inside).transmissions
    for edited in (
        model,
        edit.with_joint(model, "j", armature=0.0),
        edit.with_joint(model, "j", armature=1.0),
        edit.scaled(model, 2.0),
        edit.scaled(model_of(unsaid), 2.0),
        edit.scaled(model_of(inside), 2.0),
    ):
        other = again(edited)
        assert other.joint("j").armature == pytest.approx(edited.joint("j").armature)
        np.testing.assert_allclose(other.transmissions[0].rates, edited.transmissions[0].rates)
