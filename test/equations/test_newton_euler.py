"""Inverse dynamics against Pinocchio, and against equations derived by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from random_robots import (  # noqa: E402
    KINDS,
    Pair,
    RandomRobot,
    assert_close,
    explore,
    robots,
)

pytestmark = pytest.mark.usefixtures("interpreted")


@explore(4)
@given(robots(), st.booleans(), st.integers(0, 99))
def test_random_robots(random_robot: RandomRobot, floating_base: bool, seed: int) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    q, v, a = pair.state(seed)
    efforts = judge.inverse_dynamics(q, v, a)
    gravity = judge.gravity_vector(q)
    floor = pair.weight
    assert_close(robot.inverse_dynamics(q, v, a, friction=False), efforts, 1e-13, floor)
    assert_close(robot.gravity_vector(q), gravity, 1e-13, floor)
    assert_close(robot.coriolis_vector(q, v), pair.coriolis(q, v), 1e-13, floor)


@explore(2)
@given(robots(), st.booleans(), st.data())
def test_wrenches_of_random_robots(
    random_robot: RandomRobot, floating_base: bool, data: st.DataObject
) -> None:
    pair = Pair(random_robot, floating_base)
    robot, judge = pair.robot, pair.judge
    names = [link.name for link in random_robot.links]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=4))
    random = np.random.default_rng(len(names))
    wrenches = {name: random.normal(size=6) * 20 for name in chosen}
    q, v, a = pair.state()
    full = judge.position(q), judge.matrix @ v, judge.matrix @ a, pair.external(wrenches)
    efforts = judge.matrix.T @ pin.rnea(judge.pin, judge.data, *full)
    ours = robot.inverse_dynamics(q, v, a, wrenches, friction=False)
    assert_close(ours, efforts, 1e-12, pair.weight)
    # and by virtual work, with our own Jacobian
    without = robot.inverse_dynamics(q, v, a, friction=False)
    for name, wrench in wrenches.items():
        turn = robot.frame_pose(q, name)[:3, :3]
        in_world = np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
        without = without - robot.jacobian(q, name).T @ in_world
    assert_close(ours, without, 1e-12, pair.weight)


@pytest.mark.sparse
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_every_kind_of_joint_by_itself(kind: str, floating_base: bool) -> None:
    """Each joint type turns up alone, whatever Hypothesis draws above."""

    @explore(2)
    @given(robots(joints=3, kinds=(kind,), mimics=False))
    def agrees(random_robot: RandomRobot) -> None:
        pair = Pair(random_robot, floating_base)
        q, v, a = pair.state()
        efforts = pair.judge.inverse_dynamics(q, v, a)
        ours = pair.robot.inverse_dynamics(q, v, a, friction=False)
        assert_close(ours, efforts, 1e-13, pair.weight)

    agrees()


@explore(2)
@given(robots(), st.booleans())
def test_efforts_are_linear_in_the_acceleration(
    random_robot: RandomRobot, floating_base: bool
) -> None:
    pair = Pair(random_robot, floating_base)
    robot = pair.robot
    q, v, a = pair.state(1)
    _, _, b = pair.state(2)
    rest = robot.inverse_dynamics(q, v, 0 * a)
    both = robot.inverse_dynamics(q, v, 2 * a - 3 * b) - rest
    parts = 2 * (robot.inverse_dynamics(q, v, a) - rest)
    parts = parts - 3 * (robot.inverse_dynamics(q, v, b) - rest)
    assert_close(both, parts, 1e-12, pair.weight)
    assert_close(both, robot.mass_matrix(q) @ (2 * a - 3 * b), 1e-12, pair.weight)


@explore(2)
@given(robots(), st.booleans())
def test_coriolis_efforts_are_quadratic_in_the_velocity(
    random_robot: RandomRobot, floating_base: bool
) -> None:
    pair = Pair(random_robot, floating_base)
    robot = pair.robot
    q, v, _ = pair.state()
    w = pair.state(3)[1]
    once = robot.coriolis_vector(q, v)
    assert_close(robot.coriolis_vector(q, -3 * v), 9 * once, 1e-13, pair.weight)
    # the parallelogram law holds for quadratic forms and for nothing else
    plus, minus = robot.coriolis_vector(q, v + w), robot.coriolis_vector(q, v - w)
    assert_close(plus + minus, 2 * once + 2 * robot.coriolis_vector(q, w), 1e-12, pair.weight)
    # the parts make the whole
    rest = robot.inverse_dynamics(q, v, 0 * v, friction=False)
    assert_close(once + robot.gravity_vector(q), rest, 1e-13, pair.weight)
    total = robot.inverse_dynamics(q, v, 0 * v)
    assert_close(rest + robot.friction_vector(q, v), total, 1e-13, pair.weight)
