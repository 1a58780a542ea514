"""Robots written as SDF: our reader and Drake's find the same masses in them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file

import mbdyn_ros

pytest.importorskip("pinocchio")
from random_loops import draw  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("interpreted_module"),
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
]
OWN = Path(__file__).resolve().parents[2] / "urdf"
KINDS = ("slider-crank", "mimic", "floating", "spatial universal", "spatial planar")
MORE = (
    "branches", "spatial fixed", "spatial revolute", "spatial prismatic", "spatial cylindrical",
    "spatial spherical",
)  # fmt: skip
TREES = ("ur5_robot.urdf", "z1.urdf", "solo12.urdf")


def same(robot: mbdyn_ros.Robot, path: Path) -> mbdyn_ros.Robot:
    """What our reader makes of the file, which has the same masses and weights."""
    other = mbdyn_ros.load(path)
    if robot.dependent_joints:
        other = other.with_independent(robot.independent_joints, other.home)
    q = robot.home_position
    there = other.home_position if robot.model.loops else q
    for ours, theirs in (
        (other.mass_matrix(there), robot.mass_matrix(q)),
        (other.gravity_vector(there), robot.gravity_vector(q)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * max(np.abs(theirs).max(), 1))
    return other


@pytest.mark.sparse
@pytest.mark.parametrize(
    "kind", [*KINDS, *(pytest.param(kind, marks=pytest.mark.long) for kind in MORE)]
)
def test_loops_come_back(kind: str, tmp_path: Path) -> None:
    robot = draw(kind, 0).load()
    saved = robot.save_sdf(tmp_path / "robot.sdf")
    other = same(robot, saved.path)
    assert len(other.model.loops) == len(robot.model.loops)
    assert any("count from home" in text for text in saved.omitted) or not robot.model.loops


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["four_bar", "boom", *TREES])
def test_robots_come_back(name: str, tmp_path: Path) -> None:
    path = urdf_file(name) if name in TREES else OWN / f"{name}.urdf"
    robot = mbdyn_ros.load(path)
    other = same(robot, robot.save_sdf(tmp_path / "robot.sdf").path)
    assert set(robot.joint_names) <= set(other.joint_names)
    limits = other.position_limits[:, : robot.nq], robot.position_limits
    if not robot.model.loops:
        np.testing.assert_array_equal(*limits)


def test_what_a_joint_has_is_written(tmp_path: Path) -> None:
    text = """<robot name="r"><link name="world"/><link name="b"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial><collision><geometry><capsule radius="0.1"
      length="1"/></geometry></collision></link><link name="c"/>
      <joint name="b" type="prismatic"><parent link="world"/><child link="b"/>
      <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"
      armature="0.125" spring_stiffness="3" spring_reference="-0.5"/></joint>
      <joint name="thread" type="screw"><parent link="b"/><child link="c"/><screw pitch="0.25"/>
      </joint><transmission name="t"><joint name="b"/></transmission></robot>"""
    robot = mbdyn_ros.load(text, gravity=(0, 0, -1.62))
    saved = robot.save_sdf(tmp_path / "r.sdf")
    other = mbdyn_ros.load(saved.path)
    joint = other.model.joint("b_joint")
    assert joint.limits == robot.model.joint("b").limits
    assert (joint.damping, joint.friction, joint.spring_reference) == (0.5, 0.25, -0.5)
    assert other.model.joint("thread").numbers["pitch"] == pytest.approx(0.25, abs=1e-15)
    reported = " ".join(saved.omitted)
    for what in ('it is "b_joint"', "armature of b", "gravity", "drives", "<transmission>"):
        assert what in reported


@pytest.mark.long
@pytest.mark.parametrize("name", TREES)
def test_drake_reads_the_same(name: str, tmp_path: Path) -> None:
    drake = pytest.importorskip("pydrake.all")
    robot = mbdyn_ros.load(urdf_file(name))
    text = robot.save_sdf(tmp_path / "robot.sdf").path.read_text()
    text = re.sub(r"<(visual|collision) .*?</\1>", "", text, flags=re.DOTALL)  # their meshes
    plant = drake.MultibodyPlant(0.0)
    drake.Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    context, q = plant.CreateDefaultContext(), robot.random(np.random.default_rng(0))
    joints = [plant.GetJointByName(joint) for joint in robot.joint_names]
    positions = plant.GetPositions(context).copy()
    positions[[joint.position_start() for joint in joints]] = q
    plant.SetPositions(context, positions)
    rows = [joint.velocity_start() for joint in joints]
    mass = plant.CalcMassMatrix(context)[np.ix_(rows, rows)]
    np.testing.assert_allclose(robot.mass_matrix(q), mass, rtol=0, atol=1e-9)


def coupled(factors: dict[str, float]) -> str:
    """A chain of three hinges with one coupling between joints."""
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'
        "</inertial></link>"
        for k in range(4)
    )
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<origin xyz="0.2 0 0.1"/><axis xyz="0 1 0"/></joint>'
        for k in range(3)
    )
    sums = "".join(f'<joint name="{name}" factor="{x}"/>' for name, x in factors.items())
    return f'<robot name="r">{links}{joints}<coupling name="belt">{sums}</coupling></robot>'


@pytest.mark.filterwarnings("error::mbdyn_ros.ModelWarning")
def test_a_coupling_of_two_joints_is_kept(tmp_path: Path) -> None:
    robot = mbdyn_ros.load(coupled({"j0": 1.0, "j1": -2.0}))
    saved = robot.save_sdf(tmp_path / "r.sdf")
    assert mbdyn_ros.load(saved.path).nv == robot.nv == 2


def test_a_coupling_that_sdf_cannot_write_is_warned_of(tmp_path: Path) -> None:
    robot = mbdyn_ros.load(coupled({"j0": 1.0, "j1": -2.0, "j2": 1.0}))
    with pytest.warns(mbdyn_ros.ModelWarning, match='"belt" of j0, j1, j2.* move freely'):
        saved = robot.save_sdf(tmp_path / "r.sdf")
    assert 'the coupling "belt" of j0, j1, j2' in saved.omitted
    assert mbdyn_ros.load(saved.path).nv == 3
