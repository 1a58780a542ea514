"""Calls of compiled programs: from several threads, and bound ones."""

from __future__ import annotations

import contextlib
import gc
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from interpreting import interpreting
from pendulum import INERTIA, PENDULUM, effort
from robot_text import EMPTY

import mbdyn_ros


@pytest.mark.sparse
@pytest.mark.parametrize("warm", [False, True], ids=["from the start", "when compiled"])
def test_threads_share_a_robot(warm: bool, request: pytest.FixtureRequest) -> None:
    """Eight threads with states of their own: nobody reads another's."""
    robot = mbdyn_ros.load(PENDULUM)
    if warm:
        robot.compile("inverse_dynamics", "forward_dynamics")
    else:
        request.getfixturevalue("fresh_cache")
    start = threading.Barrier(8)

    def work(k: int) -> None:
        start.wait(10)
        q = np.array([0.1 * k])
        for i in range(500):
            v, a = np.array([float(i)]), np.array([float(k)])
            found = robot.inverse_dynamics(q, v, a)
            assert abs(found[0] - effort(q[0], v[0], a[0])) < 1e-10
            found = robot.forward_dynamics(q, v, found)
            assert abs(found[0] - k) < 1e-9
            if i % 50 == 0:
                found = robot.inverse_dynamics(np.tile(q, (5, 1)), v, a)
                assert np.abs(found - effort(q[0], v[0], a[0])).max() < 1e-10

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, k) for k in range(8)]:
            done.result(timeout=60)


NAMES = {
    "inverse_dynamics": (("q", "v", "a"), "effort"),
    "forward_dynamics": (("q", "v", "effort"), "a"),
    "mass_matrix": (("q",), None),
    "coriolis_vector": (("q", "v"), None),
    "gravity_vector": (("q",), None),
    "friction_vector": (("q", "v"), None),
    "frame_pose": (("q",), None),
    "jacobian": (("q",), None),
}


@pytest.mark.sparse
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("name", NAMES)
def test_bound_arrays(name: str, compiled: bool) -> None:
    """Named as the method's arguments, filled in place, the output also as `.result`."""
    with contextlib.nullcontext() if compiled else interpreting():
        check_bound_arrays(mbdyn_ros.load(PENDULUM), name)


def check_bound_arrays(robot: mbdyn_ros.Robot, name: str) -> None:
    inputs, output = NAMES[name]
    link = ("rod",) if name in ("frame_pose", "jacobian") else ()
    one, other = robot.bind(name, *link), robot.bind(name, *link)
    values = dict(zip(inputs, ([0.3], [2.0], [-1.0]), strict=False))
    for key, value in values.items():
        array = getattr(one, key)
        assert array.shape == (1,) and array.dtype == np.float64
        array[:] = value
    result = one.result
    assert one() is None
    assert one.result is result
    if output is not None:
        assert getattr(one, output) is result
    expected = getattr(robot, name)(*values.values(), *link)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-16)
    # the other one has arrays of its own
    before = other.result.copy()
    assert np.array_equal(other.q, [0.0])
    other.q[:] = 0.7
    other()
    np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-16)
    assert np.array_equal(one.q, [0.3])
    if name not in ("friction_vector", "mass_matrix", "coriolis_vector"):
        assert not np.array_equal(other.result, before)


def test_bound_without_friction() -> None:
    robot = mbdyn_ros.load(PENDULUM)
    for friction in (True, False):
        bound = robot.bind("inverse_dynamics", friction=friction)
        bound.q[:], bound.v[:], bound.a[:] = 0.3, 2.0, -1.0
        bound()
        np.testing.assert_allclose(bound.effort, effort(0.3, 2.0 * friction, -1.0), rtol=1e-14)


def test_bound_outlives_its_robot() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    gc.collect()
    bound.q[:], bound.v[:], bound.a[:] = 0.3, 2.0, -1.0
    bound()
    np.testing.assert_allclose(bound.effort, effort(0.3, 2.0, -1.0), rtol=1e-14)


def test_bound_energy() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("energy")
    bound.q[:], bound.v[:] = 0.3, 2.0
    bound()
    kinetic, potential = bound.energy
    np.testing.assert_allclose(kinetic, INERTIA * 2, rtol=1e-14)
    np.testing.assert_allclose(potential, -9.81 * np.sin(0.3), rtol=1e-14)
    assert bound.result is bound.energy


def test_a_bound_call_allocates_nothing() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    rounds = [None] * 1000
    for _ in rounds:
        bound()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        for _ in rounds:
            bound()
        now, peak = tracemalloc.get_traced_memory()
        del before
    finally:
        tracemalloc.stop()
    assert now - start < 500 and peak - start < 1000  # the loop's own few bytes


def test_writing_a_nan_does_no_harm() -> None:
    """Nothing is checked: NaN in, NaN out, and the next call is right again."""
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    bound.q[:] = np.nan
    bound()
    assert np.isnan(bound.effort).all()
    bound.q[:] = 0.0
    bound()
    np.testing.assert_allclose(bound.effort, [-9.81])


def test_no_movable_joints() -> None:
    """Programs without numbers compile and run as others do."""
    robot = mbdyn_ros.load(EMPTY)
    robot.compile()
    for name in ("inverse_dynamics", "forward_dynamics"):
        for _ in range(2):
            assert getattr(robot, name)([], [], []).shape == (0,)
            assert getattr(robot, name)(np.zeros((3, 0)), [], []).shape == (3, 0)
        bound = robot.bind(name)
        bound()
        assert bound.result.shape == (0,)
    assert robot.energy([], []) == (0.0, 0.0)
    assert robot.mass_matrix(np.zeros((2, 0))).shape == (2, 0, 0)
