"""Second derivatives of dynamics: by differences of Pinocchio's first ones, and of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from corpus import urdf_file
from own_robots import OWN, assert_close

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")

NAMES = ("by q q", "by v v", "by q v", "by a q")

First = Callable[[np.ndarray, np.ndarray], list[np.ndarray]]
"""First derivatives at a position and velocity: by q, by v, and by what is third."""

Ways = list[tuple[np.ndarray, np.ndarray]]
"""States a step ahead and behind along one coordinate."""


def by_differences(first: First, along_q: Ways, along_v: Ways, step: float) -> tuple[Any, ...]:
    """The second derivatives `NAMES` along one coordinate, of first ones around a state."""
    by_q, by_v = (
        [(x - y) / (2 * step) for x, y in zip(*(first(*state) for state in ways), strict=True)]
        for ways in (along_q, along_v)
    )
    return by_q[0], by_v[1], by_v[0], by_q[2]


def around(judge: Any, q: np.ndarray, v: np.ndarray, way: np.ndarray) -> tuple[Ways, Ways]:
    """States of Pinocchio's a step along one coordinate: of its position, of its velocity."""
    import pinocchio as pin

    along_q = [(pin.integrate(judge.pin, q, s * way), v) for s in (1, -1)]
    return along_q, [(q, v + s * way) for s in (1, -1)]


@pytest.mark.parametrize(("name", "floating_base"), [("ur5_robot", False), ("finger_edu", True)])
def test_trees_agree_with_pinocchio(name: str, floating_base: bool) -> None:
    pin = pytest.importorskip("pinocchio")
    from judge import Judge

    path = urdf_file(f"{name}.urdf")
    robot = mbdyn_ros.load(path, floating_base=floating_base)
    judge = Judge(str(path), robot.model, floating_base)
    q, v, a = judge.random_state(2)
    ties = judge.matrix
    state = judge.position(q), ties @ v, ties @ a

    def first(x: np.ndarray, rate: np.ndarray) -> list[np.ndarray]:
        pin.computeRNEADerivatives(judge.pin, judge.data, x, rate, state[2])
        mass = np.triu(judge.data.M) + np.triu(judge.data.M, 1).T
        return [ties.T @ part @ ties for part in (judge.data.dtau_dq, judge.data.dtau_dv, mass)]

    found = robot.inverse_dynamics_second_derivatives(q, v, a)
    step = 1e-5
    for k, unit in enumerate(step * np.eye(robot.nv)):
        ways = around(judge, state[0], state[1], ties @ unit)
        expected = by_differences(first, *ways, step)
        for what, ours, theirs in zip(NAMES, found, expected, strict=True):
            assert_close(ours[:, :, k], theirs, what, 1e-7)


def test_loops_agree_with_differences() -> None:
    robot = mbdyn_ros.load(OWN / "manipulator.urdf")
    q, (v, a) = robot.home_position, np.random.default_rng(0).normal(size=(2, robot.nv))
    found = robot.inverse_dynamics_second_derivatives(q, v, a)
    step = 1e-6

    def first(q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        return [np.array(x) for x in robot.inverse_dynamics_derivatives(q, v, a, friction=False)]

    for k, unit in enumerate(step * np.eye(robot.nv)):
        along_q, along_v = [(q + unit, v), (q - unit, v)], [(q, v + unit), (q, v - unit)]
        expected = by_differences(first, along_q, along_v, step)
        for what, ours, theirs in zip(NAMES, found, expected, strict=True):
            scale = max(1.0, np.abs(theirs).max())
            assert_close(ours[:, :, k] / scale, theirs / scale, what, 1e-6)
    rows = [np.tile(x, (2, 1)) for x in (q, v, a)]
    for many, one in zip(robot.inverse_dynamics_second_derivatives(*rows), found, strict=True):
        assert_close(many[1], one, "row", 1e-12)


@pytest.mark.sparse
@pytest.mark.parametrize(("name", "floating_base"), [("ur5_robot", False), ("finger_edu", True)])
def test_those_of_forward_dynamics_agree_with_pinocchio(name: str, floating_base: bool) -> None:
    pin = pytest.importorskip("pinocchio")
    from judge import Judge

    path = urdf_file(f"{name}.urdf")
    robot = mbdyn_ros.load(path, floating_base=floating_base)
    judge = Judge(str(path), robot.model, floating_base)
    q, v, effort = judge.random_state(2)
    ties = judge.matrix
    state = judge.position(q), ties @ v

    def first(x: np.ndarray, rate: np.ndarray) -> list[np.ndarray]:
        found = pin.computeABADerivatives(judge.pin, judge.data, x, rate, ties @ effort)
        return [ties.T @ part @ ties for part in found]

    found = robot.forward_dynamics_second_derivatives(q, v, effort)
    step = 1e-5
    for k, unit in enumerate(step * np.eye(robot.nv)):
        ways = around(judge, state[0], state[1], ties @ unit)
        expected = by_differences(first, *ways, step)
        for what, ours, theirs in zip(NAMES, found, expected, strict=True):
            scale = max(1.0, np.abs(theirs).max())
            assert_close(ours[:, :, k] / scale, theirs / scale, what, 1e-5)


def test_those_of_forward_dynamics_undo_inverse_dynamics_in_loops() -> None:
    """H f_qq + r_qq + r_aq f_q + (r_aq f_q)^T = 0 along every pair of ways, and so on."""
    robot = mbdyn_ros.load(OWN / "manipulator.urdf")
    q, (v, a) = robot.home_position, np.random.default_rng(0).normal(size=(2, robot.nv))
    effort = robot.inverse_dynamics(q, v, a, friction=False)
    by_q, by_v, by_effort = robot.forward_dynamics_derivatives(q, v, effort, friction=False)
    r_qq, r_vv, r_qv, r_aq = robot.inverse_dynamics_second_derivatives(q, v, a)
    f_qq, f_vv, f_qv, f_eq = robot.forward_dynamics_second_derivatives(q, v, effort)
    mass = robot.mass_matrix(q)
    turned = np.einsum("iak,aj->ijk", r_aq, by_q)
    left = np.einsum("ij,jkl->ikl", mass, f_qq) + r_qq + turned + turned.swapaxes(1, 2)
    assert_close(left, 0 * left, "by q q", 1e-8)
    assert_close(np.einsum("ij,jkl->ikl", mass, f_vv), -r_vv, "by v v", 1e-8)
    swung = np.einsum("iaj,ak->ijk", r_aq, by_v)
    assert_close(np.einsum("ij,jkl->ikl", mass, f_qv), -r_qv - swung, "by q v", 1e-8)
    driven = np.einsum("iak,ae->iek", r_aq, by_effort)
    assert_close(np.einsum("ij,jek->iek", mass, f_eq), -driven, "by effort q", 1e-8)
