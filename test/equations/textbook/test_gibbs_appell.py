"""Gibbs-Appell against Newton-Euler, composite bodies, kinematics and its own definition."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
from random_robots import (  # noqa: E402
    Pair,
    RandomRobot,
    assert_close,
    explore,
    model_of,
    robots,
)

from mbdyn_ros.equations.algebra.spatial import SX, constant, joint_motion  # noqa: E402
from mbdyn_ros.equations.textbook import gibbs_appell as ga  # noqa: E402
from mbdyn_ros.equations.tree.composite_body import composite_body  # noqa: E402
from mbdyn_ros.equations.tree.gibbs_motion import body_motions  # noqa: E402
from mbdyn_ros.equations.tree.kinematics import body_poses, body_velocities  # noqa: E402
from mbdyn_ros.equations.tree.newton_euler import newton_euler  # noqa: E402
from mbdyn_ros.model.joints.quaternion import rotation_rows  # noqa: E402
from mbdyn_ros.prepare.tree import Tree, build_tree  # noqa: E402
from mbdyn_ros.program.program import count_operations  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")
GRAVITY = np.array([0.3, -1.0, -9.81])
TREE_ROBOT = Path(__file__).parents[3] / "urdf" / "tree_robot.urdf"
PARENTS = (0, 1, 2, 3, 2, 5, 6, 5, 5, 9)


class Case:
    """A tree at a random state, as symbols `.q .v .a .effort .wrenches` and numbers."""

    def __init__(self, tree: Tree, seed: int) -> None:
        self.tree, random = tree, np.random.default_rng(seed)
        self.q, self.v, self.a = SX.sym("q", tree.nq), SX.sym("v", tree.nv), SX.sym("a", tree.nv)
        self.effort = SX.sym("effort", tree.nv)
        self.wrenches = SX.sym("wrenches", 6, len(tree.bodies))
        self.symbols = [self.q, self.v, self.a, self.effort, self.wrenches]
        self.numbers = [random.normal(size=symbol.shape) for symbol in self.symbols]
        for body in tree.bodies:
            if body.kind == "floating":
                turn = self.numbers[0][body.q][3:]
                turn /= np.linalg.norm(turn)
        self.joints = [joint_motion(body, self.q[body.q]) for body in tree.bodies]

    def __call__(self, *expressions: SX) -> list[np.ndarray]:
        dense = [ca.densify(expression) for expression in expressions]
        return [np.array(x) for x in ca.Function("f", self.symbols, dense).call(self.numbers)]

    def floor(self) -> float:
        return 9.81 * sum(body.inertia.mass for body in self.tree.bodies) + 1.0


def tree_of(robot: RandomRobot, floating_base: bool) -> Tree:
    return build_tree(model_of(robot.urdf()), floating_base)


@explore(3)
@given(robots(joints=9, mimics=False), st.booleans(), st.integers(0, 99))
def test_random_trees(robot: RandomRobot, floating_base: bool, seed: int) -> None:
    case = Case(tree_of(robot, floating_base), seed)
    tree, joints, wrenches = case.tree, case.joints, case.wrenches
    system = ga.gibbs_appell(tree, joints, case.v, case.effort, GRAVITY, wrenches)
    inverse = ga.inverse_dynamics(tree, joints, case.v, case.a, GRAVITY, wrenches)
    efforts = newton_euler(tree, joints, case.v, case.a, GRAVITY, wrenches)
    bias = newton_euler(tree, joints, case.v, 0 * case.a, GRAVITY, wrenches)
    ours = case(*system, inverse)
    theirs = case(composite_body(tree, joints), case.effort - bias, efforts)
    for mine, judge in zip(ours, theirs, strict=True):
        assert_close(mine, judge, 1e-11, case.floor())


@explore(2)
@given(robots(joints=7, mimics=False), st.booleans(), st.integers(0, 99))
def test_the_gradient_of_the_gibbs_function(
    robot: RandomRobot, floating_base: bool, seed: int
) -> None:
    """By differentiation: dS/da = I a - Re without weight, and its Hessian is I."""
    case = Case(tree_of(robot, floating_base), seed)
    tree, joints = case.tree, case.joints
    S = ga.gibbs_function(tree, joints, case.v, case.a)
    hessian, gradient = ca.hessian(S, case.a)
    inverse = ga.inverse_dynamics(tree, joints, case.v, case.a, 0 * GRAVITY)
    inertia, _ = ga.gibbs_appell(tree, joints, case.v, case.effort, GRAVITY)
    ours = case(inverse, inertia)
    for mine, judge in zip(ours, case(gradient, hessian), strict=True):
        assert_close(mine, judge, 1e-11, case.floor())


@explore(2)
@given(robots(joints=7, mimics=False), st.booleans(), st.integers(0, 99))
def test_motions_of_bodies(robot: RandomRobot, floating_base: bool, seed: int) -> None:
    """Poses and rates against kinematics; accelerations against the rates' own derivative."""
    case = Case(tree_of(robot, floating_base), seed)
    tree, joints, q, v, a = case.tree, case.joints, case.q, case.v, case.a
    q_rate = SX.zeros(tree.nq)
    for body in tree.bodies:
        q_rate[body.q] = v[body.v] if body.kind != "floating" else pose_rate(q[body.q], v[body.v])
    poses, velocities = body_poses(tree, joints), body_velocities(tree, joints, v)
    motions = body_motions(tree, joints, v, a)
    for body, motion, pose, velocity in zip(tree.bodies, motions, poses, velocities, strict=True):
        (rotation, origin), (w, u) = pose, velocity
        center = constant(body.inertia.center)
        moved = ca.jtimes(rotation @ (u + ca.cross(w, center)), q, q_rate)
        moved += ca.jtimes(rotation @ (u + ca.cross(w, center)), v, a)
        r = ca.vertcat(center, 1)
        ours = case(motion.T[:3, :3], motion.T[:3, 3], (motion.rate @ r)[:3], motion.w,
                    (motion.acceleration @ r)[:3], motion.w_rate)  # fmt: skip
        spun = ca.jtimes(w, q, q_rate) + ca.jtimes(w, v, a)
        theirs = case(rotation, origin, rotation @ (u + ca.cross(w, center)), w, moved, spun)
        for mine, judge in zip(ours, theirs, strict=True):
            assert_close(mine, judge, 1e-11, 1.0)


def pose_rate(pose: SX, v: SX) -> SX:
    """Rate (7, 1) of a floating position under velocities in its own axes."""
    vector, scalar, w = pose[3:6], pose[6], v[3:]
    turn = ca.vertcat(scalar * w + ca.cross(vector, w), -ca.dot(vector, w)) / 2
    rows = rotation_rows(*ca.vertsplit(pose[3:]))
    return ca.vertcat(ca.blockcat([list(row) for row in rows]) @ v[:3], turn)


@explore(2)
@given(robots(joints=6, mimics=False, massless=False), st.booleans())
def test_forward_dynamics_undoes_inverse(robot: RandomRobot, floating_base: bool) -> None:
    pair = Pair(robot, floating_base)
    case = Case(pair.tree, 1)
    motion = case.tree, case.joints, case.v
    efforts = ga.inverse_dynamics(*motion, case.a, GRAVITY, case.wrenches)
    forward = ga.forward_dynamics(*motion, efforts, GRAVITY, case.wrenches)
    inertia = case(composite_body(case.tree, case.joints))[0]
    (found,) = case(forward)
    assert_close(inertia @ found, inertia @ case.numbers[2], 1e-10, case.floor())


def tree_robot() -> Case:
    return Case(build_tree(model_of(TREE_ROBOT.read_text(encoding="utf-8"))), 0)


def test_branches_of_the_papers_robot() -> None:
    """Four branches (section 3.1.3); branches that share no joint do not couple (figure 7)."""
    tree = tree_robot().tree
    names = [[tree.bodies[i].joint for i in branch] for branch in ga.branches(tree)]
    root = ["X1", "X2", "q1", "q2"]
    chains = ["q3 q4", "q5 q6 q7", "q5 q8", "q5 q9 q10"]
    assert sorted(names) == sorted(root + chain.split() for chain in chains)


def test_the_papers_robot_against_lagrange() -> None:
    """I and Re from the energies of ten rods, written out by hand in the plane."""
    case = tree_robot()
    tree, q, v = case.tree, case.q, case.v
    gravity = np.array([0.0, 0.0, -9.81])
    places = {body.joint: body.q.start for body in tree.bodies}
    start = ca.vertcat(q[places["X1"]], q[places["X2"]])
    ends, angles, kinetic, potential = [start], [SX(0)], SX(0), SX(0)
    for i, parent in enumerate(PARENTS, 1):
        angles.append(angles[parent] + q[places[f"q{i}"]])
        along = ca.vertcat(ca.cos(angles[i]), ca.sin(angles[i]))
        center = ends[parent] + along / 2
        ends.append(ends[parent] + along)
        u, w = ca.jtimes(center, q, v), ca.jtimes(angles[i], q, v)
        kinetic += ca.dot(u, u) / 2 + (1 / 12 + 2.94e-5) * w * w / 2
        potential += 9.81 * center[1]
    inertia, momentum = ca.hessian(kinetic, v)
    right = case.effort + ca.gradient(kinetic - potential, q) - ca.jtimes(momentum, q, v)
    ours = case(*ga.gibbs_appell(tree, case.joints, v, case.effort, gravity))
    for mine, judge in zip(ours, case(inertia, right), strict=True):
        assert_close(mine, judge, 1e-12, 1.0)


def operation_counts(case: Case) -> dict[str, int]:
    """What the traced equations of motion cost, for the table next to the paper's."""
    system = ga.gibbs_appell(case.tree, case.joints, case.v, case.effort, GRAVITY)
    outputs = ca.cse([ca.densify(part) for part in system])
    return count_operations(ca.Function("f", case.symbols, outputs))


def test_folding_costs_less_than_table_1() -> None:
    """Table 1 counts full matrices: in branches of 4, 5, 4 and 5 links 36654 products."""
    table = sum(253.5 * links**2 + 815.5 * links + 297 for links in (4, 5, 4, 5))
    assert operation_counts(tree_robot())["multiplications"] < table / 10


if __name__ == "__main__":
    print(operation_counts(tree_robot()))
