"""Round shapes that roll on each other: where they touch within a step, and what pushes them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from night import is_night
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from mbdyn_ros import LinkContacts, Stepper, Surface, World
from mbdyn_ros.array import Array
from mbdyn_ros.model.pose import Pose
from mbdyn_ros.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere

G, R, SMALL = 9.81, 0.5, 0.1
LYING = (np.pi / 2, 0, 0)
"""Of what is round about z: about y."""

KINDS = "box", "drum", "egg", "rod", "ball"
PAIRS = [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if pair[0] in KINDS[:3]]


def world(friction: float, **shapes: tuple[Geometry, dict[str, object]]) -> World:
    """Shapes with how they are added, without restitution."""
    made = World([], links=LinkContacts(0.0, friction, convex=True))
    for name, (shape, more) in shapes.items():
        made.add(name, shape, **more)  # type: ignore[arg-type]
    return made


def place_of(stepper: Stepper, name: str) -> Array:
    pose: Array = stepper.robot.frame_pose(stepper.q, name)
    return pose[:3, 3]


def push_of(stepper: Stepper) -> Array:
    """N, of the contacts of one link on another."""
    force: Array = np.sum([one.force for one in stepper.contacts], axis=0)
    return force


def random_shape(rng: np.random.Generator, kind: str) -> Geometry:
    a, b, c = rng.uniform(0.1, 0.4, 3)
    shapes: dict[str, Geometry] = {
        "box": Box((a, b, c)), "drum": Cylinder(a / 2, b), "egg": Ellipsoid((a / 2, b / 2, c / 2)),
        "rod": Capsule(a / 2, b), "ball": Sphere(a / 2),
    }  # fmt: skip
    return shapes[kind]


@pytest.mark.parametrize("seed", range(40) if is_night() else range(2))
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_places_are_the_nearest_where_bodies_have_turned(pair: tuple[str, str], seed: int) -> None:
    """Both turn by up to 0.01 rad: the gap is what a new search finds."""
    rng = np.random.default_rng([seed, *map(ord, "".join(pair))])
    free = {"one": 0.0, "other": 2.0}
    shapes = {
        name: (random_shape(rng, kind), {"mass": 1.0, "xyz": (x, 0, 0)})
        for kind, (name, x) in zip(pair, free.items(), strict=True)
    }
    stepper = world(0.5, **shapes).stepper(1e-3)
    slots, tables, rows = stepper._solids, stepper._compiled._solids, stepper._compiled.rows
    assert slots is not None and rows is not None

    def gap(one: Pose, other: Pose, planes: Array | None) -> tuple[float, Array]:
        """By the places of `planes`, or of those that are found there."""
        q = np.hstack([
            np.r_[pose.translation - [x, 0, 0], Rotation.from_matrix(pose.rotation).as_quat()]
            for pose, x in ((one, 0.0), (other, 2.0))
        ])  # fmt: skip
        found = slots._find(q, np.zeros(12), 0.0).copy() if planes is None else planes
        rows.q[:] = q
        rows()
        return float(slots.place(rows.result, found)[found[:, 0] > 0].min()), found

    def turned(pose: Pose) -> Pose:
        size = 10 ** rng.uniform(-4, -2)
        turn = Rotation.from_rotvec(size * rng.uniform(-1, 1, 3)).as_matrix()
        return Pose(turn @ pose.rotation, pose.translation)

    other = Pose(Rotation.random(random_state=rng).as_matrix(), np.zeros(3))
    way = rng.normal(size=3)
    one = Pose(Rotation.random(random_state=rng).as_matrix(), 2 * way / np.linalg.norm(way))
    far, normal, _ = tables.nearest(0, one, other)
    one = Pose(one.rotation, one.translation - (far - rng.choice([0, 1e-7, 1e-4])) * normal)
    near, planes = gap(one, other, None)
    follows = planes[planes[:, 0] > 0, 14].all()
    exact = tables.nearest(0, one, other, normal)[0]
    assert near == pytest.approx(exact, abs=2e-9 if follows else 3e-8)
    one, other = turned(one), turned(other)
    exact, after, _ = tables.nearest(0, one, other, normal)
    if follows and normal @ after > np.cos(0.02):
        close = 1e-6 if "box" in pair else 2e-9  # another edge may take over
        assert gap(one, other, planes)[0] == pytest.approx(exact, abs=close)


ROUND: dict[str, tuple[Geometry, tuple[float, float, float], Geometry, float | None]] = {
    "drum on drum": (Cylinder(SMALL, 0.2), LYING, Cylinder(R, 0.6), 1 / 2),
    "capsule along drum": (Capsule(SMALL, 0.2), LYING, Cylinder(R, 0.6), None),
    "ball on drum": (Sphere(SMALL), LYING, Cylinder(R, 0.6), 2 / 5),
    "egg on drum": (Ellipsoid((SMALL, 0.12, SMALL)), (0, 0, 0), Cylinder(R, 0.6), 2 / 5),
    "ball on egg": (Sphere(SMALL), LYING, Ellipsoid((R, R, R)), 2 / 5),
}


@pytest.mark.parametrize(("step", "close"), [(1e-3, 1e-6), (5e-3, 1e-5)])
@pytest.mark.parametrize("name", ROUND)
def test_what_is_round_rolls_off_what_is_round(name: str, step: float, close: float) -> None:
    """By energy, and as heavy as it is less what holds it on its circle; without any impact."""
    shape, turn, under, share = ROUND[name]
    at = (R + SMALL + 1e-9) * np.array([np.sin(0.1), 0, np.cos(0.1)])
    stepper = world(
        3.0, under=(under, {"rpy": LYING}), thing=(shape, {"mass": 1.0, "xyz": at, "rpy": turn})
    ).stepper(step)
    if share is None:
        share = float(stepper.robot.mass_matrix(stepper.q)[5, 5]) / SMALL**2
    stepper.advance(round(0.5 / step))
    x, y, z = place_of(stepper, "thing")
    angle = np.arctan2(x, z)
    square = 2 * G * (np.cos(0.1) - np.cos(angle)) / (R + SMALL) / (1 + share)
    speed = np.sqrt(square) * (R + SMALL) / SMALL
    assert np.abs(stepper.v[3:]).max() == pytest.approx(speed, rel=close)
    assert np.hypot(x, z) == pytest.approx(R + SMALL, abs=1e-8)
    assert abs(y) < 1e-9
    normal = np.array([np.sin(angle), 0, np.cos(angle)])
    push = abs(push_of(stepper) @ normal)
    assert push == pytest.approx(G * np.cos(angle) - square * (R + SMALL), abs=4 * step)
    assert not stepper.impacts
    assert stepper.unsettled == stepper.unseen == 0


@pytest.mark.parametrize("shape", [Cylinder(SMALL, 0.3), Ellipsoid((SMALL, SMALL, 0.2))])
def test_what_is_round_rolls_on_a_box(shape: Geometry) -> None:
    """At its speed, and as heavy as it is: three turns."""
    thing = {"mass": 1.0, "xyz": (0, 0, 0.2 + 1e-9), "rpy": LYING}
    stepper = world(1.0, table=(Box((8, 2, 0.2)), {}), thing=(shape, thing)).stepper(1e-3)
    stepper.set_state(stepper.q, [3.0, 0, 0, 0, 0, -30.0])
    stepper.advance(600)
    assert place_of(stepper, "thing") == pytest.approx([1.8, 0, 0.2], abs=1e-6)
    np.testing.assert_allclose(abs(push_of(stepper)), [0, 0, G], atol=2e-3)
    assert not stepper.impacts


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_a_coin_on_a_box_moves_as_on_a_plane(friction: float) -> None:
    """On its rim, which turns as it rolls."""
    tilt, coin = 0.4, Cylinder(SMALL, 0.01)
    height = SMALL * np.cos(tilt) + 0.005 * np.sin(tilt) + 1e-9
    turn = Rotation.from_euler("x", np.pi / 2 - tilt)
    links = LinkContacts(0.0, friction, convex=True)
    plane = World([Surface.plane(friction=friction, restitution=0.0)], links=links)
    plane.add("coin", coin, mass=1.0, xyz=(0, 0, height), rpy=turn.as_euler("xyz"))
    box = world(
        friction, table=(Box((4, 4, 0.2)), {"xyz": (0, 0, -0.1)}),
        coin=(coin, {"mass": 1.0, "xyz": (0, 0, height), "rpy": turn.as_euler("xyz")}),
    )  # fmt: skip
    ends = []
    for one in (plane, box):
        stepper = one.stepper(1e-3)
        stepper.set_state(stepper.q, [0.02, 0, 0, 0, 0.1, 20.0])
        stepper.advance(400)
        ends.append(stepper.q.copy())
        assert stepper.unsettled == 0
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize(("step", "close"), [(1e-3, 1e-7), (5e-3, 3e-6)])
@pytest.mark.parametrize("under", [Cylinder(0.3, 1.0), Capsule(0.3, 1.0)])
def test_a_plank_rocks_on_a_log(under: Geometry, step: float, close: float) -> None:
    """By the equation of rolling."""
    radius, half, long = 0.3, 0.05, 0.4
    moment = (long**2 / 4 + half**2) / 3

    def rocking(t: float, y: Array) -> list[float]:
        pull = G * (radius * y[0] * np.cos(y[0]) - half * np.sin(y[0]))
        inertia = moment + half**2 + radius**2 * y[0] ** 2
        return [y[1], -(pull + radius**2 * y[0] * y[1] ** 2) / inertia]

    exact = solve_ivp(rocking, (0, 1), [0.0, 0.7], rtol=1e-12, atol=1e-13).y[0, -1]
    plank = {"mass": 1.0, "xyz": (0, 0, radius + half)}
    stepper = world(
        3.0, log=(under, {"rpy": LYING}), plank=(Box((long, 0.2, 2 * half)), plank)
    ).stepper(step)
    stepper.set_state(stepper.q, [half * 0.7, 0, 0, 0, 0.7, 0])
    stepper.advance(round(1 / step))
    assert Rotation.from_quat(stepper.q[3:]).as_rotvec()[1] == pytest.approx(exact, abs=close)
    assert len(stepper.contacts) == 2 and not stepper.impacts


def test_what_lies_along_a_log_touches_at_both_ends_of_what_they_share() -> None:
    rod = {"mass": 1.0, "xyz": (0, 0.4, 0.4), "rpy": LYING}
    stepper = world(
        0.0, log=(Cylinder(0.3, 1.0), {"rpy": LYING}), rod=(Capsule(0.1, 0.6), rod)
    ).stepper(1e-3)
    stepper.advance(20)
    assert sorted(one.place[1] for one in stepper.contacts) == pytest.approx([0.1, 0.5], abs=1e-6)
    np.testing.assert_allclose(abs(push_of(stepper)), [0, 0, G], atol=1e-6)


@pytest.mark.parametrize("seed", range(60) if is_night() else range(4))
def test_a_heap_gains_no_energy(seed: int) -> None:
    """Round and flat things that fall on each other, on a box and on what lies there."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[Geometry, dict[str, object]]] = {"floor": (Box((4, 4, 0.2)), {})}
    if seed % 4 == 1:
        shapes["log"] = Cylinder(0.3, 2.0), {"xyz": (0, 0, 0.3), "rpy": (np.pi / 2, 0.2, 0)}
    if seed % 4 == 2:
        shapes["dome"] = Ellipsoid((0.6, 0.5, 0.4)), {"xyz": (0, 0, 0.1)}
    for k in range(6):
        more = {"mass": rng.uniform(0.2, 2), "xyz": (*rng.uniform(-0.2, 0.2, 2), 0.9 + 0.6 * k)}
        shape = random_shape(rng, KINDS[rng.integers(5)])
        shapes[f"thing{k}"] = shape, {**more, "rpy": rng.uniform(-3, 3, 3)}
    heap = world((0.0, 0.3, 1.0)[seed % 3], **shapes)
    stepper = heap.stepper(1e-3)
    stepper.set_state(stepper.q, 0.5 * rng.normal(size=heap.robot.nv))
    energy = [float(stepper.energy.sum())]
    for _ in range(100):
        stepper.advance(10)
        energy.append(float(stepper.energy.sum()))
    assert np.diff(energy).max() < 1e-8 * energy[0]
    assert stepper.deepest < 1e-8
    assert stepper.unsettled == 0
