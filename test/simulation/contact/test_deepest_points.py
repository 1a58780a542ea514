"""Balls wider than the hollows of walls: their deepest points, against a search everywhere."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from night import is_night
from robot_text import body_text
from scipy.optimize import minimize

import mbdyn_ros
from mbdyn_ros import Environment, InputError, Surface
from mbdyn_ros.array import Array
from mbdyn_ros.equations.contact.deepest_points import deepest
from mbdyn_ros.equations.contact.steepness import steepness_of
from mbdyn_ros.program.stages import Stages
from mbdyn_ros.simulation.contact.height_field import height_field

WAVELENGTH = 0.3
WALLS = {
    "waves": Surface(lambda x: x[2] - 0.05 * ca.sin(2 * np.pi / WAVELENGTH * x[0]), friction=0.5),
    "egg box": Surface(lambda x: x[2] - 0.03 * ca.sin(21 * x[0]) * ca.cos(21 * x[1])),
    "ripples": Surface(
        lambda x: x[2] - 0.1 * ca.sin(3 * x[0]) * ca.cos(2 * x[1]) - 0.01 * ca.sin(25 * x[0])
    ),
    "quartic": Surface(lambda x: x[2] - 2 * x[0] ** 4 - x[1] ** 2),
    "groove": Surface(lambda x: x[2] + 0.1 * ca.exp(-((x[0] / 0.05) ** 2))),
    "bowl": Surface(lambda x: x[2] - 4 * ca.sumsqr(x[:2])),
    "pipe": Surface.elliptic_cylinder((1.0, 0.3)),
    "gyroid": Surface(
        lambda x: sum(ca.sin(6 * x[k]) * ca.cos(6 * x[(k + 1) % 3]) for k in range(3)) + 0.3
    ),
    "ceiling": Surface(lambda x: 1.0 - x[2] - 0.05 * ca.sin(21 * x[1])),
    "valley": height_field(
        np.abs(np.linspace(-1.5, 1.5, 31))[:, None] * np.ones((31, 31)), 0.1, (-1.5, -1.5, 0)
    ),
    "hills": height_field(0.1 * np.random.default_rng(1).random((21, 21)), 0.2, (-2, -2, 0)),
}


def search(wall: Surface, radius: float) -> Callable[[Array], Array]:
    """The least g of balls at x (3, n), as programs find it."""
    (ball,) = wall.signed
    x, r = ca.SX.sym("x", 3), ca.SX(radius)
    if not ball.is_wide(radius):
        (gap, *_) = ball(x, r)
    else:
        stages = Stages()
        u, *_ = stages.inlined(*deepest(ball, stages, [[x, r]], [radius]))
        (gap, *_) = ball.meets(x, r, u)
    function = ca.Function("gap", [x], [gap])
    return lambda places: np.array(function(places)).ravel()


def everywhere(wall: Surface, x: Array, radius: float) -> float:
    """The least g of a ball at x (3,), of many places and from the lowest of them."""
    (face,) = wall.faces
    k = np.arange(2500) + 0.5
    height, turn = 1 - 2 * k / len(k), np.pi * (1 + np.sqrt(5)) * k
    aside = np.sqrt(1 - height**2)
    ways = np.array([aside * np.cos(turn), aside * np.sin(turn), height])
    g = np.array(face(x[:, None] + radius * ways)[0]).ravel()

    def least(way: Array) -> tuple[float, Array]:
        size = np.linalg.norm(way)
        unit = way / size
        value, slope, _ = (np.array(one).squeeze() for one in face(x + radius * unit))
        return float(value), radius / size * (slope - unit * (unit @ slope))

    tries, kept = [g.min()], []
    for i in np.argsort(g)[:600]:
        if all(np.linalg.norm(ways[:, i] - ways[:, j]) > 0.15 for j in kept) and len(kept) < 6:
            kept.append(i)
            tries.append(minimize(least, ways[:, i], jac=True, tol=1e-13).fun)
    return float(min(tries))


def places(wall: Surface, radius: float, count: int, seed: int) -> Array:
    """Middles (3, n) of balls near a wall."""
    random, found = np.random.default_rng(seed), []
    while len(found) < count:
        x = np.array([*random.uniform(-1, 1, 2), random.uniform(-0.3, 1.5)])
        if 0 < wall.value(x)[0] < 1.6 * radius:
            found.append(x)
    return np.array(found).T


@pytest.mark.sparse(of=5)
@pytest.mark.parametrize("name", WALLS)
@pytest.mark.parametrize("radius", [0.04, 0.1, 0.3])
def test_no_point_of_a_ball_is_deeper(name: str, radius: float) -> None:
    """Neither where one search is enough, nor where balls are wider than hollows."""
    wall = WALLS[name]
    if name == "gyroid":
        radius = min(radius, 0.25)  # the widest that it can hold has 0.27 m
    middles = places(wall, radius, 12 if is_night() else 4, seed=int(1000 * radius))
    found = search(wall, radius)(middles)
    for gap, x in zip(found, middles.T, strict=True):
        assert gap <= everywhere(wall, x, radius) + 1e-10


def test_one_search_is_kept_where_balls_fit_into_hollows() -> None:
    gentle = Surface(lambda x: x[2] - 0.1 * ca.sin(3 * x[0]) * ca.cos(2 * x[1]))
    assert not gentle.signed[0].is_wide(0.5) and gentle.signed[0].is_wide(2.0)
    level = height_field(np.zeros((5, 5)), 0.5)
    assert not level.signed[0].is_wide(10.0)


@pytest.mark.parametrize(
    "name", [name for name in WALLS if name not in ("pipe", "valley", "hills")]
)
def test_bounds_hold(name: str) -> None:
    """Of slope and curvature, at many places."""
    (face,) = WALLS[name].faces
    bounds = steepness_of(face)
    assert bounds is not None
    for x in np.random.default_rng(0).uniform(-2, 2, (300, 3)):
        _, slope, bend = (np.array(one) for one in face(x))
        assert np.linalg.norm(slope) >= bounds.least - 1e-12
        assert np.linalg.eigvalsh(bend)[0] >= -bounds.hollow * (1 + 1e-12)
        assert (np.abs(slope.ravel()) <= np.array(bounds.slopes) * (1 + 1e-12)).all()
        assert (np.abs(bend).max(axis=1) <= np.array(bounds.bends) * (1 + 1e-12)).all()


def test_bounds_of_heights_hold() -> None:
    """Between their edges, beyond which the ground goes on level."""
    wall = WALLS["hills"]
    bounds = wall.signed[0].steepness
    assert bounds is not None
    for x in np.random.default_rng(0).uniform(-1.9, 1.9, (300, 3)):
        _, slope, bend = (np.array(one) for one in wall.faces[0](x))
        assert (np.abs(slope.ravel()) <= bounds.slopes).all()
        assert np.linalg.eigvalsh(bend)[0] >= -bounds.hollow
        assert (np.abs(bend).max(axis=1) <= bounds.bends).all()


def test_walls_with_edges_have_no_bounds() -> None:
    assert steepness_of(Surface(lambda x: x[2] - ca.fabs(x[0])).faces[0]) is None


def test_too_wide_a_ball_is_refused() -> None:
    fine = Surface(lambda x: x[2] - 1e-3 * ca.sin(1e3 * x[0]) * ca.sin(1e3 * x[1]))
    with pytest.raises(InputError, match=r"a ball of 0.3 m may touch.*more than 4000 places"):
        search(fine, 0.3)


@pytest.mark.long
def test_a_ball_falls_on_narrow_waves() -> None:
    """It touches two crests, goes into neither, gains no energy, and comes to rest between them."""
    radius = 0.3
    ball = mbdyn_ros.load(body_text("ball", 2.0, 0.8 * radius**2), floating_base=True)
    walls = Environment([WALLS["waves"]], points=[("ball", (0, 0, 0), radius)])
    stepper = mbdyn_ros.Stepper(ball, 1e-3, walls)
    stepper.set_state([0.05, 0, 0.6, 0, 0, 0, 1], np.zeros(6))
    energies = [stepper.energy.sum()]
    for _ in range(300):
        stepper.advance(10)
        energies.append(stepper.energy.sum())
    risen = np.max(energies - np.minimum.accumulate(energies))
    assert risen <= 1e-6 * np.ptp(energies)
    assert stepper.deepest < 1e-8 and not stepper.unseen
    valley = -WAVELENGTH / 4 + WAVELENGTH * np.round(stepper.q[0] / WAVELENGTH + 0.25)
    assert stepper.q[0] == pytest.approx(valley, abs=1e-3)
    assert np.linalg.norm(stepper.v[:3]) < 0.02


def test_events_leave_it_to_equal_steps_where_a_ball_touches_twice() -> None:
    radius = 0.3
    ball = mbdyn_ros.load(body_text("ball", 2.0, 0.8 * radius**2), floating_base=True)
    walls = Environment([WALLS["waves"]], points=[("ball", (0, 0, 0), radius)])
    start, v = [0.05, 0, 0.5, 0, 0, 0, 1], np.zeros(6)
    trajectory = mbdyn_ros.simulate(ball, start, v, 0.6, environment=walls)
    assert any("touches it at several places" in one.why for one in trajectory.stretches)
    energies = trajectory.energy.sum(axis=1)
    risen = np.max(energies - np.minimum.accumulate(energies))
    assert risen <= 1e-9 * np.ptp(energies)
    gaps = search(WALLS["waves"], radius)(trajectory.q[:, :3].T)
    assert gaps.min() > -1e-7


def in_a_channel(friction: float) -> mbdyn_ros.Stepper:
    """A ball of 2 kg and 0.3 m in the channel z = 4 y^2, whose flanks it touches 0.125 m below its
    middle; gravity draws it along the channel with 1 m/s^2."""
    ball = mbdyn_ros.load(
        body_text("ball", 2.0, 0.8 * 0.3**2), floating_base=True, gravity=(1.0, 0.0, -10.0)
    )
    channel = Surface(lambda x: x[2] - 4 * x[1] ** 2, friction=friction)
    walls = Environment([channel], points=[("ball", (0, 0, 0), 0.3)])
    stepper = mbdyn_ros.Stepper(ball, 2e-3, walls)
    height = 4 * (0.3**2 - 0.125**2) + 0.125
    stepper.set_state([0, 0, height + 1e-10, 0, 0, 0, 1], np.zeros(6))
    return stepper


def test_a_ball_rolls_on_both_flanks_of_a_channel() -> None:
    """About the line through both places."""
    stepper = in_a_channel(friction=0.3)
    stepper.advance(250)
    assert stepper.q[0] == pytest.approx(0.5**2 / 2 / (1 + 0.4 * (0.3 / 0.125) ** 2), rel=1e-4)
    assert abs(stepper.q[1]) < 1e-9
    assert abs(stepper.lost) < 1e-5


def test_both_flanks_carry_a_ball() -> None:
    stepper = in_a_channel(friction=0.0)
    stepper.advance(250)
    one, other = sorted((contact.force for contact in stepper.contacts), key=lambda force: force[1])
    across = 10.0 * np.tan(np.arccos(0.125 / 0.3))
    assert one == pytest.approx([0, -across, 10.0], abs=1e-6)
    assert other == pytest.approx([0, across, 10.0], abs=1e-6)


def test_a_ball_lies_on_three_humps() -> None:
    """Of a pattern that repeats itself after a third of a turn."""
    ways = [(np.cos(a), np.sin(a)) for a in 2 * np.pi / 3 * np.arange(3)]
    humps = Surface(
        lambda x: x[2] - 0.02 * sum(ca.sin(20 * (c * x[0] + s * x[1])) for c, s in ways)
    )
    ball = mbdyn_ros.load(body_text("ball", 2.0, 0.8 * 0.3**2), floating_base=True)
    walls = Environment([humps], points=[("ball", (0, 0, 0), 0.3)])
    stepper = mbdyn_ros.Stepper(ball, 2e-3, walls)
    hollow = -np.pi / 30 * np.array([1, 3**0.5])
    stepper.set_state([*hollow, 0.36, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(500)
    assert np.linalg.norm(stepper.v) < 1e-6
    total = sum(contact.force for contact in stepper.contacts)
    assert len(stepper.contacts) == 3
    assert total == pytest.approx([0, 0, 2 * 9.81], abs=1e-3)
