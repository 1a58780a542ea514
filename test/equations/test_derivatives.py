"""Derivatives of the dynamics against Pinocchio, and against differences of order ten."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import casadi as ca  # noqa: E402
import pinocchio as pin  # noqa: E402
from random_loops import BUILT_OF_OTHERS, draw, kinds  # noqa: E402
from random_robots import Pair, RandomRobot, assert_close, explore, robots  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.robot import Robot  # noqa: E402

Array = np.ndarray
STENCIL = {1: 5 / 6, 2: -5 / 21, 3: 5 / 84, 4: -5 / 504, 5: 1 / 1260}
"""Central difference of order ten: weights of f(k h) - f(-k h)."""
STEP = 5e-4


INTERPRETED = pytest.mark.usefixtures("interpreted")


def displaced(robot: Robot, q: Array, column: int, step: float) -> Array:
    """q moved along one velocity coordinate; a base shifts and turns along its own axes."""
    q = q.copy()
    if not robot.floating_base:
        q[column] += step
        return q
    turn = Rotation.from_quat(q[3:7])
    if column < 3:
        q[:3] += turn.as_matrix()[:, column] * step
    elif column < 6:
        q[3:7] = (turn * Rotation.from_rotvec(step * np.eye(3)[column - 3])).as_quat()
    else:
        q[column + 1] += step
    return q


def difference(function: object, step: float = STEP) -> Array:
    """d/ds at 0 of function(s)."""
    return sum(w * (function(k * step) - function(-k * step)) for k, w in STENCIL.items()) / step


def differences(function: object, robot: Robot, q: Array, *others: Array) -> list[Array]:
    """Jacobians of function(q, *others) by each argument."""
    by_q = [
        difference(lambda s, k=k: function(displaced(robot, q, k, s), *others))
        for k in range(robot.nv)
    ]
    result = [np.transpose(by_q)]
    for place, value in enumerate(others):
        columns = []
        for unit in np.eye(len(value)):

            def along(s: float, place: int = place, unit: Array = unit) -> Array:
                moved = list(others)
                moved[place] = others[place] + s * unit
                return function(q, *moved)

            columns.append(difference(along))
        result.append(np.transpose(columns))
    return result


@INTERPRETED
@explore(2)
@given(robots(), st.booleans(), st.integers(0, 99))
def test_random_robots(random_robot: RandomRobot, floating_base: bool, seed: int) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    q, v, a = pair.state(seed)
    x, rate, turn = judge.position(q), judge.matrix @ v, judge.matrix @ a
    pin.computeRNEADerivatives(judge.pin, judge.data, x, rate, turn)
    data, reduce = judge.data, judge.matrix
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    ours = robot.inverse_dynamics_derivatives(q, v, a, friction=False)
    for mine, theirs in zip(ours, (data.dtau_dq, data.dtau_dv, mass), strict=True):
        assert_close(mine, reduce.T @ theirs @ reduce, 1e-12, pair.weight)
    damped = robot.inverse_dynamics_derivatives(q, v, a)[1] - ours[1]
    assert_close(damped @ v, _damping(robot, q, v), 1e-10, pair.weight)


def _damping(robot: Robot, q: Array, v: Array) -> Array:
    """Part of friction proportional to the velocity."""
    return robot.friction_vector(q, 2 * v) - robot.friction_vector(q, v)


@INTERPRETED
@explore(2)
@given(robots(), st.booleans(), st.integers(0, 99))
def test_accelerations_of_random_robots(
    random_robot: RandomRobot, floating_base: bool, seed: int
) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    if robot.massless_links or not robot.nv or judge.pin.nv != robot.nv:
        return
    q, v, a = pair.state(seed)
    effort = robot.inverse_dynamics(q, v, a, friction=False)
    reduce = judge.matrix
    arguments = judge.position(q), reduce @ v, reduce @ effort
    theirs = pin.computeABADerivatives(judge.pin, judge.data, *arguments)
    ours = robot.forward_dynamics_derivatives(q, v, effort, friction=False)
    inverse = np.triu(theirs[2]) + np.triu(theirs[2], 1).T
    condition = np.linalg.cond(robot.mass_matrix(q))
    for mine, their in zip(ours, (*theirs[:2], inverse), strict=True):
        assert_close(mine, reduce.T @ their @ reduce, 1e-15 * condition + 1e-11, 1.0)


@pytest.mark.sparse(of=6)
@INTERPRETED
@pytest.mark.parametrize("kind", kinds(*BUILT_OF_OTHERS))
def test_loops(kind: str) -> None:
    """Every kind of loop, with friction of passive joints and wrenches from outside."""
    pair = draw(kind, 3).pair()
    robot = pair.robot
    q, v, a, _ = pair.state(2)
    link = robot.model.links[-1].name
    wrenches = {link: np.array([3.0, -2.0, 1.0, 0.5, -0.4, 0.3])}
    effort = robot.inverse_dynamics(q, v, a, wrenches)
    near = differences(lambda *x: robot.inverse_dynamics(*x, wrenches), robot, q, v, a)
    ours = robot.inverse_dynamics_derivatives(q, v, a, wrenches)
    scale = np.abs(effort).max() + 1
    for mine, theirs in zip(ours, near, strict=True):
        assert_close(mine, theirs, 1e-7, scale)
    near = differences(lambda *x: robot.forward_dynamics(*x, wrenches), robot, q, v, effort)
    ours = robot.forward_dynamics_derivatives(q, v, effort, wrenches)
    for mine, theirs in zip(ours, near, strict=True):
        assert_close(mine, theirs, 1e-7, np.abs(a).max() + 1)


def test_compiled_batch_and_bound() -> None:
    robot = mbdyn_ros.load("urdf/four_bar.urdf")
    q, v, a = np.array([0.3]), np.array([0.7]), np.array([-0.2])
    single = robot.inverse_dynamics_derivatives(q, v, a)
    many = robot.inverse_dynamics_derivatives(np.tile(q, (5, 1)), v, a)
    for one, whole in zip(single, many, strict=True):
        assert whole.shape == (5, 1, 1)
        np.testing.assert_allclose(whole, np.tile(one, (5, 1, 1)), rtol=1e-13)
    out = np.empty((5, 1, 3))
    views = robot.inverse_dynamics_derivatives(np.tile(q, (5, 1)), v, a, out=out)
    for whole, view, column in zip(many, views, np.moveaxis(out, -1, 0), strict=True):
        assert np.shares_memory(view, out)
        np.testing.assert_array_equal(whole[..., 0], column)
    pairs = np.empty((5, 2))
    kinetic, potential = robot.energy(np.tile(q, (5, 1)), v, out=pairs)
    assert np.shares_memory(kinetic, pairs)
    np.testing.assert_allclose(np.stack([kinetic[0], potential[0]]), robot.energy(q, v))
    bound = robot.bind("inverse_dynamics_derivatives")
    bound.q[:], bound.v[:], bound.a[:] = q, v, a
    bound()
    np.testing.assert_array_equal(bound.result, np.hstack(single))
    effort = robot.inverse_dynamics(q, v, a)
    by_q, _, by_effort = robot.forward_dynamics_derivatives(q, v, effort)
    assert by_effort @ single[2] == pytest.approx(np.eye(1))
    assert by_q == pytest.approx(-by_effort @ single[0])


@pytest.mark.sparse
@INTERPRETED
@pytest.mark.parametrize("file", ["urdf/boom.urdf", "urdf/tree_robot.urdf"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_symbolic_functions(file: str, name: str) -> None:
    """What users of CasADi get is differentiable and gives our numbers."""
    robot = mbdyn_ros.load(file)
    function = robot.casadi(name)
    random = np.random.default_rng(4)
    q = np.array([robot.home[joint] for joint in robot.independent_joints])
    arguments = [q, *random.normal(size=(2, robot.nv))][: function.n_in()]
    ours = np.asarray(getattr(robot, name)(*arguments))
    assert_close(np.array(function(*arguments)).reshape(ours.shape), ours, 1e-12)
    if name == "inverse_dynamics":
        q, v, a = (ca.SX.sym(key, robot.nv) for key in "qva")
        jacobian = ca.Function("jacobian", [q, v, a], [ca.jacobian(function(q, v, a), q)])
        theirs = np.array(jacobian(*arguments))
        assert_close(robot.inverse_dynamics_derivatives(*arguments)[0], theirs, 1e-11)


@INTERPRETED
def test_symbolic_function_of_a_walked_loop() -> None:
    """A loop without closed form: its positions are an argument, its closure a constraint."""
    pair = draw("spatial spherical", 0).pair()
    robot = pair.robot
    q, v, a, _ = pair.state(1)
    names = [*robot.joint_names]
    assert robot.numerical_joints
    whole = robot.joint_state(q)[0]
    z = whole[[names.index(joint) for joint in robot.numerical_joints]]
    assert np.abs(np.array(robot.casadi("closure")(q, z))).max() < 1e-11
    assert np.abs(np.array(robot.casadi("closure")(q, z + 0.1))).max() > 1e-4
    theirs = robot.inverse_dynamics(q, v, a)
    assert_close(np.array(robot.casadi("inverse_dynamics")(q, z, v, a)).ravel(), theirs, 1e-9)


def test_refusals() -> None:
    robot = mbdyn_ros.load("urdf/four_bar.urdf")
    with pytest.raises(mbdyn_ros.InputError, match="no program 'inverse'"):
        robot.casadi("inverse")
    with pytest.raises(mbdyn_ros.InputError, match="velocity of .* is nan"):
        robot.inverse_dynamics_derivatives([0.3], [np.nan], [0.0])
