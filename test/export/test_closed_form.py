"""Closed forms: what is printed, evaluated, against the recursions and SymPy; the paper's form."""

from __future__ import annotations

import math
import re

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
from corpus import urdf_file  # noqa: E402
from printed_forms import PIEZO, URDF, Array, evaluate
from random_dh import RandomDh, dh_robots  # noqa: E402
from random_robots import RandomRobot, explore, number, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import SX, constant, joint_motion  # noqa: E402
from mbdyn_ros.equations.textbook.lagrange_euler import LagrangeEuler  # noqa: E402
from mbdyn_ros.export.closed_form_program import angle_sums, closed_form_efforts
from mbdyn_ros.export.closed_form_text import to_latex, to_markdown, to_sympy, to_text

pytestmark = pytest.mark.usefixtures("interpreted")




def assert_near(ours: Array, theirs: Array, scale: float) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * scale)


def check(robot: mbdyn_ros.Robot, seed: int = 0) -> str:
    """What is printed gives the robot's matrices."""
    text = to_text(robot.closed_form())
    for q, v in np.random.default_rng(seed).uniform(-3, 3, (3, 2, robot.nq)):
        H, C, g = evaluate(text, robot.nq, q)
        mass = robot.mass_matrix(q)
        size = np.abs(mass).max(initial=0.0)
        assert_near(H, mass, size)
        weight = robot.gravity_vector(q)
        assert_near(g, weight, np.abs(weight).max(initial=0.0) + 10 * size)
        assert_near(np.einsum("ikl,k,l->i", C, v, v), robot.coriolis_vector(q, v), 100 * size)
    return text


@explore(6)
@given(robots(joints=5, kinds=("revolute", "prismatic", "continuous", "fixed"), mimics=False))
def test_print_gives_the_matrices_of_any_tree(random_robot: RandomRobot) -> None:
    check(mbdyn_ros.load(random_robot.urdf(), gravity=[1, -2, -9]))


@explore(4)
@given(dh_robots(joints=5), st.integers(0, 99))
def test_coefficients_are_those_of_uicker_and_kahn(table: RandomDh, seed: int) -> None:
    robot = table.robot()
    tree, n = robot.system.tree, robot.nq
    q = np.random.default_rng(seed).uniform(-2, 2, n)
    motions = [joint_motion(body, constant(q[body.q])) for body in tree.bodies]
    form = LagrangeEuler(tree, motions, robot.gravity)
    H, C, g = evaluate(to_text(robot.closed_form()), n, q)
    size = np.abs(H).max()
    assert_near(H, number(form.H), size)
    assert_near(C, np.array([number(matrix) for matrix in form.C]), 10 * size)
    assert_near(g, number(form.g).ravel(), 100 * size)


def test_a_real_robot() -> None:
    check(mbdyn_ros.load(urdf_file("ur5_robot.urdf")))


def vanishing(robot: mbdyn_ros.Robot) -> set[str]:
    """The elements of the Uicker-Kahn form that are zero at twenty random positions."""
    n = robot.nq
    tree, q = robot.system.tree, SX.sym("q", n)
    form = LagrangeEuler(tree, [joint_motion(b, q[b.q]) for b in tree.bodies], robot.gravity)
    function = ca.Function("all", [q], [ca.densify(form.H), ca.densify(form.g), *form.C])
    states = np.random.default_rng(0).uniform(-2, 2, (20, n))
    largest = [np.max([np.abs(one) for one in many], axis=0)
               for many in zip(*(function.call([x]) for x in states), strict=True)]  # fmt: skip
    H, g, *C = (np.where(one > 1e-13 * np.max(largest[0]), one, 0.0) for one in largest)
    zero = {f"H{i + 1}{k + 1}" for i in range(n) for k in range(i, n) if not H[i, k]}
    zero |= {f"g{i + 1}" for i in range(n) if not g[i, 0]}
    return zero | {
        f"C{i + 1}{k + 1}{m + 1}"
        for i in range(n) for k in range(n) for m in range(k, n) if not C[i][k, m]
    }  # fmt: skip


def test_the_papers_robot_has_the_papers_form() -> None:
    robot = mbdyn_ros.load(PIEZO)
    text = check(robot)
    form = robot.closed_form()
    assert len(form.elements) == 21 + 126 + 6
    zero = set(re.findall(r"^(\w+) = 0$", text, re.MULTILINE))
    assert zero == vanishing(robot)
    assert form.zeros == len(zero) == 30  # 19.6 %; the paper says "about 15 %"
    # joints 1 and 2 turn about one line, along gravity: nothing depends on them
    assert {"g1", "g2", "C111", "C112", "C122"} <= zero
    assert not re.search(r"\b[CS][12]\b", text.split("H11 =")[1])
    # figure 3, with a gripper that is a cylinder alone
    bare = re.sub(r"mass: 0\.1005.*?ixz: \S+}", GRIPPER, PIEZO.read_text(), flags=re.DOTALL)
    simple = mbdyn_ros.load(bare).closed_form().elements[0].polynomial.coefficients
    square, mixed = simple[0, 0, 4, 4, 4, 0], simple[0, 0, 3, 3, 4, 0]
    assert square == pytest.approx(-0.9964e-4, rel=2e-4)  # -.9964E-4*C3**2*C4**2*C5**2
    assert mixed == pytest.approx(0.9964e-4, rel=2e-4)  # +.9964E-4*C3*S3*S4*C4*C5**2
    assert simple[0, 0, 0, 0, 0, 0] > 0 and simple[0, 0, 4, 0, 0, 0] > 0


GRIPPER = (
    "mass: 0.09801769079200156\n    centre: [0, 0, -0.02]\n"
    "    inertia: {ixx: 1.5519467708733584e-05, iyy: 1.5519467708733584e-05, "
    "izz: 4.900884539600079e-06}"
)


def two_bars() -> str:
    bar = "type: revolute, a: 0.5, alpha: 0, d: 0, theta: 0, mass: 2, centre: [-0.25, 0, 0]"
    bar += ", inertia: {ixx: 0, iyy: 0.1, izz: 0.1}"
    return "\n".join(["name: two_bars", "joints:", *(f"- {{name: j_{k}, {bar}}}" for k in "12")])


def test_textbook() -> None:
    robot = mbdyn_ros.load(two_bars(), gravity=[0, -10, 0])
    text = to_text(robot.closed_form(), 6)
    assert text.splitlines() == [
        "# two_bars: P = H(q) qdd + qd^T C(q) qd + g(q)",
        "# C1 = cos(q1), S1 = sin(q1), q1: j_1, rad",
        "# C2 = cos(q2), S2 = sin(q2), q2: j_2, rad",
        "# efforts P in N m and N, gravity 0 -10 0 m/s^2",
        "# H is symmetric, and C in its last two indices: only one of two equal elements is listed",
        "# 11 elements, 3 of them zero (27.3%)",
        "H11 = 0.95 + 0.5*C2",
        "H12 = 0.225 + 0.25*C2",
        "H22 = 0.225",
        "C111 = 0",
        "C112 = -0.25*S2",
        "C122 = -0.25*S2",
        "C211 = 0.25*S2",
        "C212 = 0",
        "C222 = 0",
        "g1 = 15*C1 + 5*C1*C2 - 5*S1*S2",
        "g2 = 5*C1*C2 - 5*S1*S2",
    ]


@pytest.mark.long
def test_sympy_derives_the_same_coefficients() -> None:
    sympy = pytest.importorskip("sympy")
    robot = mbdyn_ros.load(two_bars())
    found = to_sympy(robot.closed_form())
    q = sympy.symbols("q1 q2", real=True)
    H = sympy.Matrix(2, 2, lambda i, k: found[f"H{min(i, k) + 1}{max(i, k) + 1}"])
    for i, k, m in np.ndindex(2, 2, 2):
        symbol = (H[i, k].diff(q[m]) + H[i, m].diff(q[k]) - H[k, m].diff(q[i])) / 2
        name = f"C{i + 1}{min(k, m) + 1}{max(k, m) + 1}"
        assert abs(complex((symbol - found[name]).subs({q[0]: 0.3, q[1]: 0.7}))) < 1e-15


def test_paper_and_markdown_say_the_same() -> None:
    robot = mbdyn_ros.load(two_bars(), gravity=[0, -10, 0])
    form = robot.closed_form()
    paper, page = to_latex(form, 4), to_markdown(form, 4)
    assert r"C_{112} &= -0.25\,S_{2}" in paper and r"C_{112} &= -0.25\,S_{2}" in page
    assert r"two\_bars" in paper and r"j\_1" in paper
    assert "- $C_{1} = \\cos q_{1}$, $S_{1} = \\sin q_{1}$, $q_{1}$: `j_1`, rad" in page
    assert "Zero: $C_{111}$, $C_{212}$, $C_{222}$." in page
    assert paper.count(r"\begin{align*}") == paper.count(r"\end{align*}") == 8
    tiny = to_latex(mbdyn_ros.load(PIEZO).closed_form(), 3)
    assert re.search(r"\d \\cdot 10\^\{-5\}", tiny) and "e-05" not in tiny


def test_gears_count_whole_turns() -> None:
    text = (
        '<robot name="geared"><link name="world"/>{}'
        '<joint name="a" type="continuous"><axis xyz="0 1 0"/><parent link="world"/>'
        '<child link="x"/></joint><joint name="b" type="continuous"><origin xyz="0.3 0 0.1"/>'
        '<axis xyz="0 1 0"/><parent link="x"/><child link="y"/>'
        '<mimic joint="a" multiplier="{}" offset="0.4"/></joint></robot>'
    )
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="0.2 0.1 0"/><mass value="1"/><inertia ixx="1" '
        'iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in "xy"
    )
    check(mbdyn_ros.load(text.format(links, "-3")))
    with pytest.raises(mbdyn_ros.InputError, match="a joint turns 0.5 times as far as"):
        mbdyn_ros.load(text.format(links, "0.5")).closed_form()


def test_what_has_no_closed_form_is_refused_by_joint() -> None:
    with pytest.raises(mbdyn_ros.InputError, match="crank_joint, .*form a closed loop"):
        mbdyn_ros.load(URDF / "four_bar.urdf").closed_form()
    stone = '<robot name="r"><link name="a"/></robot>'
    with pytest.raises(mbdyn_ros.InputError, match="'floating_base' is floating"):
        mbdyn_ros.load(stone, floating_base=True).closed_form()
    assert mbdyn_ros.load(stone).closed_form().elements == ()


@pytest.mark.long
def test_too_long_formulas_are_refused() -> None:
    turn = "type: revolute, a: 0.3, alpha: 0.4, d: 0.1, theta: 0, mass: 1, centre: [0.1, 0.2, 0.3]"
    turn += ", inertia: {ixx: 1, iyy: 1.5, izz: 2}"
    rows = [f"- {{name: j{k}, {turn}}}" for k in range(9)]
    with pytest.raises(mbdyn_ros.InputError, match="too many terms to be read"):
        mbdyn_ros.load("\n".join(["joints:", *rows])).closed_form()


def test_many_joints_keep_their_indices_apart() -> None:
    slide = f"type: prismatic, a: 0, alpha: {math.pi / 2}, d: 0, theta: 0, mass: 1"
    slide += ", centre: [0, 0, 0], inertia: {ixx: 1, iyy: 1, izz: 1}"
    rows = [f"{{name: j{k}, {slide}}}" for k in range(11)]
    robot = mbdyn_ros.load("\n".join(["joints:", *(f"- {row}" for row in rows)]))
    text = check(robot)
    assert "\nC1_10_11 = 0\n" in text and "H_{1,11}" in to_latex(robot.closed_form())


@pytest.mark.sparse
@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_are_evaluated_with_few_products(seed: int) -> None:
    """What is counted is the robot's: of parallel axes, opposite ones and slides between them."""
    link = "mass: 1.5, centre: [-0.1, 0.02, 0.03], inertia: {ixx: 0.1, iyy: 0.2, izz: 0.15}"
    scara = "{name: scara, joints: [" + ", ".join(
        f"{{name: {name}, type: {kind}, a: 0.3, alpha: {alpha}, d: 0.1, theta: 0.2, {link}}}"
        for name, kind, alpha in (
            ("one", "revolute", 0), ("two", "revolute", math.pi), ("three", "revolute", 0),
            ("four", "prismatic", math.pi / 2), ("five", "revolute", 0),
        )
    ) + "]}"  # fmt: skip
    random = np.random.default_rng(seed)
    for robot in (mbdyn_ros.load(PIEZO), mbdyn_ros.load(scara)):
        n = robot.nv
        symbols = [SX.sym(name, n) for name in "qva"]
        function = ca.Function("f", symbols, [*closed_form_efforts(robot.system, *symbols)])
        q, v, a = random.uniform(-2, 2, (3, n))
        mass, efforts = (one.full() for one in function(q, v, a))
        expected = robot.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(mass, robot.mass_matrix(q), atol=1e-12)
        np.testing.assert_allclose(efforts[:, 0], expected, atol=1e-12 * max(1, *abs(expected)))
    sums = angle_sums(robot.system)
    assert [abs(row).sum() for row in sums] == [1, 2, 3, 1, 1]
