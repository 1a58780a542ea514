"""MJCF: everything that moves as MuJoCo has it, and words about all else."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from interpreting import interpreting

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.errors import InputError, ModelError, ModelWarning
from mbdyn_ros.model import Model, read_description
from mbdyn_ros.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere

mujoco = pytest.importorskip("mujoco")
from mujoco_judge import MujocoJudge  # noqa: E402

INERTIAL = '<inertial pos="0.1 0 -0.2" mass="2" fullinertia="0.3 0.4 0.5 0.01 0.02 -0.03"/>'
TREE = f"""
<mujoco model="tree">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0.5 0 -3.7"/>
  <default> <joint armature="0.02" damping="0.3"/>
    <default class="heavy"> <geom density="7800"/> </default> </default>
  <worldbody>
    <body name="trunk" pos="0 0 1" euler="10 20 30"> {{base}} {INERTIAL}
      <body name="arm" pos="0.3 0 0.1" quat="1 2 3 4">
        <joint name="shift" type="slide" axis="0 1 1" ref="0.2" stiffness="30" springref="0.1"/>
        <joint name="lift" pos="0 0.1 0.2" axis="1 0 2" ref="25" range="-90 90"/>
        <joint name="swing" pos="0.05 0 0" axis="0 1 0" stiffness="4" springref="-15"/>
        <geom class="heavy" type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.03"/>
        <geom type="box" size="0.1 0.05 0.02" pos="0 0 0.3" euler="0 0 40"/>
        <body name="hand" pos="0.1 0.2 0.3">
          <joint name="wrist" type="ball" pos="0 0 0.04"/> {INERTIAL}
          <body name="finger" pos="0 0 0.1"> {INERTIAL}
            <body name="tip" pos="0.1 0 0"> <geom type="ellipsoid" size="0.1 0.2 0.3"/> </body>
          </body>
        </body>
      </body>
      <body name="leg"> <joint name="hip" axis="0 0 1"/> {INERTIAL} </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with interpreting():
        yield


def load(text: str) -> Robot:
    return mbdyn_ros.load(text)


def judge(text: str) -> MujocoJudge:
    return MujocoJudge(load(text), mujoco.MjModel.from_xml_string(text))


@pytest.mark.sparse
@pytest.mark.parametrize("base", ["", "<freejoint/>", '<joint name="turn"/>'])
def test_open_trees(base: str) -> None:
    judged = judge(TREE.format(base=base))
    robot = judged.robot
    assert robot.floating_base is (base == "<freejoint/>") and robot.warnings == ()
    assert robot.model.root == ("trunk" if robot.floating_base else "world")
    assert robot.gravity.tolist() == [0.5, 0.0, -3.7]
    for seed in range(3):
        judged.compare(seed)


def test_several_free_bodies() -> None:
    body = '<body name="{0}" pos="1 0 0"><joint name="{0}" type="free"/>' + INERTIAL + "</body>"
    robot = load(f"<mujoco><worldbody>{body.format('a')}{body.format('b')}</worldbody></mujoco>")
    assert (robot.model.root, robot.floating_base, robot.nv) == ("world", False, 12)


BARS = """
<mujoco> <compiler angle="radian"/>
  <default> <geom type="capsule" size="0.02"/> <joint axis="0 1 0"/> </default>
  <worldbody>
    <body name="crank"> <joint name="crank" armature="0.1"/> <geom fromto="0 0 0 0 0 0.1"/>
      <body name="coupler" pos="0 0 0.1"> <joint name="pin"/> <geom fromto="0 0 0 0.4 0 0.2"/>
      </body> </body>
    <body name="rocker" pos="0.4 0 0"> <joint name="rocker"/> <geom fromto="0 0 0 0 0 0.3"/>
      <site name="top" pos="0 0 0.3"/> </body>
    <body name="slider" pos="0 1 0"> <joint name="slider" type="slide" ref="0.5"/>
      <geom type="sphere" size="0.1"/> </body>
    <body name="wheel" pos="0 2 0"> <joint name="wheel"/> <geom type="box" size="1 2 3"/> </body>
  </worldbody>
  <tendon> <fixed name="one"> <joint joint="crank" coef="2"/> <joint joint="slider" coef="3"/>
    </fixed> <fixed name="other"> <joint joint="wheel" coef="-1"/> </fixed> </tendon>
  <equality> {} </equality>
</mujoco>"""
CLOSED = {
    "connect": '<connect body1="coupler" body2="rocker" anchor="0.4 0 0.2"/>',
    "sites": '<connect name="c" body1="rocker" body2="coupler" anchor="0 0 0.3"/>',
    "weld": '<weld body1="slider" body2="wheel"/>',
    "joint": '<joint joint1="slider" joint2="crank" polycoef="0.1 2 0 0 0"/>',
    "cam": '<joint joint1="slider" joint2="crank" polycoef="0.1 1 2 -0.3 0.2"/>',
    "cam on a loop": '<connect name="c" body1="rocker" body2="coupler" anchor="0 0 0.3"/>'
    '<joint joint1="slider" joint2="rocker" polycoef="0.1 0 -0.5 0 0.2"/>',
    "held joint": '<joint joint1="slider" polycoef="0.1 0 0 0 0"/>',
    "circle": '<joint joint1="slider" joint2="crank" polycoef="0 2 0 0 0"/>'
    '<joint joint1="crank" joint2="slider" polycoef="0 0.5 0 0 0"/>',
    "tendons": '<tendon tendon1="one" tendon2="other" polycoef="0.2 0.5 0 0 0"/>',
    "tendon": '<tendon tendon1="one" polycoef="0.2 0 0 0 0"/>',
    "inactive": '<weld body1="slider" body2="wheel" active="false"/>',
}


@pytest.mark.sparse
@pytest.mark.parametrize("name", CLOSED)
def test_equalities(name: str) -> None:
    judged = judge(BARS.format(CLOSED[name]))
    judged.compare_closed(held=0.6)
    judged.compare_moving(held=0.6, seed=0)


def test_equalities_become_what_we_have() -> None:
    def model(name: str) -> Model:
        return load(BARS.format(CLOSED[name])).model

    (loop,) = model("connect").loops
    assert (loop.type, loop.predecessor, loop.successor) == ("spherical", "coupler", "rocker")
    assert model("weld").loops[0].type == "fixed"
    mimic = model("joint").joint("slider").mimic
    assert mimic is not None and (mimic.joint, mimic.multiplier, mimic.offset) == ("crank", 2, 0.6)
    assert model("held joint").joint("slider").type == "fixed"
    assert len(model("tendons").couplings) == len(model("circle").couplings) == 1
    assert model("inactive").unused["inactive equality"] == 1


def test_actuators_and_limits() -> None:
    text = BARS.format("").replace(
        "<tendon>",
        """<actuator>
        <motor name="strong" joint="crank" gear="5" ctrlrange="-2 3"/>
        <motor joint="crank" forcerange="-1 4"/>
        <position joint="rocker" kp="3" forcerange="-7 7"/> <velocity tendon="other"/>
        <general site="top"/> </actuator><tendon>""",
    )
    with pytest.warns(ModelWarning, match=r"acts on the motion and is not used: actuator on no j"):
        model = load(text).model
    assert model.driven == ("crank", "rocker", "wheel")
    assert [model.joint(name).limits.effort for name in model.driven] == [19, 7, np.inf]
    assert model.unused["tendon"] == 2
    assert [(one.motors, one.rates.item()) for one in model.transmissions] == [
        (("strong",), 5.0), (("actuator1",), 1.0), (("actuator2",), 1.0)
    ]  # fmt: skip


def test_keyframes_are_homes() -> None:
    keys = '<keyframe> <key name="low" qpos="0 0 0 0.5 1"/> <key name="home" qpos="1 0 0 2 3"/>'
    text = BARS.format("").replace("</mujoco>", f"{keys}</keyframe></mujoco>")
    robot = load(text)
    assert robot.home == {"crank": 1, "pin": 0, "rocker": 0, "slider": 2, "wheel": 3}
    assert mbdyn_ros.load(text, home="low").home["wheel"] == 1
    with pytest.raises(InputError, match=r"no home 'hoem' \(did you mean \"home\"\?\).*low, home"):
        mbdyn_ros.load(text, home="hoem")
    assert load(BARS.format("")).home["slider"] == 0.5


def test_shapes(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text("""<mujoco><compiler meshdir="parts"/> <asset> <mesh name="m" file="m.stl"
      scale="1 2 3"/> <mesh name="n" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
      <material name="red" rgba="1 0 0 1" texture="t"/> <texture name="t" type="2d"
      file="t.png"/> </asset> <worldbody> <geom type="plane" size="1 1 1"/> <body name="b">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <geom type="sphere" size="0.1"/> <geom type="capsule" size="0.1 0.2"/>
      <geom type="cylinder" size="0.1 0.2" group="3"/> <geom type="box" size="0.1 0.2 0.3"/>
      <geom type="mesh" mesh="m" pos="1 0 0"/> <geom type="ellipsoid" size="1 2 3"/>
      <geom name="odd" type="mesh" mesh="n"/>
      <geom type="sphere" size="0.3" contype="0" conaffinity="0" material="red"/>
      </body></worldbody></mujoco>""")
    model = read_description(file)
    link = model.link("b")
    assert [one.geometry for one in link.collisions] == [
        Sphere(0.1), Capsule(0.1, 0.4), Cylinder(0.1, 0.4), Box((0.2, 0.4, 0.6)),
        Mesh(str(tmp_path / "parts" / "m.stl"), (1.0, 2.0, 3.0)), Ellipsoid((1.0, 2.0, 3.0)),
        None,
    ]  # fmt: skip
    assert '"odd": a mesh' in link.collisions[-1].problem
    assert link.collisions[4].origin.translation.tolist() == [1, 0, 0]
    assert len(link.visuals) == 7 and link.visuals[-1].color == (1, 0, 0, 1)
    assert model.unused["geom of the world"] == 1  # it has no name


def test_files_that_include_others(tmp_path: Path) -> None:
    file, part = tmp_path / "robot.xml", tmp_path / "part.xml"
    file.write_text('<mujoco>\n<include file="part.xml"/></mujoco>')
    with pytest.raises(ModelError, match=f'^{file}:2: <include>: includes "part.xml", and there'):
        read_description(file)
    part.write_text('<mujocoinclude>\n\n<include file="more.xml"/></mujocoinclude>')
    with pytest.raises(ModelError, match=f'^{part}:3: <include>: includes "more.xml"'):
        read_description(file)
    with pytest.raises(ModelError, match=f"^{part}:1: <mujocoinclude>: this is a part of a MJCF"):
        read_description(part)
    part.write_text(f'<mujoco><worldbody><body name="b">{INERTIAL}</body></worldbody></mujoco>')
    assert read_description(file).link("b").inertia is not None


REFUSED = {
    "polynomial": (
        BARS.format('<tendon name="cam" tendon1="one" tendon2="other" polycoef="0 1 2 0 0"/>'),
        '"cam": polycoef="0 1 2 0 0" is not linear, and tendons are coupled linearly only',
    ),
    "tendon over sites": (
        BARS.format('<tendon name="rope" tendon1="s"/>').replace(
            "<fixed name=\"one\">", '<spatial name="s"> <site site="top"/> <site site="foot"/>'
            ' </spatial> <fixed name="one">'
        ).replace("<site ", '<site name="foot"/> <site ', 1),
        '"rope": is of a tendon that runs over sites',
    ),
    "element": ("<mujoco><word/></mujoco>", "MuJoCo refuses it: .*unrecognized element.*'word'"),
    "mesh": (
        '<mujoco><asset><mesh name="m" file="no.stl"/></asset><worldbody><body>'
        '<joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
        "MuJoCo refuses it: .*no.stl",
    ),
    "no number": (
        f'<mujoco><worldbody><body name="b" pos="0 nan 0">{INERTIAL}</body></worldbody></mujoco>',
        '<body> "b": its pos is not finite',
    ),
    "no XML": ("<mujoco>\n<worldbody>", "<text>:2: column .* not well-formed XML"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    text, words = REFUSED[name]
    with pytest.raises(ModelError, match=words):
        read_description(text)


OWN = Path(__file__).resolve().parents[2] / "urdf"


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["boom", "manipulator", "tree_robot"])
def test_written_files_are_read_again(name: str, tmp_path: Path) -> None:
    robot = mbdyn_ros.load(OWN / f"{name}.urdf", floating_base=True)
    saved = robot.save_mjcf(tmp_path / "robot.xml")
    joints = ", ".join(robot.independent_joints)
    again = mbdyn_ros.load(saved.path, mechanism=f"{{independent: [{joints}]}}")
    assert again.floating_base and again.independent_joints == robot.independent_joints
    q, v = robot.home_position, np.linspace(-1.0, 1.0, robot.nv)
    np.testing.assert_allclose(again.home_position, q, atol=1e-9)
    for one in ("mass_matrix", "gravity_vector"):
        ours, theirs = (getattr(each, one)(q) for each in (robot, again))
        np.testing.assert_allclose(theirs, ours, atol=1e-9 * np.abs(ours).max())
    ours, theirs = (each.bias_vector(q, v) for each in (robot, again))
    np.testing.assert_allclose(theirs, ours, atol=1e-9 * np.abs(ours).max())


SCENE = f"""<mujoco>
  <asset> <texture name="spot" type="2d" builtin="flat" width="8" height="8"/> </asset>
  <worldbody>
    <light name="sun" texture="spot"/>
    <geom name="floor" type="plane" size="1 1 1"/> <geom name="table" size="1 1 1" type="box"/>
    <body name="leg" pos="0 0 0.5"> {{base}} {INERTIAL} </body>
    <body name="pole"> {INERTIAL} <body name="flag" pos="0 0 1"> {INERTIAL} </body> </body>
  </worldbody>
  <equality> <weld body1="pole" body2="flag"/> </equality>
</mujoco>"""


def test_a_scene_says_what_of_it_is_no_robot() -> None:
    model = read_description(SCENE.format(base="<freejoint/>"))
    assert not model.loops and len(model.warnings) == 1
    assert "geoms of the world (floor, table) (2) are no part of the robot" in model.warnings[0]
    seen = SCENE.replace('size="1 1 1"', 'size="1 1 1" contype="0" conaffinity="0"')
    assert not read_description(seen.format(base="<freejoint/>")).warnings  # none is passed through
    assert model.unused == {
        "equality of links that are one without it": 1,
        "geom of the world (floor, table)": 2,
        "start or keyframe pose of a free body (leg)": 1,
        "light": 1,
    }


def test_what_acts_on_a_free_base_is_reported() -> None:
    alone = SCENE.replace('name="pole"', 'name="pole" mocap="true"').format(
        base='<joint type="free" armature="0.1" damping="0.2"/>'
    )
    with pytest.warns(ModelWarning, match=r"armature of the free base \(write <freejoint/> if"):
        robot = load(alone)
    assert robot.floating_base


def test_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"<text>: is MJCF.*pip install 'mbdyn_ros\[mjcf\]'"):
        read_description("<mujoco/>")


def test_forces_that_are_not_used() -> None:
    text = TREE.format(base="").replace('name="leg"', 'name="leg" gravcomp="1"')
    text = text.replace('type="ball"', 'type="ball" stiffness="3"')
    with pytest.warns(ModelWarning) as caught:
        robot = load(text)
    assert [str(one.message) for one in caught] == [
        "<text>: acts on the motion and is not used: spring of a ball or free joint (1), "
        "gravcomp (1)"
    ]
    assert "not used" in str(robot.report())


def test_the_same_robot_as_urdf() -> None:
    """MuJoCo's own reading of a URDF, written as MJCF with six digits, is the URDF."""
    urdf = """<robot name="arm"> <mujoco> <compiler fusestatic="false"/> </mujoco>
      <link name="base"/> <link name="upper"> <inertial> <origin xyz="0 0.1 0.2" rpy="1 2 3"/>
        <mass value="3"/> <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0.02"/>
      </inertial> </link>
      <link name="lower"> <inertial> <mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/> </inertial> </link>
      <joint name="one" type="revolute"> <parent link="base"/> <child link="upper"/>
        <origin xyz="1 0 0" rpy="0.5 0 0.3"/> <axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="5" velocity="1"/> </joint>
      <joint name="two" type="prismatic"> <parent link="upper"/> <child link="lower"/>
        <origin xyz="0 0 1"/> <axis xyz="1 1 0"/> <dynamics damping="0.5"/>
        <limit lower="-1" upper="1" effort="5" velocity="1"/> </joint> </robot>"""
    ours = mbdyn_ros.load(
        urdf.replace("<mujoco>", "")
        .replace("</mujoco>", "")
        .replace('<compiler fusestatic="false"/>', "")
    )
    spec = mujoco.MjSpec.from_string(urdf)
    spec.compile()
    theirs = load(spec.to_xml())
    assert theirs.independent_joints == ours.independent_joints
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_allclose(
        theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a), rtol=1e-5
    )


BODY = "<mujoco>{0}<worldbody>{1}<body>{2}<geom {3} size='1'/></body></worldbody></mujoco>"
UNSURVIVED = {
    "class": (BODY.format("", "", "<joint/>", "class='%s%s%s%s%s%s'"), "format of C"),
    "name": (BODY.format("", "", "<joint name='%n'/>", ""), "format of C"),
    "childclass": (BODY.format("", "", "<body childclass='%p'/>", ""), "format of C"),
    "users": (BODY.format("<size nuser_body='2000000000'/>", "", "", ""), "more than 100000"),
    "keys": (BODY.format("<size nkey='20000000'/>", "", "", ""), "more than 100000"),
    "field": (
        BODY.format(
            "<asset><hfield name='h' nrow='30000' ncol='30000' size='1 1 1 1'/></asset>", "", "", ""
        ),
        "more than 10000000 heights",
    ),
    "copies": (BODY.format("", "<replicate count='1000000000'/>", "", ""), "1e\\+09 copies"),
    "copies of copies": (
        BODY.format("", "<replicate count='999'><replicate count='999'/></replicate>", "", ""),
        "copies",
    ),
    "armature": (BODY.format("", "", "<joint armature='-1'/>", ""), "armature -1 is negative"),
    "friction": (BODY.format("", "", "<joint frictionloss='-1'/>", ""), "friction -1 is negative"),
    "NaN": (BODY.format("", "", "<joint pos='nan 0 0'/>", ""), "not finite"),
}


@pytest.mark.parametrize("name", UNSURVIVED)
def test_what_mujoco_does_not_survive(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, words = UNSURVIVED[name]
    with pytest.raises(ModelError, match=words):
        read_description(text)
    main, part = tmp_path / "main.xml", tmp_path / "part.xml"
    part.write_text(text)
    main.write_text("<mujoco><include file='part.xml'/></mujoco>")
    with pytest.raises(ModelError, match=words):
        read_description(main)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["main.xml", "part.xml"]


def test_negative_damping_and_stiffness_are_warned_of() -> None:
    model = read_description(BODY.format("", "", "<joint damping='-1' stiffness='-2'/>", ""))
    assert "damping -1 is negative" in model.warnings[0]
    assert "spring_stiffness -2 is negative" in model.warnings[1]
