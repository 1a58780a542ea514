"""Robots edited: locked, cut, renamed, joined, changed; judged by Pinocchio and by themselves."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file
from same_models import difference

import mbdyn_ros
from mbdyn_ros.model import edit, read_urdf
from mbdyn_ros.model.pose import Pose
from mbdyn_ros.model.write.urdf import urdf_text

pin = pytest.importorskip("pinocchio")
from random_loops import Mechanism  # noqa: E402
from rounded_robots import three_rrr  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("interpreted_module"),
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
]
OWN = Path(__file__).resolve().parents[2] / "urdf"
TOLERANCE = {"rtol": 1e-11, "atol": 1e-9}

HAND = """<robot name="hand"><link name="palm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="finger"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="thumb"/>
  <joint name="grip" type="revolute"><parent link="palm"/><child link="finger"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
  <joint name="follow" type="revolute"><parent link="palm"/><child link="thumb"/>
    <axis xyz="0 1 0"/><mimic joint="grip" multiplier="-2" offset="0.5"/>
    <limit lower="-3" upper="3" effort="5" velocity="2"/></joint>
  <transmission name="t"><joint name="grip"/></transmission>
  <gazebo reference="finger"><mu1>1</mu1></gazebo></robot>"""


def state(size: int) -> np.ndarray:
    return np.random.default_rng(size).normal(size=(3, size))


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("name", ["ur5_robot.urdf", "solo12.urdf"])
def test_a_reduced_robot_is_pinocchios(name: str, floating_base: bool) -> None:
    path = urdf_file(name)
    robot = mbdyn_ros.load(path, floating_base=floating_base)
    names = [joint for joint in robot.joint_names if robot.model.joint(joint).mimic is None][1::3]
    positions = {joint: 0.1 + 0.3 * k for k, joint in enumerate(names)}
    reduced = robot.locked(positions)
    whole = pin.buildModelFromUrdf(str(path), *[pin.JointModelFreeFlyer()] * floating_base)
    ids, q0 = [whole.getJointId(joint) for joint in names], pin.neutral(whole)
    for index, x in zip(ids, positions.values(), strict=True):
        q0[whole.joints[index].idx_q] = x
    judge = pin.buildReducedModel(whole, ids, q0)
    q = pin.randomConfiguration(judge, -np.ones(judge.nq), np.ones(judge.nq))
    _, v, a = state(judge.nv)
    ours = reduced.inverse_dynamics(q, v, a, friction=False)
    np.testing.assert_allclose(ours, pin.rnea(judge, judge.createData(), q, v, a), **TOLERANCE)
    assert reduced.links == robot.links and robot.nv == whole.nv
    np.testing.assert_allclose(
        reduced.frame_pose(q, robot.links[-1]), _pose(judge, q, robot.links[-1]), atol=1e-12
    )


def _pose(judge: pin.Model, q: np.ndarray, link: str) -> np.ndarray:
    data = judge.createData()
    pin.framesForwardKinematics(judge, data, q)
    return data.oMf[judge.getFrameId(link)].homogeneous


@pytest.mark.parametrize("name", ["manipulator", "parallelogram_arm"])
def test_loops_follow_a_lock(name: str) -> None:
    robot = mbdyn_ros.load(OWN / f"{name}.urdf")
    joint = robot.independent_joints[1]
    row = robot.independent_joints.index(joint)
    q = robot.home_position + 0.05
    reduced = robot.locked({joint: q[row]})
    rest = [k for k in range(robot.nv) if k != row]
    assert reduced.independent_joints == tuple(robot.independent_joints[k] for k in rest)
    v, a = np.full(robot.nv, 0.3), np.full(robot.nv, -0.7)
    v[row] = a[row] = 0.0
    whole = robot.inverse_dynamics(q, v, a)
    ours = reduced.inverse_dynamics(q[rest], v[rest], a[rest])
    np.testing.assert_allclose(ours, whole[rest], rtol=1e-9, atol=1e-7)
    link = robot.links[-1]
    np.testing.assert_allclose(
        reduced.frame_pose(q[rest], link), robot.frame_pose(q, link), atol=1e-10
    )


def test_a_loop_that_stands_still_is_no_loop() -> None:
    robot = mbdyn_ros.load(OWN / "four_bar.urdf")
    positions = dict(zip(robot.joint_names, robot.joint_state([0.4])[0], strict=True))
    for name in ("crank_joint", "rocker_joint"):
        still = robot.locked({name: positions[name]})
        assert still.nv == 0 and not still.model.loops
        for link in robot.links:
            np.testing.assert_allclose(
                still.frame_pose([], link), robot.frame_pose([0.4], link), atol=1e-9
            )
    assert robot.locked({name: positions[name] for name in positions}).nv == 0
    with pytest.raises(mbdyn_ros.InputError, match="cannot be locked together.*the others follow"):
        robot.locked({"crank_joint": 0.4, "rocker_joint": positions["rocker_joint"] + 0.1})
    with pytest.raises(mbdyn_ros.InputError, match="leave the loop 'coupler_pin' open by"):
        edit.locked(robot.model, {name: 0.1 for name in positions})


@pytest.mark.parametrize("away", [0.0, 1e-3, 1e-2])
def test_all_drives_of_a_parallel_robot_are_locked(away: float) -> None:
    mechanism = Mechanism(np.random.default_rng(1))
    three_rrr(mechanism)
    robot = mechanism.load()
    q, last = robot.home_position + away, robot.links[-1]
    still = robot.locked(dict(zip(robot.independent_joints, q.tolist(), strict=True)))
    assert still.nv == 0
    np.testing.assert_allclose(still.frame_pose([], last), robot.frame_pose(q, last), atol=1e-9)


def test_what_stands_only_at_a_dead_point_is_not_locked() -> None:
    """A ram turns back at home, and moves all the same."""
    joints = "".join(
        f'''<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="{x} 0 0"/><axis xyz="{axis}"/><limit lower="-4" upper="4"/></joint>'''
        for name, kind, parent, child, x, axis in [
            ("turn", "revolute", "base", "table", 0, "0 0 1"),
            ("motor", "revolute", "table", "crank", 0, "0 1 0"),
            ("pin", "revolute", "crank", "rod", 0.2, "0 1 0"),
            ("guide", "prismatic", "table", "ram", 0.7, "1 0 0"),
        ]
    )
    links = "".join(f'<link name="{name}"/>' for name in ("base", "table", "crank", "rod", "ram"))
    robot = mbdyn_ros.load(
        f"""<robot name="press">{links}{joints}<loop name="wrist" type="revolute">
        <predecessor link="rod"><origin xyz="0.5 0 0"/></predecessor><successor link="ram"/>
        <axis xyz="0 1 0"/></loop></robot>""",
        mechanism="{independent: [turn, motor]}",
    )
    reduced = robot.locked(["turn"])
    assert reduced.joint_names == ("motor", "pin", "guide")
    ram = 0.2 * np.cos(0.3) + np.sqrt(0.25 - (0.2 * np.sin(0.3)) ** 2)
    assert reduced.frame_pose([0.3], "ram")[0, 3] == pytest.approx(ram, abs=1e-12)


def test_mimics_follow_a_lock() -> None:
    robot = mbdyn_ros.load(HAND)
    for positions in ({"grip": 0.25}, {"follow": 0.0}, {"grip": 0.25, "follow": 0.0}):
        still = robot.locked(positions).model
        turn = still.joint("follow").origin.rotation
        assert still.joint("grip").type == still.joint("follow").type == "fixed"
        np.testing.assert_allclose(turn, np.eye(3), atol=1e-15)
        assert still.driven == () and not [one for one in still.foreign if one.tag != "gazebo"]
    with pytest.raises(mbdyn_ros.InputError, match="the mimic of 'follow' puts it at 0"):
        robot.locked({"grip": 0.25, "follow": 0.5})
    with pytest.warns(mbdyn_ros.ModelWarning, match="beyond its limits -1 to 1"):
        robot.locked({"grip": 1.5})


def test_couplings_follow_a_lock() -> None:
    axes = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="continuous"><parent link="world"/>'
        f'<child link="l{k}"/></joint>'
        for k in "abc"
    )
    factors = "".join(
        f'<joint name="{name}" factor="{x}"/>' for name, x in (("ja", 2), ("jb", -1), ("jc", 4))
    )
    gear = f'<coupling name="sum" offset="3">{factors}</coupling>'
    model = read_urdf(f'<robot name="gears"><link name="world"/>{axes}{gear}</robot>')
    (rest,) = edit.locked(model, {"ja": 0.5}).couplings
    assert rest.factors == (("jb", -1.0), ("jc", 4.0)) and rest.offset == 2.0
    two = edit.locked(model, {"ja": 0.5, "jb": 2.0})
    assert two.couplings == () and {joint.type for joint in two.joints} == {"fixed"}
    with pytest.raises(mbdyn_ros.InputError, match="coupling 'sum' does not allow ja = 0.5"):
        edit.locked(model, {"ja": 0.5, "jb": 2.0, "jc": 0.0})


def test_a_joint_of_several_coordinates_is_locked() -> None:
    text = HAND.replace('name="grip" type="revolute"', 'name="grip" type="planar"')
    text = text.replace('<mimic joint="grip" multiplier="-2" offset="0.5"/>', "")
    model = read_urdf(text.replace('<limit lower="-1" upper="1" effort="5" velocity="2"/>', ""))
    pose = edit.locked(model, {"grip": (0.1, 0.2, 0.3)}).joint("grip").origin
    assert np.abs(pose.matrix() - model.joint("grip").pose((0.1, 0.2, 0.3)).matrix()).max() < 1e-15
    part = edit.locked(model, {"grip/x": 0.1})
    assert part.joint("grip/x").type == "fixed" and part.joint("grip/theta").nv == 1
    with pytest.raises(mbdyn_ros.InputError, match="has 3 positions"):
        edit.locked(model, {"grip": 0.1})


@pytest.mark.parametrize(
    ("joints", "problem"),
    [
        ({"gripp": 0.1}, r'there is no joint \'gripp\' \(did you mean "grip"\?\)'),
        ({"grip": float("nan")}, "finite numbers"),
        ({"grip": "open"}, "finite numbers"),
        ("grip", "a list of names"),
        (["nothing"], "the joints are grip, follow"),
    ],
)
def test_wrong_locks_are_refused(joints: object, problem: str) -> None:
    with pytest.raises(mbdyn_ros.InputError, match=problem):
        mbdyn_ros.load(HAND).locked(joints)  # type: ignore[arg-type]


def test_a_tool_is_pinocchios() -> None:
    path = urdf_file("ur5_robot.urdf")
    robot = mbdyn_ros.load(path)
    both = robot.attached(str(path), "tool0", (0.1, -0.2, 0.3), (0.4, 0.5, -0.6), prefix="two_")
    assert both.joint_names == (*robot.joint_names, *("two_" + one for one in robot.joint_names))
    one = pin.buildModelFromUrdf(str(path))
    mount = pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.5, -0.6), np.array([0.1, -0.2, 0.3]))
    judged = pin.appendModel(one, _renamed(one), one.getFrameId("tool0"), mount)
    q, v, a = state(12)
    ours = both.inverse_dynamics(q, v, a, friction=False)
    np.testing.assert_allclose(ours, pin.rnea(judged, judged.createData(), q, v, a), **TOLERANCE)


def _renamed(model: pin.Model) -> pin.Model:
    """The same with other names, which Pinocchio insists on."""
    other = pin.Model(model)
    for k in range(1, other.njoints):
        other.names[k] = "two_" + other.names[k]
    for k in range(1, other.nframes):
        other.frames[k].name = "two_" + other.frames[k].name
    return other


def test_what_robots_carry_is_attached(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    mesh = '<visual><geometry><mesh filename="a.stl"/></geometry></visual></link>\n  <link name="f'
    tool = tmp_path / "tool" / "hand.urdf"
    tool.write_text(HAND.replace('</link>\n  <link name="f', mesh))
    boom = mbdyn_ros.load(OWN / "boom.urdf")
    hand = mbdyn_ros.load(tool, home={"grip": 0.5}, variable=["palm"], floating_base=True)
    hand.set_payload("palm", 2.0)
    both = boom.attached(hand, boom.links[-1], prefix="hand_", joint="flange")
    model = both.model
    assert both.independent_joints == (*boom.independent_joints, "hand_grip")
    assert both.home["hand_grip"] == 0.5 and both.home["hand_follow"] == -0.5
    assert both.total_mass == pytest.approx(boom.total_mass + hand.total_mass)
    mesh_file = model.link("hand_palm").visuals[0].geometry.file
    assert (OWN / mesh_file).resolve() == tool.parent / "a.stl"
    named = {name for one in model.foreign for _, name in one.names()}
    assert {"hand_finger", "hand_grip"} <= named
    assert model.joint("flange").child == "hand_palm" and not both.floating_base
    back = both.without("hand_palm")
    assert back.independent_joints == boom.independent_joints
    assert difference(back.model.loops, boom.model.loops) == 0.0
    with pytest.raises(mbdyn_ros.InputError, match='both have a link called .* prefix="tool_"'):
        boom.attached(boom, boom.links[-1])
    with pytest.raises(mbdyn_ros.InputError, match="there is no link 'boomm'"):
        boom.attached(hand, "boomm")
    with pytest.raises(mbdyn_ros.InputError, match="xyz are three finite numbers"):
        boom.attached(hand, boom.links[-1], xyz=(0, 1))


def test_removing_is_refused_where_it_leaves_loose_ends() -> None:
    boom = mbdyn_ros.load(OWN / "four_bar.urdf")
    with pytest.raises(mbdyn_ros.InputError, match="'coupler_pin' connects the link 'rocker'"):
        boom.without("rocker")
    assert boom.without("rocker", "coupler_pin").links == ("ground", "crank", "coupler")
    hand = mbdyn_ros.load(HAND)
    with pytest.raises(mbdyn_ros.InputError, match="joint 'follow' mimics 'grip'"):
        hand.without("finger")
    with pytest.raises(mbdyn_ros.InputError, match="'palm' is the root"):
        hand.without("palm")
    with pytest.raises(mbdyn_ros.InputError, match="no link, loop or coupling 'fingr'"):
        hand.without("fingr")
    rest = hand.without("finger", "thumb")
    assert rest.joint_names == () and rest.model.foreign == ()


def test_names_follow_a_renaming() -> None:
    hand = mbdyn_ros.load(HAND, home={"grip": 0.5}, variable=["finger"])
    other = hand.renamed({"grip": "open"}, {"finger": "index"}, name="mano")
    assert other.joint_names == ("open", "follow") and other.model.name == "mano"
    assert other.model.joint("follow").mimic.joint == "open"
    assert other.home == {"open": 0.5, "follow": -0.5} and other.model.driven == ("open",)
    assert "index" in urdf_text(other.model) and "finger" not in urdf_text(other.model)
    np.testing.assert_array_equal(other.mass_matrix([0.5]), hand.mass_matrix([0.5]))
    assert other.parameter_labels()[0] == "index/m"
    boom = mbdyn_ros.load(OWN / "boom.urdf").renamed(loops={"rod_pin": "pin"})
    assert boom.model.loops[0].name == "pin"
    for names, problem in [
        ({"joints": {"grip": "follow"}}, "two joints would be called 'follow'"),
        ({"links": {"a": "b"}}, "there is no link 'a'"),
        ({"joints": {"grip": ""}}, "is not a name of a joint"),
        ({"joints": {"grip": "a\n"}}, "control characters"),
    ]:
        with pytest.raises(mbdyn_ros.InputError, match=problem):
            hand.renamed(**names)


def test_a_joint_changes() -> None:
    hand = mbdyn_ros.load(HAND)
    other = hand.with_joint("grip", upper=0.5, damping=0.25, xyz=(0, 0, 1), axis=(0, 0, 2))
    joint = other.model.joint("grip")
    assert (joint.limits.lower, joint.limits.upper, joint.limits.effort) == (-1, 0.5, 5)
    assert joint.damping == 0.25 and joint.axis.tolist() == [0, 0, 1]
    assert joint.origin.translation.tolist() == [0, 0, 1] and hand.model.joint("grip").damping == 0
    turned = edit.with_joint(hand.model, "grip", rpy=(0, 0, 0.5)).joint("grip").origin
    assert np.abs((turned @ turned.inverse()).matrix() - Pose().matrix()).max() < 1e-15
    for changes, problem in [
        ({"upper": -2.0}, "lower -1 is above upper -2"),
        ({"friction": -1.0}, "friction opposes motion"),
        ({"stiffness": 1.0}, "has no 'stiffness'; there are lower"),
        ({"velocity": 0.0}, "would hold it still"),
        ({"axis": (0, 0, 0)}, "has no direction"),
        ({"damping": "much"}, "is a number, not 'much'"),
    ]:
        with pytest.raises(mbdyn_ros.InputError, match=problem):
            hand.with_joint("grip", **changes)


def test_models_stay_as_they_were() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        model = read_urdf(HAND)
        text = urdf_text(model)
        edit.locked(model, {"grip": 0.5})
        edit.renamed(model, {"grip": "x"})
        edit.attached(model, model, "finger", prefix="b")
        edit.without(model, "finger", "thumb")
    assert urdf_text(model) == text
