"""The moving bodies of a model: poses, velocities and lumped inertias against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from corpus import urdf_file  # noqa: E402
from random_robots import Pair, RandomRobot, assert_close, explore, number, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import constant  # noqa: E402
from mbdyn_ros.equations.tree import kinematics  # noqa: E402
from mbdyn_ros.errors import ModelError  # noqa: E402
from mbdyn_ros.model import read_urdf  # noqa: E402
from mbdyn_ros.prepare.tree import WORLD, build_tree  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")


@explore(4)
@given(robots(), st.booleans(), st.data())
def test_poses_jacobians_and_energy(
    random_robot: RandomRobot, floating_base: bool, data: st.DataObject
) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    q, v, _ = pair.state(data.draw(st.integers(0, 99)))
    link = data.draw(st.sampled_from([link.name for link in random_robot.links]))
    assert_close(robot.frame_pose(q, link), judge.frame_pose(q, link), 1e-13)
    assert_close(robot.jacobian(q, link), pair.jacobian(q, link), 1e-13, 1.0)
    kinetic, potential = robot.energy(q, v)
    theirs = judge.energy(q, v)
    assert_close(kinetic, theirs[0], 1e-13, pair.weight)
    assert_close(potential, theirs[1], 1e-13, pair.weight)


ROBOTS = ["solo12.urdf", "talos_reduced.urdf", "tiago.urdf", "panda.urdf"]


@pytest.mark.sparse
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_bodies_of_real_robots(name: str, floating_base: bool) -> None:
    """Each body against Pinocchio's joint, in the frame of the link that the joint moves."""
    pair = Pair(urdf_file(name).read_text(), floating_base)
    judge, tree = pair.judge, pair.tree
    q, v, _ = pair.state(1)
    pin.forwardKinematics(judge.pin, judge.data, judge.position(q), judge.matrix @ v)
    embedding = pair.embedding(q)
    poses = kinematics.body_poses(tree, embedding.joints)
    rates = embedding.velocity(constant(v))
    velocities = kinematics.body_velocities(tree, embedding.joints, rates)
    assert len(tree.bodies) == judge.pin.njoints - 1
    for i, body in enumerate(tree.bodies):
        assert WORLD <= body.parent < i
        joint = judge.pin.getJointId(body.joint if judge.pin.existJointName(body.joint) else "")
        if joint == judge.pin.njoints:
            joint = judge.pin.getJointId("root_joint")
        index, frame = tree.frames[body.name]
        assert index == i
        turn, lever = frame.rotation, frame.translation
        rotation, origin = map(number, poses[i])
        theirs = judge.data.oMi[joint]
        assert_close(rotation @ turn, theirs.rotation, 1e-13)
        assert_close(origin.ravel() + rotation @ lever, theirs.translation, 1e-13, 1.0)
        angular, linear = (number(x).ravel() for x in velocities[i])
        theirs = judge.data.v[joint]
        assert_close(turn.T @ angular, theirs.angular, 1e-13, 1.0)
        assert_close(turn.T @ (linear + np.cross(angular, lever)), theirs.linear, 1e-13, 1.0)
        theirs = judge.pin.inertias[joint]
        assert_close(body.inertia.mass, theirs.mass, 1e-13, 1.0)
        center = turn @ theirs.lever + lever
        assert_close(body.inertia.first, theirs.mass * center, 1e-13, 1.0)
        if body.inertia.mass:
            assert_close(body.inertia.center, center, 1e-12, 1.0)
        around = theirs.mass * (np.dot(center, center) * np.eye(3) - np.outer(center, center))
        assert_close(body.inertia.second, turn @ theirs.inertia @ turn.T + around, 1e-13, 1.0)


@explore(4)
@given(robots(), st.booleans())
def test_joint_state(random_robot: RandomRobot, floating_base: bool) -> None:
    """All joints in document order, mimics among them, against Pinocchio's configuration."""
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    q, v, a = pair.state(2)
    movable = [joint for joint in random_robot.joints if joint.type != "fixed"]
    assert robot.joint_names == tuple(joint.name for joint in movable)
    assert set(robot.joint_names) == {*robot.independent_joints, *robot.dependent_joints}
    assert robot.dependent_joints == tuple(joint.name for joint in movable if joint.mimic)
    assert robot.actuated_joints == robot.independent_joints
    full, rate, push = judge.position(q), judge.matrix @ v, judge.matrix @ a
    where, how_fast, how_hard, around = [], [], [], []
    for joint in movable:
        parts = ["/x", "/y", "/theta"] if joint.type == "planar" else [""]
        for part in parts:
            theirs = judge.pin.joints[judge.pin.getJointId(joint.name + part)]
            angle = full[theirs.idx_q : theirs.idx_q + theirs.nq]
            around += [True] if theirs.nq == 2 else [False] * theirs.nq
            if theirs.nq == 2:  # a mimic may have gone around
                angle = [np.arctan2(angle[1], angle[0])]
            where += list(angle)
            how_fast += list(rate[theirs.idx_v : theirs.idx_v + theirs.nv])
            how_hard += list(push[theirs.idx_v : theirs.idx_v + theirs.nv])
    position, velocity, acceleration = robot.joint_state(q, v, a)
    turns = (position - np.array(where)) / (2 * np.pi) * np.array(around)
    assert_close(position - 2 * np.pi * np.round(turns), where, 1e-13, 1.0)
    assert_close(velocity, np.array(how_fast), 1e-13, 1.0)
    assert_close(acceleration, np.array(how_hard), 1e-13, 1.0)
    assert robot.joint_state(q)[1:] == (None, None)
    many = robot.joint_state(np.array([q, q]), np.array([v, 2 * v]))
    assert_close(many[0], [position, position], 1e-15, 1.0)
    assert_close(many[1], [velocity, 2 * velocity], 1e-15, 1.0)


def test_order_of_coordinates() -> None:
    """Document order of the joints, whatever the tree; a floating base before them."""
    model = """<robot name="r"><link name="c"/><link name="b"/><link name="a"/><link name="d"/>
      <joint name="bc" type="floating"><parent link="b"/><child link="c"/></joint>
      <joint name="ab" type="planar"><parent link="a"/><child link="b"/><axis/></joint>
      <joint name="cd" type="prismatic"><parent link="c"/><child link="d"/><axis/></joint>
      </robot>"""
    with pytest.warns(mbdyn_ros.ModelWarning, match="no mass"):
        robot = mbdyn_ros.load(model, floating_base=True)
    base = [f"floating_base/{x}" for x in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    inner = [f"bc/{x}" for x in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    planar = ["ab/x", "ab/y", "ab/theta"]
    assert robot.position_labels == (*base, *inner, *planar, "cd")
    base = [f"floating_base/{x}" for x in ("vx", "vy", "vz", "wx", "wy", "wz")]
    inner = [f"bc/{x}" for x in ("vx", "vy", "vz", "wx", "wy", "wz")]
    assert robot.velocity_labels == (*base, *inner, *planar, "cd")
    assert (robot.nq, robot.nv) == (18, 16)
    assert robot.joint_names == robot.independent_joints == ("bc", "ab", "cd")


def test_a_model_is_not_changed() -> None:
    pair = Pair(urdf_file("solo12.urdf").read_text())
    with pytest.raises(ValueError, match="read-only"):
        pair.robot.gravity[0] = 1.0
    body = pair.tree.bodies[0]
    for array in (body.inertia.second, body.placement.rotation, body.axis):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_joint_named_as_the_bases() -> None:
    """Where it is fixed its name is its own affair; where it moves it is refused."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    text = (
        f'<robot name="r"><link name="hull">{inertial}</link><link name="arm">{inertial}</link>'
        '<joint name="floating_base" type="{}"><parent link="hull"/><child link="arm"/></joint>'
        "</robot>"
    )
    tree = build_tree(read_urdf(text.format("fixed")), floating_base=True)
    assert (tree.nq, tree.nv, len(tree.bodies)) == (7, 6, 1)
    with pytest.raises(ModelError, match="'floating_base' has the name .* rename it"):
        build_tree(read_urdf(text.format("continuous")), floating_base=True)
    assert build_tree(read_urdf(text.format("continuous"))).nv == 1
