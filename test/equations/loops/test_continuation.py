"""Positions found by walking: how far they reach, where they stop, and that no call matters."""

from __future__ import annotations

import threading

import casadi as ca
import numpy as np
import pytest
from interpreting import interpreting
from numerical_loops import loop_of
from planar_robots import body, pin, robot_of, turn
from random_loops import LoopPair, draw, walked

import mbdyn_ros
from mbdyn_ros.equations.loops.linkage import loop_functions
from mbdyn_ros.program.continuation import (
    CLOSED,
    LARGEST_MOVE,
    LoopFunctions,
    follow,
    reach,
    reshape,
)

Array = np.ndarray


def circle() -> LoopFunctions:
    """y^2 + z^2 = 1."""
    y, z = ca.SX.sym("y"), ca.SX.sym("z")
    return loop_of(y**2 + z**2 - 1, y, z)


@pytest.mark.sparse
@pytest.mark.parametrize("branch", [1.0, -1.0])
def test_other_lengths_keep_the_branch(branch: float) -> None:
    """y^2 + z^2 = r^2 with y = 0.5: z follows r, and there is none where r < 0.5."""
    y, z, r = ca.SX.sym("y"), ca.SX.sym("z"), ca.SX.sym("r")
    loop, before = loop_of(y**2 + z**2 - r**2, y, z, r), np.array([1.0])
    start = np.array([0.5]), np.array([branch * np.sqrt(0.75)])
    for radius in (1.0, 0.501, 7.0):
        closed, share = reshape(loop, start, before, np.array([radius]))
        assert share == 1.0
        assert closed[0] == pytest.approx(branch * np.sqrt(radius**2 - 0.25), abs=1e-10)
    closed, share = reshape(loop, start, before, np.array([0.2]))
    assert share == pytest.approx(0.5 / 0.8, abs=1e-5) and branch * closed[0] > 0


@pytest.mark.parametrize("branch", [1.0, -1.0])
def test_a_walk_stays_on_its_branch(branch: float) -> None:
    for target in (0.5, -0.9, 0.999999):
        walk = follow(circle(), (np.array([0.0]), np.array([branch])), np.array([target]))
        assert walk.arrived and walk.gap <= CLOSED
        assert walk.independent == [target]
        assert np.isclose(walk.dependent[0], branch * np.sqrt(1 - target**2), atol=1e-9)


def test_a_walk_stops_at_a_singularity() -> None:
    """At the nearest that can be reached, to about the root of a rounding error."""
    walk = follow(circle(), (np.array([0.0]), np.array([1.0])), np.array([3.0]))
    assert not walk.arrived and abs(walk.share - 1 / 3) < 1e-6
    assert abs(walk.independent[0] - 1) < 1e-6 and abs(walk.dependent[0]) < 1e-2


def hyperbola(gap: float) -> LoopFunctions:
    """z^2 = y^2 - gap^2: there is nothing between -gap and gap, and another piece beyond."""
    y, z = ca.SX.sym("y"), ca.SX.sym("z")
    return loop_of(z**2 - y**2 + gap**2, y, z)


@pytest.mark.parametrize("gap", [1.0, 0.1, 1e-3, 1e-5])
def test_a_walk_does_not_jump_a_gap(gap: float) -> None:
    start = np.array([2.0]), np.array([np.sqrt(4 - gap**2)])
    walk = follow(hyperbola(gap), start, np.array([-2.0]))
    assert not walk.arrived and abs(walk.independent[0] - gap) < 1e-5


@pytest.mark.parametrize("width", [0.1, 1e-2, 1e-4])
def test_a_walk_does_not_jump_two_gaps(width: float) -> None:
    """Behind both of them the determinant has its sign again."""
    y, z = ca.SX.sym("y"), ca.SX.sym("z")
    loop = loop_of(z**2 - (y**2 - 0.01) ** 2 + width**2 / 100, y, z)
    start = np.array([2.0]), np.array([np.sqrt((4 - 0.01) ** 2 - width**2 / 100)])
    walk = follow(loop, start, np.array([-2.0]))
    assert not walk.arrived
    assert abs(walk.independent[0] - np.sqrt(0.01 + width / 10)) < 1e-5


def test_detours_are_always_the_same() -> None:
    """A hole in the straight way: round it by the first joint first; by the second where not."""
    y, z = ca.SX.sym("y", 2), ca.SX.sym("z")
    start = np.zeros(2), np.array([1.0])
    for hole in ([0.5, 0.5], [0.9, 0.1]):
        size = ca.sumsqr(y - np.array(hole)) - 0.04
        loop = loop_of(z**2 - size / (np.dot(hole, hole) - 0.04), y, z)
        target = np.ones(2) if hole[0] == 0.5 else np.array([1.0, 0.2])
        assert not follow(loop, start, target).arrived
        walk = reach(loop, start, target)
        height = (np.sum((target - hole) ** 2) - 0.04) / (np.dot(hole, hole) - 0.04)
        assert walk.arrived == (height > 0)
        if walk.arrived:
            assert walk.dependent[0] == pytest.approx(np.sqrt(height), abs=1e-11)


def test_a_walk_of_no_length() -> None:
    walk = follow(circle(), (np.array([0.6]), np.array([0.8])), np.array([0.6]))
    assert walk.arrived and walk.dependent == pytest.approx([0.8], abs=1e-15)


def test_a_long_walk() -> None:
    """Many turns: as many steps as it takes, and the angle counts on."""
    y, z = ca.SX.sym("y"), ca.SX.sym("z")
    loop = loop_of(ca.sin(z - y - 0.5 * ca.sin(y)), y, z)
    far = 200.0
    walk = follow(loop, (np.zeros(1), np.zeros(1)), np.array([far]))
    assert walk.arrived
    assert walk.dependent[0] == pytest.approx(far + 0.5 * np.sin(far), abs=1e-11)
    assert LARGEST_MOVE < 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_walk_to_nowhere_ends(bad: float) -> None:
    walk = follow(circle(), (np.array([0.0]), np.array([1.0])), np.array([bad]))
    assert not walk.arrived


# -- what robots make of it ------------------------------------------------------------------------


def calls(seed: int) -> tuple[LoopPair, Array]:
    """A loop of two freedoms, and places all around it."""
    pair = draw("spatial planar", seed).pair()
    start = np.array([pair.robot.home[name] for name in pair.robot.independent_joints])
    random = np.random.default_rng(seed)
    reach = np.array([[0.3], [1.0], [2.0], [4.0]] * 6)
    return pair, start + reach * random.uniform(-1, 1, (24, pair.robot.nq))


def straight(robot: mbdyn_ros.Robot, places: Array) -> tuple[list[int], Array]:
    """Tree coordinates of the only loop's dependent joints, and where straight ways lead them.

    NaN where no straight way from home does.
    """
    system = robot.system
    (linkage,) = system.numerical_linkages
    loop = loop_functions(system.tree, linkage)
    rows = np.array([system.tree.bodies[body].q.start for body in linkage.cluster.coupled])
    free, bound = rows[list(linkage.independent)], rows[list(linkage.dependent)]
    order = [system.coordinates.q.index(row) for row in free]
    walks = [follow(loop, (system.home[free], system.home[bound]), q[order]) for q in places]
    found = [walk.dependent if walk.arrived else np.full(len(bound), np.nan) for walk in walks]
    shown = list(system.coordinates.joint_rows[0])
    return [shown.index(row) for row in bound], np.array(found)


@pytest.mark.sparse
@pytest.mark.parametrize("seed", [10, 11])
def test_no_earlier_call_decides_the_branch(seed: int, interpreted: None) -> None:
    """Where a straight way from home leads there, the answer is the one it leads to."""
    pair, places = calls(seed)
    bound, expected = straight(pair.robot, places)
    reached = np.isfinite(expected).all(axis=1)
    assert len(pair.robot.system.numerical_linkages[0].independent) > 1 and reached.sum() > 4
    found = pair.robot.joint_state(places)[0][:, bound]
    assert np.abs(found - expected)[reached].max() <= 1e-10


@pytest.mark.long
def test_compiled_and_interpreted_walks_agree() -> None:
    """In any order, in batches, and in a thread that starts afresh."""
    for kind, seed in (("spatial planar", 10), ("mimic", 1)):
        m = draw(kind, seed)
        fast = walked(m.load())
        start = np.array([fast.home[name] for name in fast.independent_joints])
        random = np.random.default_rng(seed)
        places = start + random.uniform(-1, 1, (20, fast.nq)) * 1.5
        found = fast.joint_state(places)[0]
        with interpreting():
            slow = walked(m.load()).joint_state(places)[0]
        good = np.isfinite(straight(fast, places)[1]).all(axis=1)
        assert good.sum() > 5 and np.abs(found - slow)[good].max() <= 1e-9
        again = fast.joint_state(places[::-1])[0][::-1]
        assert np.abs(again - found)[good].max() <= 1e-9
        other: list[Array] = []
        thread = threading.Thread(
            target=lambda fast=fast, places=places, other=other: other.append(
                fast.joint_state(places)[0]
            )
        )
        thread.start()
        thread.join()
        assert np.array_equal(other[0], found, equal_nan=True)


def test_homes_share_compiled_programs() -> None:
    """Two branches of one five-bar, asked in turn, answer as if each were alone."""
    parts = (
        body("a", 0, 0.2), body("b", 0.2, 0), body("c", 0, 0.2), body("d", -0.2, 0),
        turn("q1", "ground", "a"), turn("q2", "a", "b", "0 0 0.4"),
        turn("q3", "ground", "c", "0.7 0 0"), turn("q4", "c", "d", "0 0 0.45"),
        pin("b", "0.45 0 0.1", "d", "-0.4 0 0", "cylindrical"),
    )  # fmt: skip
    one = robot_of(*parts)
    assert one.system.nz  # that pin has no closed form
    q = np.array([one.home["q1"], one.home["q2"]])
    line = 2 * np.arctan2(0.45 - 0.7, 0.5)  # the second arm, reflected in the line to the pin
    far = {"q1": q[0], "q2": q[1], "q3": line - one.home["q3"], "q4": np.pi - one.home["q4"]}
    other = robot_of(*parts, home=far)
    moved = one.with_home(other.system.home)
    assert moved.system.digest() == one.system.digest()
    assert np.abs(other.system.home - one.system.home).max() > 0.1
    places = q + np.random.default_rng(0).uniform(-0.2, 0.2, (10, 2))
    here, there = one.joint_state(places)[0], other.joint_state(places)[0]
    for k in range(len(places)):
        assert np.abs(moved.joint_state(places[k])[0] - there[k]).max() < 1e-10
        assert np.abs(one.joint_state(places[k])[0] - here[k]).max() < 1e-10


def test_a_failed_walk_leaves_no_trace() -> None:
    """After places that cannot be reached the next call starts as before."""
    robot = draw("mimic", 1).load()
    q = np.array([robot.home[name] for name in robot.independent_joints])
    before = robot.joint_state(q + 0.05)[0]
    refused = 0
    for far in (3.0, -3.0, np.nan, 1e3, -1e3):
        try:
            robot.joint_state(q + far)
        except mbdyn_ros.InputError:
            refused += 1
    assert refused >= 1
    assert np.abs(robot.joint_state(q + 0.05)[0] - before).max() <= 1e-12
    bound = robot.bind("joint_position")
    bound.q[:] = np.nan
    bound()
    assert np.isnan(bound.result).all()
    bound.q[:] = q + 0.05
    bound()
    rows = robot.system.coordinates.joint_rows[0]
    assert np.abs(bound.result[rows] - before).max() <= 1e-12
