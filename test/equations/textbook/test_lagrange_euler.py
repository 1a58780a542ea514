"""The Lagrange-Euler form against Pinocchio, the recursions, and its own structure."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from random_dh import RandomDh, dh_robots  # noqa: E402
from random_robots import Pair, RandomRobot, assert_close, explore, number, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import SX, JointMotion, constant, joint_motion  # noqa: E402
from mbdyn_ros.equations.textbook.lagrange_euler import LagrangeEuler  # noqa: E402
from mbdyn_ros.equations.tree.composite_body import composite_body  # noqa: E402
from mbdyn_ros.equations.tree.newton_euler import newton_euler  # noqa: E402
from mbdyn_ros.model.read.dh_table import read_dh_table  # noqa: E402
from mbdyn_ros.prepare.tree import Tree, build_tree  # noqa: E402

Array = np.ndarray
GRAVITY = np.array([1.0, -2.0, -9.0])


def motions(tree: Tree, q: SX) -> list[JointMotion]:
    return [joint_motion(body, q[body.q]) for body in tree.bodies]


def form_at(tree: Tree, q: Array) -> LagrangeEuler:
    """The matrices as numbers."""
    return LagrangeEuler(tree, motions(tree, constant(q)), GRAVITY)


def check(table: RandomDh, seed: int) -> None:
    """All formulations agree on a table."""
    tree, judge = build_tree(read_dh_table(table.yaml())), table.judge()
    q, v, a = np.random.default_rng(seed).uniform(-2, 2, (3, tree.nq))
    form, joints = form_at(tree, q), motions(tree, constant(q))
    judge.gravity.linear = GRAVITY
    data = judge.createData()
    efforts, weight = number(form.efforts(constant(v), constant(a))), table.weight
    assert_close(efforts.ravel(), pin.rnea(judge, data, q, v, a), 1e-10, weight)
    recursion = newton_euler(tree, joints, constant(v), constant(a), GRAVITY)
    assert_close(efforts, number(recursion), 1e-10, weight)
    theirs = np.triu(pin.crba(judge, data, q))
    mass = number(form.H)
    assert_close(mass, theirs + np.triu(theirs, 1).T, 1e-10)
    assert_close(mass, number(composite_body(tree, joints)), 1e-10)
    held = pin.computeGeneralizedGravity(judge, data, q)
    assert_close(number(form.g).ravel(), held, 1e-10, weight)
    both = pin.computeCoriolisMatrix(judge, data, q, v) @ v
    assert_close(number(form.coriolis_vector(constant(v))).ravel(), both, 1e-10, weight)
    assert np.array_equal(mass, mass.T)
    assert np.linalg.eigvalsh(mass).min() > 0
    coefficients = np.array([number(matrix) for matrix in form.C])
    assert coefficients.shape == (tree.nv,) * 3
    assert np.array_equal(coefficients, coefficients.transpose(0, 2, 1))
    along = number(form.coriolis_matrix(constant(v)))
    assert_close(along, coefficients @ v, 1e-13, weight)


@explore(2)
@given(dh_robots(joints=7), st.integers(0, 99))
def test_all_formulations_agree(table: RandomDh, seed: int) -> None:
    check(table, seed)


@pytest.mark.long
@explore(2)
@given(dh_robots(least=8, joints=12), st.integers(0, 99))
def test_all_formulations_agree_on_long_chains(table: RandomDh, seed: int) -> None:
    check(table, seed)


@pytest.mark.long
@explore(1)
@given(dh_robots(least=12, joints=12))
def test_twelve_joints(table: RandomDh) -> None:
    check(table, 0)


@explore(2)
@given(dh_robots(joints=5), st.integers(0, 99))
def test_structure_of_the_symbolic_form(table: RandomDh, seed: int) -> None:
    """Hdot - 2 C qd is skew, C are Christoffel's symbols, g is the slope of the energy."""
    tree = build_tree(read_dh_table(table.yaml()))
    q, v = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    form = LagrangeEuler(tree, motions(tree, q), GRAVITY)
    rate = ca.reshape(ca.jtimes(ca.vec(ca.densify(form.H)), q, v), tree.nv, tree.nv)
    slope = ca.jacobian(ca.vec(ca.densify(form.H)), q)
    bend = ca.jacobian(form.g, q)
    outputs = [rate, form.coriolis_matrix(v), slope, bend, *form.C]
    values = np.random.default_rng(seed).uniform(-2, 2, (2, tree.nq))
    found = [np.array(one) for one in ca.Function("f", [q, v], outputs).call(list(values))]
    change, coriolis, slope, bend = found[:4]
    skew = change - 2 * coriolis
    floor = table.weight
    assert_close(skew, -skew.T, 1e-12, floor)
    assert_close(change, coriolis + coriolis.T, 1e-12, floor)
    n = tree.nv
    derivative = slope.reshape(n, n, n)  # [k, i, l] = dH_ik/dq_l; H is symmetric
    christoffel = 0.5 * (
        derivative.transpose(1, 0, 2)
        + derivative.transpose(1, 2, 0)
        - derivative.transpose(2, 0, 1)
    )
    assert_close(np.array(found[4:]), christoffel, 1e-12, floor)
    assert_close(bend, bend.T, 1e-12, floor)  # gravity has a potential


@explore(2)
@given(robots(joints=6, kinds=("revolute", "prismatic", "continuous", "fixed"), mimics=False))
def test_serial_urdfs_agree_and_others_are_refused(random_robot: RandomRobot) -> None:
    pair = Pair(random_robot)
    tree = pair.tree
    q, v, a = pair.state()
    parents = [body.parent for body in tree.bodies]
    if parents != list(range(-1, len(parents) - 1)):
        with pytest.raises(mbdyn_ros.InputError, match="one chain of joints, but links 'link"):
            form_at(tree, q)
        return
    form = LagrangeEuler(tree, motions(tree, constant(q)), [0, 0, -9.81])
    efforts = number(form.efforts(constant(v), constant(a))).ravel()
    assert_close(efforts, pair.judge.inverse_dynamics(q, v, a), 1e-10, pair.weight)


def test_other_joints_are_refused_by_name() -> None:
    text = '<robot name="r"><link name="a"/></robot>'
    tree = build_tree(mbdyn_ros.model.read_urdf(text), floating_base=True)
    with pytest.raises(mbdyn_ros.InputError, match="'floating_base' is floating"):
        LagrangeEuler(tree, motions(tree, SX.sym("q", 7)), GRAVITY)
    still = LagrangeEuler(build_tree(mbdyn_ros.model.read_urdf(text)), [], GRAVITY)
    assert still.efforts(SX(0, 1), SX(0, 1)).shape == (0, 1)
    assert still.coriolis_matrix(SX(0, 1)).shape == (0, 0)


def test_two_bars_of_the_textbook() -> None:
    """A plane arm of two bars: the textbook's H, C and g."""
    bar = "type: revolute, a: 0.5, alpha: 0, d: 0, theta: 0, mass: 2, centre: [-0.25, 0, 0]"
    bar += ", inertia: {ixx: 0, iyy: 0.1, izz: 0.1}"
    rows = [f"- {{name: j{k}, {bar}}}" for k in "12"]
    tree = build_tree(read_dh_table("\n".join(["joints:", *rows])))
    form = LagrangeEuler(tree, motions(tree, constant([0.3, 0.7])), [0, -9.81, 0])
    c, s = np.cos(0.7), np.sin(0.7)
    coupling = 2 * 0.5 * 0.25
    inner = 0.1 + 2 * 0.0625
    expected = [
        [inner + inner + 2 * 0.25 + 2 * coupling * c, inner + coupling * c],
        [inner + coupling * c, inner],
    ]
    assert_close(number(form.H), expected, 1e-14)
    h = coupling * s
    expected = [[[0, -h], [-h, -h]], [[h, 0], [0, 0]]]
    assert_close([number(matrix) for matrix in form.C], expected, 1e-14)
    g2 = 2 * 9.81 * 0.25 * np.cos(1.0)
    g1 = 2 * 9.81 * 0.75 * np.cos(0.3) + g2
    assert_close(number(form.g).ravel(), [g1, g2], 1e-14)
