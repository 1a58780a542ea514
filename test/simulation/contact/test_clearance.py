"""Distances that nobody asks for: bounds of how far what is away from all walls moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_robots import RandomRobot, robots

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface
from mbdyn_ros.equations.contact.stepping import travel
from mbdyn_ros.simulation.contact.contacts import Contacts
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

FLOOR = Surface.plane(normal=(0.1, 0.2, 1), restitution=0.4, friction=0.6, name="floor")
TREES = robots(joints=4, kinds=("revolute", "continuous", "fixed"), massless=False)


def walls(robot: mbdyn_ros.Robot, links: LinkContacts | None = None) -> Environment:
    """A floor and a wall for balls, points, links and stops."""
    wall = Surface(lambda x: 3 * (x[0] + 2), friction=0.2, name="wall", restitution=1.0)
    points = [(link, (0.1, 0.0, 4 * r), r) for link in robot.links[::4] for r in (0.0, 0.05)]
    return Environment([FLOOR, wall], points, joint_limits=True, links=links)


def is_bounded(
    robot: mbdyn_ros.Robot, environment: Environment, random: np.random.Generator
) -> None:
    """Distances and their rates at random states, near each other and far apart."""
    contacts = Contacts(robot, environment, only_watch=True)
    found = travel(robot.system, contacts.geometry)
    assert found is not None
    for size in (1e-4, 1e-2, 1.0) * 20:
        q, v = robot.random(random), random.normal(size=robot.nv)
        near = robot.integrate(q, size * random.normal(size=robot.nv))
        g, rate, slope = (one.copy() for one in contacts.distances(q, v))
        change = np.abs(contacts.distances(near, v)[0] - g) / slope
        assert change.max() <= found[0] @ np.abs(near - q) * (1 + 1e-9) + 1e-12
        assert np.abs(rate / slope).max() <= found[1] @ np.abs(v) * (1 + 1e-9)


@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
@given(TREES, st.integers(0, 2**20))
@pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
def test_nothing_comes_nearer_than_the_bound(source: RandomRobot, seed: int) -> None:
    assume("<mimic" not in source.urdf())
    robot = mbdyn_ros.load(source.urdf(), floating_base=True)
    is_bounded(robot, walls(robot), np.random.default_rng(seed))


@pytest.mark.long
def test_steps_are_the_same_where_no_distances_are_asked_for() -> None:
    """To the last digit, from flight over landings and jumps to rest."""
    robot = mbdyn_ros.example("quadruped", floating_base=True)
    environment, random = walls(robot, LinkContacts(0.2, 0.3)), np.random.default_rng(1)
    is_bounded(robot, environment, random)
    far, near = (Stepper(robot, 1e-3, environment) for _ in range(2))
    near._compiled.walls.travel_q = None
    for height in (0.6, 1.0, 20.0):
        q, v = robot.home_position.copy(), 0.3 * random.normal(size=robot.nv)
        q[2] += height
        for stepper in (far, near):
            stepper.set_state(q, v)
        for steps in (1, 3, 300, 1, 500):
            for stepper in (far, near):
                stepper.advance(steps)
            np.testing.assert_array_equal(far.q, near.q)
            np.testing.assert_array_equal(far.v, near.v)
        far.v[2] = near.v[2] = 3.0  # it jumps
        for stepper in (far, near):
            stepper.advance(400)
        np.testing.assert_array_equal(far.q, near.q)
    assert len(far.take_impacts()) == len(near.take_impacts()) > 5
    assert far._motion._clear[0] > 0.1 and not near._motion._clear.any()


@pytest.mark.parametrize(
    ("urdf", "wall"),
    [
        (
            "quadruped",
            Surface.sphere(radius=9.0, restitution=1.0, friction=0.0),
        ),  # its formula grows faster than distances
        ("boom", FLOOR),  # joints that follow others
    ],
)
def test_what_has_no_bound_is_looked_at_in_every_step(urdf: str, wall: Surface) -> None:
    robot = mbdyn_ros.example(urdf, floating_base=urdf == "quadruped")
    assert travel(robot.system, Environment([wall]).geometry(robot)) is None
