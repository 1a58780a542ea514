"""One observer: Python's and the header's give the same external efforts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cpp_tools import command, compiled, library_of, needs_cxx, robot_of
from night import at_night

import mbdyn_ros
from mbdyn_ros.control import Observer, WrenchEstimator
from mbdyn_ros.robot.c_description import leaves

pytestmark = [pytest.mark.usefixtures("interpreted"), needs_cxx]

SAMPLES = 100


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("observer.cpp", tmp_path_factory.mktemp("observer") / "observer")


@pytest.fixture(
    scope="module", params=["walked mimic", *at_night("four_bar", "ur5", "manipulator")]
)
def robot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[mbdyn_ros.Robot, Path]:
    """A tree, a crane, a four-bar, loops without closed form; and its library."""
    robot = robot_of(request.param)
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "_"))
    return robot, library_of(robot.generate_cpp(folder, links=[], felt_links=leaves(robot)))


@pytest.mark.sparse
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("order", ["first", "second"])
def test_both_feel_the_same(
    robot: tuple[mbdyn_ros.Robot, Path], program: Path, order: str, held: bool
) -> None:
    """At 100 random states, at steps that change, over a gap, over a sample that comes twice."""
    machine, library = robot
    random, observer = np.random.default_rng(2), Observer(machine, 0.01, order, held=held)
    wrenches = [
        WrenchEstimator(machine, link, [0.1, -0.2, 0.3], moment)
        for link in leaves(machine) for moment in (True, False)
    ]  # fmt: skip
    steps = random.uniform(1e-4, 4e-3, SAMPLES)
    steps[40], steps[60] = 0.5, 0.0
    given, expected = [], []
    for time in 3.0 + np.cumsum(steps):
        observer.q[:] = machine.home_position + random.uniform(-0.02, 0.02, machine.nq)
        observer.v[:] = random.normal(size=machine.nv)
        observer.effort[:] = random.normal(size=len(observer.effort)) * 10
        given += [[time], observer.q.copy(), observer.v.copy(), observer.effort.copy()]
        external = observer.cycle(time).copy()
        felt = [one.local(observer.q, external) for one in wrenches]
        expected.append(np.concatenate([external, *felt]))
    said = command(program, library, int(order == "second") + 1, int(held), 0.01,
                   given=np.concatenate(given).tobytes())  # fmt: skip
    found = np.frombuffer(said).reshape(SAMPLES, -1)
    scale = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * scale.max())
    n = machine.nv
    np.testing.assert_allclose(found[:, :n], np.array(expected)[:, :n], rtol=0,
                               atol=1e-9 * scale[:n].max())  # fmt: skip
    assert np.abs(found[:, n:]).max() > 0
    assert np.abs(np.diff(found, axis=0)).max() > 0 and not found[40].any()
    np.testing.assert_array_equal(found[60, :n], found[59, :n])
