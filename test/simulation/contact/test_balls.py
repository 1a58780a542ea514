"""Points with a radius: balls that fall, slide and roll, against closed forms."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_robots import explore
from robot_text import body_text, joint, robot_text

import mbdyn_ros
from mbdyn_ros import (
    Environment,
    InputError,
    LinkContacts,
    ModelError,
    SimulationError,
    Surface,
)
from mbdyn_ros.equations.contact.signed_distance import from_face
from mbdyn_ros.simulation.contact.height_field import height_field

RADIUS, MASS, G = 0.1, 2.0, 9.81
INERTIA = 0.4 * MASS * RADIUS**2
BALL = body_text("ball", MASS, INERTIA)
SOLID = [("ball", (0, 0, 0), RADIUS)]
AT_REST = [0.0, 0, 0, 0, 0, 0]


@pytest.fixture(scope="module")
def ball() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(BALL, floating_base=True)


@pytest.mark.long
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


@pytest.mark.sparse
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


@explore(20)
@given(st.floats(-pi, pi), st.floats(0.01, 0.9))
def test_touches_an_ellipse_from_inside_and_outside(angle: float, radius: float) -> None:
    """Gap, normal and curvature of the distance where a ball touches an ellipse."""
    foot = np.array([2 * cos(angle), 1.5 * sin(angle), 0.3])
    out = np.array([foot[0] / 4, foot[1] / 2.25, 0])
    out /= np.linalg.norm(out)
    curvature = 2 * 1.5 / (4 * sin(angle) ** 2 + 2.25 * cos(angle) ** 2) ** 1.5
    along = np.cross(out, [0, 0, 1])
    for inside, side in ((True, -1), (False, 1)):
        face = Surface.elliptic_cylinder((2.0, 1.5), inside=inside).faces[0]
        found = from_face(face)(foot + side * radius * out, radius)
        gap, _, n, second = (np.array(one).squeeze() for one in found)
        assert gap == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(n, side * out, atol=1e-9)
        expected = side * curvature / (1 + side * radius * curvature)
        assert along @ second @ along == pytest.approx(expected, rel=1e-7)


WAVES = Surface(lambda x: x[2] - 0.1 * ca.sin(3 * x[0]) * ca.cos(2 * x[1]), 0.5, 0.5, "waves")


@explore(8)
@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.08, 0.3, 1.0]))
def test_the_deepest_point_of_a_ball(seed: int, radius: float) -> None:
    """No other point of a ball is deeper in waves and hills, near them and far away."""
    random = np.random.default_rng(seed)
    hills = height_field(0.2 * random.random((6, 6)), 1.0, (-2.5, -2.5, 0))
    around = random.normal(size=(3, 2000))
    around *= radius / np.linalg.norm(around, axis=0)
    x = random.uniform([-2, -2, radius], [2, 2, 5])
    for wall in (WAVES, hills) if radius < 0.5 else (WAVES,):
        gap = float(from_face(wall.faces[0])(x, radius)[0])
        assert gap <= np.array(wall.faces[0](x[:, None] + around)[0]).min() + 1e-12


@pytest.mark.sparse
@pytest.mark.parametrize("height", [1.0, 2.0, 3.0])
def test_nothing_is_touched_in_mid_air(ball: mbdyn_ros.Robot, height: float) -> None:
    """Balls above waves fall freely until they meet them, and never gain energy."""
    random = np.random.default_rng(3)
    stepper = mbdyn_ros.Stepper(ball, 1e-3, Environment([WAVES], points=SOLID))
    for _ in range(10):
        start = [*random.uniform(-1.5, 1.5, 2), height, 0, 0, 0, 1]
        stepper.set_state(start, [*random.normal(0, 0.5, 2), 0, *random.normal(0, 2, 3)])
        most = stepper.energy.sum()
        stepper.advance(int(1000 * sqrt(2 * (height - 0.3) / G)))
        assert not stepper.take_impacts() and not stepper.contacts
        stepper.advance(600)
        assert stepper.take_impacts()[0].places[0, 2] == pytest.approx(0, abs=0.101)
        assert stepper.energy.sum() < most
    assert not stepper.unseen and stepper.deepest < 1e-9


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
    assert [float(signed([0.25, 0, 0], 0.0625)[0]) for signed in room.signed] == [0.1875, 0.6875]


def test_the_edge_of_a_step_is_refused_and_that_of_a_box_is_not(ball: mbdyn_ros.Robot) -> None:
    """A ball that rolls over it; a formula's normal jumps there, and boxes know their edges."""
    step = Surface(lambda x: ca.fmin(x[2] + 0.2, ca.fmax(x[2], x[0])), 0.0, 0.5, name="step")
    start, v = [-0.05, 0, RADIUS, 0, 0, 0, 1], [1.0, 0, 0, 0, 1.0 / RADIUS, 0]
    motion = mbdyn_ros.Stepper(ball, 1e-3, Environment([step], SOLID))
    motion.set_state(start, v)
    with pytest.raises(SimulationError, match=r"an edge of the wall is within the ball.*boxes"):
        motion.advance(100)
    text = robot_text(
        '<link name="step"><collision><origin xyz="-1 0 -0.25"/><geometry><box size="2 2 0.5"/>'
        "</geometry></collision></link>",
        BALL[BALL.index("<link") : BALL.index("</link>")]
        + f'<collision><geometry><sphere radius="{RADIUS}"/></geometry></collision></link>',
        joint("base", "world", "step", kind="fixed"),
        joint("free", "step", "ball", kind="floating"),
    )
    motion = mbdyn_ros.Stepper(
        mbdyn_ros.load(text), 1e-3, Environment([], links=LinkContacts(friction=0.5, convex=True))
    )
    motion.set_state(start, v)
    motion.advance(250)
    assert motion.q[0] == pytest.approx(0.2, abs=1e-3)  # faster than sqrt(g r): it flies off
    assert motion.q[2] == pytest.approx(RADIUS - 0.5 * G * 0.2**2, abs=2e-3)
