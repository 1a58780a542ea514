"""Walls that yield, move along themselves or resist turning, against closed forms and ODEs."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import body_text
from scipy.integrate import solve_ivp

import mbdyn_ros
from mbdyn_ros import Environment, InputError, ModelError, Robot, Stepper, Surface, simulate
from mbdyn_ros.simulation import read_environment

G, RADIUS, MASS = 9.81, 0.1, 1.0
POINTS = [("ball", (0.0, 0.0, 0.0), RADIUS)]
REST = np.zeros(6)


@pytest.fixture(scope="module")
def ball() -> Robot:
    """An even ball of 1 kg."""
    text = body_text("ball", MASS, np.full(3, 0.4 * MASS * RADIUS**2))
    return mbdyn_ros.load(text, floating_base=True)


def at(height: float) -> np.ndarray:
    return np.array([0, 0, RADIUS + height, 0, 0, 0, 1.0])


def stepper(ball: Robot, wall: Surface, step: float = 1e-3, height: float = 0.0) -> Stepper:
    moving = Stepper(ball, step, Environment([wall], POINTS))
    moving.set_state(at(height), REST)
    return moving


LAWS = {
    "spring": {"stiffness": 1e4},
    "damper": {"stiffness": 1e4, "damping": 20.0},
    "Hunt and Crossley": {"stiffness": 1e6, "dissipation": 0.5, "exponent": 1.5},
}


@pytest.mark.sparse
@pytest.mark.parametrize("name", LAWS)
def test_a_soft_floor_gives_back_what_its_law_says(ball: Robot, name: str) -> None:
    """A fall from 0.2 m: greatest depth and speed up, against SciPy's of the same law."""
    law = {"damping": 0.0, "dissipation": 0.0, "exponent": 1.0, **LAWS[name]}

    def force(x: float, speed: float) -> float:
        spring = law["stiffness"] * max(x, 0.0) ** law["exponent"]
        return spring * (1 + law["dissipation"] * speed) + law["damping"] * speed

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], G - max(0.0, force(y[0], y[1])) / MASS]

    def leaves(t: float, y: np.ndarray) -> float:
        return force(y[0], y[1])

    leaves.terminal, leaves.direction = True, -1.0
    fast = np.sqrt(2 * G * 0.2)
    judge = solve_ivp(rates, (0, 1), [0.0, fast], events=leaves, rtol=1e-11, atol=1e-13)
    up, deep = -judge.y[1, -1], judge.y[0].max()
    wall = Surface.plane(friction=0.0).yielding(**LAWS[name])
    moving, heights = stepper(ball, wall, 2e-4, 0.2), []
    while moving.time < np.sqrt(0.4 / G) + judge.t[-1] + 2e-3:
        moving.advance()
        heights.append(moving.q[2] - RADIUS)
    assert -min(heights) == pytest.approx(deep, rel=2e-3)
    late = moving.time - np.sqrt(0.4 / G) - judge.t[-1]
    assert moving.v[2] == pytest.approx(up - G * late, rel=1e-3)
    motion = simulate(
        ball, at(0.2), REST, moving.time, environment=Environment([wall], POINTS),
        times=[moving.time],
    )  # fmt: skip
    assert motion.v[-1, 2] == pytest.approx(up - G * late, rel=1e-3)
    assert motion.stretches and "yields" in motion.stretches[0].why


@pytest.mark.parametrize("step", [1e-3, 5e-3, 2e-2])
def test_no_step_is_too_long_for_a_soft_floor(ball: Robot, step: float) -> None:
    """With what the floor holds it never has more energy than at first, and it comes to rest.

    The longest step is 20 radians of the floor's own vibration.
    """
    wall = Surface.plane().yielding(1e6, damping=500.0)
    moving = stepper(ball, wall, step, 0.3)
    start = moving.energy.sum()
    for _ in range(round(4 / step)):
        moving.advance()
        held = 0.5e6 * max(0.0, RADIUS - moving.q[2]) ** 2
        assert moving.energy.sum() + held <= start + 1e-9
    assert moving.q[2] - RADIUS == pytest.approx(-G / 1e6, abs=1e-8 if step < 2e-3 else 2e-4)
    assert np.abs(moving.v).max() < 2 * G * step
    assert moving.deepest == 0.0


def test_soft_and_rigid_walls_are_one_problem(ball: Robot) -> None:
    """Between two slopes, one of them soft: both forces are those of statics."""
    slopes = [
        Surface.plane(normal=(np.sin(a), 0, np.cos(a)), friction=0.0, name=f"slope {a}")
        for a in (0.4, -0.9)
    ]
    place = np.linalg.solve([[np.sin(a), np.cos(a)] for a in (0.4, -0.9)], [RADIUS, RADIUS])
    walls = Environment([slopes[0].yielding(1e5, damping=300.0), slopes[1]], POINTS)
    moving = Stepper(ball, 1e-3, walls)
    moving.set_state([place[0], 0, place[1], 0, 0, 0, 1], REST)
    moving.advance(2000)
    pushes = {one.surface: one.force @ one.normal for one in moving.contacts}
    assert pushes["slope 0.4"] == pytest.approx(G * np.sin(0.9) / np.sin(1.3), rel=1e-6)
    assert pushes["slope -0.9"] == pytest.approx(G * np.sin(0.4) / np.sin(1.3), rel=1e-6)


def test_a_belt_carries(ball: Robot) -> None:
    """A ball put on a belt gets 2/7 of its speed; half of the work of friction is heat."""
    belt = Surface.plane(friction=0.4).moving((1.0, -0.5, 3.0))  # what leads out does not count
    moving = stepper(ball, belt)
    moving.advance(1000)
    speed = np.hypot(1.0, 0.5)
    assert np.linalg.norm(moving.v[:3]) == pytest.approx(2 / 7 * speed, rel=1e-5)
    assert moving.q[1] / moving.q[0] == pytest.approx(-0.5, rel=1e-6)
    assert moving.q[2] == pytest.approx(RADIUS, abs=1e-9)
    assert moving.lost == pytest.approx(-moving.energy[0], rel=1e-4)
    motion = simulate(ball, at(0.0), REST, 1.0, environment=Environment([belt], POINTS))
    assert np.linalg.norm(motion.v[-1, :3]) == pytest.approx(2 / 7 * speed, rel=1e-6)
    assert motion.relative_imbalance < 1e-3


def test_a_belt_strikes_sideways(ball: Robot) -> None:
    """A ball that falls on it is thrown forward by mu times the impulse, or until it rolls."""
    for mu, along in ((0.05, 0.05 * np.sqrt(2 * G * 0.2)), (1.0, 2 / 7)):
        moving = stepper(ball, Surface.plane(friction=mu).moving((1.0, 0, 0)), height=0.2)
        while not moving.impacts:
            moving.advance()
        assert moving.impacts[0].v_after[0] == pytest.approx(along, rel=1e-6)


def test_friction_against_turning(ball: Robot) -> None:
    """Spin falls by 5/2 c g / r^2, rolling speed by 5/7 c g / r, and both end at rest."""
    wall = Surface.plane(friction=0.5).resisting(torsion=0.01)
    moving = stepper(ball, wall)
    moving.set_state(at(0.0), [0, 0, 0, 0, 0, 30.0])
    moving.advance(500)
    assert moving.v[5] == pytest.approx(30 - 2.5 * 0.01 * G / RADIUS**2 * 0.5, rel=1e-9)
    assert moving.contacts[0].moment == pytest.approx([0, 0, -0.01 * G], rel=1e-6)
    moving.advance(1000)
    assert np.abs(moving.v).max() < 1e-9
    wall = Surface.plane(friction=0.5).resisting(rolling=0.01)
    moving = stepper(ball, wall)
    moving.set_state(at(0.0), [1.0, 0, 0, 0, 1 / RADIUS, 0])
    moving.advance(2500)
    assert moving.q[0] == pytest.approx(7 * RADIUS / (10 * 0.01 * G), rel=1e-5)
    assert np.abs(moving.v).max() < 1e-9


def test_a_ball_rests_on_a_slope_by_rolling_friction(ball: Robot) -> None:
    """Up to tan(angle) = c / r, and rolls beyond."""
    for share, rests in ((1.05, True), (0.95, False)):
        wall = Surface.plane(normal=(0.1, 0, 1), friction=0.8).resisting(share * 0.1 * RADIUS)
        moving = Stepper(ball, 1e-3, Environment([wall], POINTS))
        moving.set_state([*(RADIUS * np.array([0.1, 0, 1]) / np.hypot(0.1, 1)), 0, 0, 0, 1], REST)
        moving.advance(1000)
        assert (np.abs(moving.v).max() < 1e-9) == rests


def test_walls_of_a_file_have_the_same_laws() -> None:
    """All keys of the three laws; a damping without stiffness is refused by name."""
    walls = read_environment(
        "surfaces:\n"
        "  - {name: mat, type: plane, stiffness: 2000, damping: 50, velocity: [1, 0, 0],\n"
        "     torsion: 0.1}"
    )
    same = Surface.plane(name="mat").yielding(2000, 50).moving((1, 0, 0)).resisting(torsion=0.1)
    assert walls.surfaces[0].laws == same.laws
    with pytest.raises(ModelError, match='surface "mat": damping needs a stiffness'):
        read_environment("surfaces:\n  - {name: mat, type: plane, damping: 50}")


def test_laws_that_are_none() -> None:
    """By the name of the wall and the number."""
    wall = Surface.plane(name="mat")
    with pytest.raises(InputError, match="surface 'mat': stiffness is 0"):
        wall.yielding(0.0)
    with pytest.raises(InputError, match="surface 'mat': damping is -1"):
        wall.yielding(1.0, damping=-1)
    with pytest.raises(InputError, match="exponent is 9"):
        wall.yielding(1.0, exponent=9)
    with pytest.raises(InputError, match="surface 'mat': velocity"):
        wall.moving([np.nan, 0, 0])
    with pytest.raises(InputError, match="rolling is -1"):
        wall.resisting(rolling=-1)
