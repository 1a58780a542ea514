"""Regrouped inertias: fewer constants, and the same equations of motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
from corpus import urdf_file  # noqa: E402
from random_robots import (  # noqa: E402
    Pair,
    RandomRobot,
    assert_close,
    explore,
    number,
    robots,
    turn_about,
)

import mbdyn_ros  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import congruence, constant  # noqa: E402
from mbdyn_ros.equations.articulated_body import articulated_body  # noqa: E402
from mbdyn_ros.equations.regrouping import regrouped, spread  # noqa: E402
from mbdyn_ros.equations.tree.composite_body import composite_body  # noqa: E402
from mbdyn_ros.equations.tree.kinematics import energy  # noqa: E402
from mbdyn_ros.equations.tree.newton_euler import newton_euler  # noqa: E402
from mbdyn_ros.prepare.tree import WORLD  # noqa: E402
from mbdyn_ros.program.program import (
    Program,  # noqa: E402
    declared,
)

GRAVITY = np.array([1.0, -2.0, -9.0])


@explore(4)
@given(robots(mimics=False), st.booleans(), st.integers(0, 99))
def test_equations_of_random_robots_stay(
    random_robot: RandomRobot, floating_base: bool, seed: int
) -> None:
    """Efforts, mass matrix, kinetic energy and accelerations, recursion by recursion."""
    pair = Pair(random_robot, floating_base)
    tree, merged, weight = pair.tree, regrouped(pair.tree), pair.weight
    q, v, a = pair.state(seed)
    embedding = pair.embedding(q)
    joints, motion = embedding.joints, (constant(v), constant(a))
    efforts = number(newton_euler(tree, joints, *motion, GRAVITY))
    assert_close(number(newton_euler(merged, joints, *motion, GRAVITY)), efforts, 1e-13, weight)
    matrix = number(composite_body(tree, joints))
    assert_close(number(composite_body(merged, joints)), matrix, 1e-13)
    kinetic = [number(energy(one, joints, motion[0], GRAVITY)[0]) for one in (tree, merged)]
    assert_close(kinetic[1], kinetic[0], 1e-13, weight)
    if pair.robot.massless_links or not tree.nv:
        return
    found = articulated_body(
        merged, pair.system.clusters, embedding, motion[0], constant(efforts), GRAVITY
    )
    assert_close(number(found).ravel(), a, 1e-13 + 1e-14 * np.linalg.cond(matrix), 1.0)


@explore(4)
@given(robots(), st.booleans())
def test_what_is_left(random_robot: RandomRobot, floating_base: bool) -> None:
    """No mass, no first or second moment along the axis behind a revolute joint; and only once."""
    merged = regrouped(Pair(random_robot, floating_base).tree)
    for body in merged.bodies:
        moments = spread(body.inertia.second)
        if body.kind == "revolute":
            assert body.inertia.mass == body.inertia.first[2] == moments[2, 2] == 0.0
        if body.kind == "prismatic":
            assert not body.inertia.second.any()
    for body, twice in zip(merged.bodies, regrouped(merged).bodies, strict=True):
        assert_close(twice.inertia.first, body.inertia.first, 1e-14, 1e-3)
        assert_close(twice.inertia.second, body.inertia.second, 1e-14, 1e-3)


def test_the_potential_stays_the_robot_s() -> None:
    """What the world is handed still weighs something, as does a robot in the air."""
    for floating_base in (False, True):
        pair = Pair(two_bars(), floating_base)
        q = pair.state()[0]
        _, potential = pair.robot.energy(q, np.zeros(pair.robot.nv))
        masses, tree = 0.0, pair.tree
        for link in pair.robot.model.links:
            if link.inertia is None or tree.frames[link.name][0] == WORLD:
                continue
            pose = pair.robot.frame_pose(q, link.name)
            centre = pose[:3, :3] @ link.inertia.center + pose[:3, 3]
            masses -= link.inertia.mass * pair.robot.gravity @ centre
        assert_close(potential, masses, 1e-14)
        assert masses != 0.0


def two_bars() -> str:
    """Two bars on skew axes on a column that stands still."""
    inertial = (
        '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
        '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>'
    )
    text = '<robot name="bars"><link name="column"/>'
    for link, parent, axis in (("one", "column", "0 0 1"), ("two", "one", "0 1 0")):
        text += f'<link name="{link}">{inertial}</link><joint name="j_{link}" type="continuous">'
        text += f'<parent link="{parent}"/><child link="{link}"/><origin xyz="0.3 0 0.4"/>'
        text += f'<axis xyz="{axis}"/></joint>'
    return text + "</robot>"


@explore(3)
@given(st.integers(0, 2), st.floats(-7, 7), st.integers(0, 99), st.booleans())
def test_turns_about_an_axis(axis: int, angle: float, seed: int, symmetric: bool) -> None:
    """The short way to R A R^T against the long one."""
    matrix = np.random.default_rng(seed).normal(size=(3, 3))
    if symmetric:
        matrix = matrix + matrix.T
    turn = turn_about(np.eye(3)[axis], angle)
    turn[axis], turn[:, axis] = np.eye(3)[axis], np.eye(3)[axis]
    found = number(congruence(constant(turn), constant(matrix)))
    assert_close(found, turn @ matrix @ turn.T, 1e-14)


def counted(path: Path, name: str) -> dict[str, int]:
    """Operations of a program."""
    return Program(declared(name), mbdyn_ros.load(path).system).operations


def test_fewer_operations() -> None:
    """A UR5's inverse dynamics, and both programs of the paper's robot."""
    ur5 = counted(urdf_file("ur5_robot.urdf"), "inverse_dynamics")
    assert ur5["multiplications"] <= 160 and ur5["additions"] <= 127
    table = Path(__file__).parents[2] / "urdf" / "piezo_robot.yaml"
    assert counted(table, "inverse_dynamics")["multiplications"] <= 123
    matrix = counted(table, "mass_matrix")
    assert matrix["multiplications"] <= 69 and matrix["additions"] <= 58


def test_the_little_that_thin_bodies_have_across_keeps_its_digits() -> None:
    """A kilogram of a micrometre's width: of 0.01 kg m^2 two parts cancel except for 1e-13."""
    izz = 2.6997407133081564e-13
    np.testing.assert_array_equal(np.diag(spread(np.diag([0.01, 0.01, izz])))[:2], izz / 2)


def test_links_of_a_micrometre_resist_as_their_moments_say() -> None:
    izz, center, length = 2.6997407133081564e-13, 9e-7, 2e-6
    link = f"""<inertial><origin xyz="{center} 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01"
      izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    joint = """<joint name="{0}{1}" type="continuous"><parent link="{0}"/><child link="{1}"/>
      <origin xyz="{2} 0 0"/><axis xyz="0 0 1"/></joint>"""
    text = f"""<robot name="needles"><link name="w"/><link name="a">{link}<link name="b">{link}
      {joint.format("w", "a", 0)}{joint.format("a", "b", length)}</robot>"""
    matrix = mbdyn_ros.load(text).mass_matrix([0.3, 0.7])
    own = izz + center**2
    both = own + length * center * np.cos(0.7)
    whole = 2 * both + length**2
    np.testing.assert_allclose(matrix, [[whole, both], [both, own]], rtol=1e-13)
