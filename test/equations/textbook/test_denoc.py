"""DeNOC against the recursions, the agreed four-bar, the cluster recursion and Lagrange by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
from agreed_cases import CASES, Case, arrays  # noqa: E402
from random_loops import draw  # noqa: E402
from random_robots import Pair, RandomRobot, assert_close, explore, number, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros import ModelError, Robot  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import SX, constant, joint_motion  # noqa: E402
from mbdyn_ros.equations.textbook.denoc import (  # noqa: E402
    ClosedDenoc,  # noqa: E402
    Denoc,
    carried,
)
from mbdyn_ros.equations.tree.composite_body import composite_body  # noqa: E402
from mbdyn_ros.equations.tree.newton_euler import newton_euler  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")
OWN = Path(__file__).resolve().parents[3] / "urdf"
GRAVITY = np.array([0.3, -0.2, -9.81])
Array = np.ndarray


@dataclass
class RandomState:
    """A random tree at a random motion, cut open, gears ignored; all in tree coordinates."""

    pair: Pair
    denoc: Denoc
    v: Array
    a: Array

    @staticmethod
    def of(random_robot: RandomRobot, floating_base: bool) -> RandomState:
        pair = Pair(random_robot, floating_base)
        joints = pair.embedding(pair.state()[0]).joints
        v, a = np.random.default_rng(0).normal(size=(2, pair.tree.nv))
        return RandomState(pair, Denoc(pair.tree, joints, constant(v)), v, a)


# -- trees ---------------------------------------------------------------------------------------


@explore(2)
@given(robots(joints=8), st.booleans())
def test_trees_as_by_the_recursions(random_robot: RandomRobot, floating_base: bool) -> None:
    state = RandomState.of(random_robot, floating_base)
    tree, denoc = state.pair.tree, state.denoc
    v, a, weight = constant(state.v), constant(state.a), state.pair.weight
    wrenches = constant(np.random.default_rng(1).normal(size=(6, len(tree.bodies))))
    for outside in (None, wrenches):
        expected = number(newton_euler(tree, denoc.joints, v, a, GRAVITY, outside))
        found = number(denoc.inverse_dynamics(a, GRAVITY, outside))
        assert_close(found, expected, 1e-12, weight)
    inertia = number(denoc.generalized_inertia)
    assert_close(inertia, number(composite_body(tree, denoc.joints)), 1e-12, weight)

    # the matrices of (17) are those of (16)
    tau_g = number(denoc.N.T @ denoc.weight(GRAVITY))
    tau = inertia @ state.a[:, None] + number(denoc.convective_inertia @ v) - tau_g
    assert_close(tau, number(denoc.inverse_dynamics(a, GRAVITY)), 1e-12, weight)


@explore(2)
@given(robots(joints=8), st.booleans())
def test_structure(random_robot: RandomRobot, floating_base: bool) -> None:
    state = RandomState.of(random_robot, floating_base)
    denoc, bodies, nv = state.denoc, state.pair.tree.bodies, state.pair.tree.nv
    N_l, N_d = number(denoc.N_l), number(denoc.N_d)
    assert N_l.shape == (6 * len(bodies), 6 * len(bodies)) and N_d.shape == (6 * len(bodies), nv)
    above = set(carried(state.pair.tree)) | {(i, i) for i in range(len(bodies))}
    column = 0
    for i, body in enumerate(bodies):
        rows = slice(6 * i, 6 * i + 6)
        for j in range(len(bodies)):
            block = N_l[rows, 6 * j : 6 * j + 6]
            assert np.array_equal(block[:3, :3], np.eye(3) * ((i, j) in above))
            assert (i, j) in above or not block.any()  # so lower block triangular: j <= i
            assert j <= i or not block.any()
        width = body.v.stop - body.v.start
        outside = np.delete(N_d[rows], range(column, column + width), axis=1)
        assert not outside.any()
        assert np.linalg.matrix_rank(N_d[rows]) == width
        column += width
    # blocks propagate one after the other: N_l = (1 - parents' blocks)^-1
    step = np.eye(len(N_l))
    for i, body in enumerate(bodies):
        if body.parent >= 0:
            place = slice(6 * i, 6 * i + 6), slice(6 * body.parent, 6 * body.parent + 6)
            step[place] = -N_l[place]
    assert np.allclose(N_l @ step, np.eye(len(N_l)), rtol=0, atol=1e-12)


@explore(2)
@given(robots(joints=6, kinds=("revolute", "prismatic", "fixed"), massless=False))
def test_inertia_is_positive_definite_and_its_rate_less_2C_skew(
    random_robot: RandomRobot,
) -> None:
    pair = Pair(random_robot)
    tree = pair.tree
    q, s = SX.sym("q", tree.nq), SX.sym("s")
    rates = np.random.default_rng(2).normal(size=(2, tree.nv))

    def at(moved: SX) -> Denoc:
        joints = [joint_motion(body, moved[body.q]) for body in tree.bodies]
        return Denoc(tree, joints, constant(rates[0]))

    denoc = at(q + s * constant(rates[0]))
    inertia, N = denoc.generalized_inertia, denoc.N
    moved = [ca.jacobian(ca.vec(one), s) for one in (inertia, N)]
    outputs = [inertia, denoc.convective_inertia, denoc.N_rate, *moved]
    values = ca.Function("matrices", [q, s], [ca.densify(one) for one in outputs])
    matrix, C, N_rate, rate, N_moved = (np.array(one) for one in values(rates[1], 0))
    if tree.nv:
        assert np.linalg.eigvalsh(matrix).min() > 0
    assert_close(N_rate, N_moved.reshape(N_rate.shape, order="F"), 1e-12, 1.0)
    skew = rate.reshape(matrix.shape, order="F") - 2 * C
    assert_close(skew, -skew.T, 1e-12, pair.weight)


# -- loops ---------------------------------------------------------------------------------------


class Lab:
    """A robot by DeNOC: functions of independent positions, velocities and accelerations."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.system = robot, robot.system
        system = self.system
        sizes = system.coordinates.nq, system.nz, system.coordinates.nv, system.coordinates.nv
        q, z, v, a = (SX.sym(name, size) for name, size in zip("qzva", sizes, strict=True))
        embedding = system.embedding(q, z)
        velocity = embedding.velocity(v)
        self.closed = closed = ClosedDenoc.of(system, embedding, velocity)
        whole = embedding.velocity(a) + embedding.drift(velocity)
        tau, multipliers = closed.inverse_dynamics(whole)
        driving = SX.zeros(system.tree.nv)
        driving[list(system.coordinates.effort)] = a  # here: the efforts
        accelerations, back = closed.forward_dynamics(driving)
        self.order = closed.solution_order()
        self.inverse = self._function(q, z, v, a, tau, multipliers)
        self.forward = self._function(q, z, v, a, accelerations, back)
        self.matrices = self._function(q, z, v, a, closed.J, closed.J_rate, closed.bordered_matrix)
        self.motion = self._function(q, z, v, a, velocity, whole)

    def _function(self, q: SX, z: SX, v: SX, a: SX, *outputs: SX) -> Callable[..., list[Array]]:
        dense = [ca.densify(output) for output in outputs]
        function = ca.Function("lab", [q, z, v, a], dense, {"cse": True})
        rows = self.system.numerical_dependent_rows

        def call(q: Array, v: Array, a: Array) -> list[Array]:
            tree = np.zeros(self.system.tree.nq)
            if rows:
                tree[self.system.coordinates.joint_rows[0]] = self.robot.joint_state(q)[0]
            z = tree[rows]
            return [np.array(part) for part in function.call([q, z, v, a])]

        return call


@pytest.mark.sparse
@pytest.mark.parametrize(
    "name", ["four_bar", "boom", "slider_crank", "parallelogram_arm", "manipulator"]
)
def test_own_robots_as_by_the_cluster_recursion(name: str) -> None:
    robot = mbdyn_ros.load(OWN / f"{name}.urdf")
    lab = Lab(robot)
    random = np.random.default_rng(3)
    for _ in range(5):
        q, v, a = random.uniform(-0.2, 0.2, (3, robot.nv)) * [[1], [5], [20]]
        tau, multipliers = lab.inverse(q, v, a)
        expected = robot.inverse_dynamics(q, v, a, friction=False)
        assert_close(tau.ravel(), expected, 1e-10)
        # forward dynamics brings the motion and the multipliers back
        accelerations, again = lab.forward(q, v, tau.ravel())
        assert_close(accelerations, lab.motion(q, v, a)[1], 1e-10)
        assert_close(again, multipliers, 1e-10)
        found = robot.forward_dynamics(q, v, tau.ravel(), friction=False)
        assert_close(accelerations.ravel()[list(lab.system.coordinates.v)], found, 1e-10)
        # (21) and its derivative
        J, J_rate, _ = lab.matrices(q, v, a)
        velocity, whole = lab.motion(q, v, a)
        assert np.abs(J @ velocity).max() < 1e-12
        assert np.abs(J @ whole + J_rate).max() < 1e-11


@pytest.mark.sparse
@pytest.mark.parametrize(
    "kind",
    [
        "chain",
        pytest.param("Watt", marks=pytest.mark.long),
        "Stephenson",
        "floating",
        "planar joint",
        "mimic",
        "coupling",
        pytest.param("spatial fixed", marks=pytest.mark.long),
        "spatial cylindrical",
        "spatial universal",
    ],
)
def test_loops_of_every_kind_as_by_the_cluster_recursion(kind: str) -> None:
    pair = draw(kind, 0, losses=False).pair()
    lab, robot = Lab(pair.robot), pair.robot
    q, v, a, _ = pair.state(1)
    tau, multipliers = lab.inverse(q, v, a)
    assert_close(tau.ravel(), robot.inverse_dynamics(q, v, a), 1e-10)
    accelerations, again = lab.forward(q, v, tau.ravel())
    assert_close(accelerations, lab.motion(q, v, a)[1], 1e-10)
    assert_close(again, multipliers, 1e-10)


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not next to this repository")
@pytest.mark.parametrize("name", ["A1_fourbar", "B_boom"])
def test_golden_values(name: str) -> None:
    case = Case.read(name)
    lab = Lab(case.load())
    states = case.golden["states"]
    keys = [("q_ind",), ("v_ind",), ("ID", "a"), ("ID", "tau"), ("FD", "tau"), ("FD", "a_tree")]
    forces = {kind: arrays(states, kind, "force_on_child_F1")[:, 0] for kind in ("ID", "FD")}
    rows = [lab.robot.joint_names.index(joint) for joint in case.golden["tree_joint_order"]]
    for k, (q, v, a, tau, push, a_tree) in enumerate(
        zip(*(arrays(states, *key) for key in keys), strict=True)
    ):
        found, multipliers = lab.inverse(q, v, a)
        assert_close(found.ravel(), tau, 1e-10)
        accelerations, others = lab.forward(q, v, push)
        assert_close(accelerations.ravel()[rows], a_tree, 1e-10)
        # lambda is the force on the successor; its axes in the plane are others
        for kind, one in (("ID", multipliers), ("FD", others)):
            size = np.linalg.norm(forces[kind][k])
            assert np.linalg.norm(one) == pytest.approx(size, rel=1e-10)


# -- the four-bar of the paper -------------------------------------------------------------------


@dataclass
class FourBar:
    """Lengths and angles of crank, coupler, rocker; J4 stands where the loop closes.

    Pins as in the paper: J1 ground and crank, J2 crank and coupler, J3 coupler and rocker, J4
    ground and rocker. `centers` along and across each link from J1, J2, J4, as complex numbers.
    """

    lengths: Array
    angles: Array
    masses: Array
    centers: Array
    moments: Array

    @staticmethod
    def of(seed: int) -> FourBar:
        random = np.random.default_rng(seed)
        lengths = random.uniform(0.1, 0.6, 3)
        angles = random.uniform(-np.pi, np.pi, 3)
        angles[2] = angles[1] + random.choice([-1, 1]) * random.uniform(0.4, 2.7)
        masses, moments = random.uniform(0.2, 2, (2, 3)) * [[1], [0.05]]
        across = 0.05 * random.normal(size=3)
        return FourBar(lengths, angles, masses, lengths / 2 + 1j * across, moments)

    @property
    def ground(self) -> complex:
        """Where J4 is, seen from J1."""
        return complex(np.sum([1, 1, -1] * self.lengths * np.exp(1j * self.angles)))

    def urdf(self, cut: str) -> str:
        """The spanning tree without the joint `cut`, and the loop that closes it there."""
        a, b, c = self.lengths
        pins = {
            "J1": {"ground": 0j, "crank": 0j},
            "J2": {"crank": a, "coupler": 0j},
            "J3": {"coupler": b, "rocker": c},
            "J4": {"ground": self.ground, "rocker": 0j},
        }
        names = ("crank", "coupler", "rocker")
        angle = {"ground": 0.0, **dict(zip(names, self.angles, strict=True))}
        start, text = {"ground": 0j}, '<robot name="four_bar"><link name="ground"/>\n'
        todo = [pin for pin in pins if pin != cut]
        while todo:  # a link's frame is at the pin that carries it, turned like the link
            pin = next(pin for pin in todo if any(link in start for link in pins[pin]))
            todo.remove(pin)
            parent, child = sorted(pins[pin], key=lambda link: link not in start)
            start[child] = pins[pin][child]
            text += f'<joint name="{pin}" type="continuous">'
            text += f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
            text += place(pins[pin][parent] - start[parent], angle[child] - angle[parent])
            text += "</joint>\n"
        for k, name in enumerate(names):
            text += f'<link name="{name}"><inertial>{place(self.centers[k] - start[name])}'
            text += f'<mass value="{float(self.masses[k])!r}"/><inertia ixx="1" iyy="1" '
            text += (
                f'izz="{float(self.moments[k])!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
            )
        text += f'<loop name="{cut}" type="revolute"><axis xyz="0 0 1"/>'
        for end, link in zip(("predecessor", "successor"), reversed(pins[cut]), strict=True):
            text += f'<{end} link="{link}">{place(pins[cut][link] - start[link])}</{end}>'
        return text + "</loop></robot>"

    def load(self, cut: str) -> Robot:
        record = "independent: [J1]\nactuated: [J1]"
        return mbdyn_ros.load(self.urdf(cut), record, gravity=(0, -9.81, 0))

    def lagrange(self, v: float, a: float) -> float:
        """Torque at the crank: M thdd + M' thd^2 / 2 + V', M and V functions of the crank angle.

        With ' = d/dtheta, every link turns at w = phi' and its centre moves at c':
        M = sum m |c'|^2 + J w^2 and V = 9.81 sum m Im c.
        """
        bars = self.lengths * np.exp(1j * self.angles)
        # a e^(i phi_2) + b e^(i phi_3) - c e^(i phi_4) is constant: so are its derivatives
        pull = np.array([bars[1], -bars[2]]) * 1j
        turns = np.array([pull.real, pull.imag])
        first = -1j * bars[0]
        w = np.array([1, *np.linalg.solve(turns, [first.real, first.imag])])
        second = np.sum([1, 1, -1] * bars * w**2)
        w_rate = np.array([0, *np.linalg.solve(turns, [second.real, second.imag])])
        carry = np.array([0, bars[0], 0])  # the coupler hangs on the crank
        arms = self.centers * np.exp(1j * self.angles)
        c = 1j * (carry * w[0] + arms * w)
        c_rate = 1j * arms * w_rate - carry * w[0] ** 2 - arms * w**2
        inertia = np.sum(self.masses * abs(c) ** 2 + self.moments * w**2)
        half_slope = np.sum(self.masses * (c.conj() * c_rate).real + self.moments * w * w_rate)
        return inertia * a + half_slope * v**2 + 9.81 * np.sum(self.masses * c.imag)


def place(shift: complex, turn: float = 0.0) -> str:
    x, y = float(np.real(shift)), float(np.imag(shift))
    return f'<origin xyz="{x!r} {y!r} 0" rpy="0 0 {float(turn)!r}"/>'


@pytest.mark.long
@explore(2)
@given(st.integers(0, 10**6), st.floats(-8, 8), st.floats(-40, 40))
def test_four_bar_of_any_cut_as_by_lagrange(seed: int, v: float, a: float) -> None:
    four_bar = FourBar.of(seed)
    torque = four_bar.lagrange(v, a)
    floor = 9.81 * four_bar.masses.sum() * four_bar.lengths.max()
    q, rate, acceleration = np.zeros(1), np.array([v]), np.array([a])
    for cut in ("J2", "J3", "J4"):
        robot = four_bar.load(cut)
        lab = Lab(robot)
        tau, multipliers = lab.inverse(q, rate, acceleration)
        assert_close(tau, np.array([[torque]]), 1e-10, floor)
        found, again = lab.forward(q, rate, np.array([torque]))
        crank = robot.joint_names.index("J1")
        turning = np.array([four_bar.lagrange(v, k) for k in (0, 1)])
        assert found[crank] == pytest.approx(
            (torque - turning[0]) / (turning[1] - turning[0]), rel=1e-8, abs=1e-7
        )
        assert len(multipliers) == 2
        assert_close(again, multipliers, 1e-8, floor)


def test_subsystems_of_the_paper() -> None:
    """Cut at J2: II (rocker, coupler) is passive and gives lambda; I (crank) its torque."""
    lab = Lab(FourBar.of(1).load("J2"))
    names = [[lab.system.tree.bodies[i].name for i in one.bodies] for one in lab.closed.subsystems]
    assert sorted(names) == [["crank"], ["rocker", "coupler"]]
    ((passive, multipliers),) = lab.order
    assert multipliers == [0, 1]
    joints = {body.v.start: body.joint for body in lab.system.tree.bodies}
    assert {joints[row] for row in passive} == {"J3", "J4"}


def test_subsystems_that_are_solved_together_and_one_by_one() -> None:
    # cut at J3, neither coupler nor rocker alone gives the two multipliers
    (step,) = Lab(FourBar.of(1).load("J3")).order
    assert [len(part) for part in step] == [2, 2]
    # the slider gives the force along its way, then the coupler the force across
    steps = Lab(mbdyn_ros.load(OWN / "slider_crank.urdf")).order
    assert [[len(part) for part in step] for step in steps] == [[1, 1], [1, 1]]


def test_jacobian_and_bordered_matrix_of_the_paper() -> None:
    """J_II below (20) with its sign mended; A of (22) symmetric, regular and indefinite."""
    four_bar = FourBar.of(2)
    lab = Lab(four_bar.load("J2"))
    J, _, A = lab.matrices(np.zeros(1), np.ones(1), np.ones(1))
    l_2, l_3, l_4 = four_bar.lengths
    th_2, th_3, th_4 = four_bar.angles
    th_3 = th_3 + np.pi - th_4  # the paper turns the coupler from J3, relative to the rocker
    s_34, c_34 = np.sin(th_3 + th_4), np.cos(th_3 + th_4)
    joints = {body.v.start: body.joint for body in lab.system.tree.bodies}
    order = [row for name in ("J1", "J4", "J3") for row in joints if joints[row] == name]
    J_I = np.array([[-l_2 * np.sin(th_2)], [l_2 * np.cos(th_2)]])

    def constraint(sign: float) -> Array:
        J_II = [
            [-l_4 * np.sin(th_4) - l_3 * s_34, sign * l_3 * s_34],
            [l_4 * np.cos(th_4) + l_3 * c_34, l_3 * c_34],
        ]
        return np.hstack([J_I, -np.array(J_II)])

    # our axes in the plane are others: compare what does not depend on them
    ours = J[:, order].T @ J[:, order]
    right, printed = constraint(-1.0), constraint(1.0)
    assert_close(ours, right.T @ right, 1e-12)
    assert np.abs(ours - printed.T @ printed).max() > 1e-3

    assert_close(A, A.T, 1e-15)
    eigenvalues = np.linalg.eigvalsh(A)
    assert (eigenvalues > 0).sum() == 3 and (eigenvalues < 0).sum() == 2


def test_too_many_actuators_are_refused_in_words() -> None:
    record = "independent: [J1]\nactuated: [J1, J4]"
    system = mbdyn_ros.load(FourBar.of(3).urdf("J3"), record).system
    closed = ClosedDenoc.of(system, system.embedding(SX.zeros(1), SX(0, 1)), SX.zeros(3))
    with pytest.raises(ModelError, match="2 coordinates are actuated and the mobility is 1"):
        closed.inverse_dynamics(SX.zeros(3))
