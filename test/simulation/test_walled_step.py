"""Fixed steps among walls, judged by the event-driven simulation, by hand and by balances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thrown_robots import ARM, BLOCK, CORNERS, START

import mbdyn_ros
from mbdyn_ros import Environment, Surface
from mbdyn_ros.errors import SimulationError
from mbdyn_ros.model.model import Array
from mbdyn_ros.simulation.stepped.step_crossing import crossing
from mbdyn_ros.simulation.stepped.walled_step import WalledStep

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def block() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(BLOCK, floating_base=True)


@pytest.mark.usefixtures("interpreted")
def test_the_papers_impacts_in_real_time_steps() -> None:
    """At 1 kHz: the event-driven numbers to seven digits, and no work is lost."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    walls = mbdyn_ros.read_environment(ROOT / "config" / "tree_robot_walls.yaml")
    exact = mbdyn_ros.simulate(robot, START, np.zeros(12), 1.5, environment=walls)
    motion = WalledStep(robot, 1e-3, walls)
    motion.set_state(START, np.zeros(12))
    before = sum(robot.energy(motion.q, motion.v))
    deepest = 0.0
    for _ in range(1500):
        motion.advance()
        deepest = min(deepest, motion.contacts.distances(motion.q, motion.v)[0].min())
    impacts = motion.take_impacts()
    assert [one.points for one in impacts] == [one.points for one in exact.impacts]
    for one, other in zip(impacts, exact.impacts, strict=True):
        assert one.time == pytest.approx(other.time, abs=1e-7)
        np.testing.assert_allclose(one.impulses, other.impulses, rtol=1e-6)
    assert sum(robot.energy(motion.q, motion.v)) == pytest.approx(before, abs=1e-3)
    assert abs(motion.lost) < 1e-9 and deepest > -1e-9
    assert motion.take_impacts() == []


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), e=st.floats(0, 0.6), friction=st.sampled_from([0.0, 0.4]))
def test_a_thrown_block(block: mbdyn_ros.Robot, seed: int, e: float, friction: float) -> None:
    """Energy balances, nothing enters the floor, and in the end the block lies flat."""
    rng = np.random.default_rng(seed)
    floor = Surface.plane(restitution=e, friction=friction, name="floor")
    motion = WalledStep(block, 1e-3, Environment([floor], CORNERS))
    turn = rng.normal(size=4)
    motion.set_state(
        np.array([0, 0, 0.6, *turn / np.linalg.norm(turn)]), rng.normal(size=6) * [1, 1, 1, 2, 2, 2]
    )
    total = sum(block.energy(motion.q, motion.v))
    deepest, moved, highest = 0.0, total, total
    for _ in range(1200):
        motion.advance()
        deepest = min(deepest, motion.contacts.distances(motion.q, motion.v)[0].min())
        highest = max(highest, sum(block.energy(motion.q, motion.v)) + 1e-9)
    assert deepest > -2e-6
    assert highest <= total * (1 + 1e-6) + 1e-6
    left = sum(block.energy(motion.q, motion.v)) + motion.lost - total
    assert abs(left) < 0.01 * moved
    assert all((one.impulses >= 0).all() for one in motion.take_impacts())


def test_a_block_slides_and_stops(block: mbdyn_ros.Robot) -> None:
    """v^2 / (2 mu g), then it stays for good."""
    floor = Surface.plane(restitution=0.0, friction=0.5, name="floor")
    motion = WalledStep(block, 1e-3, Environment([floor], CORNERS))
    motion.set_state(np.array([0, 0, 0.1, 0, 0, 0, 1.0]), np.array([1.0, 0.5, 0, 0, 0, 0]))
    for _ in range(500):
        motion.advance()
    way = 1.25 / (2 * 0.5 * 9.81) * np.array([2, 1]) / 5**0.5
    np.testing.assert_allclose(motion.q[:2], way, rtol=1e-3)
    rest = motion.q.copy()
    for _ in range(300):
        motion.advance()
    np.testing.assert_allclose(motion.q, rest, atol=1e-8)
    assert np.abs(motion.v).max() < 1e-6
    assert motion.lost == pytest.approx(0.5 * 3 * 1.25, rel=2e-3)


@pytest.mark.parametrize(("dry", "falls"), [(10.0, False), (30.0, False), (19.0, True)])
def test_joints_with_dry_friction_feel_the_floor(dry: float, falls: bool) -> None:
    """The leg carries 2 kg, 19.62 N, if its friction can; in the air it need not."""
    robot = mbdyn_ros.load(ARM.format(dry=dry))
    floor = Surface.plane(restitution=0.0, name="floor", friction=0.0)
    motion = WalledStep(robot, 1e-3, Environment([floor], [("foot", (0, 0, 0))]))
    motion.set_state(np.array([1.0, 0.0]), np.zeros(2))
    if dry == 10.0:
        motion.effort[1] = -12.0  # pushes the foot down: 22 N are enough
    for _ in range(100):
        motion.advance()
    if falls:
        assert motion.q[0] == pytest.approx(1 - 0.5 * (19.62 - 19) / 2 * 0.1**2, rel=1e-6)
        assert motion.q[0] + motion.q[1] == pytest.approx(1.0 - 0.0, abs=1e-9)
    else:
        np.testing.assert_allclose(motion.q, [1, 0], atol=1e-9)


def test_a_refused_state_changes_nothing(block: mbdyn_ros.Robot) -> None:
    motion = WalledStep(
        block,
        1e-3,
        Environment([Surface.plane(name="floor", restitution=1.0, friction=0.0)], CORNERS),
    )
    motion.set_state(np.array([0, 0, 1.0, 0, 0, 0, 1]), np.ones(6))
    with pytest.raises(SimulationError, match="'block' on surface 'floor' starts inside the wall"):
        motion.set_state(np.array([0, 0, 0.0, 0, 0, 0, 1]), np.zeros(6))
    assert motion.q[2] == 1 and motion.v[0] == 1


def test_what_closes_contacts_pulls_at_none(block: mbdyn_ros.Robot) -> None:
    """Five points of which four can touch: the others would have to be pulled down to."""
    floor = Surface.plane(restitution=0.0, friction=0.5, name="floor")
    low = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    points = [("block", place) for place in [*low, (0.1, 0.0, -0.1 + 1e-4)]]
    motion = WalledStep(block, 1e-3, Environment([floor], points))
    motion.set_state([0, 0, 0.1, 0, 0, 0, 1], np.zeros(6))
    held, fast = np.arange(5), np.array([0, 0, -9.81e-3, 0, 0, 0])
    push = motion._pushed(held, fast)
    normal = push.assembly.blocks.normal
    push.impulses[normal] = 3 * 9.81e-3 / 5  # as if all of them carried it
    way = motion._closing(push, held, np.zeros(6))
    gaps = motion.contacts.distances(motion.q, motion.v)[0][held] + push.rows[normal] @ way
    assert gaps.min() > -1e-12 and gaps.max() == pytest.approx(1e-4, abs=1e-12)
    np.testing.assert_allclose(gaps[:4], 0, atol=1e-12)


def test_impacts_without_end_are_refused() -> None:
    """A point between two elastic walls that close in on it."""
    robot = mbdyn_ros.load(ARM.format(dry=0.0))
    walls = [
        Surface.plane(name="floor", restitution=1.0, friction=0.0),
        Surface.plane(
            point=(0, 0, 1e-5), normal=(0, 0, -1), name="roof", restitution=1.0, friction=0.0
        ),
    ]
    motion = WalledStep(robot, 1e-3, Environment(walls, [("cart", (0, 0, 0))], 0.0))
    motion.set_state(np.array([5e-6, 0.0]), np.array([20.0, 0.0]))
    with pytest.raises(SimulationError, match="impacts in the step at t = 0 s"):
        motion.advance()


@settings(max_examples=200)
@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4))
def test_first_crossing(ends: list[float]) -> None:
    """The cubic, sampled, is not below zero before its crossing."""
    a, u, b, w = abs(ends[0]), *ends[1:]
    s = np.linspace(0, 1, 2001)
    values = a + s * (u + s * (3 * (b - a) - 2 * u - w + s * (2 * (a - b) + u + w)))
    found = crossing(a, u, b, w, 1e-9)
    below: Array = s[values < -1e-6]
    if found is None:
        assert not len(below)
    else:
        assert (below >= found - 1e-12).all() and values.min() < 1e-5
