"""Rods along circular arcs on walls: nearest places, rolling, impacts; against sampled rods."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, Impact, Robot, Stepper, Surface
from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError, ModelError
from mbdyn_ros.simulation import CurvedRod
from mbdyn_ros.simulation.contact.contacts import Contacts
from mbdyn_ros.simulation.contact.height_field import height_field
from mbdyn_ros.simulation.contact.impact_steps import impact_steps

BEND, THICK, MASS = 1.0, 0.05, 2.0
"""Radii (m) of the arc and of the rod, and its mass (kg)."""

WALLS = {
    "plane": Surface.plane((0, 0, -1), (0.1, 0.2, 1)),
    "box": Surface.box((8, 8, 8)),
    "in a sphere": Surface.sphere(4.0),
    "outside a sphere": Surface.sphere(0.8, (3, 0, 0), inside=False),
    "in a cylinder": Surface.cylinder(4.0),
    "outside a cylinder": Surface.cylinder(0.8, (3, 0, 0), axis=(0.3, 1, 0.2), inside=False),
    "in an ellipse": Surface.elliptic_cylinder((6, 4)),
    "waves": Surface(lambda x: x[2] + 2 - 0.1 * np.sin(1) * x[0] ** 2, name="waves"),
    "ground": height_field(0.1 * np.sin(np.arange(16.0)).reshape(4, 4), 2.0, (-3, -3, -2)),
}


def arc(angle: float) -> CurvedRod:
    """A rod of that angle about the origin, whose middle is at (0, 0, -BEND)."""
    turns = np.array([-angle / 2, 0.1 * angle, angle / 2])
    places = BEND * np.column_stack([np.sin(turns), 0 * turns, -np.cos(turns)])
    return CurvedRod("rod", *places.tolist(), radius=THICK)


def rocker(angle: float) -> Robot:
    """A free rod of that angle; its frame is at the centre of the arc."""
    low = BEND * 2 / angle * np.sin(angle / 2)
    share = np.sin(angle) / (2 * angle)
    across = MASS * (BEND**2 * (0.5 + share) - low**2)
    along = MASS * BEND**2 * (0.5 - share)
    return mbdyn_ros.load(
        f"""<robot name="rocker"><link name="rod"><inertial><origin xyz="0 0 {-low}"/>
        <mass value="{MASS}"/><inertia ixx="{across}" iyy="{across + along}" izz="{along}"
        ixy="0" ixz="0" iyz="0"/></inertial></link></robot>""",
        floating_base=True,
    )


def line(angle: float, count: int) -> Array:
    """Places (count, 3) of its centre line."""
    turns = np.linspace(-angle / 2, angle / 2, count)
    return BEND * np.column_stack([np.sin(turns), 0 * turns, -np.cos(turns)])


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("name", "angle"),
    [
        pytest.param(name, angle, marks=[pytest.mark.long] if name == "ground" else [])
        for name in WALLS
        for angle in (0.8, 5.5)
        if (name, angle) != ("ground", 5.5)
    ],
)
def test_the_nearest_place_of_all(name: str, angle: float) -> None:
    """No ball of 4001 along the rod is nearer to a wall, and one is as near; rates are those of
    the gaps."""
    wall, robot = WALLS[name], rocker(angle)
    contacts = Contacts(robot, Environment([wall], points=[arc(angle)]))
    rng, places = np.random.default_rng(3), line(angle, 4001)
    step = angle * BEND / 4000
    for _ in range(6 if name != "ground" else 2):
        turn = Rotation.random(random_state=rng)
        q, v = np.r_[0.5 * rng.normal(size=3), turn.as_quat()], rng.normal(size=6)
        g, rate, slope = (one.copy() for one in contacts.distances(q, v))
        world = (turn.apply(places) + q[:3]).T
        middle, thick = ca.SX.sym("middle", 3), ca.SX.sym("thick")
        for face, ball in enumerate(wall.signed):
            gap = ca.Function("gap", [middle, thick], ball(middle, thick)[:1])
            every = gap.map(world.shape[1])(world, THICK).full().min()
            least = g[face :: len(wall.faces)].min()
            assert every - 2 * step**2 * slope.max() < least < every + 1e-9
        ahead, behind = (
            contacts.distances(robot.integrate(q, way * 1e-6 * v), v)[0].copy() for way in (1, -1)
        )
        # at a place where two ends of a piece are as near, the rate jumps
        assert np.median(np.abs((ahead - behind) / 2e-6 - rate)) < 1e-7


@pytest.mark.long
def test_it_rocks_on_a_floor_as_by_the_equation_of_rolling() -> None:
    """(m (R^2 + l^2 - 2 R l cos t) + J) t'' + m R l sin t t'^2 + m g l sin t = 0, in events and in
    steps, with the energy kept."""
    angle, floor = 1.6, Environment([Surface.plane(friction=2.0)], points=[arc(1.6)])
    robot, far = rocker(angle), BEND + THICK
    low = BEND * 2 / angle * np.sin(angle / 2)
    moment = MASS * (BEND**2 - low**2)

    def rolling(t: float, y: Array) -> list[float]:
        inertia = MASS * (far**2 + low**2 - 2 * far * low * np.cos(y[0])) + moment
        return [y[1], -MASS * low * np.sin(y[0]) * (far * y[1] ** 2 + 9.81) / inertia]

    start = np.r_[0, 0, far, Rotation.from_rotvec([0, 0.5, 0]).as_quat()]
    exact = solve_ivp(rolling, (0, 0.8), [0.5, 0.0], rtol=1e-11, atol=1e-12).y[0, -1]
    run = mbdyn_ros.simulate(robot, start, np.zeros(6), 0.8, environment=floor, times=[0.4, 0.8])
    assert Rotation.from_quat(run.q[-1, 3:]).as_rotvec()[1] == pytest.approx(exact, abs=1e-7)
    assert run.q[-1, 0] == pytest.approx(far * (exact - 0.5), abs=1e-7)
    assert np.abs(run.imbalance).max() < 1e-8
    stepper = Stepper(robot, 1e-3, floor)
    stepper.set_state(start, np.zeros(6))
    stepper.advance(800)
    assert Rotation.from_quat(stepper.q[3:]).as_rotvec()[1] == pytest.approx(exact, abs=2e-5)
    assert stepper.q[2] == pytest.approx(far, abs=1e-9)
    efforts = np.zeros((1, 800, 6))
    q, _ = robot.rollout(start[None], np.zeros((1, 6)), efforts, 1e-3, environment=floor)
    np.testing.assert_array_equal(q[0, -1], stepper.q)


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["in a cylinder", "outside a sphere", "in an ellipse"])
def test_an_impact_is_that_of_the_ball_that_touches(name: str) -> None:
    """Instant, impulse and what follows are those of one ball where it touches, and of (47)."""
    face, angle = WALLS[name].faces[0], 1.0
    wall = Surface(lambda x: face(x)[0], 0.7, 0.0, "wall")
    robot = rocker(angle)
    turn = Rotation.from_rotvec([0.1, -1.3, 0.2])
    q, v = np.r_[0, 0, 0.3, turn.as_quat()], np.r_[turn.inv().apply([6.0, 0, 1]), 0.3, -0.2, 0.5]

    def first_impact(points: list) -> tuple[Environment, Impact]:
        walls = Environment([wall], points=points)
        run = mbdyn_ros.simulate(robot, q, v, 1.0, environment=walls, rtol=1e-11, atol=1e-13)
        assert np.abs(run.imbalance).max() < 1e-7
        return walls, run.impacts[0]

    walls, rod = first_impact([arc(angle)])
    assert len(rod.points) == 1
    answer = {one.symbol: one.value for one in impact_steps(robot, walls, rod).quantities}
    np.testing.assert_allclose(answer["thd+"].ravel(), rod.v_after, atol=1e-9)
    inside = Rotation.from_quat(rod.q[3:]).inv().apply(rod.places[0] - rod.q[:3])
    turned = np.arctan2(inside[0], -inside[2])
    assert abs(turned) < angle / 2 - 0.01  # its middle, not its ends
    place = (BEND * np.sin(turned), 0.0, -BEND * np.cos(turned))
    _, ball = first_impact([("rod", place, THICK)])
    assert rod.time == pytest.approx(ball.time, abs=1e-9)
    np.testing.assert_allclose(rod.places, ball.places, atol=1e-7)
    assert rod.impulses == pytest.approx(ball.impulses, rel=1e-7)
    np.testing.assert_allclose(rod.v_after, ball.v_after, atol=1e-6)


@pytest.mark.long
def test_an_arch_stands_on_both_ends_and_a_flat_arc_lies() -> None:
    """Each end carries half of the weight; lying down, three pieces carry it."""
    angle = 2.0
    robot, floor = rocker(angle), Environment([Surface.plane()], points=[arc(angle)])
    stepper = Stepper(robot, 1e-3, floor)
    ends = np.cos(angle / 2) * BEND
    stepper.set_state([0, 0, THICK - ends, 1, 0, 0, 0], np.zeros(6))
    stepper.advance(300)
    assert stepper.q[2] == pytest.approx(THICK - ends, abs=1e-8)
    assert sorted(one.force[2] for one in stepper.contacts) == pytest.approx(
        [MASS * 9.81 / 2] * 2, rel=1e-6
    )
    side = Rotation.from_euler("x", 90, degrees=True)
    stepper.set_state([0, 0, THICK, *side.as_quat()], np.zeros(6))
    stepper.advance(300)
    assert stepper.q[2] == pytest.approx(THICK, abs=1e-8)
    assert sum(one.force[2] for one in stepper.contacts) == pytest.approx(MASS * 9.81, rel=1e-6)


def test_it_is_read_from_a_file() -> None:
    """With start, through, end and radius; an arc that is straight, or too thick, is refused."""
    text = "surfaces: [{name: floor, type: plane}]\npoints:\n  - {link: rod, "
    walls = mbdyn_ros.read_environment(
        text + "start: [0, 0, 0], through: [0.5, 0, 0.1], end: [1, 0, 0], radius: 0.02}\n"
    )
    assert walls.points is not None and len(walls.points) == 3
    assert str(walls.points[1]) == (
        "(0.5, 0, 0.1), piece of a curved rod of radius 0.02 of link 'rod'"
    )
    wrong = {
        "start: [0, 0, 0], through: [0.5, 0, 0], end: [1, 0, 0], radius: 0.02": "is straight",
        "start: [0, 0, 0], through: [0.5, 0, 0.1], end: [1, 0, 0], radius: 2": "1.3 m",
        "start: [0, 0, 0], through: [0.5, 0, 0.1], end: [1, 0, 0]": "has no radius",
        "start: [0, 0, 0], end: [1, 0, 0], radius: 0.02": "has no through",
    }
    for fields, words in wrong.items():
        with pytest.raises(ModelError, match=words):
            mbdyn_ros.read_environment(f"{text}{fields}}}\n")
    with pytest.raises(InputError, match="radius is 0"):
        CurvedRod("rod", (0, 0, 0), (0.5, 0, 0.1), (1, 0, 0), 0.0)
