"""Worlds of several robots and free bodies."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_robots import explore
from robot_text import hinge_text, joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import InputError, LinkContacts, ModelWarning, SimulationError, Surface, World
from mbdyn_ros.model.inertia import Inertia
from mbdyn_ros.model.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from mbdyn_ros.simulation import read_environment

G, FRICTION = 9.81, 0.5
FLOOR = Surface.plane(restitution=0.0, friction=FRICTION)
CUBE = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
GRIPPER = robot_text(
    link("palm", 1.0, 0.01),
    link("left", 0.2, 1e-3, more=CUBE),
    link("right", 0.2, 1e-3, more=CUBE),
    joint("lift", "world", "palm", "0 0 1", kind="prismatic"),
    joint("left", "palm", "left", "0 1 0", "0 -0.1 0", kind="prismatic"),
    joint("right", "palm", "right", "0 -1 0", "0 0.1 0", kind="prismatic"),
)  # fmt: skip


@pytest.mark.long
def test_balls_that_meet_share_their_momentum() -> None:
    """Newton's law of two free bodies, and a third one that is not met."""
    world = World(links=LinkContacts(restitution=0.5, friction=0.0, convex=True), gravity=(0, 0, 0))
    for name, mass, x in (("one", 1.0, 0.0), ("two", 3.0, 0.3), ("far", 1.0, 2.0)):
        world.add(name, Sphere(0.1), mass=mass, xyz=(x, 0, 0))
    stepper = world.stepper(1e-3)
    v = np.zeros(18)
    v[world.members["one"].v[0]] = 1.0
    stepper.set_state(world.robot.home_position, v)
    stepper.advance(300)
    after = [stepper.v[world.members[name].v[0]] for name in ("one", "two", "far")]
    np.testing.assert_allclose(after, [(1 - 0.5 * 3) / 4, 1.5 / 4, 0], atol=1e-9)


def test_robots_that_do_not_touch_move_as_alone() -> None:
    arm = mbdyn_ros.load(hinge_text())
    world = World(links=None)
    world.add("left", arm, xyz=(0, 1, 0))
    world.add("right", arm, rpy=(0, 0, 1.0))
    assert world.robot.joint_names == ("left_hinge", "right_hinge")
    both, alone = world.stepper(1e-3), mbdyn_ros.Stepper(arm, 1e-3)
    for one, size in ((both, 2), (alone, 1)):
        one.set_state(np.full(size, 0.3), np.full(size, 0.1))
        one.advance(200)
    np.testing.assert_allclose(both.q, alone.q[[0, 0]], atol=1e-12)


@pytest.mark.long
def test_a_box_is_gripped_and_lifted() -> None:
    """Fingers press with twice the least force, and the lift feels the weight of the box."""
    world = World([FLOOR], links=LinkContacts(friction=FRICTION, convex=True))
    world.add("hand", mbdyn_ros.load(GRIPPER), xyz=(0, 0, 0.05))
    world.add("box", Box((0.1, 0.08, 0.1)), mass=2.0, xyz=(0, 0, 0.0501))
    hand = world.members["hand"]
    assert world.robot.effort_labels[hand.effort[0]] == "hand_lift"
    stepper, press = world.stepper(1e-3), 2.0 * G / FRICTION
    for k in range(1500):
        lift = 0.1 * max(0.0, 1e-3 * k - 0.3)
        height, speed = stepper.q[hand.q[0]], stepper.v[hand.v[0]]
        stepper.effort[hand.effort] = 1.4 * G + 2e4 * (lift - height) - 400 * speed, press, press
        stepper.advance(1)
    effort = stepper.effort[hand.effort[0]]
    lag = (2.0 * G + 400 * 0.1) / 2e4
    assert world.robot.frame_pose(stepper.q, "box")[2, 3] == pytest.approx(0.17 - lag, abs=1e-4)
    assert effort == pytest.approx((1.4 + 2.0) * G, rel=1e-3)
    assert any(one.sticks for one in stepper.contacts)


def test_members_come_and_go() -> None:
    world = World([FLOOR])
    assert repr(world) == "World(empty)"
    world.add("table", Box((1, 1, 0.4)), xyz=(0, 0, 0.2))
    world.add("ball", Sphere(0.05), mass=0.2, xyz=(0, 0, 0.46))
    assert world.members["table"].links == ("table",) and len(world.members["table"].q) == 0
    stepper = world.stepper(1e-3)
    stepper.advance(1000)
    assert world.robot.frame_pose(stepper.q, "ball")[2, 3] == pytest.approx(0.45, abs=1e-9)
    world.remove("table")
    assert world.robot.links == ("world", "ball")
    fallen = world.stepper(1e-3)
    fallen.advance(1000)
    assert world.robot.frame_pose(fallen.q, "ball")[2, 3] == pytest.approx(0.05, abs=1e-9)


def test_what_floats_goes_on_floating() -> None:
    body = robot_text(link("body"), name="drone", base="")
    world = World()
    world.add("drone", mbdyn_ros.load(body, floating_base=True), xyz=(0, 0, 1))
    assert world.robot.nv == 6
    pole = mbdyn_ros.load(hinge_text())
    words = r"floats on its own.*fastened to link 'world'.*free=True"
    with pytest.warns(ModelWarning, match=words):
        fastened = pole.attached(mbdyn_ros.load(body, floating_base=True), "world")
    assert fastened.nv == 1
    assert pole.attached(mbdyn_ros.load(body, floating_base=True), "world", free=True).nv == 7


@pytest.mark.long
def test_bodies_stand_next_to_robots_with_dependent_joints() -> None:
    """Those choose their joints; what comes before or after them is free all the same."""
    loop = mbdyn_ros.example("four_bar")
    for order in ((0, 1), (1, 0)):
        world = World(links=None)
        for k in order:
            if k:
                world.add("ball", Sphere(0.1), mass=1.0, xyz=(0, 0, 2))
            else:
                world.add("bars", loop)
        assert world.robot.nv == loop.nv + 6 and len(world.members["ball"].v) == 6
        assert world.robot.independent_joints[order.index(0)] == f"bars_{loop.joint_names[0]}"
        stepper = world.stepper(1e-3)
        stepper.advance(100)
        height = world.robot.frame_pose(stepper.q, "ball")[2, 3]
        assert height == pytest.approx(2 - 9.81 / 2 * 0.01, abs=1e-12)


@explore(10)
@given(
    st.sampled_from([Box((0.1, 0.2, 0.3)), Sphere(0.2), Cylinder(0.1, 0.5), Capsule(0.1, 0.4)]),
    st.floats(0.1, 10.0),
)
def test_shapes_of_even_density_are_those_of_mujoco(shape: Geometry, mass: float) -> None:
    kinds = {
        Box: ("box", lambda: np.array(shape.size) / 2),
        Sphere: ("sphere", lambda: [shape.radius]),
        Cylinder: ("cylinder", lambda: [shape.radius, shape.length / 2]),
        Capsule: ("capsule", lambda: [shape.radius, shape.length / 2]),
    }
    kind, size = kinds[type(shape)]
    numbers = " ".join(map(str, size()))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><freejoint/><geom type="{kind}" size="{numbers}" mass="{mass}"/>'
        "</body></worldbody></mujoco>"
    )
    found = Inertia.of_solid(shape, mass)
    assert found is not None
    ours = np.sort(found.moments.diagonal())
    np.testing.assert_allclose(ours, np.sort(model.body_inertia[1]), rtol=1e-9)


def test_what_cannot_be_is_refused() -> None:
    world = World([FLOOR])
    world.add("ball", Sphere(0.05), mass=0.2, xyz=(0, 0, 0.1))
    with pytest.raises(InputError, match="two members have the name 'ball'"):
        world.add("ball", Sphere(0.05))
    with pytest.raises(InputError, match="brick: mass must be a finite number above zero; it is 0"):
        world.add("brick", Box((1, 1, 1)), mass=0)
    with pytest.raises(InputError, match="brick: size must be above 0; got -1"):
        world.add("brick", Box((1, -1, 1)), mass=1)
    with pytest.raises(InputError, match="a member has the name ''; give it one"):
        world.add("", Box((1, 1, 1)))
    with pytest.raises(InputError, match="no inertia of its own; give a robot file"):
        world.add("bunny", Mesh("bunny.stl", (1, 1, 1)), mass=1)
    with pytest.raises(InputError, match="arm: a mass is that of a shape; a robot has its own"):
        world.add("arm", mbdyn_ros.load(hinge_text()), mass=1)
    with pytest.raises(InputError, match=r"no member 'bal' \(did you mean \"ball\"\?\)"):
        world.remove("bal")
    world.add("other", Sphere(0.05), mass=0.2, xyz=(0, 0, 0.15))
    with pytest.raises(SimulationError, match="link 'ball' on link 'other' starts inside it"):
        world.stepper(1e-3)


def test_friction_and_bounce_of_pairs() -> None:
    """Two blocks slide on one table as their pairs say, a ball bounces there, another does not."""
    links = LinkContacts(
        0.0, 0.6, convex=True, laws={("table", "slow"): (0.0, 0.2), ("ball", "table"): (0.5, 0.0)}
    )
    world = mbdyn_ros.World(links=links)
    world.add("table", Box((4.0, 4.0, 0.2)), xyz=(0, 0, -0.1))
    for k, name in enumerate(("slow", "rough")):
        world.add(name, Box((0.2, 0.2, 0.1)), mass=1.0, xyz=(0, k - 0.5, 0.05))
    for k, name in enumerate(("ball", "dead")):
        world.add(name, Sphere(0.1), mass=1.0, xyz=(-1.5, k - 0.5, 0.6))
    stepper = world.stepper(1e-3)
    v = np.zeros(world.robot.nv)
    for name in ("slow", "rough"):
        v[world.members[name].v[0]] = 1.0
    stepper.set_state(world.robot.home_position, v)
    highest = {"ball": 0.0, "dead": 0.0}
    while stepper.time < 1.0:
        stepper.advance()
        for name, most in highest.items():
            at = world.robot.frame_pose(stepper.q, name)[2, 3] - 0.1
            highest[name] = max(most, at) if stepper.time > 0.33 else 0.0
    for name, mu in (("slow", 0.2), ("rough", 0.6)):
        way = world.robot.frame_pose(stepper.q, name)[0, 3]
        assert way == pytest.approx(1 / (2 * mu * 9.81), rel=1e-5)
    assert highest["ball"] == pytest.approx(0.5 * 0.5**2, rel=1e-4)
    assert highest["dead"] < 1e-6


def test_pairs_of_a_file(tmp_path: Path) -> None:
    """What a pair does not say is as usual; a link that is not there is refused by name."""
    file = tmp_path / "links.yaml"
    file.write_text(
        "surfaces: []\nlinks:\n  friction: 0.4\n  convex: true\n"
        "  pairs:\n    - {links: [a, b], restitution: 0.3}\n"
    )
    links = read_environment(file).links
    assert links is not None
    assert links.laws == {frozenset(("a", "b")): (0.3, 0.4)}
    world = mbdyn_ros.World(links=LinkContacts(convex=True, laws={("a", "c"): (0.0, 0.1)}))
    for k, name in enumerate("ab"):
        world.add(name, Sphere(0.1), mass=1.0, xyz=(0, 0, k))
    with pytest.raises(InputError, match="'c'"):
        world.stepper(1e-3)
    with pytest.raises(InputError, match="links a and b: friction is -1"):
        LinkContacts(laws={("a", "b"): (0.0, -1.0)})


def test_meshes_of_a_package_come_along(tmp_path: Path) -> None:
    """Packages are looked for near the file of the robot, which the world's is not."""
    trimesh = pytest.importorskip("trimesh")
    for name in ("meshes", "urdf"):
        (tmp_path / "blocks" / name).mkdir(parents=True)
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "blocks/meshes/cube.stl")
    shape = '<geometry><mesh filename="package://blocks/meshes/cube.stl"/></geometry>'
    file = tmp_path / "blocks/urdf/cube.urdf"
    file.write_text(
        '<robot name="cube"><link name="cube"><inertial><mass value="1"/><inertia ixx="0.01" '
        'iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        f"<visual>{shape}</visual><collision>{shape}</collision></link></robot>"
    )
    world = World([Surface.plane()])
    world.add("cube", mbdyn_ros.load(file, floating_base=True), xyz=(0, 0, 0.1))
    points = world.environment.contact_points(world.robot)
    (point,) = {abs(place) for one in points for place in one.xyz}
    assert point == pytest.approx(0.1)
