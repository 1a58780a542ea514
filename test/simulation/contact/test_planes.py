"""Points on planes: tables of weights, which give what the formula of every point gives."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from robot_text import body_text

import mbdyn_ros
from mbdyn_ros import Environment, Surface
from mbdyn_ros.compiler.options import STANDARD
from mbdyn_ros.compiler.pipeline import c_source
from mbdyn_ros.equations.contact.contact import distances
from mbdyn_ros.equations.contact.stepping import contact_rows
from mbdyn_ros.program.program import Program
from mbdyn_ros.simulation.contact.contacts import Contacts

BALL = body_text("ball")
FLOOR = Surface.plane(name="floor")
RAMP = Surface(lambda x: 2 * x[0] + 3 * x[2] + 1, name="ramp")
DOME = Surface.sphere(radius=9.0, name="dome")


def points(count: int) -> list[tuple[object, ...]]:
    """Points and, of two radii, balls."""
    places = [(0.1 * k, -0.05 * k, 0.02 * k) for k in range(count)]
    return [("ball", place, *[(), (0.03,), (0.05,)][k % 3]) for k, place in enumerate(places)]


@pytest.mark.sparse(first=1)
@pytest.mark.parametrize("walls", [[FLOOR], [FLOOR, RAMP, DOME]], ids=["a floor", "three walls"])
def test_tables_are_the_formulas_of_points(walls: list[Surface]) -> None:
    """For one state and for many; of balls on the ramp, which has no closed distance, too."""
    random = np.random.default_rng(2)
    robot = mbdyn_ros.load(BALL, floating_base=True)
    robot.calls.options = dataclasses.replace(STANDARD, written_out=0)
    contacts = Contacts(robot, Environment(walls, points(31)))
    program = Program(distances, robot.calls.traced, contacts.geometry)
    assert "combine1" in c_source(program, options=robot.calls.options)
    q = np.array([robot.random(random) for _ in range(9)])
    v = random.normal(size=(9, 6))
    many = np.stack(contacts.many_distances(q, v), axis=1)
    surfaces = [wall for _ in range(31) for wall in walls]
    for state, batched in zip(zip(q, v, strict=True), many, strict=True):
        expected = np.array(program.function(*state)).T
        for found in (batched, np.stack(contacts.distances(*state))):
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
        for k in range(0, len(contacts), 3):
            if not contacts.geometry.points[k // len(walls)].radius:
                place = contacts.place(k, state[0])
                assert batched[0, k] == pytest.approx(surfaces[k].value(place)[0], abs=1e-13)
        normals = contacts.rows(*state, np.arange(len(contacts))).normals
        first = np.arange(len(contacts)) % len(walls) == 0
        np.testing.assert_allclose(normals[first], [[0, 0, 1]] * int(first.sum()), atol=1e-15)


def test_more_points_are_more_data() -> None:
    robot = mbdyn_ros.load(BALL, floating_base=True)
    for declared in (distances, contact_rows):
        lines = set()
        for count in (600, 900):
            about = Environment([FLOOR], points(count)).geometry(robot)
            lines.add(len(c_source(Program(declared, robot.calls.traced, about)).splitlines()))
        assert len(lines) == 1
