"""Robots of the corpus that fall, fold up, slide and rest; random ones on random planes."""

from __future__ import annotations

import numpy as np
import pytest
from corpus import urdf_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_robots import RandomRobot, robots

import mbdyn_ros
from benchmarks.falls import Fall, cases, simulated
from mbdyn_ros import Environment, Surface
from mbdyn_ros.simulation.contact.contacts import Contacts

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")]

DEEPEST, MOST_RISE = -1e-6, 1e-6
"""m, and share of the energy that moves."""


@pytest.fixture(scope="module")
def loaded() -> dict[str, mbdyn_ros.Robot]:
    """Robots by name, each loaded once."""
    return {}


@pytest.mark.skipif(not urdf_files(), reason="example-robot-data is not installed")
@pytest.mark.parametrize("fall", cases(), ids=lambda fall: fall.name.replace(" ", "-"))
def test_robots_come_through(fall: Fall, loaded: dict[str, mbdyn_ros.Robot]) -> None:
    """None stops, goes into the floor or gains energy; what drops for long comes to rest."""
    outcome = simulated(fall, loaded)
    assert outcome.motion.time[-1] == fall.duration
    assert outcome.deepest > DEEPEST
    assert outcome.rise < MOST_RISE
    if fall.duration > 1:
        assert np.abs(outcome.motion.v[-1]).max() < 1e-9


@settings(
    max_examples=12,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(robots(joints=5, massless=False), st.booleans(), st.integers(0, 2**20))
def test_random_robots_come_through(source: RandomRobot, floating: bool, seed: int) -> None:
    """Random trees with dry friction, on a plane of any slope, bounce and friction."""
    random = np.random.default_rng(seed)
    robot = mbdyn_ros.load(source.urdf(), floating_base=floating)
    if not robot.nv:
        return
    normal = random.normal(size=3)
    normal[2] = abs(normal[2]) + 0.3
    q, v = robot.home_position, 0.5 * random.normal(size=robot.nv)
    try:
        contacts = Contacts(
            robot,
            Environment(
                [Surface.plane(normal=normal, name="floor", restitution=1.0, friction=0.0)]
            ),
        )
    except mbdyn_ros.InputError as error:  # nothing of it has mass and moves
        assert "no point of the robot can hit a wall" in str(error)
        return
    normal /= np.linalg.norm(normal)
    floor = Surface.plane(
        point=(contacts.distances(q, v)[0].min() - 0.1) * normal,
        normal=normal,
        restitution=random.choice([0.0, 0.4, 1.0]),
        friction=random.choice([0.0, 0.5, 1.2]),
        name="floor",
    )
    walls = Environment([floor])
    motion = mbdyn_ros.simulate(robot, q, v, 0.5, environment=walls, rtol=1e-7, atol=1e-9)
    assert motion.time[-1] == 0.5
    energy = motion.energy.sum(axis=1)
    moved = np.ptp(energy) + motion.energy[:, 0].max()
    assert (energy - np.minimum.accumulate(energy)).max() < MOST_RISE * moved
    contacts = Contacts(robot, walls)
    for state in zip(motion.q, motion.v, strict=True):
        assert contacts.distances(*state)[0].min() > DEEPEST
