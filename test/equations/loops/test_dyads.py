"""Planar linkages taken to dyads: what they give is what Newton's method and the judge find."""

from __future__ import annotations

import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from random_loops import DYADS, KINDS, LoopPair, Mechanism, draw, dyads, walked

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.equations.algebra.spatial import SX
from mbdyn_ros.equations.loops.planar_figure import PlanarFigure
from mbdyn_ros.equations.loops.triangle import TurnAndSlide, TwoSlides, TwoTurns

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from benchmarks.loop_robots import ROBOTS, scissor

pytestmark = pytest.mark.usefixtures("interpreted")


def figures(robot: Robot) -> list[PlanarFigure]:
    """The closed forms of all loops, which must have one."""
    forms = [linkage.closed_form for linkage in robot.system.linkages]
    assert all(isinstance(form, PlanarFigure) for form in forms)
    return forms  # type: ignore[return-value]


def drawn(seed: int, kinds: tuple[str, ...] = ()) -> Mechanism:
    """Random dyads, moved by their drivers."""
    for attempt in range(60):
        m = Mechanism(np.random.default_rng([seed, attempt]))
        count = dyads(m, kinds)
        m.independent = m.actuated = [joint.name for joint in m.joints[:count]]
        judge = m.judge(m._model())
        state = judge.at(m.whole(judge))
        if state.regularity([judge.labels.index(name) for name in m.independent]) > 0.1:
            return m
    raise AssertionError("no regular linkage found")


def compare(exact: Robot, walked: Robot, reach: float, seed: int) -> int:
    """All that is asked of joints, by both; the number of positions that both reach."""
    random = np.random.default_rng(seed)
    home = exact.system.home[list(exact.system.coordinates.q)]
    v, a = random.normal(size=(2, 6, exact.nv))
    q = home + reach * random.uniform(-1, 1, (6, exact.nq))
    one, two = exact.joint_state(q, v, a), walked.joint_state(q, v, a)
    there = np.isfinite(two[0]).all(axis=1)
    assert np.isfinite(one[0][there]).all()
    for ours, theirs in zip(one, two, strict=True):
        assert ours is not None and theirs is not None
        size = np.maximum(np.abs(theirs[there]).max(axis=1, initial=1.0), 1.0)
        assert (np.abs(ours - theirs)[there].max(axis=1) <= 2e-11 * size**2).all()
    return int(there.sum())


@pytest.mark.parametrize(
    "name", ["five_bar", "palletiser", pytest.param("excavator", marks=pytest.mark.long)]
)
def test_robots_are_solved_by_dyads(name: str) -> None:
    exact = mbdyn_ros.load(ROBOTS[name]())
    figures(exact)
    assert compare(exact, walked(exact), 0.15, 0) == 6


@pytest.mark.sparse
@pytest.mark.parametrize(
    "kind",
    [
        "Watt",
        "planar joint",
        *(pytest.param(k, marks=pytest.mark.long) for k in ("Stephenson", "nested")),
    ],
)
def test_six_bars_and_nested_loops(kind: str) -> None:
    m = draw(kind, 0)
    exact = m.load()
    figures(exact)
    newton = walked(exact)
    assert sum(compare(exact, newton, reach, 1) for reach in (0.1, 0.3, 1.0)) > 3


@pytest.mark.sparse
@pytest.mark.parametrize("kind", DYADS)
def test_each_kind_of_dyad(kind: str) -> None:
    """Cut anywhere, on a trunk that turns: positions by Newton's method, motion by the judge."""
    m = drawn(3, (kind,))
    expected = {"RRR": TwoTurns, "PRP": TwoSlides, "PPR": TwoSlides}.get(kind, TurnAndSlide)
    pair = LoopPair(m)
    (figure,) = figures(pair.robot)
    assert isinstance(*figure.triangles, expected)
    q, v, a, _ = pair.state(0)
    _, embedding, drift = pair.judged(q, v)
    _, velocity, acceleration = pair.robot.joint_state(q, v, a)
    assert np.allclose(velocity, embedding @ v, rtol=1e-11, atol=1e-11)
    assert np.allclose(acceleration, embedding @ a + drift, rtol=1e-10, atol=1e-10)
    assert compare(pair.robot, walked(pair.robot), 0.1, 2)


@pytest.mark.sparse
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(k, marks=pytest.mark.long) for k in range(3, 60))]
)
def test_random_linkages(seed: int) -> None:
    """Two to four dyads of any kinds on any links, their loops cut open anywhere."""
    m = drawn(seed)
    exact = m.load()
    for figure in figures(exact):
        assert len(figure.dependent) == 2 * len(figure.triangles)
    newton = walked(exact)
    assert sum(compare(exact, newton, reach, seed) for reach in (0.03, 0.2, 0.6))


def test_a_triad_is_left_to_newton() -> None:
    """A 3-RRR by its shoulders is one; by its platform it is two dyads."""
    robot = mbdyn_ros.load(ROBOTS["three_rrr"]())
    (linkage,) = robot.system.linkages
    assert linkage.closed_form is None
    moved = robot.with_independent(["crank0_joint", "rod0_joint", "platform_joint"], robot.home)
    (figure,) = figures(moved)
    assert len(figure.triangles) == 2
    random = np.random.default_rng(0)
    home = np.array([robot.home[name] for name in robot.independent_joints])
    q, v = home + random.uniform(-0.15, 0.15, 3), random.normal(size=3)
    whole, rates, _ = robot.joint_state(q, v)
    other, rate = moved.independent_state(whole, rates)
    assert np.allclose(moved.joint_state(other, rate)[0], whole, atol=1e-11)
    assert np.allclose(moved.joint_state(other, rate)[1], rates, atol=1e-10)


def test_reach_of_linkages_of_one_freedom() -> None:
    """Ends of the motion are found through dyads that others move."""
    lift = mbdyn_ros.load(scissor(3))
    (figure,) = figures(lift)
    (reach,) = figure.reach
    flat = np.hypot(0.8, 0.8) - 0.8
    assert reach.upper == pytest.approx(flat, abs=1e-6)
    assert np.isfinite(lift.joint_state([flat - 1e-4])[0]).all()
    with pytest.raises(mbdyn_ros.InputError, match="nearest that can be reached"):
        lift.joint_state([flat + 1e-4])


def test_velocities_cost_as_much_as_there_are_dyads() -> None:
    """No matrix of all loops is eliminated."""

    def operations(stages: int) -> int:
        system = mbdyn_ros.load(scissor(stages)).system
        q = SX.sym("q")
        return int(ca.n_nodes(ca.cse(system.embedding(q, SX(0, 1)).matrix)))

    few, more, many = (operations(stages) for stages in (3, 6, 9))
    assert many - more < 1.2 * (more - few)


def test_random_kinds_are_all_there() -> None:
    """What the names of this file rely on."""
    assert {"Watt", "Stephenson", "nested", "planar joint", "dyads"} <= set(KINDS)


@pytest.mark.long
def test_turns_are_those_of_joints_where_they_can_be() -> None:
    """The tree joins cylinder and boom to the ground: no turn of one against the other."""
    boom = mbdyn_ros.load(Path(__file__).parents[3] / "urdf" / "boom.urdf")
    counts = boom.operation_counts()["mass_matrix"]
    assert (counts["multiplications"], counts["additions"]) <= (36, 28)
