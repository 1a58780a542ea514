"""Rollouts against single steps of `Stepper`."""

from __future__ import annotations

import signal
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file
from random_loops import draw

import mbdyn_ros
from mbdyn_ros import InputError, Robot, SimulationError, SimulationWarning
from mbdyn_ros.compiler.gcc import toolchain
from mbdyn_ros.equations import programs
from mbdyn_ros.integration.methods import FIXED
from mbdyn_ros.model.examples import CART
from mbdyn_ros.robot.rollout import Rollout

URDF = Path(__file__).parents[2] / "urdf"
DT = 2e-3


def reference(
    robot: Robot, q: np.ndarray, v: np.ndarray, efforts: np.ndarray, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """The same motion step by step."""
    motion = mbdyn_ros.Stepper(robot, DT, method=method)
    motion.set_state(q, v)
    states = []
    for effort in efforts:
        motion.effort[:] = effort
        motion.advance()
        states.append((motion.q.copy(), motion.v.copy()))
    positions, velocities = zip(*states, strict=True)
    return np.array(positions), np.array(velocities)


def start(robot: Robot, count: int, steps: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(2)
    q = np.array([robot.home.get(label, 0.0) for label in robot.position_labels])
    q = q + 0.05 * random.normal(size=(count, robot.nq))
    if robot.floating_base:
        q[:, 3:7] += (0.1, 0.2, 0.3, 0.9)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v = 0.2 * random.normal(size=(count, robot.nv))
    return q, v, random.normal(size=(count, steps, len(robot.effort_labels)))


@pytest.fixture(scope="module")
def arm() -> Robot:
    return mbdyn_ros.load(urdf_file("ur5_robot.urdf"))


def check(robot: Robot, method: str, tolerance: float, count: int = 11, friction: bool = True):
    q0, v0, efforts = start(robot, count, 20)
    q, v = robot.rollout(q0, v0, efforts, DT, method, friction=friction)
    assert q.shape == (count, 20, robot.nq) and v.shape == (count, 20, robot.nv)
    for k in (0, 7, count - 1):
        for ours, theirs in zip(
            (q[k], v[k]), reference(robot, q0[k], v0[k], efforts[k], method), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    last = robot.rollout(q0, v0, efforts, DT, method, friction=friction, terminal=True)
    assert np.array_equal(last[0], q[:, -1]) and np.array_equal(last[1], v[:, -1])


@pytest.mark.sparse
@pytest.mark.parametrize("method", FIXED)
def test_an_arm(arm: Robot, method: str) -> None:
    check(arm, method, 1e-10)


@pytest.mark.long
@pytest.mark.parametrize("method", FIXED)
def test_a_floating_base(method: str) -> None:
    robot = mbdyn_ros.load(urdf_file("borinot_flying_arm_2.urdf"), floating_base=True)
    check(robot, method, 1e-9, friction=False)
    q0, v0, efforts = start(robot, 3, 20)
    q, _ = robot.rollout(q0, v0, efforts, DT, method, friction=False)
    np.testing.assert_allclose(np.linalg.norm(q[..., 3:7], axis=-1), 1, rtol=1e-15)


def test_closed_loops() -> None:
    robot = mbdyn_ros.load(URDF / "four_bar.urdf")
    check(robot, "rk4", 1e-10)


def test_walked_loops() -> None:
    """A loop without closed form, by a Runge-Kutta step of single calls."""
    pair = draw("mimic", 0).pair()
    q0, v0, _, effort = pair.state(0)
    dt, efforts = 1e-4, np.tile(effort, (9, 5, 1))
    q, v = pair.robot.rollout(q0, v0, efforts, dt, friction=False)
    x, y = q0, v0
    for k in range(5):
        rates = [(y, pair.robot.forward_dynamics(x, y, effort, friction=False))]
        for span in (dt / 2, dt / 2, dt):
            at, speed = x + span * rates[-1][0], y + span * rates[-1][1]
            rates.append((speed, pair.robot.forward_dynamics(at, speed, effort, friction=False)))
        x, y = (
            start + dt / 6 * (one + 2 * two + 2 * three + four)
            for start, one, two, three, four in zip((x, y), *rates, strict=True)
        )
        np.testing.assert_allclose(q[4, k], x, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(v[4, k], y, rtol=1e-9, atol=1e-9)


def test_one_start_or_one_plan_serves_all(arm: Robot) -> None:
    q0, v0, efforts = start(arm, 5, 4)
    q, _ = arm.rollout(q0[0], v0, efforts[0], DT)
    full, _ = arm.rollout(np.tile(q0[0], (5, 1)), v0, np.tile(efforts[0], (5, 1, 1)), DT)
    assert np.array_equal(q, full)
    single, _ = arm.rollout(q0[0], v0[0], efforts[0], DT)
    assert np.array_equal(single, full[0])


def test_without_a_compiler_the_remedy_is_said(interpreted: None) -> None:
    slow = mbdyn_ros.load(CART)
    for environment in (None, mbdyn_ros.Environment([mbdyn_ros.Surface.plane()])):
        with pytest.raises(SimulationError, match=r"no C compiler was found.*install both.*g\+\+"):
            slow.rollout([0.0], [0.0], np.zeros((2, 1)), DT, environment=environment)


def test_nan_spoils_one_motion_alone(arm: Robot) -> None:
    q0, v0, efforts = start(arm, 5, 3)
    expected, _ = arm.rollout(q0, v0, efforts, DT)
    efforts[2, 1] = np.nan
    q, v = arm.rollout(q0, v0, efforts, DT)
    assert np.isnan(v[2, 1:]).any() and np.isfinite(v[2, 0]).all()
    assert np.array_equal(np.delete(q, 2, 0), np.delete(expected, 2, 0))


def test_leaving_the_limits_is_said_once() -> None:
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
    robot = mbdyn_ros.load(CART.replace("</joint>", limit))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.rollout([0.5], [0.0], np.zeros((3, 1)), DT)
    fast = np.array([[0.0], [1e4], [-1e4]])
    said = r"2 of 3 motions end beyond .*rail at 60.5, limits -1 to 1\): a rollout ignores stops"
    with pytest.warns(SimulationWarning, match=said):
        robot.rollout([0.5], fast, np.zeros((3, 1)), DT, terminal=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.rollout([0.5], fast, np.zeros((3, 1)), DT)


@pytest.mark.parametrize("count, steps", [(0, 3), (3, 0), (1, 1)])
def test_few_or_no_motions(arm: Robot, count: int, steps: int) -> None:
    q0, v0, efforts = start(arm, count, steps)
    q, v = arm.rollout(q0, v0, efforts, DT)
    assert q.shape == (count, steps, 6) and v.shape == (count, steps, 6)
    q, _ = arm.rollout(q0, v0, efforts, DT, terminal=True)
    assert q.shape == (count, 6)


def test_refusals(arm: Robot) -> None:
    q0, v0, efforts = start(arm, 5, 4)
    for call, words in (
        (lambda: arm.rollout(q0[:3], v0, efforts, DT), "q0 3, v0 5, efforts 5"),
        (lambda: arm.rollout(q0, v0, efforts[..., :5], DT), "efforts has shape"),
        (lambda: arm.rollout(q0, v0, efforts[0, 0], DT), "efforts has shape"),
        (lambda: arm.rollout(q0, v0, efforts, 0.0), "dt must be"),
        (lambda: arm.rollout(q0, v0, efforts, DT, "euler"), "no integrator 'euler'"),
        (lambda: arm.rollout(q0, v0, efforts, DT, ["rk4"]), "no integrator"),
        (lambda: arm.rollout(q0, v0, [["a"] * 6], DT), "efforts must be numbers"),
        (lambda: arm.rollout(q0, v0, [[0.0] * 6, [0.0]], DT), "efforts must be numbers"),
    ):
        with pytest.raises(InputError, match=words):
            call()
    rough = mbdyn_ros.load(
        urdf_file("ur5_robot.urdf")
        .read_text()
        .replace(
            '<dynamics damping="0.0" friction="0.0"/>', '<dynamics damping="0.0" friction="0.1"/>'
        )
    )
    with pytest.raises(InputError, match="dry friction .*friction=False"):
        rough.rollout(q0, v0, efforts, DT)


def test_pieces_are_the_whole(arm: Robot) -> None:
    """Groups of motions and pieces of them end where one call ends."""
    q0, v0, efforts = start(arm, 300, 6)
    kernel = arm.calls.kernel(programs.forward_dynamics)
    method = FIXED["rk4"]
    limits = arm.position_limits
    whole = Rollout(arm.system, kernel, limits)
    pieces = Rollout(arm.system, kernel, limits, most_at_once=1)
    for terminal in (False, True):
        for drive in (efforts, efforts[0]):
            expected = whole(q0, v0, drive, DT, method, terminal)
            found = pieces(q0, v0, drive, DT, method, terminal)
            assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
    single = pieces(q0[0], v0[0], efforts[0], DT, method, False)
    assert np.array_equal(single[0], whole(q0[0], v0[0], efforts[0], DT, method, False)[0])


@pytest.mark.skipif(toolchain() is None, reason="needs a C compiler")
def test_a_long_one_can_be_interrupted(arm: Robot) -> None:
    q0, v0, efforts = start(arm, 1, 200_000)
    kernel = arm.calls.kernel(programs.forward_dynamics)
    run = Rollout(arm.system, kernel, arm.position_limits, most_at_once=10_000_000)
    heard = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        began = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            while True:
                run(q0, v0, efforts, DT, FIXED["rk4"], True)
        assert time.process_time() - began < 3.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, heard)
