"""Boxes, cylinders and meshes of links that touch each other: stacks, a domino row, features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robot_text import joint, robot_text
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, InputError, SimulationError, Stepper, Surface
from mbdyn_ros.model.pose import Pose
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts
from mbdyn_ros.simulation.contact.solids import ConvexShape, Drum, Polytope, Rounded, Solid
from mbdyn_ros.simulation.stepped.solid_tables import SolidTables, Touch

HIGH, THICK, APART, MASS = 0.5, 0.06, 0.2, 0.4
HEIGHT = np.sqrt(HIGH**2 - (APART - THICK) ** 2)
"""Of the edge of a plank that falls onto the next one, 0.14 m away."""


def link(name: str, size: tuple[float, float, float], center: str = "0 0 0") -> str:
    x, y, z = np.square(size)
    moments = MASS / 12 * np.array([y + z, x + z, x + y])
    ixx, iyy, izz = moments.tolist()
    return f"""<link name="{name}"><inertial><origin xyz="{center}"/><mass value="{MASS}"/>
      <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="{center}"/><geometry><box size="{size[0]} {size[1]} {size[2]}"/>
      </geometry></collision></link>"""


def row(count: int) -> mbdyn_ros.Robot:
    """Planks that stand on hinges at their front edges, and lie down at 90 degrees."""
    parts = ['<link name="world"/>']
    for k in range(count):
        parts.append(link(f"plank{k}", (THICK, 0.2, HIGH), f"{-THICK / 2} 0 {HIGH / 2}"))
        parts.append(f"""<joint name="hinge{k}" type="revolute"><parent link="world"/>
          <child link="plank{k}"/><axis xyz="0 1 0"/><origin xyz="{k * APART} 0 0"/>
          <limit lower="0" upper="{np.pi / 2}" velocity="99" effort="9"/></joint>""")
    return mbdyn_ros.load(f'<robot name="row">{"".join(parts)}</robot>')


@pytest.fixture(scope="module")
def planks() -> mbdyn_ros.Robot:
    return row(3)


def among(e: float = 0.0, mu: float = 0.0, **more: object) -> Environment:
    links = LinkContacts(e, mu, convex=True)
    return Environment([], joint_limits=True, links=links, **more)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_domino_row(planks: mbdyn_ros.Robot) -> None:
    """Without friction each plank hands on what levers at the height of its edge let it.

    The first hits the second, of like inertia at like levers: both go on with half its speed
    (van Leeuwen, "The domino effect", 2004). Impacts take what energy there is less.
    """
    stepper = Stepper(planks, 1e-3, among())
    stepper.set_state(np.zeros(3), [1.5, 0, 0])
    last = start = stepper.energy.sum()
    for _ in range(900):
        stepper.advance()
        assert stepper.energy.sum() <= last + 1e-9
        last = stepper.energy.sum()
    names = [f"link 'plank{k}' on link 'plank{k + 1}'" for k in (0, 1)]
    first, second = (next(i for i in stepper.impacts if name in i.surfaces) for name in names)
    assert set(first.surfaces) == {names[0]} and set(second.surfaces) == set(names)
    assert first.q[0] == pytest.approx(np.arccos(HEIGHT / HIGH), abs=1e-6)
    np.testing.assert_allclose(first.v_after[:2], first.v_before[0] / 2, rtol=1e-6)
    np.testing.assert_allclose(first.places[:, 2], HEIGHT, atol=1e-6)
    assert first.energy_before - first.energy_after == pytest.approx(first.loss, rel=1e-6)
    assert second.v_after[1] == pytest.approx(second.v_after[2], rel=1e-6)
    assert stepper.q[2] == pytest.approx(np.pi / 2, abs=1e-6)
    assert 1 < stepper.q[0] < stepper.q[1] < stepper.q[2]  # they lie on each other
    assert np.abs(stepper.v).max() < 1e-6
    assert start - last == pytest.approx(stepper.lost, abs=0.01 * start)
    assert stepper.residual < 1e-6


def test_simulate_is_event_driven_up_to_where_planks_are_near(planks: mbdyn_ros.Robot) -> None:
    """The same fall: free in the air, in equal steps where shapes are near each other."""
    motion = mbdyn_ros.simulate(planks, np.zeros(3), [1.5, 0, 0], 0.9, environment=among())
    names = [f"link 'plank{k}' on link 'plank{k + 1}'" for k in (0, 1)]
    first = next(i for i in motion.impacts if names[0] in i.surfaces)
    assert first.q[0] == pytest.approx(np.arccos(HEIGHT / HIGH), abs=1e-6)
    np.testing.assert_allclose(first.v_after[:2], first.v_before[0] / 2, rtol=1e-6)
    assert 0 < motion.stretches[0].start < first.time
    assert all("near each other" in one.why for one in motion.stretches)
    assert motion.q[-1][2] == pytest.approx(np.pi / 2, abs=1e-6)
    energy = motion.energy.sum(axis=1)
    assert np.diff(energy).max() < 1e-9 and np.abs(motion.imbalance).max() < 1e-3 * energy[0]


def test_rollouts_are_those_of_the_stepper(planks: mbdyn_ros.Robot) -> None:
    starts, v = np.zeros((2, 3)), np.array([[1.5, 0, 0], [0, 2.0, 0]])
    ends, _ = planks.rollout(
        starts, v, np.zeros((250, 3)), 1e-3, environment=among(), terminal=True
    )
    stepper = Stepper(planks, 1e-3, among())
    stepper.set_state(starts[0], v[0])
    stepper.advance(250)
    np.testing.assert_array_equal(ends[0], stepper.q)
    with pytest.raises(SimulationError, match="motion 1: link 'plank0' on link 'plank1' starts"):
        planks.rollout(
            np.array([[0, 0, 0], [1.0, 0, 0]]), np.zeros(3), np.zeros((1, 3)), 1e-3,
            environment=among(),
        )  # fmt: skip


def test_stacked_boxes_stand_and_one_that_leans_out_too_far_falls() -> None:
    parts = [link(f"box{k}", (0.2, 0.2, 0.1)) for k in range(2)]
    parts += [
        f'<joint name="j{k}" type="floating"><parent link="world"/><child link="box{k}"/></joint>'
        for k in range(2)
    ]
    robot = mbdyn_ros.load(f'<robot name="stack"><link name="world"/>{"".join(parts)}</robot>')
    floor = Surface.plane(restitution=0.0, friction=0.5, name="floor")
    links = LinkContacts(0.0, 0.5, convex=True)
    corners = [("box0", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    stepper = Stepper(robot, 1e-3, Environment([floor], corners, links=links))
    start = np.array([0, 0, 0.05, 0, 0, 0, 1, 0.09, 0.01, 0.15 + 1e-5, 0, 0, 0, 1])
    stepper.set_state(start, np.zeros(12))
    stepper.advance(500)
    np.testing.assert_allclose(stepper.q, start, atol=1.1e-5)
    assert np.abs(stepper.v).max() < 1e-9
    upper = [one for one in stepper.contacts if one.surface == "link 'box0' on link 'box1'"]
    assert len(upper) == 4 and all(one.sticks for one in upper)
    push = -sum(one.force for one in upper)  # on box1, which hangs over by 0.01 m
    np.testing.assert_allclose(push, [0, 0, 9.81 * MASS], atol=1e-6)
    center = sum(one.force[2] * one.place for one in upper) / sum(one.force[2] for one in upper)
    np.testing.assert_allclose(center, [0.09, 0.01, 0.1], atol=1e-6)
    start[7] = 0.11
    stepper.set_state(start, np.zeros(12))
    stepper.advance(150)
    assert stepper.q[11] > 0.02  # it turns about y


def touches(one: ConvexShape, at: Pose, other: ConvexShape, margin: float = 1e-3) -> list[Touch]:
    pair = Solid("one", 0, Pose(), one), Solid("other", 1, Pose(), other)
    return SolidTables((pair,), {0: 0, 1: 0}).touches(0, at, Pose(), margin)


LYING = Rotation.from_euler("x", 90, degrees=True).as_matrix()
ACROSS = Rotation.from_euler("yz", [45, 30], degrees=True).as_matrix()


@pytest.mark.parametrize(
    ("shape", "turn", "x", "z", "count"),
    [
        (Polytope.box((0.4, 0.4, 0.4)), np.eye(3), 0.5, 0.7, 4),  # half of it over the edge
        (Polytope.box((0.4, 2.0, 0.4)), ACROSS, 0.0, 0.5 + 0.2 * np.sqrt(2), 2),  # on its edge
        (Drum(0.3, 0.5), np.eye(3), 0.1, 0.75, 4),
        (Drum(0.3, 0.5), LYING, 0.1, 0.8, 2),
        (Rounded(0.2), np.eye(3), 0.1, 0.7, 1),
        (Rounded(0.2, 1.5), LYING, 0.1, 0.7, 2),
    ],
)
def test_where_shapes_touch_a_face(
    shape: ConvexShape, turn: np.ndarray, x: float, z: float, count: int
) -> None:
    """A cube of 1 m under shapes that lie on it: as many points as hold them, all on its face."""
    found = touches(shape, Pose(turn, np.array([x, 0.0, z])), Polytope.box((1, 1, 1)))
    assert len(found) == count
    for touch in found:
        np.testing.assert_allclose(touch.normal, [0, 0, 1], atol=1e-9)
        assert touch.gap == pytest.approx(0, abs=1e-9) and not touch.turned
        assert np.abs(touch.point[:2]).max() <= 0.5 + 1e-8


def test_where_edges_cross_and_a_ball_meets_an_edge() -> None:
    edge = Rotation.from_euler("y", 45, degrees=True).as_matrix()
    cross = Rotation.from_euler("xz", [45, 0], degrees=True).as_matrix()
    bar = Polytope(Polytope.box((0.2, 2, 0.2)).corners @ edge.T)
    beam = Polytope.box((2, 0.2, 0.2))
    (touch,) = touches(beam, Pose(cross, np.array([0.1, 0.2, 0.2 * np.sqrt(2)])), bar)
    np.testing.assert_allclose(touch.normal, [0, 0, 1], atol=1e-4)
    np.testing.assert_allclose(touch.point, [0, 0.2, 0.1 * np.sqrt(2)], atol=1e-4)
    (touch,) = touches(Rounded(0.1), Pose(np.eye(3), np.array([0, 0.3, 0.2414213])), bar)
    assert touch.radius == 0.1 and touch.gap == pytest.approx(0, abs=1e-6)


@pytest.mark.long
def test_many_shapes_may_be_near_each_other() -> None:
    """28 pairs that fly side by side find room, at the start and on the way."""
    parts = [
        part
        for k in range(8)
        for part in (
            link(f"box{k}", (0.05, 0.05, 0.05)),
            joint(f"slide{k}", "world", f"box{k}", "0 1 0", f"{0.06 * k} 0 0", kind="prismatic"),
        )
    ]
    robot = mbdyn_ros.load(robot_text(*parts))
    links = LinkContacts(restitution=0.0, friction=0.0, convex=True)
    free = Environment([], links=links, joint_limits=False)
    stepper = Stepper(robot, 1e-3, free)
    stepper.set_state(np.zeros(8), np.full(8, 1.0))
    stepper.advance(10)
    stepper.set_state(np.zeros(8), np.full(8, 300.0))  # 0.9 m in the time that is looked ahead
    stepper.advance(10)
    np.testing.assert_allclose(stepper.q, 3.0, atol=1e-9)
    assert not stepper.contacts and np.count_nonzero(stepper._motion.blocks[:, 0]) == 28
    for speed, push in ((300.0, 0.0), (0.0, MASS * 3e4)):  # at the start, and on the way
        v, efforts = np.outer([0.0, speed], np.ones(8)), np.full((10, 8), push)
        q, _ = robot.rollout(np.zeros((2, 8)), v, efforts, 1e-3, environment=free)
        expected = v * 0.01 + 0.5 * push / MASS * 0.01**2
        np.testing.assert_allclose(q[:, -1], expected, atol=1e-9)


@pytest.mark.long
def test_a_plank_lies_on_a_fixed_beam() -> None:
    """It rests on the beam's edges where its middle is above it, and tips over one where not."""
    box = '<collision><geometry><box size="0.1 0.5 0.1"/></geometry></collision>'
    text = robot_text(
        f'<link name="beam">{box}</link>', link("plank", (1.0, 0.2, 0.05)),
        joint("stands", "world", "beam", kind="fixed"),
        joint("free", "world", "plank", kind="floating"),
    )  # fmt: skip
    robot = mbdyn_ros.load(text)
    floor = Surface.plane((0, 0, -2.0))
    stepper = Stepper(robot, 1e-3, Environment([floor], links=LinkContacts(0.0, 0.5, convex=True)))
    stepper.set_state([0.02, 0, 0.08, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(500)
    np.testing.assert_allclose(stepper.q, [0.02, 0, 0.075, 0, 0, 0, 1], atol=1e-6)
    assert {contact.links for contact in stepper.contacts} == {("beam", "plank")}
    force = sum(contact.force for contact in stepper.contacts)
    np.testing.assert_allclose(force, [0, 0, -MASS * 9.81], atol=1e-6)
    stepper.set_state([0.2, 0, 0.08, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(300)
    assert stepper.q[4] > 0.1 and stepper.q[2] > -0.2
    with pytest.raises(SimulationError, match="'beam'.* starts inside it"):
        stepper.set_state([0.0, 0, 0.05, 0, 0, 0, 1], np.zeros(6))


def test_what_is_refused(planks: mbdyn_ros.Robot, tmp_path: Path) -> None:
    stepper = Stepper(planks, 1e-3, among())
    with pytest.raises(SimulationError, match=r"'plank0' on link 'plank1' starts inside it, at \("):
        stepper.set_state([1.0, 0, 0], np.zeros(3))
    both = r"an SRDF may: disabled=\[\('plank0', 'plank1'\), \('plank0', .*'plank2'\)\]$"
    with pytest.raises(SimulationError, match=both):
        stepper.set_state([1.0, 0.7, 0], np.zeros(3))
    with pytest.raises(SimulationError, match=r"'plank0' on link 'plank1' starts inside it, at \("):
        mbdyn_ros.simulate(planks, [1.0, 0, 0], np.zeros(3), 1.0, environment=among())
    path = tmp_path / "row.yaml"
    path.write_text("surfaces: []\njoint_limits: true\nlinks: {convex: perhaps}\n")
    with pytest.raises(mbdyn_ros.MbdynError, match="links: convex"):
        mbdyn_ros.read_environment(path)
    path.write_text("surfaces: []\njoint_limits: true\nlinks: {convex: true, restitution: 0}\n")
    links = mbdyn_ros.read_environment(path).links
    assert links is not None and links.convex
    with pytest.raises(InputError, match="convex is 1; it must be True or False"):
        LinkContacts(convex=1, restitution=1.0, friction=0.0)  # type: ignore[arg-type]
