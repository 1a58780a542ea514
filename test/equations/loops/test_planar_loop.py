"""The closed form of planar loops: where it holds, its branches, and angles without jumps."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import casadi as ca
import numpy as np
import pytest
from random_loops import (
    FOUR_BARS,
    KINDS,
    Mechanism,
    chain,
    cylinder,
    draw,
    four_bar,
    near,
    slider_crank,
    triangle,
    walked,
)

from mbdyn_ros import InputError, ModelError
from mbdyn_ros.equations.algebra.spatial import SX, CosineSine
from mbdyn_ros.equations.loops.linkage import loop_functions
from mbdyn_ros.equations.loops.planar_figure import PlanarFigure, planar_figure
from mbdyn_ros.equations.loops.planar_reach import PositionRange
from mbdyn_ros.equations.loops.triangle import TwoTurns
from mbdyn_ros.program.continuation import follow

pytestmark = pytest.mark.usefixtures("interpreted")


def forms(m: Mechanism) -> list[PlanarFigure | None]:
    """The closed form of a mechanism's only loop, with each of its joints given."""
    m.independent = m.actuated = None
    system = m.load().system
    (linkage,) = system.linkages
    coupled = linkage.cluster.coupled
    home = dict(zip(coupled, system.home[system.rows(linkage)], strict=True))
    return [planar_figure(system.tree, linkage.cluster, [body], home) for body in coupled]


def fresh(seed: int) -> Mechanism:
    return Mechanism(np.random.default_rng(seed))


def test_four_bars_have_one_for_every_joint_and_cut() -> None:
    for (k, lengths), cut in product(enumerate(FOUR_BARS.values()), (2, 3)):
        m = fresh(k)
        four_bar(m, lengths, cut=cut)
        for form in forms(m):
            assert form is not None
            assert isinstance(*form.triangles, TwoTurns)


def test_cylinders_and_sliders_have_one() -> None:
    kinds = []
    for build, seed in product((triangle, slider_crank), range(6)):
        m = fresh(seed)
        build(m)
        found = forms(m)
        assert None not in found
        kinds.append(sorted(type(one.triangles[0]).__name__ for one in found if one is not None))
    # the slide given leaves two turns; a turn given leaves a turn and the slide, which may close it
    slides = ("TurnAndSlide",) * 2
    assert set(map(tuple, kinds)) == {(*slides, "TwoTurns"), (*slides, "TurnAndSlide")}


@pytest.mark.parametrize("kind", ["mimic", "spatial revolute"])
def test_what_is_no_triangle_has_none(kind: str) -> None:
    system = draw(kind, 0).load().system
    assert all(linkage.closed_form is None for linkage in system.linkages)


def test_every_loop_of_a_chain_has_one() -> None:
    m = fresh(0)
    chain(m)
    m.independent = m.actuated = None
    assert all(one.closed_form is not None for one in m.load().system.linkages)


def test_a_tilted_hinge_is_not_taken_for_a_planar_one() -> None:
    """A thousandth of a radian: the loop is rigid, and no closed form pretends that it moves."""
    m = fresh(1)
    boom = m.pin("base", 0j)
    tilted = m.normal + 1e-3 * m.stand[:3, 0]
    m.stand[:3, 2] = tilted / np.linalg.norm(tilted)
    cylinder(m, "base", boom, -0.7j, 0.8 - 0.1j, "spherical")
    with pytest.raises(ModelError, match="locks its joints"):
        m.load()


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize("seed", range(8))
def test_it_is_what_newton_finds(seed: int) -> None:
    """Every joint given, both ways; positions, and all that depends on them."""
    kinds = [*FOUR_BARS, "triangle", "slider-crank", "chain", "odd planar"]
    m = draw(kinds[seed], 5)
    exact = m.load()
    newton = walked(exact)
    assert newton.system.nz > exact.system.nz or kinds[seed] == "odd planar"
    start = np.array([exact.home[name] for name in exact.independent_joints])
    random = np.random.default_rng(seed)
    reached = 0
    for reach in (0.1, 0.3, 1.0, 3.0):
        q = start + reach * random.uniform(-1, 1, exact.nq)
        v, a = random.normal(size=(2, exact.nv))
        one, two = (robot.joint_state(q[None])[0] for robot in (exact, newton))
        assert np.isfinite(one).all() or not np.isfinite(two).all()
        if np.isfinite(two).all():
            reached += 1
            assert np.abs(one - two).max() <= 1e-11
            one, two = (robot.inverse_dynamics(q, v, a) for robot in (exact, newton))
            assert np.abs(one - two).max() <= 1e-10 * np.abs(one).max()
    assert reached


def test_behind_a_stretch_that_cannot_be_reached_is_nothing() -> None:
    """A rocker's angle a whole turn on: no way leads there without passing dead centres."""
    m = fresh(0)
    four_bar(m, FOUR_BARS["crank-rocker"])
    rocker = m.joints[-1].name
    m.independent = m.actuated = [rocker]
    robot = m.load()
    assert np.isfinite(robot.joint_state([robot.home[rocker]])[0]).all()
    with pytest.raises(InputError, match="cannot be closed"):
        robot.joint_state([robot.home[rocker] + 2 * np.pi])


@pytest.mark.sparse
@pytest.mark.parametrize("seeds", [(0,), pytest.param((1,), marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", [*FOUR_BARS, "slider-crank", "triangle"])
def test_reach_ends_where_walks_end(kind: str, seeds: tuple[int, ...]) -> None:
    """Every joint given: the singularities on both sides of home, or none within two turns."""
    for seed in seeds:
        m = draw(kind, seed)
        m.independent = m.actuated = None
        first = m.load().system
        (linkage,) = first.linkages
        for body in linkage.cluster.coupled:
            joint = first.tree.bodies[body].joint
            m.independent = [joint]
            try:
                robot = m.load()
            except ModelError:
                continue  # a dead centre at home
            (linkage,) = robot.system.linkages
            if linkage.closed_form is None:
                continue
            (reach,), walk = linkage.closed_form.reach, loop_functions(robot.system.tree, linkage)
            home = robot.system.home[robot.system.rows(linkage)]
            free, bound = list(linkage.independent), list(linkage.dependent)
            start = home[free], home[bound]
            for end, way in ((reach.lower, -12.6), (reach.upper, 12.6)):
                far = follow(walk, start, start[0] + way)
                assert far.arrived == (abs(end - start[0][0]) > 12.6)
                if not far.arrived:
                    assert abs(far.independent[0] - end) < 1e-5
                    inside = robot.joint_state([end - np.sign(way) * 1e-6])[0]
                    assert np.isfinite(inside).all()
                    for beyond in (1e-6, 1.0, 6.0):
                        outside = robot.joint_state([[end + np.sign(way) * beyond]])[0]
                        assert np.isnan(outside).any()
                    with pytest.raises(InputError, match="nearest that can be reached") as caught:
                        robot.joint_state([end + np.sign(way) * 1e-3])
                    nearest = float(str(caught.value).split(" = ")[-1])
                    assert np.isfinite(robot.joint_state([nearest])[0]).all()
                    assert abs(nearest - end) < 1e-9


@pytest.mark.sparse
@pytest.mark.parametrize("seeds", [(0, 1), pytest.param((2, 3), marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["crank-rocker", "double-crank", "slider-crank", "triangle"])
def test_angles_do_not_jump_and_belong_to_the_turns(kind: str, seeds: tuple[int, ...]) -> None:
    """Over 50 turns either way where the given joint can turn so far; on both branches."""
    for seed in seeds:
        m = draw(kind, seed)
        system = m.load().system
        (linkage,) = system.linkages
        if linkage.closed_form is None:
            continue
        for branch in (1, -1):
            form = replace(linkage.closed_form, branches=(branch,), reach=(PositionRange(),))
            q = SX.sym("q")
            values, positions = form.values(q), form.positions(q)
            assert list(values) == list(positions)
            shown = []
            for body, position in positions.items():
                value = values[body]
                if isinstance(position, CosineSine):
                    kind_ = system.tree.bodies[body]
                    shown += [position.cosine - ca.cos(value + kind_.offset)]
                    shown += [position.sine - ca.sin(value + kind_.offset)]
                else:
                    shown += [position - value]
            outputs = [ca.vertcat(*values.values()), ca.vertcat(*shown)]
            function = ca.Function("values", [q], outputs)
            for far in (100 * np.pi, -100 * np.pi):
                grid = np.linspace(0, far, 40001)
                found, gaps = (np.array(part) for part in function(grid[None]))
                good = np.isfinite(found).all(axis=0)
                # near a dead centre the last digits of the root decide
                assert np.nanmax(np.abs(gaps), initial=0) <= 1e-7
                assert np.nanmedian(np.abs(gaps)) <= 1e-12
                steps = np.abs(np.diff(found, axis=1))[:, good[1:] & good[:-1]]
                assert steps.max(initial=0) < 1.0


def test_a_home_many_turns_away() -> None:
    m = draw("double-crank", 0)
    plain = m.load()
    turned = dict(m.home)
    for k, name in enumerate(turned):
        turned[name] += 2 * np.pi * (5 - 4 * k)
    m.home = turned
    robot = m.load()
    (given,) = robot.independent_joints
    shift = turned[given] - plain.home[given]
    one = robot.joint_state([turned[given]])[0]
    assert np.allclose(one, [turned[name] for name in robot.joint_names], atol=1e-9)
    moved = np.linspace(-3, 3, 60)[:, None]
    difference = (
        robot.joint_state(turned[given] + moved)[0]
        - plain.joint_state(turned[given] - shift + moved)[0]
    )
    assert np.isfinite(difference).all(axis=1).sum() > 5
    assert np.nanmax(np.abs(difference - difference[0])) <= 1e-11


def test_random_kinds_are_all_there() -> None:
    """What the names of this file rely on."""
    assert {"triangle", "slider-crank", "chain", "odd planar", *FOUR_BARS} <= set(KINDS)
    assert near(fresh(0), 1j, 0.0) == 1j
