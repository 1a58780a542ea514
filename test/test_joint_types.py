"""Screw, spherical and universal joints in the tree, against Pinocchio's models of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import mbdyn_ros
from mbdyn_ros.model import Joint, ModelError, read_urdf
from mbdyn_ros.model.axes import across
from mbdyn_ros.model.closing_types import closing_type
from mbdyn_ros.model.joints import joint_type
from mbdyn_ros.units import effort_unit, position_unit, velocity_unit
from mbdyn_ros.view.scene.joint_motion import link_poses

Array = np.ndarray
PITCH = 0.07

JOINTS = (
    ("lift", "screw", "base", "nut", "0.1 0.2 0.3", "0.3 -0.2 0.9", "1 2 -2"),
    ("ball", "spherical", "nut", "arm", "0.2 -0.1 0.4", "0.5 0.1 -0.4", ""),
    ("cardan", "universal", "arm", "shaft", "0.3 0.1 -0.2", "-0.7 0.2 0.1", "2 -1 0.5"),
    ("elbow", "revolute", "shaft", "hand", "0 0.3 0.1", "0.1 0.9 0.2", "0 1 1"),
    ("nod", "universal", "nut", "head", "0 0 0.2", "0 0 0", "0 0 1"),
    ("eye", "spherical", "head", "lens", "0.05 0 0.1", "0 0.3 0", ""),
    ("drill", "screw", "lens", "tip", "0 0 0.1", "0 0 0", "0 0 1"),
    ("rail", "prismatic", "tip", "end", "0 0.1 0", "0.2 0 0", "1 0 0"),
)


def urdf(joints: tuple[tuple[str, ...], ...] = JOINTS) -> str:
    """A tree of such joints, every link with mass."""
    text = ['<robot name="joints">']
    for k, name in enumerate(("base", *(joint[3] for joint in joints))):
        text.append(
            f'<link name="{name}"><inertial><origin xyz="0.1 {0.02 * k} 0.2" rpy="0.1 {k} 0.3"/>'
            f'<mass value="{1 + 0.3 * k}"/><inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" '
            'ixz="-0.002" iyz="0.003"/></inertial></link>'
        )
    for name, kind, parent, child, xyz, rpy, axis in joints:
        text.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>'
            + (f'<axis xyz="{axis}"/>' if axis else "")
            + (f'<screw pitch="{PITCH}"/>' if kind == "screw" else "")
            + ('<limit lower="-9" upper="9" velocity="9" effort="9"/>' if kind in LIMITED else "")
            + "</joint>"
        )
    return "\n".join([*text, "</robot>"])


LIMITED = ("revolute", "prismatic")


def judge(model: mbdyn_ros.model.Model, floating_base: bool) -> pin.Model:
    """The same robot by Pinocchio's joint models, in the same order of coordinates."""
    result = pin.Model()
    places: dict[str, int] = {model.root: 0}
    if floating_base:
        free = pin.JointModelFreeFlyer()
        places[model.root] = result.addJoint(0, free, pin.SE3.Identity(), "root")
    for joint in model.joints:
        at = pin.SE3(joint.origin.rotation, joint.origin.translation)
        parent, axis = places[joint.parent], joint.axis
        e1, e2 = across(axis)
        steps = {
            "screw": lambda a=axis: [pin.JointModelHelicalUnaligned(*a, PITCH)],
            "spherical": lambda: [pin.JointModelSpherical()],
            "universal": lambda one=e1, two=e2: [
                pin.JointModelRevoluteUnaligned(one), pin.JointModelRevoluteUnaligned(two)
            ],
            "revolute": lambda a=axis: [pin.JointModelRevoluteUnaligned(a)],
            "prismatic": lambda a=axis: [pin.JointModelPrismaticUnaligned(a)],
        }[joint.type]()  # fmt: skip
        for k, step in enumerate(steps):
            parent = result.addJoint(parent, step, at, f"{joint.name}/{k}")
            at = pin.SE3.Identity()
        places[joint.child] = parent
    for link in model.links:
        inertia = link.inertia
        if inertia is not None and places[link.name]:
            body = pin.Inertia(inertia.mass, inertia.center, inertia.moments)
            result.appendBodyToJoint(places[link.name], body, pin.SE3.Identity())
        result.addFrame(
            pin.Frame(link.name, places[link.name], 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME)
        )
    return result


class Both:
    """A robot by us and by Pinocchio, and a state."""

    def __init__(self, floating_base: bool) -> None:
        self.ours = mbdyn_ros.load(urdf(), floating_base=floating_base)
        self.theirs = judge(self.ours.model, floating_base)
        self.data = self.theirs.createData()
        random = np.random.default_rng(3)
        self.q = random.uniform(-1, 1, self.ours.nq)
        for start in self.ours.system.coordinates.quaternions:
            self.q[start : start + 4] /= np.linalg.norm(self.q[start : start + 4])
        self.v, self.a = random.normal(size=(2, self.ours.nv))


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "floating"])
def both(request: pytest.FixtureRequest) -> Both:
    return Both(request.param)


def close(ours: Array, theirs: Array) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_coordinates(both: Both) -> None:
    robot = both.ours
    assert (robot.nq, robot.nv) == (both.theirs.nq, both.theirs.nv)
    assert [one for one in robot.position_labels if one.startswith(("ball", "cardan", "lift"))] == [
        "lift", "ball/qx", "ball/qy", "ball/qz", "ball/qw", "cardan/first", "cardan/second",
    ]  # fmt: skip
    assert [one for one in robot.velocity_labels if one.startswith("ball")] == [
        "ball/wx", "ball/wy", "ball/wz",
    ]  # fmt: skip


def test_inverse_dynamics(both: Both) -> None:
    theirs = pin.rnea(both.theirs, both.data, both.q, both.v, both.a)
    close(both.ours.inverse_dynamics(both.q, both.v, both.a), theirs)


def test_forward_dynamics(both: Both) -> None:
    theirs = pin.aba(both.theirs, both.data, both.q, both.v, both.a)
    close(both.ours.forward_dynamics(both.q, both.v, both.a), theirs)


def test_mass_matrix(both: Both) -> None:
    theirs = pin.crba(both.theirs, both.data, both.q)
    close(both.ours.mass_matrix(both.q), np.triu(theirs) + np.triu(theirs, 1).T)


def test_derivatives(both: Both) -> None:
    theirs = pin.computeRNEADerivatives(both.theirs, both.data, both.q, both.v, both.a)
    for one, other in zip(
        both.ours.inverse_dynamics_derivatives(both.q, both.v, both.a)[:2], theirs[:2], strict=True
    ):
        close(one, other)
    theirs = pin.computeABADerivatives(both.theirs, both.data, both.q, both.v, both.a)
    for one, other in zip(
        both.ours.forward_dynamics_derivatives(both.q, both.v, both.a)[:2], theirs[:2], strict=True
    ):
        close(one, other)


def test_frames_and_energy(both: Both) -> None:
    pin.framesForwardKinematics(both.theirs, both.data, both.q)
    for link in ("arm", "hand", "end"):
        pose = both.data.oMf[both.theirs.getFrameId(link)].homogeneous
        close(both.ours.frame_pose(both.q, link), pose)
    kinetic = pin.computeKineticEnergy(both.theirs, both.data, both.q, both.v)
    close(both.ours.energy(both.q, both.v)[0], np.array(kinetic))


def test_pictures_stand_where_frames_do() -> None:
    both = Both(False)
    poses = link_poses(both.ours.model, both.ours.joint_state(both.q)[0])
    for link, pose in poses.items():
        close(pose.matrix(), both.ours.frame_pose(both.q, link))


def test_units() -> None:
    model = read_urdf(urdf())
    assert [position_unit(model, one) for one in ("lift", "ball/qx", "cardan/first")] == [
        "rad", "", "rad",
    ]  # fmt: skip
    assert velocity_unit(model, "ball/wx") == "rad/s"
    assert effort_unit(model, "lift") == effort_unit(model, "ball/wx") == "N m"


def test_energy_stays() -> None:
    robot = mbdyn_ros.load(urdf(JOINTS[:4]))
    rng = np.random.default_rng(1)
    q = robot.system.coordinates.blocks["ball"].q
    start = np.zeros(robot.nq)
    start[q] = (0.5, -0.5, 0.5, 0.5)
    trajectory = mbdyn_ros.simulate(robot, start, rng.normal(size=robot.nv), 1.0, rtol=1e-9)
    total = np.sum(trajectory.energy, axis=-1) if trajectory.energy.ndim > 1 else trajectory.energy
    assert np.ptp(total) < 1e-6 * max(1.0, np.abs(total).max())
    np.testing.assert_allclose(np.linalg.norm(trajectory.q[:, q], axis=1), 1, rtol=0, atol=1e-12)


def test_a_rollout_keeps_quaternions_unit() -> None:
    robot = mbdyn_ros.load(urdf(JOINTS[:2]))
    q = np.array([0.2, 0.0, 0.0, 0.0, 1.0])
    effort = np.zeros((3, 20, robot.nv))
    moved = robot.rollout(np.tile(q, (3, 1)), np.ones((3, robot.nv)), effort, 1e-2)
    norms = np.linalg.norm(np.asarray(moved[0])[..., 1:5], axis=-1)
    np.testing.assert_allclose(norms, 1, rtol=0, atol=1e-12)


def test_a_quaternion_that_is_not_unit_is_refused() -> None:
    robot = mbdyn_ros.load(urdf(JOINTS[:2]))
    with pytest.raises(mbdyn_ros.InputError, match="the orientation of ball must be a unit quat"):
        robot.gravity_vector(np.array([0.0, 0.0, 0.0, 0.0, 2.0]))


def changed(old: str, new: str) -> str:
    text = urdf()
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed('<screw pitch="0.07"/>', ""),
         r'<text>:11: <joint name="lift">: has no pitch; add <screw pitch="..."/> with the way'),
        (changed('<screw pitch="0.07"/>', "<screw/>"), r"has no pitch; add <screw pitch"),
        (changed('<axis xyz="0 1 1"/>', '<axis xyz="0 1 1"/><mimic joint="ball"/>'),
         r'<mimic>: joint "ball" \(line 12\) is spherical; only'),
        (changed('type="spherical"', 'type="ball"'), 'type="ball" is here called "spherical"'),
        (changed("</robot>", '<loop name="pin" type="spherical"><predecessor link="base"/>'
                 '<successor link="hand"/></loop></robot>'),
         "loop 'pin' passes through the spherical joint 'ball'"),
    ],
)  # fmt: skip
def test_refusals(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        mbdyn_ros.load(text)


def test_unknown_kinds_raise() -> None:
    with pytest.raises(ModelError, match=r"joint 'j': type=\"gimbal\" is unknown"):
        Joint("j", "gimbal", "a", "b").nv  # noqa: B018
    with pytest.raises(ModelError, match="beyond URDF there are screw, universal, spherical"):
        joint_type("gimbal")
    with pytest.raises(ModelError, match='type "gimbal" is unknown; a loop is closed by one of'):
        closing_type("gimbal")


PLAIN = urdf().replace(f'<screw pitch="{PITCH}"/>', "")
for beyond in ("screw", "spherical", "universal"):
    PLAIN = PLAIN.replace(f'type="{beyond}"', 'type="continuous"')


def test_a_side_car_says_the_same() -> None:
    records = [
        f"{{name: {name}, type: {kind}" + (f", pitch: {PITCH}}}" if kind == "screw" else "}")
        for name, kind, *_ in JOINTS
        if kind not in LIMITED
    ]
    model = mbdyn_ros.model.read_mechanism(f"joints: [\n{','.join(records)}]", read_urdf(PLAIN))
    one, other = (mbdyn_ros.Robot(given) for given in (model, read_urdf(urdf())))
    both = Both(False)
    np.testing.assert_array_equal(
        one.inverse_dynamics(both.q, both.v, both.a), other.inverse_dynamics(both.q, both.v, both.a)
    )


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("{name: lift, type: screw}", '<text>:1: joint "lift": has no pitch; add pitch: the way'),
        ("{name: lif, type: screw}", '"lif" is no joint of this robot .did you mean "lift"'),
        ("{name: lift}", 'joint "lift": has no type; the types of URDF are'),
        ("{name: lift, type: fixed}", "cannot hold a joint still"),
        ("{name: lift, type: planar, axis: [0, 0, 0]}", "its axis has no direction"),
    ],
)
def test_refusals_of_side_cars(record: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        mbdyn_ros.model.read_mechanism(f"joints: [{record}]\n", read_urdf(PLAIN))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_exported_c(tmp_path: Path) -> None:
    robot = mbdyn_ros.load(urdf(JOINTS[:4]))
    robot.generate_c(tmp_path)
    header = next(tmp_path.glob("*.h")).read_text()
    assert "ball/qx" in header and "of a unit quaternion" in header
    sources = [str(path) for path in tmp_path.glob("*.c")]
    subprocess.run(
        ["gcc", "-std=c99", "-O0", *sources, "-o", str(tmp_path / "check"), "-lm"], check=True
    )
    subprocess.run([str(tmp_path / "check")], check=True)


def test_a_screw_in_a_loop_moves_as_its_parts_do() -> None:
    """A nut on a spindle and a slide beside it, joined by a pin: the way is pitch times angle."""
    text = '''<robot name="press"><link name="base"/>
      <link name="nut"><inertial><mass value="2"/><inertia ixx="2" iyy="2" izz="3" ixy="0" ixz="0"
        iyz="0"/></inertial></link>
      <link name="table"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ixz="0" iyz="0"/></inertial></link>
      <joint name="spindle" type="screw"><parent link="base"/><child link="nut"/>
        <axis xyz="0 0 1"/><screw pitch="0.25"/></joint>
      <joint name="slide" type="prismatic"><parent link="base"/><child link="table"/>
        <axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint>
      <loop name="thrust" type="revolute"><predecessor link="nut"/><successor link="table"/>
        <axis xyz="0 0 1"/></loop></robot>'''
    robot = mbdyn_ros.load(text)
    assert robot.nv == 1
    (name,) = robot.independent_joints
    one = 1.0 if name == "spindle" else 0.25
    position = robot.joint_state([one])[0]
    np.testing.assert_allclose(position, [1.0, 0.25], rtol=0, atol=1e-12)
    turned = robot.mass_matrix([one])[0, 0] * (one / 1.0) ** 2
    np.testing.assert_allclose(turned, 3 + 7 * 0.25**2, rtol=1e-12)
