"""SDF: the same robot in every spelling, its native loops, and words about all else."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from interpreting import interpreting

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.errors import ModelError, ModelWarning
from mbdyn_ros.model import read_description
from mbdyn_ros.model.read.sdf import scope
from mbdyn_ros.model.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from mbdyn_ros.view.scene.visuals import read_visuals


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with interpreting():
        yield


def inertial(mass: float = 2.0) -> str:
    return (
        f"<inertial><pose>0.1 0 0.2 0.3 0 0</pose><mass>{mass}</mass><inertia><ixx>0.3</ixx>"
        "<iyy>0.4</iyy><izz>0.5</izz><ixy>0.01</ixy></inertia></inertial>"
    )


def sdf(body: str, version: str = "1.9", attributes: str = "") -> str:
    return f'<sdf version="{version}"><model name="r" {attributes}>{body}</model></sdf>'


def link(name: str, pose: str = "", mass: float = 2.0) -> str:
    return f'<link name="{name}">{pose}{inertial(mass)}</link>'


def joint(
    name: str, kind: str, parent: str, child: str, axis: str = "0 0 1", more: str = ""
) -> str:
    turned = "" if kind in ("fixed", "ball") else f"<axis>{_xyz(axis)}</axis>"
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{turned}{more}</joint>"
    )


def _xyz(axis: str) -> str:
    return axis if axis.startswith("<") else f"<xyz>{axis}</xyz>"


def same(one: Robot, other: Robot, links: tuple[str, ...]) -> None:
    """Two robots with the same coordinates have the same numbers."""
    assert one.independent_joints == other.independent_joints
    rng = np.random.default_rng(0)
    q = one.home_position + 0.2 * rng.normal(size=one.nq)
    v, a = rng.normal(size=(2, one.nv))
    np.testing.assert_allclose(
        one.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a), atol=1e-12
    )
    for name in links:
        poses = [robot.frame_pose(q, name) for robot in (one, other)]
        np.testing.assert_allclose(*poses, atol=1e-12)


URDF = """<robot name="r"> <link name="world"/> <link name="a">{0}</link> <link name="b">{0}</link>
  <joint name="one" type="revolute"> <parent link="world"/> <child link="a"/>
    <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/> <axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/> <dynamics damping="0.5" friction="0.1"
    spring_stiffness="3" spring_reference="0.5"/> </joint>
  <joint name="two" type="prismatic"> <parent link="a"/> <child link="b"/>
    <origin xyz="0.5 0 0"/> <axis xyz="1 0 0"/> </joint> </robot>""".format(
    '<inertial> <origin xyz="0.1 0 0.2" rpy="0.3 0 0"/> <mass value="2"/> '
    '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01"/> </inertial>'
)
ACTING = """<limit> <lower>-1</lower> <upper>2</upper> <effort>30</effort> <velocity>4</velocity>
  </limit> <dynamics> <damping>0.5</damping> <friction>0.1</friction>
  <spring_stiffness>3</spring_stiffness>
  <spring_reference>0.5</spring_reference></dynamics>"""
ONE = joint("one", "revolute", "world", "a", f"<xyz>0 1 0</xyz>{ACTING}")
TWO = joint("two", "prismatic", "a", "b", "1 0 0")
AT_A, AT_B = (
    "<pose>0 0 1 0 0 1.5707963267948966</pose>",
    "<pose>0 0.5 1 0 0 1.5707963267948966</pose>",
)
A, B = link("a", AT_A), link("b", AT_B)
SPELLINGS = {
    "absolute": sdf(A + B + ONE + TWO),
    "relative": sdf(A + link("b", '<pose relative_to="a">0.5 0 0 0 0 0</pose>') + ONE + TWO),
    "as URDF": sdf(
        link("a", '<pose relative_to="one"/>') + link("b", '<pose relative_to="two"/>')
        + ONE.replace("</joint>", AT_A.replace(">", ' relative_to="__model__">', 1) + "</joint>")
        + TWO.replace("</joint>", '<pose relative_to="a">0.5 0 0 0 0 0</pose></joint>')
    ),
    "joint beside": sdf(
        A + B + TWO.replace("</joint>", "<pose>3 0 4 0 0 0</pose></joint>")
        + ONE.replace("</joint>", "<pose>0 7 0 0 0 0</pose></joint>")
    ),
    "frames": sdf(
        A + link("b", '<pose relative_to="place"/>') + ONE
        + '<frame name="hand" attached_to="a"/>'
        '<frame name="place" attached_to="hand"><pose>0.5 0 0 0 0 0</pose></frame>'
        + TWO.replace("<parent>a", "<parent>hand")
    ),
    "expressed in": sdf(
        A + B + ONE.replace("<xyz>0 1 0", '<xyz expressed_in="__model__">-1 0 0')
        + TWO.replace("<xyz>1 0 0", '<xyz expressed_in="a">1 0 0')
    ),
    "degrees": sdf(
        link("a", '<pose degrees="true">0 0 1 0 0 90</pose>')
        + link("b", '<pose rotation_format="quat_xyzw">0 0.5 1 0 0 1 1</pose>') + ONE + TWO
    ),
    "old": sdf(
        A + B + ONE.replace("<xyz>0 1 0", "<xyz>-1 0 0") + TWO.replace("<xyz>1 0 0", "<xyz>0 1 0"),
        "1.4",
    ),
    "older flag": sdf(
        A + B + TWO + ONE.replace(
            "<xyz>0 1 0</xyz>",
            "<xyz>-1 0 0</xyz><use_parent_model_frame>true</use_parent_model_frame>",
        ),
        "1.6",
    ),
    "placed": sdf(
        A + B + ONE + TWO, attributes='placement_frame="b"'
    ).replace("<link", AT_B + "<link", 1),
    "a world": f'<sdf version="1.9"><world name="w"><gravity>0 0 -9.81</gravity><model name="r">'
    f"{A}{B}{ONE}{TWO}</model></world></sdf>",
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_of_one_robot(name: str) -> None:
    robot = mbdyn_ros.load(SPELLINGS[name])
    one = robot.model.joint("r::one" if name == "a world" else "one")
    limits = one.limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1, 2, 4, 30)
    urdf = URDF
    if name == "a world":
        for word in ("one", "two", "a", "b"):
            urdf = urdf.replace(f'"{word}"', f'"r::{word}"')
    if name in ("joint beside", "older flag"):  # joints in another order
        urdf = _exchanged(urdf)
    links = ("r::a", "r::b") if name == "a world" else ("a", "b")
    if name == "joint beside":  # the hinge is elsewhere
        assert robot.independent_joints == ("two", "one")
        place = robot.frame_pose(np.array([0.0, 1.0]), "a")[:3, 3]
        assert place[0] == pytest.approx(0.0) and place[2] == pytest.approx(1.0)
        return
    same(robot, mbdyn_ros.load(urdf), links)


def _exchanged(urdf: str) -> str:
    head, one, two = urdf.split("<joint ")
    second, end = two.split("</robot>")
    return f"{head}<joint {second}<joint {one}</robot>{end}"


def test_models_in_models_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nested = sdf(
        A
        + ONE
        + f'<model name="tool"><pose relative_to="a">0.5 0 0 0 0 0</pose>{link("b")}</model>'
        + TWO.replace("<child>b", "<child>tool::b")
    )
    plain = mbdyn_ros.load(URDF.replace('"b"', '"tool::b"'))
    same(mbdyn_ros.load(nested), plain, ("a", "tool::b"))
    parts = tmp_path / "parts" / "tool"
    parts.mkdir(parents=True)
    look = '<visual name="v"><geometry><mesh><uri>b.stl</uri></mesh></geometry></visual></link>'
    (parts / "new.sdf").write_text(
        sdf(link("b").replace("</link>", look) + '<frame name="f"><pose>0 9 0 0 0 0</pose></frame>')
    )
    (parts / "model.config").write_text('<model><sdf version="1.9">new.sdf</sdf></model>')
    file = tmp_path / "robot.sdf"
    include = (
        "<include {}><uri>model://tool</uri><name>tool</name>"
        '<pose relative_to="a">0.5 0 0 0 0 0</pose>{}</include>'
    )
    file.write_text(
        sdf(A + ONE + TWO.replace("<child>b", "<child>tool::b") + include.format("", ""))
    )
    with pytest.raises(
        ModelError, match=f'^{file}:[0-9]+: .*includes "model://tool", and there is no.*GZ_SIM_RES'
    ):
        read_description(file)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(parts.parent))
    same(mbdyn_ros.load(file), plain, ("a", "tool::b"))
    (shown,) = read_description(file).link("tool::b").visuals
    assert shown.geometry == Mesh(str(parts / "b.stl"), (1.0, 1.0, 1.0))
    file.write_text(sdf(A + ONE + TWO + include.format('merge="true"', "")))
    same(mbdyn_ros.load(file), mbdyn_ros.load(URDF), ("a", "b"))
    placed = include.format("", "<placement_frame>f</placement_frame>")
    file.write_text(sdf(A + ONE + joint("two", "fixed", "a", "tool::b") + placed))
    assert mbdyn_ros.load(file).frame_pose([0.0], "tool::b")[:3, 3] == pytest.approx([9, 0.5, 1])
    (parts / "new.sdf").write_text(sdf("<include><uri>model://tool</uri></include>"))
    with pytest.raises(ModelError, match=r"new.sdf:1: .*includes itself|which includes this file"):
        read_description(file)


FOUR_BAR = sdf(
    link("crank", "<pose>0 0 0 0 0 0</pose>") + link("coupler", "<pose>0 0 0.3 0 0 0</pose>")
    + link("rocker", "<pose>0.5 0 0 0 0 0</pose>")
    + joint("a", "revolute", "world", "crank", "0 1 0")
    + joint("b", "revolute", "crank", "coupler", "0 1 0")
    + joint("d", "revolute", "world", "rocker", "0 1 0")
    + joint("c", "revolute", "rocker", "coupler", "0 1 0", "<pose>0.6 0 0.2 0 0 0</pose>")
)  # fmt: skip
LOOP = """<robot name="r"> <link name="world"/> {links} {joints}
  <loop name="c" type="continuous"> <predecessor link="rocker"> <origin xyz="0.1 0 0.5"/>
    </predecessor> <successor link="coupler"> <origin xyz="0.6 0 0.2"/> </successor>
    <axis xyz="0 1 0"/> </loop> </robot>"""


def _loop_urdf() -> str:
    body = URDF[URDF.index("<inertial>") : URDF.index("</inertial>") + len("</inertial>")]
    links = "".join(f'<link name="{one}">{body}</link>' for one in ("crank", "coupler", "rocker"))
    joints = "".join(
        f'<joint name="{name}" type="continuous"> <parent link="{parent}"/> <child link="{child}"/>'
        f'<origin xyz="{xyz}"/> <axis xyz="0 1 0"/> </joint>'
        for name, parent, child, xyz in (
            ("a", "world", "crank", "0 0 0"), ("b", "crank", "coupler", "0 0 0.3"),
            ("d", "world", "rocker", "0.5 0 0"),
        )
    )  # fmt: skip
    return LOOP.format(links=links, joints=joints)


def test_a_link_with_two_parents_closes_a_loop() -> None:
    robot = mbdyn_ros.load(FOUR_BAR)
    assert robot.nv == 1 and [one.name for one in robot.model.loops] == ["c"]
    same(robot, mbdyn_ros.load(_loop_urdf()), ("coupler", "rocker"))


def test_joints_in_any_order_and_direction() -> None:
    """The last joint leads from the coupler to the crank: it is turned round."""
    turned = FOUR_BAR.replace(
        joint("b", "revolute", "crank", "coupler", "0 1 0"),
        joint("b", "revolute", "coupler", "crank", "0 1 0", "<pose>0 0 0.3 0 0 0</pose>"),
    )
    robot, straight = mbdyn_ros.load(turned), mbdyn_ros.load(FOUR_BAR)
    q, v = [0.2], [0.7]
    assert robot.independent_joints == straight.independent_joints == ("a",)
    np.testing.assert_allclose(robot.mass_matrix(q), straight.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(robot.bias_vector(q, v), straight.bias_vector(q, v), atol=1e-12)


def test_a_joint_that_acts_keeps_its_position_in_a_loop() -> None:
    damped = FOUR_BAR.replace(
        "<axis><xyz>0 1 0</xyz></axis><pose>",
        "<axis><xyz>0 1 0</xyz><dynamics><damping>2</damping></dynamics></axis><pose>",
    )
    robot, free = mbdyn_ros.load(damped), mbdyn_ros.load(FOUR_BAR)
    assert "c" in robot.joint_names
    q, v = [0.3], [1.0]
    lost = [one.inverse_dynamics(q, v, [0.0])[0] for one in (robot, free)]
    _, turns, _ = robot.joint_state(q, v)
    assert turns is not None
    rate = turns[robot.joint_names.index("c")]
    assert lost[0] - lost[1] == pytest.approx(2 * rate * rate)


def test_types_of_joints() -> None:
    robot = mbdyn_ros.load(sdf(
        A + joint("ball", "ball", "world", "a", more="<pose>0 0 0.5 0.3 0 0</pose>")
        + link("b", "<pose>1 2 3 0.1 0.2 0.3</pose>")
        + joint("screw", "screw", "a", "b", more="<screw_thread_pitch>0.02</screw_thread_pitch>")
        + link("c") + joint("old", "screw", "b", "c", more="<thread_pitch>-50</thread_pitch>")
        + link("d") + joint("cross", "universal", "c", "d", "1 0 0",
                            "<axis2><xyz>0 1 0</xyz></axis2><pose>0 0 1 0 0 0</pose>")
        + link("e") + joint("two", "revolute2", "d", "e", "1 0 0",
                            "<axis2><xyz>1 1 0</xyz></axis2>")
        + link("f") + joint("stiff", "fixed", "e", "f")
    ))  # fmt: skip
    assert robot.independent_joints == (
        "ball", "screw", "old", "cross/first", "cross/second", "two/first", "two/second"
    )  # fmt: skip
    model = robot.model
    assert model.joint("screw").numbers["pitch"] == pytest.approx(0.02 / (2 * math.pi))
    assert model.joint("old").numbers["pitch"] == pytest.approx(0.02)
    assert model.joint("ball").kind.nv == 3
    start = robot.neutral()
    assert np.allclose(robot.frame_pose(start, "b")[:3, 3], [1, 2, 3])
    energy = robot.energy(start, np.ones(robot.nv))
    assert np.all(np.isfinite(energy))


GEARS = (
    link("body") + link("small", "<pose>0 0 1 0 0 0</pose>")
    + link("big", "<pose>1 0 0 0 0 0</pose>") + joint("ground", "fixed", "world", "body")
    + joint("p", "revolute", "body", "small") + joint("c", "revolute", "body", "big", "0 0 -1")
)  # fmt: skip
GEARBOX = joint(
    "gear", "gearbox", "small", "big", "0 0 1",
    "<axis2><xyz>0 0 1</xyz></axis2><gearbox_ratio>3</gearbox_ratio>"
    "<gearbox_reference_body>body</gearbox_reference_body>",
)  # fmt: skip


def test_a_gearbox_and_a_mimic() -> None:
    robot = mbdyn_ros.load(sdf(GEARS + GEARBOX))
    (gear,) = robot.model.couplings
    assert robot.nv == 1 and dict(gear.factors) == {"p": 3.0, "c": -1.0}  # c turns about -z
    follows = '<mimic joint="p"><multiplier>3</multiplier><reference>0.1</reference></mimic>'
    mimic = mbdyn_ros.load(sdf(GEARS.replace("0 0 -1</xyz>", f"0 0 -1</xyz>{follows}")))
    one = mimic.model.joint("c").mimic
    assert one is not None and one.offset == pytest.approx(-0.3)
    np.testing.assert_allclose(mimic.mass_matrix([0.2]), robot.mass_matrix([0.2]), atol=1e-12)


def test_rotors_and_mimics_of_drake() -> None:
    rotor = "<drake:rotor_inertia>0.1</drake:rotor_inertia><drake:gear_ratio>10</drake:gear_ratio>"
    turned = ARM.format("revolute", rotor, "0 0 1", "")
    model = read_description(sdf(turned))
    assert model.joint("j").armature == pytest.approx(10.0)
    assert not model.unused
    follows = '<drake:mimic joint="p" multiplier="3" offset="-0.3"/>'
    second = '<joint name="c" type="revolute">'
    mimic = read_description(sdf(GEARS.replace(second, second + follows))).joint("c").mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("p", 3.0, -0.3)


def test_what_is_free_and_what_is_static() -> None:
    alone = mbdyn_ros.load(sdf(A + B + TWO))
    assert alone.floating_base and alone.model.root == "__model__" and alone.nv == 7
    assert np.allclose(alone.frame_pose(alone.neutral(), "a")[:3, 3], [0, 0, 1])
    assert mbdyn_ros.load(sdf(link("a"))).model.root == "a"
    assert not mbdyn_ros.load(sdf(A + B + TWO), floating_base=False).floating_base
    assert mbdyn_ros.load(sdf("<static>true</static>" + A + B)).nv == 0
    ground = f'<model name="ground"><static>true</static>{link("plane")}</model>'
    world = '<sdf version="1.9"><world name="w">{}</world></sdf>'
    one = f'<model name="one">{A}{B}{TWO}</model>'
    robot = mbdyn_ros.load(world.format(ground + one))
    assert robot.floating_base and robot.model.unused == {"link of a static model": 1}
    assert robot.gravity.tolist() == [0, 0, -9.8]
    both = mbdyn_ros.load(world.format(ground + one + one.replace('"one"', '"other"')))
    assert (both.model.root, both.floating_base, both.nv) == ("world", False, 14)


def test_shapes() -> None:
    shapes = {
        "box": "<size>1 2 3</size>", "sphere": "<radius>0.5</radius>",
        "cylinder": "<radius>0.5</radius><length>2</length>",
        "capsule": "<radius>0.5</radius><length>2</length>",
        "mesh": "<uri>model://m/a.stl</uri><scale>1 2 3</scale>",
        "plane": "<normal>0 0 1</normal>",
    }  # fmt: skip
    every = "".join(
        f'<collision name="{kind}"><pose>0 0 1 0 0 0</pose><geometry><{kind}>{text}</{kind}>'
        "</geometry></collision>"
        for kind, text in shapes.items()
    )
    looks = (
        '<visual name="v"><geometry><sphere/></geometry><material><diffuse>1 0 0</diffuse>'
        "</material></visual>"
    )
    found = read_description(sdf(f'<link name="a">{inertial()}{every}{looks}</link>')).link("a")
    assert [one.geometry for one in found.collisions] == [
        Box((1.0, 2.0, 3.0)), Sphere(0.5), Cylinder(0.5, 2.0), Capsule(0.5, 2.0),
        Mesh("model://m/a.stl", (1.0, 2.0, 3.0)), None,
    ]  # fmt: skip
    looked_at = read_visuals(sdf(f'<link name="a">{looks}</link>'))
    assert [(one.link, one.color) for one in looked_at] == [("a", (1, 0, 0, 1))]
    assert "<plane> is not supported as a shape" in found.collisions[-1].problem
    assert found.collisions[0].origin.translation.tolist() == [0, 0, 1]
    assert found.visuals[0].color == (1, 0, 0, 1)


def test_what_is_reported_once() -> None:
    text = sdf(
        '<link name="a"><gravity>false</gravity><sensor name="s"/><sensor name="t"/></link>'
        '<link name="b"><velocity_decay><linear>0.1</linear></velocity_decay></link>'
        + joint("j", "fixed", "a", "b")
        + "<plugin/><drake:linear_bushing_rpy>1</drake:linear_bushing_rpy>"
    )  # fmt: skip
    with pytest.warns(ModelWarning) as caught:
        robot = mbdyn_ros.load(text)
    assert [str(one.message) for one in caught] == [
        '<text>:1: <model name="r"> <link>: has no <inertial>; SDF gives it 1 kg and moments of '
        '1 kg m^2; likewise "r" (line 1)',
        "<text>: acts on the motion and is not used: link without gravity (1), velocity_decay (1), "
        "linear_bushing_rpy (1)",
    ]
    assert robot.model.unused == {
        "link without gravity": 1, "velocity_decay": 1, "linear_bushing_rpy": 1, "sensor": 2,
        "plugin": 1,
    }  # fmt: skip


REFUSED = {
    "type": (A + joint("j", "rope", "world", "a"), 'type="rope" is not a joint of SDF; there are'),
    "parent": (A + joint("j", "fixed", "wrld", "a"), 'no link or frame "wrld" here'),
    "child": (A + joint("j", "fixed", "world", "x"), 'relative to "x", and there is no link'),
    "no child": (A + '<joint name="j" type="fixed"><parent>a</parent></joint>', "names no child"),
    "itself": (A + joint("j", "fixed", "a", "a"), 'joins the link "a" to itself'),
    "axis": (A + '<joint name="j" type="revolute"><parent>world</parent><child>a</child></joint>',
             "has no <axis>; add"),
    "no direction": (A + joint("j", "revolute", "world", "a", "0 0 0"), "has no direction"),
    "circle": (link("a", '<pose relative_to="b"/>') + link("b", '<pose relative_to="a"/>'),
               r"its pose is relative to itself \(through a, b\)"),
    "attached": ('<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>' + A,
                 '"g" is attached to itself|relative to itself'),
    "pose": (link("a", "<pose>0 0 one</pose>"), '"0 0 one" is not 6 finite numbers'),
    "mass": (link("a", mass=-1.0), "its mass -1 is negative"),
    "auto": ('<link name="a"><inertial auto="true"/></link>', 'auto="true" is not computed here'),
    "two of one name": (A + A, 'the name "a" is taken'),
    "limits": (A + joint("j", "revolute", "world", "a", "<xyz>0 0 1</xyz><limit><lower>1</lower>"
                         "<upper>0</upper></limit>"), "lower 1 is above upper 0"),
    "gear without hinges": (GEARS.replace('"revolute"', '"prismatic"') + GEARBOX,
                            'no hinge joins its reference body "body" to its parent "small"'),
    "gear across": (GEARS + GEARBOX.replace("<axis><xyz>0 0 1", "<axis><xyz>1 0 0"),
                    'its <axis> is not parallel to the axis of joint "p"'),
    "mimic": (A + joint("j", "revolute", "world", "a", '<xyz>0 0 1</xyz><mimic joint="k"/>'),
              '"k" is not a joint of this robot'),
    "constraint of Drake": (A + "<drake:distance_constraint/>",
                            "drake:distance_constraint>: is not read, and the machine would be"),
    "soft body of Drake": ('<link name="s"><drake:deformable_properties/></link>',
                           "<link>: bodies that deform are not computed; remove it"),
    "joint of Drake": (A + '<drake:joint name="j" type="planar"/>', "<drake:joint>: is not read"),
    "rotor": (A + '<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis/>'
              "<drake:rotor_inertia>-1</drake:rotor_inertia></joint>", "armature -1 is negative"),
    "no model": ("</model><model name='other'>", "has 2 models and worlds"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    body, words = REFUSED[name]
    with pytest.raises(ModelError, match=f"^<text>:1: .*{words}"):
        read_description(sdf(body))


ARM = (
    link("a")
    + link("b")
    + (
        '<joint name="j" type="{0}"><parent>a</parent><child>b</child>{1}'
        "<axis><xyz>{2}</xyz>{3}</axis></joint>"
    )
)
NUMBERS = {
    "axis": (ARM.format("revolute", "", "1e-320 0 0", ""), "has no direction"),
    "pitch": (
        ARM.format("screw", "<screw_thread_pitch>0</screw_thread_pitch>", "1 0 0", ""),
        "screw_thread_pitch> is 0",
    ),
    "friction": (
        ARM.format("revolute", "", "1 0 0", "<dynamics><friction>-1</friction></dynamics>"),
        "friction -1 is negative; friction opposes motion",
    ),
    "inertia": (
        '<link name="a"><inertial><inertia><ixy>1.79e308</ixy></inertia></inertial></link>',
        "1e\\+100",
    ),
    "place": (
        '<link name="a"><inertial><pose>1e200 0 0 0 0 0</pose></inertial></link>',
        "1e\\+100",
    ),
    "circle": (
        '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>' + link("a"),
        "relative to itself",
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_no_joint_or_link_has(name: str) -> None:
    text, words = NUMBERS[name]
    with pytest.raises(ModelError, match=words):
        read_description(sdf(text))


def test_negative_damping_is_warned_of() -> None:
    dynamics = "<dynamics><damping>-1</damping><spring_stiffness>-2</spring_stiffness></dynamics>"
    warnings = read_description(sdf(ARM.format("revolute", "", "1 0 0", dynamics))).warnings
    assert "damping -1 is negative" in warnings[0]
    assert "spring_stiffness -2 is negative" in warnings[1]


def test_deep_chains_of_frames() -> None:
    names = ["a", *(f"f{k}" for k in range(2000))]
    frames = "".join(
        f'<frame name="{name}" attached_to="{before}"><pose>0 0 1 0 0 0</pose></frame>'
        for before, name in zip(names, names[1:], strict=False)
    )
    assert read_description(sdf(link("a") + frames)).root == "a"


def test_includes_that_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "MOST_ELEMENTS", 2000)
    for k in range(9):
        inner = "".join(
            f"<include><name>m{n}</name><uri>{k + 1}.sdf</uri></include>" for n in range(6)
        )
        body = (inner if k < 8 else "") + '<link name="a"/>'
        (tmp_path / f"{k}.sdf").write_text(sdf(body))
    with pytest.raises(ModelError, match="more than 2000 elements"):
        read_description(tmp_path / "0.sdf")
