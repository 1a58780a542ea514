"""Screw, spherical and universal joints in the tree, against Pinocchio's models of them."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from interpreting import compiling
from joint_judge import JOINTS, Array, Both, urdf

import mbdyn_ros
from mbdyn_ros.equations.programs import accelerations
from mbdyn_ros.equations.textbook import gibbs_appell
from mbdyn_ros.equations.textbook.denoc import ClosedDenoc
from mbdyn_ros.view.scene.visuals import link_poses

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "floating"])
def both(request: pytest.FixtureRequest) -> Both:
    return Both(request.param)


def compiled(both: Both) -> contextlib.AbstractContextManager[None]:
    """The compiler for a robot on a floating base, which has every kind of coordinates."""
    return compiling() if both.ours.floating_base else contextlib.nullcontext()


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


@pytest.mark.sparse
def test_forward_dynamics(both: Both) -> None:
    theirs = pin.aba(both.theirs, both.data, both.q, both.v, both.a)
    with compiled(both):
        close(both.ours.forward_dynamics(both.q, both.v, both.a), theirs)


def test_mass_matrix(both: Both) -> None:
    theirs = pin.crba(both.theirs, both.data, both.q)
    close(both.ours.mass_matrix(both.q), np.triu(theirs) + np.triu(theirs, 1).T)


@pytest.mark.sparse
def test_derivatives(both: Both) -> None:
    theirs = pin.computeRNEADerivatives(both.theirs, both.data, both.q, both.v, both.a)
    with compiled(both):
        ours = both.ours.inverse_dynamics_derivatives(both.q, both.v, both.a)
    for one, other in zip(ours[:2], theirs[:2], strict=True):
        close(one, other)
    theirs = pin.computeABADerivatives(both.theirs, both.data, both.q, both.v, both.a)
    ours = both.ours.forward_dynamics_derivatives(both.q, both.v, both.a)
    for one, other in zip(ours[:2], theirs[:2], strict=True):
        close(one, other)


@pytest.mark.sparse
def test_formulations_agree(both: Both) -> None:
    """Each recursion and each textbook's way, in expressions on the same bodies."""
    system = both.ours.system
    q, z = ca.SX.sym("q", both.ours.nq), ca.SX(0, 1)
    v, a = (ca.SX.sym(name, both.ours.nv) for name in "va")
    embedding = system.embedding(q, z)
    motion = system.tree, embedding.joints, v
    efforts = {
        "DeNOC": ClosedDenoc.of(system, embedding, v).inverse_dynamics(a)[0],
        "Gibbs-Appell": gibbs_appell.inverse_dynamics(*motion, a, system.gravity),
    }
    ways = {name: way(q, z, v, a, None, False) for name, way in accelerations(system).items()}
    assert len(ways) == 2
    for theirs, ours in (
        (pin.rnea(both.theirs, both.data, both.q, both.v, both.a), efforts),
        (pin.aba(both.theirs, both.data, both.q, both.v, both.a), ways),
    ):
        for name, expression in ours.items():
            function = ca.Function("f", [q, v, a], [ca.densify(expression)])
            answer = np.array(function(both.q, both.v, both.a)).ravel()
            np.testing.assert_allclose(
                answer, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max(), err_msg=name
            )


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
    with compiling():
        moved = robot.rollout(np.tile(q, (3, 1)), np.ones((3, robot.nv)), effort, 1e-2)
    norms = np.linalg.norm(np.asarray(moved[0])[..., 1:5], axis=-1)
    np.testing.assert_allclose(norms, 1, rtol=0, atol=1e-12)


def test_a_quaternion_that_is_not_unit_is_refused() -> None:
    robot = mbdyn_ros.load(urdf(JOINTS[:2]))
    with pytest.raises(mbdyn_ros.InputError, match="the orientation of ball must be a unit quat"):
        robot.gravity_vector(np.array([0.0, 0.0, 0.0, 0.0, 2.0]))


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
    """A nut on a spindle and a slide next to it, joined by a pin: the way is pitch times angle."""
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


@pytest.mark.usefixtures("compiled")
def test_messages_name_whole_joints() -> None:
    pytest.importorskip("sensor_msgs")
    from mbdyn_ros.ros.messages.conversions import joint_state_message
    from mbdyn_ros.ros.messages.layout import Layout
    from mbdyn_ros.ros.nodes.session import Session, Settings

    both = Both(False)
    order = tuple(reversed([joint[0] for joint in JOINTS]))
    layout = Layout(both.ours, order)
    blocks = both.ours.system.coordinates.blocks
    position = np.concatenate([both.q[blocks[name].q] for name in order])
    velocity = np.concatenate([both.v[blocks[name].v] for name in order])
    q, v, _ = layout.state(position.tolist(), velocity.tolist())
    np.testing.assert_array_equal(q, both.q)
    np.testing.assert_array_equal(v, both.v)
    effort = np.arange(1.0, both.ours.nv + 1)
    message = joint_state_message(both.ours, q, v, effort)
    session = Session(both.ours, Settings(1e3, 1e3, 1e-3, 1, 0.5, 0.0, False, 10.0, 1))
    session.motion.set_state(q, v)
    session.motion.effort[:] = effort
    session.fill_message()
    names = ["lift", "cardan/first", "cardan/second", "elbow", "nod/first", "nod/second", "drill",
             "rail"]  # fmt: skip
    for one in (message, session.message):
        assert list(one.name) == names
        rows = [both.ours.velocity_labels.index(name) for name in names]
        assert list(one.position) == [q[both.ours.position_labels.index(name)] for name in names]
        assert list(one.velocity) == v[rows].tolist()
        assert list(one.effort) == effort[rows].tolist()
    assert session.beyond_limits() == []
