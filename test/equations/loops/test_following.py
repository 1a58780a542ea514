"""Positions of loops that follow a motion: on the branch of the last ones, or from home."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numerical_loops import loop_of
from random_loops import draw

import mbdyn_ros
from mbdyn_ros.compiler.c_loops import walk_source
from mbdyn_ros.compiler.gcc import required_toolchain
from mbdyn_ros.program.program import Closing

Array = np.ndarray
Close = Callable[..., Array | None]


def closed_by(tmp_path: Path, residual: ca.SX, y: ca.SX, z: ca.SX, home: list[float]) -> Close:
    """z at y by compiled code, following with `memory`, or None; `close.memory()` makes one."""
    ny, nz = y.shape[0], z.shape[0]
    loop = loop_of(residual, y, z)
    closing = Closing(((ny, nz),), tuple(range(ny)), np.array(home), lambda: [loop], ca.Function)
    target = tmp_path / "loop.so"
    required_toolchain().compile(walk_source(closing), target)
    library = ctypes.CDLL(str(target))
    size = ctypes.c_size_t.in_dll(library, "memory_size").value
    start = np.array(home)

    def close(at: list[float] | Array, memory: Array | None = None) -> Array | None:
        q, found = np.array(at, dtype=float), np.zeros(nz)
        pointers = (None if x is None else x.ctypes.data for x in (q, start, memory, found))
        return found if library.close_all(*map(ctypes.c_void_p, pointers)) else None

    close.memory = lambda: np.zeros(size)  # type: ignore[attr-defined]
    return close


def test_following_goes_round_where_plain_calls_do_not(tmp_path: Path) -> None:
    """The root of a complex number changes its sign on the way round the origin."""
    y, z = ca.SX.sym("y", 2), ca.SX.sym("z", 2)
    residual = ca.vertcat(z[0] ** 2 - z[1] ** 2 - y[0], 2 * z[0] * z[1] - y[1])
    close = closed_by(tmp_path, residual, y, z, [1.0, 0.0, 1.0, 0.0])
    memory = close.memory()  # type: ignore[attr-defined]
    for angle in np.linspace(0, 2 * np.pi, 200):
        place = [np.cos(angle), np.sin(angle)]
        followed = close(place, memory)
        assert followed is not None
        assert np.abs(followed - [np.cos(angle / 2), np.sin(angle / 2)]).max() < 1e-12
    plain = close(place)
    assert plain is not None and np.abs(plain - [1, 0]).max() < 1e-12
    assert np.array_equal(close(place, memory), followed)  # nothing changes where nothing moves
    assert close([np.nan, 0.0], memory) is None
    assert close([1.0, 0.01], memory)[0] < 0  # type: ignore[index]  # still there
    far = close([3.0, 0.0], memory)  # no motion leads there at once: from home
    assert far is not None and far[0] > 0
    near = close.memory()  # type: ignore[attr-defined]
    near[0] = 1.0  # what is farther is not a motion
    assert close([3.0, 0.0], near) is None and close([1.5, 0.0], near) is not None


@pytest.mark.sparse
@pytest.mark.parametrize("gap", [0.1, 1e-4])
@pytest.mark.parametrize("hills", [1, 2])
def test_following_does_not_jump_a_gap(tmp_path: Path, gap: float, hills: int) -> None:
    """z^2 = y^2 - gap^2; and the like with two gaps, behind which the determinant is as before."""
    y, z = ca.SX.sym("y"), ca.SX.sym("z")
    if hills == 1:
        residual, edge, height = z**2 - y**2 + gap**2, gap, np.sqrt(1 - gap**2)
    else:
        residual = z**2 - (y**2 - 0.01) ** 2 + gap**2 / 100
        edge, height = np.sqrt(0.01 + gap / 10), np.sqrt(0.99**2 - gap**2 / 100)
    close = closed_by(tmp_path, residual, y, z, [1.0, height])
    for stride in (0.003, 0.04, 0.09):
        memory = close.memory()  # type: ignore[attr-defined]
        for place in np.arange(0.9971, -1.0, -stride):
            found = close([place], memory)
            assert (found is not None) == (place > edge), (stride, place)
            assert found is None or found[0] > 0


def test_a_bound_call_agrees_with_plain_calls_near_home() -> None:
    """At a thousand states a second, whatever the plain calls were before."""
    robot = draw("spatial planar", 10).load()
    start = np.array([robot.home[name] for name in robot.independent_joints])
    bound = robot.bind("joint_position")
    rows = list(robot.system.coordinates.joint_rows[0])
    away = start + 0.2
    before = robot.joint_state(away)[0]
    for t in np.arange(0, 0.3, 1e-3):
        q = start + 0.1 * np.sin(t * (1 + np.arange(robot.nq)))
        bound.q[:] = q
        bound()
        assert np.abs(bound.result[rows] - robot.joint_state(q)[0]).max() < 1e-11
    assert np.abs(robot.joint_state(away)[0] - before).max() < 1e-12


@pytest.mark.long
def test_a_simulation_takes_a_home_of_its_own_along() -> None:
    """Far from the robot's home, which stays where it is."""
    robot = draw("spatial planar", 10).load()
    home = robot.calls.home.copy()
    start = np.array([robot.home[name] for name in robot.independent_joints])
    trajectory = mbdyn_ros.simulate(robot, start, np.zeros(robot.nv), 0.3)
    assert np.isfinite(trajectory.joint_position).all()
    assert trajectory.relative_imbalance < 1e-8
    assert np.array_equal(robot.calls.home, home)
    gaps = [
        np.abs(trajectory.joint_position[k] - robot.joint_state(trajectory.q[k])[0]).max()
        for k in range(0, len(trajectory.time), 5)
    ]
    assert max(gaps) < 1e-10
