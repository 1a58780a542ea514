"""The frames of the bodies: a choice that may change the length of the equations, no answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
from corpus import urdf_file  # noqa: E402
from random_robots import Array, Pair, RandomRobot, assert_close, explore, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.model.joints.types import MotionType, Revolute  # noqa: E402
from mbdyn_ros.model.model import Pose  # noqa: E402
from mbdyn_ros.model.pose import rotation_onto  # noqa: E402
from mbdyn_ros.prepare import tree
from mbdyn_ros.prepare.tree import BodyFrame, body_axes  # noqa: E402
from mbdyn_ros.program.program import (
    Program,  # noqa: E402
    declared,
)

pytestmark = pytest.mark.usefixtures("interpreted")


def plain_axes(
    motions: list[MotionType], parents: list[int], origins: list[Pose], directions: list[Array]
) -> list[BodyFrame]:
    """The least that is asked of frames: z along revolute axes."""
    return [
        BodyFrame(Pose(rotation_onto(axis)) if motion.is_hinge else Pose())
        for motion, axis in zip(motions, directions, strict=True)
    ]


def load(source: str, floating_base: bool) -> mbdyn_ros.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        return mbdyn_ros.load(source, floating_base=floating_base)


@explore(3)
@given(robots(), st.booleans())
def test_frames_change_no_answer(random_robot: RandomRobot, floating_base: bool) -> None:
    chosen = Pair(random_robot, floating_base)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "body_axes", plain_axes)
        plain = load(random_robot.urdf(), floating_base)
    q, v, a = chosen.state()
    ours = chosen.robot
    assert plain.massless_links == ours.massless_links
    floor = chosen.weight
    for name, inputs in (
        ("mass_matrix", (q,)),
        ("gravity_vector", (q,)),
        ("coriolis_vector", (q, v)),
        ("inverse_dynamics", (q, v, a)),
        ("energy", (q, v)),
    ):
        one, other = (getattr(robot, name)(*inputs) for robot in (ours, plain))
        assert_close(one, other, 1e-13, floor)
    for link in random_robot.links[-2:]:
        one, other = (robot.frame_pose(q, link.name) for robot in (ours, plain))
        assert_close(one, other, 1e-13)


@explore(10)
@given(robots(), st.booleans())
def test_frames_are_orthonormal(random_robot: RandomRobot, floating_base: bool) -> None:
    """Also where axes almost coincide or almost cross; else distances would change with time."""
    robot = load(random_robot.urdf(), floating_base)
    for body in robot.system.tree.bodies:
        rotation = body.placement.rotation
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=3e-15)
        assert np.linalg.det(rotation) > 0
        if body.kind == "revolute":
            np.testing.assert_allclose(body.axis, [0, 0, 1], rtol=0, atol=2e-15)
        elif body.kind == "prismatic":
            assert abs(np.linalg.norm(body.axis) - 1) < 2e-15


def test_almost_coinciding_axes_keep_their_frame_orthonormal() -> None:
    """The common normal of two such axes is the small difference of large numbers."""
    for distance in (1e-3, 1e-6, 1e-8, 1.1e-9, 1e-10, 0.0):
        point = 3.0 * np.array([0.6, 0.0, 0.8]) + distance * np.array([0.8, 0.0, -0.6])
        frames = body_axes(
            [Revolute(), Revolute()],
            [-1, 0],
            [Pose(), Pose(np.eye(3), point)],
            [np.array([0.6, 0.0, 0.8])] * 2,
        )
        for frame in frames:
            rotation = frame.pose.rotation
            np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), rtol=0, atol=1e-15)


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda x: max(map(abs, x)) > 0.1))
def test_rotation_onto(direction: list[float]) -> None:
    axis = np.array(direction) / np.linalg.norm(direction)
    rotation = rotation_onto(axis)
    np.testing.assert_allclose(rotation[:, 2], axis, rtol=0, atol=1e-15)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(rotation) > 0


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3)], ids=str)
def test_cartesian_axes_have_exact_frames(axis: Array) -> None:
    assert set(np.abs(rotation_onto(axis)).ravel()) == {0.0, 1.0}


@explore(5)
@given(robots(kinds=("revolute",), mimics=False))
def test_successive_revolute_axes_are_a_turn_about_x_apart(random_robot: RandomRobot) -> None:
    """Denavit and Hartenberg's way, where the axes are not parallel: exact zeros."""
    bodies = load(random_robot.urdf(), False).system.tree.bodies
    parents = [body.parent for body in bodies]
    for k, body in enumerate(bodies):
        alone = parents.count(body.parent) == 1 and body.parent >= 0
        if alone and np.hypot(*body.placement.rotation[:2, 2]) > 1.01 * tree.NEARLY_PARALLEL:
            rotation, translation = body.placement.rotation, body.placement.translation
            zeros = [*rotation[0, 1:], *rotation[1:, 0]]
            np.testing.assert_allclose(zeros, 0.0, rtol=0, atol=1e-14)
            if k in parents:
                assert abs(translation[2]) < 1e-13
            elif np.hypot(*rotation[:2, 2]) > 1.01 * tree.CROSSING:  # it is on the common normal
                np.testing.assert_allclose(translation[1:], 0.0, rtol=0, atol=1e-13)


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["ur5_robot.urdf", "panda.urdf", "solo12.urdf"])
def test_frames_shorten_the_equations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they are chosen for."""

    def count() -> int:
        system = load(urdf_file(name).read_text(), False).system
        return sum(Program(declared("forward_dynamics"), system).operations.values())

    chosen = count()
    monkeypatch.setattr(tree, "body_axes", plain_axes)
    assert chosen < 0.96 * count()
