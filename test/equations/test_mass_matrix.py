"""Composite bodies against Pinocchio, and the sparse factorization against NumPy."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from corpus import urdf_file  # noqa: E402
from random_robots import Pair, RandomRobot, assert_close, explore, number, robots  # noqa: E402

from mbdyn_ros.equations.algebra.spatial import SX  # noqa: E402
from mbdyn_ros.equations.programs import mass_matrix  # noqa: E402
from mbdyn_ros.equations.tree import composite_body as subject  # noqa: E402
from mbdyn_ros.program.elimination import solve_ltl  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")


@explore(3)
@given(robots(), st.booleans(), st.integers(0, 99))
def test_random_robots(random_robot: RandomRobot, floating_base: bool, seed: int) -> None:
    pair = Pair(random_robot, floating_base)
    q, v, _ = pair.state(seed)
    matrix = pair.robot.mass_matrix(q)
    judged = pair.judge.mass_matrix(q)
    assert_close(matrix, judged, 1e-13, pair.weight)
    assert np.array_equal(matrix, matrix.T)
    kinetic, _ = pair.robot.energy(q, v)
    assert_close(v @ matrix @ v / 2, kinetic, 1e-13, pair.weight)


@explore(2)
@given(robots(massless=False, mimics=False), st.booleans())
def test_positive_definite(random_robot: RandomRobot, floating_base: bool) -> None:
    pair = Pair(random_robot, floating_base)
    matrix = pair.robot.mass_matrix(pair.state()[0])
    assert np.linalg.eigvalsh(matrix).min(initial=1.0) > 1e-6
    assert pair.robot.massless_links == ()


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["solo12.urdf", "talos_reduced.urdf", "tiago.urdf"])
@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_composite_inertias_of_branched_robots(
    name: str, floating_base: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inertia of all that a joint carries, compared in the frame of its child link."""
    found = []
    wrench = subject.CompositeInertia.wrench

    def record(self: subject.CompositeInertia, *motion: SX) -> tuple[SX, SX]:
        found.append(self)
        return wrench(self, *motion)

    monkeypatch.setattr(subject.CompositeInertia, "wrench", record)
    pair = Pair(urdf_file(name).read_text(), floating_base)
    q, _, _ = pair.state()
    subject.composite_body(pair.tree, pair.embedding(q).joints)
    judge = pair.judge
    pin.crba(judge.pin, judge.data, judge.position(q), pin.Convention.LOCAL)
    assert len(found) == len(pair.tree.bodies)
    for body, composite in zip(pair.tree.bodies, found, strict=True):
        root = floating_base and body.parent < 0
        joint = judge.pin.getJointId("root_joint" if root else body.joint)
        theirs = judge.data.Ycrb[joint]
        frame = pair.tree.frames[body.name][1]  # of the link in our body's frame
        lever, turn = frame.translation, frame.rotation
        assert_close(composite.mass, theirs.mass, 1e-13)
        center = turn @ theirs.lever + lever
        first = number(composite.first).ravel()
        assert_close(first, theirs.mass * center, 1e-13, theirs.mass)
        around = np.dot(center, center) * np.eye(3) - np.outer(center, center)
        second = turn @ theirs.inertia @ turn.T + theirs.mass * around
        assert_close(number(composite.second), second, 1e-12, theirs.mass / 100)


def test_branches_do_not_feel_each_other() -> None:
    """Zeros between branches are structural, so that nothing is computed for them."""
    pair = Pair(urdf_file("solo12.urdf").read_text())
    matrix = mass_matrix(pair.system, SX.sym("q", 12), SX(0, 1))
    assert matrix.nnz() == 4 * 3 * 3


@given(st.integers(0, 8), st.integers(0, 2**32 - 1), st.booleans())
@explore(3)
def test_ltl_solves(size: int, seed: int, full: bool) -> None:
    """Any symmetric positive definite matrix, with or without the zeros of a tree."""
    random = np.random.default_rng(seed)
    if full:
        factor = random.normal(size=(size, size))
        matrix = factor @ factor.T + np.eye(size)
    else:
        matrix = np.diag(random.uniform(1, 2, size))
        factor = np.eye(size)
        for i in range(1, size):
            j = random.integers(i)
            factor[i] += random.normal() * factor[j]
        matrix = factor.T @ matrix @ factor
    right = random.normal(size=size)
    found = solve_ltl(ca.sparsify(SX(ca.DM(matrix))), SX(ca.DM(right)))
    assert found.shape == (size, 1) or size == 0
    if size:
        assert_close(number(found).ravel(), np.linalg.solve(matrix, right), 1e-9)
