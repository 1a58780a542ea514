"""Whole shapes on curved walls: where they touch, by searches; how they rock and roll, by ODEs."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from night import is_night
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import (
    Environment,
    InputError,
    LinkContacts,
    Robot,
    SimulationError,
    Stepper,
    Surface,
)
from mbdyn_ros.array import Array
from mbdyn_ros.model.pose import Pose
from mbdyn_ros.prepare.tree import WORLD
from mbdyn_ros.simulation.contact.height_field import height_field
from mbdyn_ros.simulation.contact.solids import (
    ConvexShape,
    CurvedWall,
    Drum,
    Egg,
    Polytope,
    Rounded,
    Solid,
)
from mbdyn_ros.simulation.stepped.solid_tables import SolidTables

WALLS = {
    "waves": Surface(lambda x: x[2] - 0.1 * ca.sin(3 * x[0]), friction=0.8, name="waves"),
    "egg box": Surface(lambda x: x[2] - 0.05 * ca.sin(6 * x[0]) * ca.cos(5 * x[1])),
    "dome": Surface(lambda x: ca.norm_2(x) - 0.5, name="dome"),
    "hill": Surface(lambda x: x[2] + 0.8 * x[0] ** 2 + 0.5 * x[1] ** 2),
    "pit": Surface(lambda x: x[2] - 0.4 * x[0] ** 2 - 0.3 * x[1] ** 2),
    "hills": height_field(0.15 * np.random.default_rng(1).random((17, 17)), 0.4, (-3.2, -3.2, 0)),
}
MARGIN, LOW = 0.02, 1e-8
"""m: how near shapes are, and how well searches of the least g agree."""

Patch = tuple[Callable[[Array], Array], list[tuple[float, float]]]
"""Places (3, n) of a shape by numbers (k, n), and bounds of these."""


def random_shape(rng: np.random.Generator, kind: int) -> tuple[ConvexShape, list[Patch]]:
    """A shape, and patches of it."""
    size = rng.uniform(0.03, 0.25, 3)
    if kind == 0:
        box = Polytope.box(tuple(2 * size))
        return box, [(lambda s: size[:, None] * s, [(-1, 1)] * 3)]
    if kind == 1:
        corners = rng.normal(size=(rng.integers(6, 20), 3)) * size
        hull = ConvexHull(corners)

        def triangle(face: Array) -> Callable[[Array], Array]:
            one, two, three = (corners[k][:, None] for k in face)
            return lambda s: one + s[0] * ((1 - s[1]) * (two - one) + s[1] * (three - one))

        return Polytope(corners), [(triangle(face), [(0, 1)] * 2) for face in hull.simplices]
    if kind == 2:
        r, half = size[:2]

        def inside(s: Array) -> Array:
            return np.array([r * s[0] * np.cos(s[1]), r * s[0] * np.sin(s[1]), half * s[2]])

        return Drum(r, 2 * half), [(inside, [(0, 1), (-np.pi, np.pi), (-1, 1)])]
    across = [(-1, 1)] * 3

    def ball(s: Array) -> Array:
        return s / np.linalg.norm(s, axis=0)

    if kind == 3:
        return Egg(tuple(size)), [(lambda s: size[:, None] * ball(s), across)]
    r, half = size[:2]
    rod = np.array([[0.0], [0.0], [half]])
    between = [*across, (-0.999, 0.999)]
    return Rounded(r, 2 * half), [(lambda s: r * ball(s[:3]) + rod * s[3], between)]


def least(wall: Surface, patches: list[Patch], pose: Pose, rng: np.random.Generator) -> float:
    """The least g of a shape: of many places, and from the lowest of them."""
    g, found = ca.Function("g", [x := ca.SX.sym("x", 3)], wall.faces[0](x)[:1]), []
    count = 3000 // len(patches)
    for places, bounds in patches:
        low, high = np.array(bounds).T

        def value(s: Array, places: Callable[[Array], Array] = places) -> Array:
            world = pose.rotation @ places(s) + pose.translation[:, None]
            return np.array(g.map(world.shape[1])(world)).ravel()

        some = rng.uniform(low[:, None], high[:, None], (len(low), count))
        some[:, : count // 2] = np.where(
            rng.random((len(low), count // 2)) < 0.5, some[:, : count // 2],
            np.where(rng.random((len(low), count // 2)) < 0.5, low[:, None], high[:, None]),
        )  # fmt: skip
        values = value(some)
        for start in some[:, np.argsort(values)[:4]].T:
            best = minimize(
                lambda s: value(s[:, None])[0], start, bounds=bounds, tol=1e-14,
                options={"maxls": 50},
            )  # fmt: skip
            found.append(min(best.fun, values.min()))
    return min(found)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("name", WALLS)
def test_shapes_touch_where_they_are_deepest(name: str, kind: int) -> None:
    """Of all places found near the wall the lowest is the lowest of all; each is of the shape and
    has its distance and normal."""
    rng, wall, near = np.random.default_rng(kind), WALLS[name], 0
    (face,), (ball,) = wall.faces, wall.signed
    gap = ca.Function("gap", [x := ca.SX.sym("x", 3), r := ca.SX.sym("r")], ball(x, r)[:1])
    for _ in range(20 if is_night() else 4):
        shape, patches = random_shape(rng, kind)
        turn, place = Rotation.random(random_state=rng).as_matrix(), rng.uniform(-1, 1, 3)
        if name == "dome":
            place *= 0.6 / np.linalg.norm(place)
        up = place / np.linalg.norm(place) if name == "dome" else np.array([0.0, 0.0, 1.0])
        for _ in range(30):  # until it hardly touches
            true = least(wall, patches, Pose(turn, place), rng)
            slope = np.array(face(place)[1]).ravel()
            if abs(true) < MARGIN / 4:
                break
            place = place - 0.7 * up * true / max(slope @ up, 0.5)
        pose, still = Pose(turn, place), Pose()
        ground = CurvedWall(face, ball.steepness, shape.reach)
        pair = Solid("thing", 0, Pose(), shape), Solid(name, WORLD, Pose(), ground)
        touches = SolidTables((pair,), {0: 0, WORLD: 0}).touches(0, pose, still, MARGIN)
        for touch in touches:
            at = touch.point - touch.radius * touch.normal
            g, gradient, _ = (np.array(one).ravel() for one in face(at))
            size = np.linalg.norm(gradient)
            np.testing.assert_allclose(touch.normal, gradient / size, atol=1e-9)
            assert touch.gap == pytest.approx(g[0] / size, abs=1e-12)
            np.testing.assert_allclose(at - touch.foot, touch.gap * touch.normal, atol=1e-12)
        found = [float(face(one.point - one.radius * one.normal)[0]) for one in touches]
        if isinstance(shape, Rounded):  # its ends are balls, which others look at
            ends = place[:, None] + np.outer(turn[:, 2], [-shape.half, shape.half])
            if not found or true < min(found) - LOW:
                low = [float(gap(end, shape.radius)) for end in ends.T]
                assert min(low) < true + 1e-2 * shape.half
                continue
        assert min(found) == pytest.approx(true, abs=LOW)
        near += 1
    assert near or kind == 4


def thing(shape: str, inertia: tuple[float, float, float], turn: str = "0 0 0") -> Robot:
    """A free body of 1 kg."""
    ixx, iyy, izz = inertia
    return mbdyn_ros.load(
        f"""<robot name="thing"><link name="thing"><inertial><mass value="1"/><inertia ixx="{ixx}"
        iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial><collision>
        <origin rpy="{turn}"/><geometry>{shape}</geometry></collision></link></robot>""",
        floating_base=True,
    )


def on(wall: Surface) -> Environment:
    """The wall, which whole shapes touch."""
    return Environment([wall], links=LinkContacts(0.0, 0.8, convex=True))


R, HALF, LONG = 0.3, 0.05, 0.4
"""m: radius of a ridge, half the thickness of a plank, its length."""

RIDGE = Surface.cylinder(R, axis=(0, 1, 0), inside=False, friction=1.0, name="ridge")


def plank() -> Robot:
    moment = (LONG**2 / 4 + HALF**2) / 3
    return thing(f'<box size="{LONG} 0.2 {2 * HALF}"/>', (0.008, moment, 0.02))


def rolled(angle: float) -> Array:
    """Where a plank is that has rolled on the ridge by an angle."""
    n, t = [np.sin(angle), 0, np.cos(angle)], [np.cos(angle), 0, -np.sin(angle)]
    place = (R + HALF) * np.array(n) - R * angle * np.array(t)
    return np.r_[place, Rotation.from_rotvec([0, angle, 0]).as_quat()]


@pytest.mark.parametrize(("step", "close"), [(1e-3, 2e-6), (5e-3, 5e-5)])
def test_a_plank_rocks_on_a_ridge(step: float, close: float) -> None:
    """By the equation of rolling; it touches with both long edges' places on the ridge."""
    moment = (LONG**2 / 4 + HALF**2) / 3

    def rocking(t: float, y: Array) -> list[float]:
        pull = 9.81 * (R * y[0] * np.cos(y[0]) - HALF * np.sin(y[0]))
        return [y[1], -(pull + R**2 * y[0] * y[1] ** 2) / (moment + HALF**2 + R**2 * y[0] ** 2)]

    exact = solve_ivp(rocking, (0, 1), [0.1, 0.0], rtol=1e-11, atol=1e-13).y[0, -1]
    stepper = Stepper(plank(), step, on(RIDGE))
    stepper.set_state(rolled(0.1), np.zeros(6))
    stepper.advance(round(1 / step))
    angle = Rotation.from_quat(stepper.q[3:]).as_rotvec()
    assert angle[1] == pytest.approx(exact, abs=close)
    np.testing.assert_allclose(angle[[0, 2]], 0, atol=1e-9)
    np.testing.assert_allclose(stepper.q[:3], rolled(angle[1])[:3], atol=close / 10)
    assert [(one.surface, one.links) for one in stepper.contacts] == [("ridge", ("thing",))] * 2
    assert [one.place[1] for one in stepper.contacts] == pytest.approx([0.1, -0.1], abs=1e-6)
    assert stepper.unsettled == stepper.unseen == 0


@pytest.mark.parametrize(("step", "close"), [(1e-3, 1e-6), (5e-3, 5e-5)])
def test_a_cylinder_rolls_in_a_gutter(step: float, close: float) -> None:
    """As a pendulum of 3/2 its length, and as heavy; not as its points would, eight on each rim."""
    radius, far = 0.1, 0.4
    wall = Surface.cylinder(0.5, axis=(0, 1, 0), friction=1.0)
    drum = f'<cylinder radius="{radius}" length="0.3"/>'
    robot = thing(drum, (0.01, radius**2 / 2, 0.01), "1.5707963267948966 0 0")
    exact = solve_ivp(
        lambda t, y: [y[1], -9.81 * np.sin(y[0]) / (1.5 * far)], (0, 1), [0.4, 0],
        rtol=1e-11, atol=1e-13,
    ).y[0, -1]  # fmt: skip
    stepper = Stepper(robot, step, on(wall))
    place = far * np.array([np.sin(0.4), 0, -np.cos(0.4)])
    stepper.set_state([*place, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(round(1 / step))
    angle = np.arctan2(stepper.q[0], -stepper.q[2])
    assert angle == pytest.approx(exact, abs=close)
    assert np.hypot(stepper.q[0], stepper.q[2]) == pytest.approx(far, abs=1e-9)
    up = np.array([-np.sin(angle), 0, np.cos(angle)])
    pushes = 9.81 * (7 * np.cos(angle) - 4 * np.cos(0.4)) / 3
    assert sum(one.force @ up for one in stepper.contacts) == pytest.approx(pushes, abs=5 * step)
    assert not stepper.impacts


def test_a_capsule_lies_across_a_ridge() -> None:
    """It is held in its middle, where no ball is; `simulate` says the same."""
    robot = thing('<capsule radius="0.05" length="0.4"/>', (0.02, 0.02, 0.001), "0 1.5707963 0")
    start = np.r_[0.0, 0, R + 0.06, 0, 0, 0, 1]
    run = mbdyn_ros.simulate(robot, start, np.zeros(6), 0.3, environment=on(RIDGE))
    stepper = Stepper(robot, 1e-3, on(RIDGE))
    stepper.set_state(start, np.zeros(6))
    stepper.advance(300)
    for q in (run.q[-1], stepper.q):
        np.testing.assert_allclose(q[:3], [0, 0, R + 0.05], atol=1e-6)
    (contact,) = stepper.contacts
    np.testing.assert_allclose(contact.force, [0, 0, 9.81], atol=1e-6)
    np.testing.assert_allclose(contact.place, [0, 0, R], atol=1e-6)


def test_a_box_stands_on_top_of_a_dome() -> None:
    """A face touches where no corner or edge is; a start inside is refused by name."""
    robot = thing('<box size="0.2 0.2 0.1"/>', (0.004, 0.004, 0.007))
    stepper = Stepper(robot, 1e-3, on(WALLS["dome"]))
    with pytest.raises(SimulationError, match="link 'thing' on surface 'dome' starts inside it"):
        stepper.set_state([0, 0, 0.54, 0, 0, 0, 1], np.zeros(6))
    stepper.set_state([0, 0, 0.55, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(500)
    np.testing.assert_allclose(stepper.q, [0, 0, 0.55, 0, 0, 0, 1], atol=1e-7)
    (contact,) = stepper.contacts
    np.testing.assert_allclose(contact.place, [0, 0, 0.5], atol=1e-7)
    q, _ = robot.rollout(
        [[0, 0, 0.6, 0.1, 0, 0, np.sqrt(0.99)]], np.zeros((1, 6)), np.zeros((1, 300, 6)), 1e-3,
        environment=on(WALLS["dome"]),
    )  # fmt: skip
    stepper.set_state([0, 0, 0.6, 0.1, 0, 0, np.sqrt(0.99)], np.zeros(6))
    stepper.advance(300)
    np.testing.assert_array_equal(q[0, -1], stepper.q)


@pytest.mark.parametrize("seed", range(120) if is_night() else range(6))
def test_what_falls_on_hills_gains_no_energy(seed: int) -> None:
    """Nothing is inside the ground at the end, as places all over the shape say."""
    rng, wall = np.random.default_rng(seed), WALLS[("waves", "hills")[seed % 2]]
    shape = ['<box size="0.3 0.2 0.1"/>', '<cylinder radius="0.1" length="0.3"/>',
             '<capsule radius="0.05" length="0.4"/>'][seed % 3]  # fmt: skip
    robot = thing(shape, (0.01, 0.012, 0.008))
    stepper = Stepper(robot, (1e-3, 3e-3)[seed % 2], on(wall))
    q = np.r_[rng.uniform(-0.5, 0.5, 2), 0.5, Rotation.random(random_state=rng).as_quat()]
    stepper.set_state(q, v := rng.normal(size=6))
    whole = [sum(robot.energy(q, v))]
    for _ in range(100):
        stepper.advance(10)
        whole.append(sum(robot.energy(stepper.q, stepper.v)))
    assert np.diff(whole).max() < 1e-6 * np.ptp(whole)
    assert stepper.unsettled == 0
    t = np.linspace(-1, 1, 21)
    some = np.array(np.meshgrid(t, t, t)).reshape(3, -1)
    if "box" in shape:
        places = np.array([[0.15], [0.1], [0.05]]) * some
    else:
        places = np.array([[0.0], [0.0], [0.15]]) * some
        ring = 0.1 * np.array([np.cos(np.pi * some[0]), np.sin(np.pi * some[0]), 0 * some[0]])
        places = places + ring if "cyl" in shape else places * 4 / 3
    world = Rotation.from_quat(stepper.q[3:]).apply(places.T) + stepper.q[:3]
    radius = 0.05 if "capsule" in shape else 0.0
    for place in world:
        g, slope, _ = (np.array(one).ravel() for one in wall.faces[0](place))
        place = place - radius * slope / np.linalg.norm(slope)
        assert float(wall.faces[0](place)[0]) > -1e-6


def test_who_touches_by_points() -> None:
    """Given points, walls with laws of their own, and links that are not convex."""
    robot, wall = plank(), RIDGE
    assert len(on(wall).solid_pairs(robot)) == 1
    given = Environment([wall], points=[("thing", (0, 0, 0))], links=LinkContacts(convex=True))
    assert given.solid_pairs(robot) == ()
    assert on(wall.yielding(1e4)).plain.solid_pairs(robot) == ()
    assert Environment([wall]).solid_pairs(robot) == ()
    both = Environment([wall, Surface.plane(name="floor")], links=LinkContacts(convex=True))
    assert [other.link for _, other in both.solid_pairs(robot)] == ["ridge"]
    assert str(both.report(robot)) == "walls ridge, floor: points of thing (8)"
    ball = thing('<sphere radius="0.1"/>', (0.004, 0.004, 0.004))
    assert on(wall).solid_pairs(ball) == on(wall).couples(ball) == ()
    with pytest.raises(InputError, match="no two links can touch each other"):
        on(Surface.plane()).couples(ball)
