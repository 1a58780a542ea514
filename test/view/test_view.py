"""Robots on pages: what is drawn, where, and the motion that is charted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file

import mbdyn_ros
from mbdyn_ros.model.model import Pose
from mbdyn_ros.model.read.shape import find_mesh, load_mesh
from mbdyn_ros.model.shapes import Box, Cylinder, Mesh
from mbdyn_ros.view.page.excursion import excursion, joint_table
from mbdyn_ros.view.page.motion import recorded
from mbdyn_ros.view.scene.shown_robot import skeleton
from mbdyn_ros.view.scene.visuals import link_poses, read_visuals

pytestmark = pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
ROOT = Path(__file__).resolve().parents[2]

ALL_KINDS = """<robot name="all"><link name="base"/><link name="a"/><link name="b"/>
<link name="c"/><link name="d"/>
<joint name="late" type="planar"><origin xyz="0 1 0" rpy="0.3 0 1"/><axis xyz="0 3 4"/>
  <parent link="b"/><child link="c"/></joint>
<joint name="hinge" type="continuous"><origin xyz="1 0 0" rpy="0 0.5 0"/><axis xyz="0 1 1"/>
  <parent link="base"/><child link="a"/></joint>
<joint name="slide" type="prismatic"><origin xyz="0 0 1"/><axis xyz="1 0 1"/>
  <limit lower="-1" upper="1"/><parent link="a"/><child link="b"/></joint>
<joint name="free" type="floating"><origin xyz="0 0 2" rpy="1 0 0"/>
  <parent link="c"/><child link="d"/></joint></robot>"""


def test_links_stand_where_the_equations_put_them(interpreted: None) -> None:
    robot = mbdyn_ros.load(ALL_KINDS)
    rng = np.random.default_rng(1)
    q = rng.normal(size=robot.nq)
    turn = [robot.position_labels.index(f"free/{one}") for one in ("qx", "qy", "qz", "qw")]
    q[turn] /= np.linalg.norm(q[turn])
    poses = link_poses(robot.model, robot.joint_state(q)[0])
    for link, pose in poses.items():
        assert np.abs(pose.matrix() - robot.frame_pose(q, link)).max() < 1e-14, link


def test_visuals_of_our_robots() -> None:
    visuals = read_visuals(ROOT / "urdf" / "boom.urdf")
    assert visuals[0].geometry == Box((0.9, 0.6, 0.06)) and visuals[0].link == "base"
    assert visuals[0].color == (0.20, 0.22, 0.25, 1.0) and visuals[0].colored
    assert {type(one.geometry) for one in visuals} <= {Box, Cylinder}
    assert read_visuals(ROOT / "urdf" / "piezo_robot.yaml") == ()


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "xarm7.urdf", "quadruped.urdf"])
def test_meshes_are_found_and_read(name: str) -> None:
    """COLLADA, STL and OBJ, by package:// names."""
    path = urdf_file(name)
    visual = next(one for one in read_visuals(path) if isinstance(one.geometry, Mesh))
    assert isinstance(visual.geometry, Mesh)
    file = find_mesh(visual.geometry.file, path.parent)
    assert file is not None
    assert 0.01 < np.ptp(load_mesh(file).bounds, axis=0).max() < 2, "metres"


def test_packages_are_looked_for_where_ros_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = tmp_path / "share" / "arm" / "meshes" / "a b.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_text("solid")
    assert find_mesh("package://arm/meshes/a%20b.stl", None) is None
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    assert find_mesh("package://arm/meshes/a%20b.stl", None) == mesh
    assert find_mesh(f"file://{mesh}", None) == mesh
    with pytest.raises(mbdyn_ros.InputError, match=r"a b.stl: cannot be read as a mesh"):
        load_mesh(mesh)


def test_meshes_are_no_archives_not_endless_and_in_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, mesh = tmp_path / "x.zip", tmp_path / "arm" / "a.STL"
    archive.write_bytes(b"PK")
    with pytest.raises(mbdyn_ros.InputError, match=r"x.zip: meshes are read from files that end"):
        load_mesh(archive)
    mesh.parent.mkdir()
    mesh.write_text("solid\nendsolid\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert find_mesh("package://arm/a.STL", None) == mesh
    for outside in ("package://arm/../x.zip", "package://../x.zip", "package://arm/%2e%2e/x.zip"):
        assert find_mesh(outside, None) is None
    monkeypatch.setattr("mbdyn_ros.model.read.shape.LARGEST_MESH", 8)
    with pytest.raises(mbdyn_ros.InputError, match="a.STL: larger than 8 bytes"):
        load_mesh(mesh)


@pytest.mark.parametrize(
    ("visual", "words"),
    [
        ("", "one shape in its <geometry>, this one has 0"),
        ("<geometry><cone/></geometry>", "<cone> is not a shape of a URDF"),
        ("<geometry><mesh/></geometry>", "no filename"),
        ('<geometry><sphere radius="wide"/></geometry>', 'radius="wide"'),
    ],
)
def test_broken_visuals_are_refused(visual: str, words: str) -> None:
    with pytest.raises(mbdyn_ros.ModelError, match=words):
        read_visuals(f'<robot name="r"><link name="a"><visual>{visual}</visual></link></robot>')


def test_robots_without_visuals_have_bones(interpreted: None) -> None:
    robot = mbdyn_ros.load(ALL_KINDS)
    bones = {bone.link: bone for bone in skeleton(robot.model, ())}
    assert np.array_equal(bones["base"].ends, [[1, 0, 0]])
    drawn = read_visuals(ROOT / "urdf" / "boom.urdf")
    boom = mbdyn_ros.load(ROOT / "urdf" / "boom.urdf").model
    assert skeleton(boom, drawn) == (), "every link is drawn"


def test_an_excursion_stops_before_the_loops_open(interpreted: None) -> None:
    robot = mbdyn_ros.load(ROOT / "urdf" / "boom.urdf")
    q = np.zeros(1)
    within = excursion(robot, q, "rod_joint", (-0.22, 0.24), 3.0)
    assert (within.stroke.low, within.stroke.high, within.cut) == (-0.22, 0.24, False)
    beyond = excursion(robot, q, "rod_joint", (-1.0, 1.0), 3.0)
    # the message of an unreachable position names these ends
    low, high = beyond.stroke.low, beyond.stroke.high
    assert beyond.cut and -0.354 < low < -0.3 and 0.45 < high < 0.511
    assert beyond.effort is not None and np.isfinite(beyond.effort).all()
    half = len(beyond.time) // 2
    assert np.allclose(beyond.at(0.5)[0], high) and np.allclose(beyond.q[half], high)
    assert beyond.stroke.share_at(high) == pytest.approx(0.5)


def test_an_excursion_is_a_motion(interpreted: None) -> None:
    """Velocities and accelerations are the derivatives of the positions, efforts those of all."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "slider_crank.urdf")
    motion = excursion(robot, np.zeros(1), "crank_joint", (-np.pi, np.pi), 2.0)
    assert motion.stroke.turns and motion.v[0, 0] == pytest.approx(np.pi)
    boom = mbdyn_ros.load(ROOT / "urdf" / "boom.urdf")
    motion = excursion(boom, np.zeros(1), "rod_joint", (-0.2, 0.2), 2.0)
    for one, rate in ((motion.q, motion.v), (motion.v, motion.a)):
        slope = np.gradient(one[:, 0], motion.time, edge_order=2)
        assert np.abs(slope - rate[:, 0]).max() < 2e-3 * np.abs(rate).max()
    k = 100
    assert motion.effort is not None and motion.gravity is not None
    expected = boom.inverse_dynamics(motion.q[k], motion.v[k], motion.a[k])
    assert np.allclose(motion.effort[k], expected)
    assert np.allclose(motion.gravity[k], boom.gravity_vector(motion.q[k]))


def test_identity_pose_is_the_roots() -> None:
    robot = mbdyn_ros.load('<robot name="still"><link name="stone"/></robot>')
    poses = link_poses(robot.model, np.zeros(0))
    assert np.array_equal(poses["stone"].matrix(), Pose().matrix())


def test_joints_in_numbers(interpreted: None) -> None:
    """Radians and degrees, metres without them; noise is 0; what is at its limit is bold."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "boom.urdf")
    position = np.array([np.pi / 6, -1e-9, 0.1])
    table = joint_table(robot, position, np.array([40000.0]), lambda name: True)
    assert "| boom_joint | 0.5236 rad | 30.0 |  |  |" in table
    assert "| barrel_joint | 0.0000 rad | 0.0 |  |  |" in table
    assert "| rod_joint | 0.1000 m |  | 40000 N | **100%** |" in table
    assert "boom_joint" not in joint_table(robot, position, None, lambda name: "rod" in name)
    arm = mbdyn_ros.load(ALL_KINDS.replace('type="floating"', 'type="fixed"'))
    wide = joint_table(arm, np.zeros(5), np.array([1, 1, 1, 2.0, 1e-15]), lambda name: True)
    assert "| hinge | 0.0000 rad | 0.0 | 2 N m |" in wide
    assert "| slide | 0.0000 m |  | 0 N |" in wide and "limit" not in wide


def test_a_recording_is_shown_between_its_instants(interpreted: None) -> None:
    robot = mbdyn_ros.load(ROOT / "urdf" / "boom.urdf")
    time = np.array([5.0, 5.5, 6.5])
    q = np.array([[0.0], [0.1], [0.0]])
    zeros = np.zeros((3, 1))
    motion = recorded(robot, time, q, 2 * q, zeros)
    assert motion.period == 1.5 and motion.time[0] == 0
    for share, wanted in ((0.0, 0.0), (1 / 6, 0.05), (2 / 3, 0.05), (1.0, 0.0)):
        place, rate, _ = motion.at(share)
        assert place[0] == pytest.approx(wanted) and rate[0] == pytest.approx(2 * wanted)
    assert motion.effort is not None and motion.effort[1] == pytest.approx(
        robot.inverse_dynamics(q[1], 2 * q[1], [0.0])
    )
    with pytest.raises(mbdyn_ros.InputError, match="rod_pin"):
        recorded(robot, time, 9 * q, zeros, zeros)
    with pytest.raises(mbdyn_ros.InputError, match="rises from row to row"):
        recorded(robot, time[[0, 2, 1]], q, zeros, zeros)
