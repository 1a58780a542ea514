"""Contacts that are held, in compiled code: the rows and forces of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from thrown_robots import BLOCK, CORNERS

import mbdyn_ros
from mbdyn_ros import Environment, Surface
from mbdyn_ros.simulation.adaptive.held_rows import HeldRows
from mbdyn_ros.simulation.adaptive.resting import Mode, Resting
from mbdyn_ros.simulation.contact.contacts import Contacts

CAN = BLOCK.replace(
    "</link>",
    """<collision><origin xyz="0.1 0 0.2" rpy="0.3 0.4 0"/>
  <geometry><cylinder radius="0.2" length="0.3"/></geometry></collision></link>""",
)


@pytest.mark.parametrize("shape, count", [(BLOCK, 2), (BLOCK, 3), (CAN, 2)])
def test_rows_and_forces_are_those_of_numpy(shape: str, count: int) -> None:
    """Points, balls and rims, stuck and sliding, on a tilted plane; three hold too much."""
    robot = mbdyn_ros.load(shape, floating_base=True)
    random = np.random.default_rng(4)
    balls = [(*one, 0.1 * (k % 2)) for k, one in enumerate(CORNERS)]
    floor = Surface.plane(normal=[0.2, -0.3, 1.0], friction=0.4, name="floor", restitution=1.0)
    walls = Environment([floor], balls) if shape is BLOCK else Environment([floor])
    contacts = Contacts(robot, walls)
    which = np.array([3, 0, 5] if shape is BLOCK else [1, 0])[:count]
    modes = [Mode.SLIDES, Mode.STICKS, Mode.STICKS][:count]
    held = Resting(which, modes, np.array([[0.6, -0.8], [0.0, 0.0], [0.0, 0.0]])[:count])
    q, v = random.normal(size=7), random.normal(size=6)
    q[3:] /= np.linalg.norm(q[3:])
    rows = contacts.rows(q, v, which)
    slides, along = held.directions.copy(), rows.tangents @ v
    held.directions[0] = slides[0] = along[0] / np.linalg.norm(along[0])
    expected = rows.assemble(held.sticks, slides)
    table = contacts.flat_table(which)
    assert table is not None
    compiled = HeldRows(contacts, held, table)
    laws = compiled.at(q, v)
    np.testing.assert_allclose(compiled.along, along, atol=1e-14)
    for name in ("rows", "columns", "drift"):
        np.testing.assert_allclose(getattr(laws, name), getattr(expected, name), atol=1e-13)
    mass, free = robot.mass_matrix(q), random.normal(size=6)
    a, force, load = compiled.forces(mass, free)
    np.testing.assert_allclose(mass @ (a - free), load, atol=1e-9)
    np.testing.assert_allclose(load, laws.columns.T @ force, atol=1e-9)
    if count == 2:
        np.testing.assert_allclose(laws.rows @ a + laws.drift, 0.0, atol=1e-9)
