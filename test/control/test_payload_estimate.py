"""The payload of a link from five seconds of ordinary motion with noise."""

from __future__ import annotations

import numpy as np
import pytest
from night import at_night

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.control import Observer, Payload, PayloadEstimator
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.read.installed import find_robot

STEP = 1e-3
CARRIED = {
    "ur5": ("tool0", 3.0, np.array([0.03, -0.02, 0.06]), np.diag([0.01, 0.012, 0.008])),
    "crane": ("tool", 300.0, np.array([0.1, 0.05, -0.4]), np.diag([20.0, 25.0, 15.0])),
}
NOISE = {"ur5": (2e-5, 2e-3, 0.2), "crane": (1e-5, 1e-3, 100.0)}
"""Of positions, velocities (both rad and m) and efforts (N m or N)."""

MOTIONS = {
    "ur5": (np.array([0.2, -1.2, 1.4, -0.6, 1.1, 0.3]), np.array([0.5, 0.4, 0.5, 0.6, 0.6, 0.6])),
    "crane": (np.zeros(4), np.array([0.5, 0.06, 0.06, 0.15])),
}


def observed(name: str, duration: float, moving: bool = True, seed: int = 0) -> PayloadEstimator:
    """An estimator after a motion of a robot that carries what its model does not."""
    link, *body = CARRIED[name]
    robot = mbdyn_ros.load(find_robot(name), variable=[link])
    start, way = MOTIONS[name]
    start, way = start + robot.home_position, way * moving
    rates = np.sqrt([1.0, 1.3, 1.7, 2.1, 2.3, 2.9])[: robot.nv]
    time = STEP * np.arange(round(duration / STEP))
    phase = time[:, None] * rates
    q, v = start + way * np.sin(phase), way * rates * np.cos(phase)
    a = -way * rates**2 * np.sin(phase)
    robot.set_payload(link, *body)
    effort = robot.inverse_dynamics(q, v, a)
    robot.set_payload(link, 0.0)
    random = np.random.default_rng(seed)
    noisy = [
        exact + size * random.normal(size=exact.shape)
        for exact, size in zip((q, v, effort), NOISE[name], strict=True)
    ]
    observer = Observer(robot)
    estimator = PayloadEstimator(observer, link)
    follow(estimator, time, *noisy)
    return estimator


def follow(estimator: PayloadEstimator, time: Array, q: Array, v: Array, effort: Array) -> None:
    observer = estimator.observer
    for row in zip(time, q, v, effort, strict=True):
        t, observer.q[:], observer.v[:], observer.effort[:] = row
        observer.cycle(t)
        estimator.update(t)


@pytest.mark.sparse
@pytest.mark.parametrize("seed", [0, *at_night(1)])
@pytest.mark.parametrize("name", ["ur5", "crane"])
def test_the_mass_is_found_within_two_percent(name: str, seed: int) -> None:
    _, mass, com, _ = CARRIED[name]
    found = observed(name, 5.0, seed=seed).payload()
    assert found.mass == pytest.approx(mass, rel=0.02)
    assert abs(found.mass - mass) < 5 * found.deviations[0]
    assert found.determined[0]
    if all(found.determined[1:4]):
        np.testing.assert_allclose(found.com, com, atol=0.05 * np.abs(com).max())


def test_what_the_motion_does_not_determine_is_named() -> None:
    """At rest gravity determines the mass and a line through its centre; no inertia."""
    found = observed("ur5", 2.0, moving=False).payload()
    assert found.determined[0] and not all(found.determined[1:4]) and not any(found.determined[4:])
    assert "Ixx" in found.remark


def test_it_is_handed_to_the_robot() -> None:
    """Then nothing is left outside."""
    estimator = observed("ur5", 5.0)
    robot, (link, *body), q = estimator.observer.robot, CARRIED["ur5"], MOTIONS["ur5"][0]
    bare = robot.gravity_vector(q)
    estimator.payload().apply(robot)
    found = robot.gravity_vector(q)
    robot.set_payload(link, *body)
    exact = robot.gravity_vector(q)
    assert np.abs(found - exact).max() < 0.02 * np.abs(exact - bare).max()


def test_bad_input() -> None:
    robot = mbdyn_ros.load(find_robot("ur5"), variable=["tool0"])
    observer = Observer(robot)
    with pytest.raises(InputError, match="nothing is known"):
        PayloadEstimator(observer, "tool0").payload()
    with pytest.raises(InputError, match="fixed to the world"):
        PayloadEstimator(observer, "base_link")
    with pytest.raises(InputError, match="there is no link"):
        PayloadEstimator(observer, "hook")
    zeros = np.zeros(10)
    vague = Payload("tool0", 2.0, np.zeros(3), np.zeros((3, 3)), zeros, zeros + 5, (False,) * 10)
    with pytest.raises(InputError, match="not known well enough"):
        vague.apply(robot)
