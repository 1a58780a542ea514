"""Robots of another size and mirror images: their motions are those of the first one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.model import edit, read_urdf

pytest.importorskip("pinocchio")
from random_loops import Mechanism, draw  # noqa: E402
from rounded_robots import three_upu  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("interpreted_module"),
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
]
OWN = Path(__file__).resolve().parents[2] / "urdf"
KINDS = [
    "slider-crank", "coupling", "spatial universal", "planar joint",
    pytest.param("spatial cylindrical", marks=pytest.mark.long),
]  # fmt: skip

MIXED = """<robot name="mixed"><link name="base"/>{links}
  <joint name="turn" type="revolute"><parent link="base"/><child link="a"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="1 2 3"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"
    armature="0.125" spring_stiffness="3" spring_reference="-0.5"/></joint>
  <joint name="way" type="prismatic"><parent link="a"/><child link="b"/>
    <origin xyz="0.3 0.1 0.2" rpy="0.1 0.2 0.3"/><axis xyz="3 -1 2"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"
    armature="0.125" spring_stiffness="3" spring_reference="-0.5"/></joint>
  <joint name="thread" type="screw"><parent link="b"/><child link="c"/><screw pitch="0.2"/>
    <origin xyz="0.1 0.3 0.2"/><axis xyz="1 -1 2"/></joint>
  <joint name="shaft" type="universal"><parent link="c"/><child link="d"/>
    <origin xyz="0.2 0.1 0.4" rpy="0.3 0.1 0.2"/><axis xyz="1 1 2"/></joint>
  <joint name="sled" type="planar"><parent link="d"/><child link="e"/>
    <origin xyz="0.2 0.2 0.1" rpy="0.1 0.1 0.2"/><axis xyz="-1 1 2"/></joint>
  <joint name="hip" type="spherical"><parent link="e"/><child link="f"/>
    <origin xyz="0.1 0.2 0.1" rpy="0.1 0.3 0.2"/></joint>
  <joint name="follow" type="prismatic"><parent link="f"/><child link="g"/><axis xyz="0 0 1"/>
    <mimic joint="turn" multiplier="0.5" offset="0.1"/></joint></robot>""".format(
    links="".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0.2 0.{k}" rpy="0.1 0.{k} 0"/>'
        f'<mass value="{k + 1}"/><inertia ixx="1" iyy="1.2" izz="1.5" ixy="0.1" ixz="0.2"/>'
        f'</inertial><collision><geometry><box size="1 2 3"/></geometry></collision></link>'
        for k, name in enumerate("abcdefg")
    )
)


def numbers(robot: mbdyn_ros.Robot, q: np.ndarray) -> tuple[np.ndarray, ...]:
    v, a = np.random.default_rng(1).normal(size=(2, robot.nv))
    return q, v, a


def poses(name: str) -> mbdyn_ros.Robot:
    if name == "mixed":
        return mbdyn_ros.load(MIXED)
    if name == "3-UPU":
        mechanism = Mechanism(np.random.default_rng(1))
        three_upu(mechanism)
        return mechanism.load()
    return mbdyn_ros.load(OWN / f"{name}.urdf") if name in ("boom", "manipulator") else draw(
        name, 0).load()  # fmt: skip


def position(robot: mbdyn_ros.Robot) -> np.ndarray:
    tree = not robot.model.loops
    return robot.random(np.random.default_rng(3)) if tree else robot.home_position


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["mixed", "manipulator", *KINDS])
def test_a_mirror_image_moves_alike(name: str) -> None:
    robot = poses(name)
    normal = np.array([0.6, 0.0, 0.8]) if name == "mixed" else np.array([0.0, 1.0, 0.0])
    image = robot.mirrored(normal)
    mirror = np.eye(3) - 2 * np.outer(normal, normal)
    q, v, a = numbers(robot, position(robot))
    falling = mbdyn_ros.Robot(image.model, image.home, False, mirror @ robot.gravity)
    assert falling.independent_joints == robot.independent_joints
    ours, theirs = falling.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
    np.testing.assert_allclose(image.mass_matrix(q), robot.mass_matrix(q), rtol=1e-8, atol=1e-8)
    for link in robot.links[-2:]:
        there, here = image.frame_pose(q, link), robot.frame_pose(q, link)
        np.testing.assert_allclose(there[:3, 3], mirror @ here[:3, 3], atol=1e-9)
        assert np.linalg.det(there[:3, :3]) == pytest.approx(1.0)
    if name == "mixed":
        twice = image.mirrored(normal).frame_pose(q, robot.links[-1])
        np.testing.assert_allclose(twice, robot.frame_pose(q, robot.links[-1]), atol=1e-9)


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["mixed", "manipulator", "3-UPU", *KINDS])
def test_a_larger_robot_moves_slower(name: str) -> None:
    robot, length, mass = poses(name), 4.0, 3.0
    if name == "planar joint":
        robot = mbdyn_ros.Robot(_without_losses(robot), robot.home)
    large = robot.scaled(length, mass)
    q, v, a = numbers(robot, position(robot))
    slide = np.array([_slides(robot, label) for label in robot.position_labels])
    ways = np.where([_slides(robot, label) for label in robot.velocity_labels], length, 1.0)
    time = np.sqrt(length)
    there = (np.where(slide, length, 1.0) * q, ways * v / time, ways * a / time**2)
    forces = np.array([mass * (1 if _slides(robot, label) else length)
                       for label in robot.effort_labels])  # fmt: skip
    ours, theirs = large.inverse_dynamics(*there), forces * robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9 * np.abs(theirs).max())
    energy = mass * length * np.array(robot.energy(q, v))
    np.testing.assert_allclose(large.energy(*there[:2]), energy, rtol=1e-9, atol=1e-8)
    known = np.isfinite(robot.effort_limits)
    wanted = (forces * robot.effort_limits)[known]
    np.testing.assert_allclose(large.effort_limits[known], wanted)


def _slides(robot: mbdyn_ros.Robot, label: str) -> bool:
    name, _, part = label.partition("/")
    if name in {one.name for one in robot.model.joints}:
        kind = robot.model.joint(name).type
        return kind == "prismatic" or (kind == "planar" and part in ("x", "y"))
    return robot.model.joint(label).type == "prismatic"


def _without_losses(robot: mbdyn_ros.Robot) -> mbdyn_ros.model.Model:
    model = robot._described
    for joint in model.joints:
        if joint.type == "planar":
            model = edit.with_joint(model, joint.name, damping=0.0, friction=0.0)
    return model


def test_shapes_follow() -> None:
    model = read_urdf(MIXED)
    assert edit.scaled(model, 2.0).link("a").collisions[0].geometry.size == (2, 4, 6)
    assert edit.scaled(model, 2.0).link("a").inertia.mass == 8 * model.link("a").inertia.mass
    mesh = MIXED.replace('<box size="1 2 3"/>', '<mesh filename="a.stl" scale="1 2 3"/>')
    image = edit.mirrored(read_urdf(mesh)).link("a").collisions[0]
    assert image.geometry.scale == (-1, 2, 3)
    assert np.linalg.det(image.origin.rotation) == pytest.approx(1.0)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("inf"), 1e80, 1e200, 1e-80, "two"])
def test_wrong_factors_are_refused(factor: object) -> None:
    with pytest.raises(mbdyn_ros.InputError, match="factor of length is .*; it must be above 0"):
        edit.scaled(read_urdf(MIXED), factor)  # type: ignore[arg-type]
    with pytest.raises(mbdyn_ros.InputError, match="has no direction"):
        edit.mirrored(read_urdf(MIXED), (0, 0, 0))


def test_what_cannot_scale_is_refused() -> None:
    text = MIXED.replace('<axis xyz="-1 1 2"/>', '<axis xyz="-1 1 2"/><dynamics damping="1"/>')
    with pytest.raises(mbdyn_ros.InputError, match="one number for ways and angles"):
        edit.scaled(read_urdf(text), 2.0)
