"""Rows of contacts and the forces that hold them, against differences of the motion."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import body_text
from thrown_robots import BLOCK, CORNERS

import mbdyn_ros
from mbdyn_ros import Environment, Surface
from mbdyn_ros.model.model import Array
from mbdyn_ros.simulation.adaptive.touching import obeys
from mbdyn_ros.simulation.contact.contacts import Assembly, Contacts
from mbdyn_ros.simulation.contact.impulses import Blocks
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

pytestmark = pytest.mark.usefixtures("interpreted_module")

def example(name: str) -> str:
    """The file of a robot with loops."""
    return mbdyn_ros.example(name).model.source


CAN = BLOCK.replace(
    "</link>",
    """<collision><origin xyz="0.1 0 0.2" rpy="0.3 0.4 0"/>
  <geometry><cylinder radius="0.2" length="0.3"/></geometry></collision></link>""",
)
LINK = """<link name="{}"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
  <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial><collision>
  <origin xyz="0 0 0.2"/><geometry><sphere radius="{}"/></geometry></collision></link>"""
JOINT = """<joint name="{0}" type="{0}"><origin xyz="{1} 0 0"/><axis xyz="1 1 0"/>
  <parent link="{2}"/><child link="{3}"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
ARMS = (
    '<robot name="arms"><link name="world"/>'
    + "".join(LINK.format(name, 0.1 + k / 20) for k, name in enumerate("abc"))
    + JOINT.format("revolute", 0, "world", "a")
    + JOINT.format("continuous", 1, "world", "b")
    + JOINT.format("prismatic", 0.3, "a", "c")
    + "</robot>"
)
PLANE = Surface.plane(normal=[0.2, -0.3, 1.0], friction=0.4, name="floor", restitution=1.0)
BALL = Surface.sphere(2.0, (0, 0, -2.5), inside=False, friction=0.3, name="ball")
WAVES = Surface(lambda x: x[2] + 0.3 * x[0] ** 2 * x[1] + 0.1 * x[0], friction=0.2, name="waves")
BALLS = [(*one, 0.1 * (k % 2)) for k, one in enumerate(CORNERS)]
CASES = {
    "balls and points": (BLOCK, Environment([PLANE, BALL, WAVES], BALLS)),
    "rims": (CAN, Environment([PLANE])),
    "links and stops": (ARMS, Environment([PLANE], links=LinkContacts(friction=0.3))),
    "excavator": (example("excavator"), Environment([PLANE, BALL])),
    "stewart": (example("stewart"), Environment([PLANE])),
}


@pytest.mark.sparse
@pytest.mark.parametrize("case", CASES)
def test_rows_and_drifts_are_derivatives(case: str) -> None:
    """Of distances and of the velocities of what touches, of all contacts at any state."""
    text, environment = CASES[case]
    robot = mbdyn_ros.load(text, floating_base=text in (BLOCK, CAN))
    contacts, random, h = Contacts(robot, environment), np.random.default_rng(4), 1e-5
    way = 0.02 if robot.model.loops else 0.5
    q = robot.integrate(robot.home_position, way * random.normal(size=robot.nv))
    v = random.normal(size=robot.nv)
    # Balls have no further place on these walls, and so no contact there.
    which = np.setdiff1d(np.arange(contacts.geometry.lasting), contacts.further)
    rows = contacts.rows(q, v, which)
    _, rate, slope = contacts.distances(q, v)
    np.testing.assert_allclose(rows.W @ v, (rate / slope)[which], atol=1e-14)
    walls = np.isfinite(rows.normals[:, 0])

    def velocities(side: float) -> tuple[Array, Array]:
        moved = contacts.rows(robot.integrate(q, side * h * v), v, which)
        axes = np.linalg.inv(moved.frames[walls])
        return moved.W @ v, (axes @ (moved.J[walls] @ v)[:, :, None])[:, :, 0]

    (after, u_after), (before, u_before) = velocities(1.0), velocities(-1.0)
    np.testing.assert_allclose(rows.drift, (after - before) / (2 * h), atol=1e-7)
    change = rows.frames[walls] @ ((u_after - u_before) / (2 * h))[:, :, None]
    np.testing.assert_allclose(rows.drifts[walls, 1:], change[:, 1:, 0], atol=1e-7)


@pytest.mark.parametrize("shape, count", [(BLOCK, 2), (BLOCK, 3), (CAN, 2)])
def test_forces_hold_the_contacts(shape: str, count: int) -> None:
    """Points, balls and rims, stuck and sliding, on a tilted plane; three hold too much."""
    robot = mbdyn_ros.load(shape, floating_base=True)
    random = np.random.default_rng(4)
    contacts = Contacts(robot, Environment([PLANE], BALLS if shape is BLOCK else None))
    which = np.array([3, 0, 5] if shape is BLOCK else [1, 0])[:count]
    slides = np.arange(count) == 0
    q, v = random.normal(size=7), random.normal(size=6)
    q[3:] /= np.linalg.norm(q[3:])
    directions = np.array([[0.6, -0.8], [0.0, 0.0], [0.0, 0.0]])[:count]
    along = contacts.rows(q, v, which).along[0]
    directions[0] = along / np.linalg.norm(along)
    rows = contacts.rows(q, v, which, ~slides, slides, directions)
    laws, mu = rows.assembly, rows.friction[0]
    np.testing.assert_allclose(laws.columns[0], laws.rows[0] - mu * directions[0] @ rows.J[0, 1:])
    np.testing.assert_array_equal(laws.columns[1:], laws.rows[1:])
    mass, free = robot.mass_matrix(q), random.normal(size=6)
    found = rows.forces(mass, free)
    assert (found is None) == (count == 3)
    if found is None:
        return
    a, force, load = found
    np.testing.assert_allclose(mass @ (a - free), load, atol=1e-9)
    np.testing.assert_allclose(load, laws.columns.T @ force, atol=1e-9)
    np.testing.assert_allclose(laws.rows @ a + laws.drift, 0.0, atol=1e-9)


@pytest.mark.parametrize("gap", [-9e-10, 1e-10, 1e-9])
def test_a_gap_within_rounding_is_closed_and_accounted_for(gap: float) -> None:
    """A block that starts a nanometre above its floor rests; its fall is a loss, and no alarm."""
    block = mbdyn_ros.load(body_text("block", 2.0), floating_base=True)
    corners = [("block", (x, y, -0.1)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    floor = Environment([Surface.plane()], points=corners)
    start = [0, 0, 0.1 + gap, 0, 0, 0, 1]
    run = mbdyn_ros.simulate(block, start, np.zeros(6), 5.0, environment=floor)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-15)
    assert run.work[-1, 1] == pytest.approx(2.0 * 9.81 * gap, rel=1e-4)
    assert np.abs(run.imbalance).max() < 1e-12


def test_no_contact_obeys_all_laws() -> None:
    """So it is where dry friction of joints holds a robot that has come to rest on a wall."""
    none = np.zeros((0, 3))
    assert obeys(np.zeros(0), Assembly(none, none, np.zeros(0), Blocks.dry(np.zeros(0))))
