"""Points with a radius: balls that fall, slide and roll, against closed forms."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robot_text import body_text

import mbdyn_ros
from mbdyn_ros import Environment, InputError, ModelError, Surface
from mbdyn_ros.equations.contact.signed_distance import from_face

RADIUS, MASS, G = 0.1, 2.0, 9.81
INERTIA = 0.4 * MASS * RADIUS**2
BALL = body_text("ball", MASS, INERTIA)
SOLID = [("ball", (0, 0, 0), RADIUS)]
AT_REST = [0.0, 0, 0, 0, 0, 0]


@pytest.fixture(scope="module")
def ball() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(BALL, floating_base=True)


def test_falls_on_its_radius(ball: mbdyn_ros.Robot) -> None:
    floor = Environment([Surface.plane(restitution=1.0, friction=0.0)], points=SOLID)
    trajectory = mbdyn_ros.simulate(ball, [0, 0, 0.6, 0, 0, 0, 1], AT_REST, 0.5, environment=floor)
    (impact,) = trajectory.impacts
    assert impact.time == pytest.approx(sqrt(2 * 0.5 / G), abs=1e-10)
    np.testing.assert_allclose(impact.places[0], 0, atol=1e-10)


def test_slides_until_it_rolls(ball: mbdyn_ros.Robot) -> None:
    """A solid ball keeps 5/7 of its speed, whatever the friction."""
    speed, mu = 1.4, 0.2
    floor = Environment([Surface.plane(restitution=0, friction=mu)], points=SOLID)
    start, v = [0, 0, RADIUS, 0, 0, 0, 1], [0.0, speed, 0, 0, 0, 0]
    trajectory = mbdyn_ros.simulate(ball, start, v, 1.0, environment=floor)
    rolls = trajectory.transitions[-1]
    assert rolls.mode == "sticks"
    assert rolls.time == pytest.approx(2 * speed / (7 * mu * G), abs=1e-9)
    assert np.linalg.norm(trajectory.v[-1, :3]) == pytest.approx(5 / 7 * speed, abs=1e-9)
    assert trajectory.v[-1, 3] == pytest.approx(-5 / 7 * speed / RADIUS, abs=1e-8)
    assert np.abs(trajectory.imbalance).max() < 1e-9


def test_rolls_down_a_slope(ball: mbdyn_ros.Robot) -> None:
    """With 5/7 of the acceleration of what slides, and no loss."""
    angle = 0.3
    slope = Surface.plane(normal=(sin(angle), 0, cos(angle)), restitution=0, friction=1.0)
    start = [RADIUS * sin(angle), 0, RADIUS * cos(angle), 0, 0, 0, 1]
    floor = Environment([slope], points=SOLID)
    trajectory = mbdyn_ros.simulate(ball, start, AT_REST, 1.0, environment=floor)
    way = np.linalg.norm(trajectory.q[-1, :3] - start[:3])
    assert way == pytest.approx(5 / 14 * G * sin(angle), abs=1e-9)
    assert abs(trajectory.work[-1, 1]) < 1e-9
    motion = mbdyn_ros.Stepper(ball, 1e-3, floor)
    motion.set_state(start, np.zeros(6))
    motion.advance(1000)
    assert np.linalg.norm(motion.q[:3] - start[:3]) == pytest.approx(way, rel=2e-3)


@pytest.mark.parametrize("known", [True, False])
def test_rolls_in_a_pipe(ball: mbdyn_ros.Robot, known: bool) -> None:
    """The speed at the bottom, from the energy, with the wall's distance known and not."""
    pipe, swing = 0.5, 1.0
    wall = Surface.cylinder(pipe, axis=(0, 1, 0), restitution=0, friction=5.0)
    if not known:
        wall = Surface(lambda x: pipe**2 - x[0] ** 2 - x[2] ** 2, restitution=0, friction=5.0)
    reach = pipe - RADIUS
    start = [reach * sin(swing), 0, -reach * cos(swing), 0, 0, 0, 1]
    trajectory = mbdyn_ros.simulate(
        ball, start, AT_REST, 0.6, environment=Environment([wall], points=SOLID)
    )
    np.testing.assert_allclose(np.hypot(trajectory.q[:, 0], trajectory.q[:, 2]), reach, atol=1e-9)
    height = trajectory.q[:, 2] - start[2]
    speed = np.linalg.norm(trajectory.v[:, 3:], axis=1) * RADIUS  # body rates: it turns with it
    np.testing.assert_allclose(speed**2, -10 / 7 * G * height, atol=1e-8)
    assert trajectory.q[-1, 0] < 0  # past the bottom


@given(st.floats(-pi, pi), st.floats(-0.2, 0.5))
def test_distances_from_a_curve(angle: float, away: float) -> None:
    """The foot of the perpendicular on an ellipse, from inside and outside."""
    face = Surface.elliptic_cylinder((2.0, 1.5), restitution=1.0, friction=0.0).faces[0]
    foot = np.array([2 * cos(angle), 1.5 * sin(angle), 0.3])
    inwards = -np.array([foot[0] / 4, foot[1] / 2.25, 0])
    inwards /= np.linalg.norm(inwards)
    d, n, second = (np.array(one).squeeze() for one in from_face(face)(foot + away * inwards))
    assert d == pytest.approx(away, abs=1e-12)
    np.testing.assert_allclose(n, inwards, atol=1e-11)
    curvature = 2 * 1.5 / (4 * sin(angle) ** 2 + 2.25 * cos(angle) ** 2) ** 1.5
    along = np.cross(n, [0, 0, 1])
    assert along @ second @ along == pytest.approx(-curvature / (1 - away * curvature), rel=1e-9)


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (("ball", (0, 0, 0), -0.1), "radius is -0.1"),
        (("ball", (0, 0, 0), 0.1, 2), r"\(link, xyz, radius\)"),
    ],
)
def test_points_that_are_none(point: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Environment([Surface.plane(restitution=1.0, friction=0.0)], points=[point])  # type: ignore[list-item]


def test_a_point_given_twice() -> None:
    with pytest.raises(InputError, match=r"the point \(0, 0, 0\).* of link 'ball' is given twice"):
        Environment(
            [Surface.plane(restitution=1.0, friction=0.0)], points=[*SOLID, ("ball", [0, 0, 0])]
        )


def test_radius_from_a_file() -> None:
    text = "surfaces: [{{name: floor, type: plane}}]\npoints:\n  - {{link: foot, radius: {}}}"
    (point,) = mbdyn_ros.read_environment(text.format(0.02)).points or ()
    assert point == ("foot", (0.0, 0.0, 0.0)) and point.radius == 0.02
    with pytest.raises(ModelError, match=r"3: .*radius is -1; give 0 or more"):
        mbdyn_ros.read_environment(text.format(-1))


def test_a_surface_gives_the_distance_of_every_face() -> None:
    room = Surface(lambda x: ca.vertcat(x[0], 1 - x[0]), name="room", restitution=1.0, friction=0.0)
    assert [float(signed([0.25, 0, 0])[0]) for signed in room.signed] == [0.25, 0.75]
