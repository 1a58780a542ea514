"""Robots written for MuJoCo: its masses, its bias forces and its constraints are ours."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from corpus import label, urdf_files
from mjcf_judge import MjcfJudge

import mbdyn_ros
from mbdyn_ros.model import read_urdf

pytest.importorskip("pinocchio")
from random_loops import draw, kinds  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("interpreted_module"),
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
]
OWN = Path(__file__).resolve().parents[2] / "urdf"
SOME = ("ur5_robot", "solo12", "panda", "romeo_small")
"""Meshes, a floating base, mimics, inertias that no body has."""


def close(ours: np.ndarray, theirs: np.ndarray) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * max(np.abs(theirs).max(), 1.0))


@pytest.mark.sparse
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=label(path), marks=[] if path.stem in SOME else pytest.mark.long)
        for path in urdf_files()
        if path.name not in ("alex_psyonic_hands.urdf", "ur3.urdf")
    ],
)
def test_trees_are_those_of_mujoco(path: Path, tmp_path: Path) -> None:
    for floating_base in (False, True):
        robot = mbdyn_ros.load(path, floating_base=floating_base)
        if not robot.nv or any(robot.model.joint(name).nv > 1 for name in robot.joint_names):
            continue
        saved = robot.save_mjcf(tmp_path / "robot.xml")
        judge = MjcfJudge(robot, saved.path)
        if any("MuJoCo takes none like it" in text for text in saved.omitted):
            assert any("no body" in text or "inertia" in text for text in robot.warnings)
            continue
        random = np.random.default_rng(5)
        q, v = robot.random(random), random.normal(size=robot.nv)
        a = random.normal(size=robot.nv)
        state = judge.at(q, v)
        close(robot.mass_matrix(q), state.mass_matrix)
        close(robot.bias_vector(q, v), state.bias)
        if not robot.dependent_joints:
            ours = robot.inverse_dynamics(q, v, a, friction=False) - robot.spring_vector(q)
            close(ours, judge.inverse(q, v, a))


@pytest.mark.sparse
@pytest.mark.parametrize(
    "kind",
    kinds("chain", "branches", "Watt", "Stephenson", "dyads", "nested", "double-crank",
          "double-rocker", "triple-rocker", "triangle", "spatial floating", "spatial fixed"),
)  # fmt: skip
def test_loops_are_those_of_mujoco(kind: str, tmp_path: Path) -> None:
    robot = draw(kind, 0).load()
    saved = robot.save_mjcf(tmp_path / "robot.xml")
    state = MjcfJudge(robot, saved.path).at_home()
    assert state.open < 1e-12 and state.mobility == robot.nv
    q = robot.home_position
    close(robot.mass_matrix(q), state.mass_matrix)
    close(robot.gravity_vector(q), state.bias)
    assert any("soft" in text for text in saved.omitted)


def test_joints_of_several_coordinates_are_written(tmp_path: Path) -> None:
    import mujoco

    joints = ("planar", "universal", "spherical", "floating", "screw")
    links = "".join(
        f'<link name="{kind}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1.5" ixy="0.1"/></inertial></link>'
        f'<joint name="j_{kind}" type="{kind}"><parent link="base"/><child link="{kind}"/>'
        f'<origin xyz="1 0 0"/><axis xyz="0 0 1"/><screw pitch="0.25"/></joint>'
        for kind in joints
    )
    robot = mbdyn_ros.load(f'<robot name="r"><link name="base"/>{links}</robot>')
    path = robot.save_mjcf(tmp_path / "r.xml").path
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    q = robot.random(np.random.default_rng(2))
    for name, (start, size) in {"j_planar": (0, 3), "j_universal": (3, 2)}.items():
        names = [label for label in robot.position_labels[start : start + size]]
        assert all(label.startswith(name) for label in names)
        for k, label_ in enumerate(names):
            data.qpos[model.joint(label_).qposadr] = q[start + k]
    for name, start in {"j_spherical": 5, "j_floating": 12}.items():
        data.qpos[model.joint(name).qposadr[0] :][:4] = q[start : start + 4][[3, 0, 1, 2]]
    for k, key in enumerate("xyz"):
        data.qpos[model.joint(f"j_floating/{key}").qposadr] = q[9 + k]
    data.qpos[model.joint("j_screw").qposadr] = q[16]
    data.qpos[model.joint("j_screw/way").qposadr] = 0.25 * q[16]
    mujoco.mj_kinematics(model, data)
    for kind in joints:
        pose = robot.frame_pose(q, kind)
        np.testing.assert_allclose(data.body(kind).xpos, pose[:3, 3], atol=1e-14)
        np.testing.assert_allclose(data.body(kind).xmat.reshape(3, 3), pose[:3, :3], atol=1e-14)
    assert model.nu == 3 + 2 + 3 + 6 + 1


def test_what_drives_a_joint_is_written(tmp_path: Path) -> None:
    import mujoco

    text = """<robot name="r"><link name="world"/><link name="b"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial><collision><geometry><capsule radius="0.1"
      length="1"/></geometry></collision><visual><geometry><mesh filename="no.stl"/></geometry>
      </visual></link><joint name="j" type="revolute"><parent link="world"/><child link="b"/>
      <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"
      armature="0.125" spring_stiffness="3" spring_reference="-0.5"/></joint></robot>"""
    robot = mbdyn_ros.load(text, home={"j": 0.5}, gravity=(0, 0, -1.62))
    saved = robot.save_mjcf(tmp_path / "r.xml")
    model = mujoco.MjModel.from_xml_path(str(saved.path))
    assert model.jnt_range.tolist() == [[-1, 2]]
    assert model.actuator_ctrlrange.tolist() == [[-30, 30]]
    numbers = model.dof_damping[0], model.dof_frictionloss[0], model.dof_armature[0]
    assert numbers == (0.5, 0.25, 0.125)
    assert float(model.jnt_stiffness.ravel()[0]) == 3 and model.qpos_spring[0] == -0.5
    assert model.key_qpos.tolist() == [[0.5]] and model.opt.gravity[2] == -1.62
    assert model.geom_size[0, :2].tolist() == [0.1, 0.5] and model.ngeom == 1
    assert saved.omitted == ("mesh no.stl: is not found", "velocity limits of 1 joints (j, ...)")


@pytest.mark.parametrize("name", ["four_bar", "tree_robot"])
def test_our_reader_reads_it(name: str, tmp_path: Path) -> None:
    robot = mbdyn_ros.load(OWN / f"{name}.urdf")
    other = mbdyn_ros.load(robot.save_mjcf(tmp_path / "r.xml").path)
    assert other.nv == robot.nv and other.home == pytest.approx(robot.home, abs=1e-12)
    assert set(robot.joint_names) <= set(other.joint_names)
    again = other.with_independent(robot.independent_joints, other.home)
    q = robot.home_position
    close(again.mass_matrix(q), robot.mass_matrix(q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        assert read_urdf(OWN / f"{name}.urdf").name == other.model.name


def test_an_angle_of_a_ball_has_no_motor(tmp_path: Path) -> None:
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    links = "".join(f'<link name="{name}">{body}</link>' for name in "gcmr")
    robot = mbdyn_ros.load(f"""<robot name="rssr">{links}
      <joint name="crank" type="continuous"><parent link="g"/><child link="c"/>
      <axis xyz="0 0 1"/></joint>
      <joint name="coupler" type="spherical"><parent link="c"/><child link="m"/>
      <origin xyz="0.2 0 0"/></joint>
      <joint name="rocker" type="continuous"><parent link="g"/><child link="r"/>
      <origin xyz="1 0.1 0.2"/><axis xyz="1 0 0"/></joint>
      <loop name="end" type="spherical"><predecessor link="m"><origin xyz="0.8 0.3 0.5"/>
      </predecessor><successor link="r"><origin xyz="0 0.4 0.3"/></successor></loop></robot>""")
    assert robot.actuated_joints == ("crank", "coupler/yaw")
    saved = robot.save_mjcf(tmp_path / "r.xml")
    assert any('the motor of "coupler/yaw"' in text for text in saved.omitted)
    assert "coupler/yaw" not in saved.path.read_text()
    assert mbdyn_ros.load(saved.path).nv == robot.nv
