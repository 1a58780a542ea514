"""Height fields: the spline of another library, and programs that do not grow with the grid."""

from __future__ import annotations

import numpy as np
import pytest
from night import is_night
from robot_text import body_text
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros import Environment
from mbdyn_ros.array import Array
from mbdyn_ros.compiler.pipeline import c_source
from mbdyn_ros.equations.contact.contact import contact_drift, distances
from mbdyn_ros.equations.contact.stepping import contact_rows
from mbdyn_ros.program.program import Program
from mbdyn_ros.simulation.contact.contacts import Contacts
from mbdyn_ros.simulation.contact.height_field import height_field

CORNER, SPACING = (-2.0, -1.5, 0.3), 0.4
BALL = body_text("ball")
FEET = [("ball", (0.1 * k, -0.05 * k, 0.02 * k)) for k in range(6)]
BALLS = [(*foot, 0.03) for foot in FEET]


def of_scipy(heights: Array, x: float, y: float, dx: int = 0, dy: int = 0) -> float:
    """The natural cubic spline along y of those along x, or its derivatives."""
    i, j = (CORNER[k] + SPACING * np.arange(n) for k, n in enumerate(heights.shape))
    along = CubicSpline(i, heights, bc_type="natural")(x, dx)
    return float(CubicSpline(j, along, bc_type="natural")(y, dy))


@pytest.mark.sparse
@pytest.mark.parametrize("shape", [(4, 4), (5, 9), (40, 31)])
def test_the_spline_is_that_of_scipy(shape: tuple[int, int]) -> None:
    """Height, gradient and second derivatives, within cells, on their sides and in corners."""
    random = np.random.default_rng(shape[0])
    heights = random.normal(size=shape)
    (face,) = height_field(heights, SPACING, CORNER).faces
    size = SPACING * (np.array(shape) - 1)
    places = np.vstack([random.uniform(0, 1, (40, 2)) * size, SPACING * np.array([[1, 2], [2, 1]])])
    for x, y in places + CORNER[:2]:
        g, gradient, second = (np.array(one).squeeze() for one in face([x, y, 1.0]))
        assert g == pytest.approx(0.7 - of_scipy(heights, x, y), abs=1e-12)
        slope = [-of_scipy(heights, x, y, 1, 0), -of_scipy(heights, x, y, 0, 1), 1]
        np.testing.assert_allclose(gradient, slope, atol=1e-11)
        bend = [[of_scipy(heights, x, y, 2 - k - j, k + j) for j in (0, 1)] for k in (0, 1)]
        np.testing.assert_allclose(second[:2, :2], -np.array(bend), atol=1e-9)
        assert not second[2].any() and not second[:, 2].any()


def test_ground_goes_on_level_beyond_its_edges() -> None:
    heights = np.random.default_rng(1).normal(size=(5, 6))
    ground = height_field(heights, SPACING, CORNER)
    for x, y in ((-9.0, -0.7), (9.0, -0.7), (-1.1, 9.0), (1e9, -1e9)):
        inside = np.clip([x, y], CORNER[:2], CORNER[:2] + SPACING * np.array([4, 5]))
        height = of_scipy(heights, *inside)
        assert ground.value([x, y, 0.3])[0] == pytest.approx(-height, abs=1e-12)


@pytest.mark.sparse
@pytest.mark.parametrize("points", [FEET, BALLS])
def test_compiled_programs_read_the_table(points: list[tuple[object, ...]]) -> None:
    """For one state and for many, compiled and interpreted, far from the grid too."""
    random = np.random.default_rng(2)
    ground = height_field(0.1 * random.random((6, 7)), SPACING, CORNER)
    robot = mbdyn_ros.load(BALL, floating_base=True)
    contacts = Contacts(robot, Environment([ground], points))
    q = np.array([robot.random(random) for _ in range(9)])
    q[:, :3], q[8, :2] = random.uniform(-1, 1, (9, 3)), (1e12, -7.0)
    v = random.normal(size=(9, 6))
    many = np.hstack(contacts.many_distances(q, v))
    about = Program(distances, robot.calls.traced, contacts.geometry)
    for state, row in zip(zip(q, v, strict=True), many, strict=True):
        expected = np.array(about.function(*state)).T.ravel()
        for found in (row, np.hstack(contacts.distances(*state))):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        rows = contacts.rows(*state, np.arange(len(contacts)))
        assert np.isfinite(rows.normals).all()
        np.testing.assert_allclose(np.linalg.norm(rows.normals, axis=1), 1, atol=1e-12)


@pytest.mark.sparse
@pytest.mark.parametrize("points", [FEET, BALLS])
def test_programs_do_not_grow_with_the_grid(points: list[tuple[object, ...]]) -> None:
    """Their equations are the same, and so is their C except for the table."""
    robot = mbdyn_ros.load(BALL, floating_base=True)
    for declared in (distances, contact_rows, contact_drift):
        lengths, texts = set(), set()
        for count in (21, 64):
            ground = height_field(np.random.default_rng(3).random((count, count)), 0.1)
            about = Environment([ground], points if is_night() else points[:2]).geometry(robot)
            program = Program(declared, robot.calls.traced, about)
            lengths.add(program.length)
            text = c_source(program)
            texts.add(len(text[text.index("};") :].splitlines()))
        assert len(lengths) == len(texts) == 1


@pytest.mark.long
def test_the_drift_of_a_foot_on_hills_is_its_acceleration() -> None:
    """By differences of the normal velocity along a motion without accelerations."""
    random = np.random.default_rng(4)
    ground = height_field(0.3 * random.random((6, 6)), SPACING, CORNER)
    robot = mbdyn_ros.load(BALL, floating_base=True)
    contacts = Contacts(robot, Environment([ground], BALLS))
    q, v = robot.random(random), random.normal(size=6)
    q[:3] = 0.1, 0.1, 0.6
    which, step = np.arange(len(contacts)), 1e-5

    def normal_velocities(t: float) -> Array:
        at = robot.integrate(q, t * v)
        _, rate, slope = contacts.distances(at, v)
        return rate / slope

    drift = (normal_velocities(step) - normal_velocities(-step)) / (2 * step)
    frozen = contacts.rows(q, v, which)
    assert frozen.places.shape == (len(which), 3)
    found = np.array(
        Program(contact_drift, robot.calls.traced, contacts.geometry).function(q, v)
    ).ravel()[: 4 * len(which) : 4]
    np.testing.assert_allclose(found, drift, rtol=2e-6, atol=2e-6)


@pytest.mark.long
def test_limp_robots_come_to_rest_on_hills() -> None:
    """None gains energy, goes into the ground or passes it unseen."""
    random = np.random.default_rng(5)
    hills = height_field(
        0.08 * random.normal(size=(14, 14)), SPACING, (-2.6, -2.6, 0), friction=0.6
    )
    robot = mbdyn_ros.example("quadruped", floating_base=True)
    stepper = mbdyn_ros.Stepper(robot, 1e-3, Environment([hills]))
    for _ in range(5):
        start, turn = robot.home_position, random.normal(size=4)
        start[:3], start[3:7] = (*random.uniform(-1, 1, 2), 1.0), turn / np.linalg.norm(turn)
        stepper.set_state(start, np.zeros(robot.nv))
        energies = [stepper.energy.sum()]
        for _ in range(200):
            stepper.advance(10)
            energies.append(stepper.energy.sum())
        risen = np.max(energies - np.minimum.accumulate(energies))
        assert risen <= 1e-6 * np.ptp(energies)
        assert stepper.contacts
    assert stepper.deepest < 1e-6 and not stepper.unseen
