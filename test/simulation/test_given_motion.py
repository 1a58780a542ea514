"""Bodies that move as given in time, against theory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mbdyn_ros
from mbdyn_ros import GivenMotion, InputError, LinkContacts, ModelError, World
from mbdyn_ros.model.shapes import Box, Capsule, Sphere
from mbdyn_ros.model.write.urdf import urdf_text

G, MASS = 9.81, 2.0
STEP = 1e-3

FILE = """members:
  - {name: table, shape: box, size: [2, 2, 0.1], xyz: [0, 0, -0.05], motion: MOTION}
  - {name: box, shape: box, size: [0.2, 0.2, 0.2], mass: 2, xyz: [0, 0, 0.1]}
"""


def on_table(motion, friction=0.8):
    """A box on a table that moves."""
    world = World(links=LinkContacts(0.0, friction, convex=True))
    world.add("table", Box((2.0, 2.0, 0.1)), xyz=(0, 0, -0.05), motion=motion)
    world.add("box", Box((0.2, 0.2, 0.2)), mass=MASS, xyz=(0, 0, 0.1))
    return world


def moving_with(world, velocity):
    """A stepper whose box moves along z from the start."""
    stepper = world.stepper(STEP)
    v = stepper.v.copy()
    v[3] = velocity
    stepper.set_state(stepper.q.copy(), v)
    return stepper


def push(stepper):
    """The force (3,) that the contacts exert on the box."""
    forces = ((1 if one.links[0] == "box" else -1) * one.force for one in stepper.contacts)
    return sum(forces, np.zeros(3))


def unbalanced(stepper, start):
    """Energy (J) since `start` that neither losses nor the moving bodies explain."""
    return stepper.energy.sum() + stepper.lost + stepper.trimmed - start


@pytest.mark.long
def test_a_box_stays_on_a_table_that_shakes_gently():
    """m (g - A w^2 sin wt), and the energy that the table gives."""
    amplitude, rate = 0.01, 2 * np.pi * 4.0
    world = on_table(GivenMotion.sine(amplitude, 4.0))
    stepper = moving_with(world, amplitude * rate)
    start, highest = stepper.energy.sum(), 0.0
    for _ in range(500):
        stepper.advance()
        middle = stepper.time - STEP / 2
        expected = MASS * (G - amplitude * rate**2 * np.sin(rate * middle))
        assert_allclose(push(stepper)[2], expected, rtol=1e-4)
        highest = max(highest, abs(stepper.energy.sum() - start))
    assert not stepper.impacts
    assert abs(unbalanced(stepper, start)) < 1e-9 * highest


def test_a_box_leaves_a_table_that_shakes_harder_than_gravity():
    """Where A w^2 sin wt = g first; it hits again later."""
    amplitude, rate = 0.02, 2 * np.pi * 4.0
    stepper = moving_with(on_table(GivenMotion.sine(amplitude, 4.0)), amplitude * rate)
    while push(stepper)[2] or not stepper.time:
        stepper.advance()
    assert_allclose(stepper.time, np.arcsin(G / (amplitude * rate**2)) / rate, atol=2 * STEP)
    stepper.advance(500)
    assert stepper.impacts


def test_a_lift_gives_the_weight_of_its_acceleration():
    """m (g + a) on the way from rest to rest; `simulate` and a rollout go the same way."""
    world = on_table(GivenMotion.waypoints([0.0, 0.5], [0.0, 0.3]))
    stepper = world.stepper(STEP)
    start = stepper.energy.sum()
    for _ in range(500):
        stepper.advance()
        share = (stepper.time - STEP / 2) / 0.5
        a = 0.3 / 0.5**2 * 60 * share * (1 - share) * (1 - 2 * share)
        assert_allclose(push(stepper)[2], MASS * (G + a), rtol=1e-4)
    assert_allclose(stepper.q[3], 0.3, atol=1e-9)
    assert_allclose(stepper.energy.sum() - start, MASS * G * 0.3, rtol=1e-9)
    assert abs(unbalanced(stepper, start)) < 1e-9 * MASS * G * 0.3
    robot, nothing = world.robot, np.zeros((500, len(world.robot.effort_labels)))
    rolled, _ = robot.rollout(
        robot.home_position, robot.home_velocity, nothing, STEP, environment=world.environment
    )
    assert_allclose(rolled[-1], stepper.q, atol=1e-12)
    trajectory = mbdyn_ros.simulate(
        robot, robot.home_position, robot.home_velocity, 0.5, environment=world.environment
    )
    assert_allclose(trajectory.q[-1][3], 0.3, atol=1e-9)
    assert abs(trajectory.imbalance[-1]) < 1e-9 * MASS * G * 0.3
    assert trajectory.relative_imbalance < 1e-6  # in between, to the order of its steps


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize("shape", [Sphere(0.1), Box((0.2, 0.2, 0.2))])
@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_a_wall_that_comes_throws_what_it_hits(shape, e):
    """v' = (1 + e) v, and its energy comes from the wall."""
    world = World(links=LinkContacts(e, 0.5, convex=True), gravity=(0, 0, 0))
    plate = GivenMotion.steady(2.0, along=(1, 0, 0))
    world.add("plate", Box((0.05, 1.0, 1.0)), xyz=(-0.3, 0, 0), motion=plate)
    world.add("thrown", shape, mass=0.5)
    stepper = world.stepper(STEP)
    stepper.advance(200)
    assert_allclose(stepper.v[1:4], [2 * (1 + e), 0, 0], atol=1e-9)
    assert_allclose(stepper.lost, -0.25 * (2 * (1 + e)) ** 2, rtol=1e-9)
    robot = world.robot
    trajectory = mbdyn_ros.simulate(
        robot, robot.home_position, robot.home_velocity, 0.2, environment=world.environment
    )
    assert_allclose(trajectory.v[-1][1:4], [2 * (1 + e), 0, 0], atol=1e-9)
    assert trajectory.relative_imbalance < 1e-9


@pytest.mark.sparse
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_bat_throws_a_ball(e):
    """v' = (1 + e) v by events, at the instant and velocity of the bat there; then none."""
    world = World(links=LinkContacts(e, 0.3, convex=True), gravity=(0, 0, 0))
    bat = GivenMotion.sine(0.3, 0.5, along=(1, 0, 0))
    world.add("bat", Sphere(0.1), xyz=(-0.4, 0, 0), motion=bat)
    world.add("ball", Sphere(0.1), mass=0.5)
    robot = world.robot
    trajectory = mbdyn_ros.simulate(
        robot, robot.home_position, robot.home_velocity, 0.5, environment=world.environment
    )
    (impact,) = trajectory.impacts
    v = 0.3 * np.pi * np.sqrt(1 - (2 / 3) ** 2)
    assert_allclose(impact.time, np.arcsin(2 / 3) / np.pi, atol=1e-9)
    assert_allclose(impact.loss, 0.25 * (1 - e**2) * v**2, atol=1e-9)
    assert_allclose(trajectory.v[-1][1:4], [(1 + e) * v, 0, 0], atol=1e-9)
    assert not trajectory.stretches and trajectory.relative_imbalance < 1e-9


@pytest.mark.long
def test_a_ball_rolls_on_a_roller_that_moves():
    """Held by events, and its energy is what the roller gives."""
    world = World()
    along = GivenMotion.waypoints([0, 1], [0, 0.3])
    world.add("roller", Capsule(0.1, 1.0), rpy=(0, np.pi / 2, 0), motion=along)
    world.add("ball", Sphere(0.1), mass=0.5, xyz=(0, 0, 0.2))
    robot = world.robot
    trajectory = mbdyn_ros.simulate(
        robot, robot.home_position, robot.home_velocity, 0.5, environment=world.environment
    )
    assert_allclose(trajectory.q[-1][1], 2 / 7 * 0.15, rtol=1e-6)  # of the way of the roller
    assert not trajectory.stretches and trajectory.relative_imbalance < 1e-9


@pytest.mark.long
def test_a_box_slides_where_its_platform_is_too_steep():
    """At rest a little below tan(angle) = mu, and away a little above."""
    for angle, slides in ((0.97, False), (1.03, True)):
        tilt = GivenMotion.waypoints([0.0, 4.0], [0.0, angle * np.arctan(0.5)], about=(0, 1, 0))
        stepper = on_table(tilt, friction=0.5).stepper(STEP)
        stepper.advance(5000)
        assert bool(np.linalg.norm(stepper.v[1:4]) > 0.01) is slides


@pytest.mark.long
def test_a_turntable_carries_a_box_by_friction():
    """m w^2 r inwards."""
    stepper = on_table(GivenMotion.steady(1.0, about=(0, 0, 1))).stepper(STEP)
    q, v = stepper.q.copy(), stepper.v.copy()
    q[1], v[2], v[6] = 0.5, 0.5, 1.0
    stepper.set_state(q, v)
    stepper.advance(300)
    force = push(stepper)
    assert_allclose(np.linalg.norm(force[:2]), MASS * 0.5, rtol=1e-5)
    assert_allclose(np.linalg.norm(stepper.q[1:3]), 0.5, rtol=1e-3)


def test_a_pace_is_a_velocity():
    """A time that stands still keeps the wall there; one that goes twice as fast carries on so."""
    world = on_table(GivenMotion.steady(0.5))
    for pace in (0.0, 2.0):
        stepper = world.stepper(STEP)
        v = stepper.v.copy()
        v[0], v[3] = pace, 0.5 * pace
        stepper.set_state(stepper.q.copy(), v)
        stepper.advance(100)
        assert_allclose(stepper.q[3], 0.05 * pace, atol=1e-12)


def test_what_moves_as_given_needs_no_effort():
    """Inverse dynamics is that of all others, and wrenches act as ever."""
    world = on_table(GivenMotion.sine(0.01, 4.0))
    robot = world.robot
    q, v, a = robot.home_position, robot.home_velocity, np.arange(7.0)
    expected = [MASS, 2 * MASS, MASS * (3 + G)]
    assert_allclose(robot.inverse_dynamics(q, v, a)[:3], expected, rtol=1e-12)
    assert_allclose(robot.forward_dynamics(q, v, np.zeros(6))[:4], [0, 0, 0, -G], atol=1e-12)
    q[3] = 1.0
    pushed = {"box": [MASS, 0, MASS * G, 0, 0, 0]}
    trajectory = mbdyn_ros.simulate(robot, q, v, 0.1, wrenches=pushed)
    assert_allclose(trajectory.v[-1], [1, 0.1, 0, 0, 0, 0, 0], atol=1e-9)


def test_motions_stand_in_files_and_come_back():
    """YAML gives what Python gives, and URDF+ keeps it."""
    lines = (
        "[{law: sine, amplitude: 0.02, frequency: 3, along: [1, 0, 0]}, "
        "{law: waypoints, times: [0, 1], positions: [0, 0.2], about: [0, 1, 0]}]"
    )
    loaded = World.load(FILE.replace("MOTION", lines)).robot
    motions = [
        GivenMotion.sine(0.02, 3.0, along=(1, 0, 0)),
        GivenMotion.waypoints([0, 1], [0, 0.2], about=(0, 1, 0)),
    ]
    written = on_table(motions).robot
    again = mbdyn_ros.load(urdf_text(loaded.model))
    assert again.independent_joints == loaded.independent_joints == ("table_time", "box")
    q = loaded.home_position
    for q[0] in (0.0, 0.4, 2.0):
        pose = written.frame_pose(q, "table")
        assert_allclose(pose[0, 3], 0.02 * np.sin(6 * np.pi * q[0]), atol=1e-12)
        for one in (loaded, again):
            assert_allclose(one.frame_pose(q, "table"), pose, atol=1e-12)
    assert "table_time" in str(loaded.report())


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ("{law: sin}", 'there is no law "sin" .did you mean "sine"'),
        ("{law: sine, amplitude: 1}", "has no frequency"),
        ("{law: sine, amplitude: 1, frequency: 2, speed: 3}", 'a sine has no "speed"'),
        ("{law: sine, amplitude: .nan, frequency: 2}", "must be a finite number"),
        ("{law: waypoints, times: [1, 0], positions: [1, 2]}", "times must rise"),
        ("{law: steady, speed: 1, along: [0, 0, 0]}", "no direction"),
        ("{law: steady, speed: 1, along: [1, 0, 0], about: [1, 0, 0]}", "one of both"),
        ("{law: waypoints, times: [0, 1], positions: [1, 1]}", "motion 1 stays where it is"),
        ("[]", "give GivenMotions"),
        ("3", "must be a mapping"),
        ("{law: steady, speed: 1}, mass: 2", "shape without mass"),
    ],
)
def test_what_is_no_motion_is_refused_by_line(motion, words):
    """With file and line."""
    with pytest.raises(ModelError, match=rf"<text>:2: .*{words}"):
        World.load(FILE.replace("MOTION", motion))


@pytest.mark.sparse
@pytest.mark.parametrize(
    "motion",
    [
        GivenMotion.steady(300.0),
        GivenMotion.steady(300.0, about=(0, 0, 1)),
        GivenMotion.sine(0.001, 200.0),
        GivenMotion.waypoints([0.0, 0.001], [0.0, 0.001]),
    ],
)
def test_a_wall_that_is_faster_than_a_step_can_see_is_refused_by_name(motion):
    """In a stepper, when its step changes, and in a rollout."""
    world = on_table(motion)
    robot = world.robot
    with pytest.raises(InputError, match="'table_motion_1' .* take steps of at most"):
        world.stepper(STEP)
    stepper = world.stepper(1e-5)
    with pytest.raises(InputError, match="'table_motion_1' .* take steps of at most"):
        stepper.step = STEP
    with pytest.raises(InputError, match="'table_motion_1' .* take steps of at most"):
        robot.rollout(
            robot.home_position, robot.home_velocity, np.zeros((2, 6)), STEP,
            environment=world.environment,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GivenMotion.waypoints([0, np.nan], [0, 1]), "times must be a list of finite"),
        (lambda: GivenMotion.waypoints([0, 1], [1]), "2 times and 1 positions"),
        (lambda: GivenMotion.steady("fast"), "speed must be a finite number; it is 'fast'"),
        (lambda: GivenMotion.sine(1, -1), "frequency is -1.0"),
        (lambda: World().add("x", Sphere(0.1), motion=3), "x: motion is 3"),
        (
            lambda: on_table(GivenMotion.sine(0.1, 1.0)).robot.locked({"table_time": 0.0}),
            "'table_motion_1' gives its motion",
        ),
        (
            lambda: on_table(GivenMotion.sine(0.1, 1.0)).robot.scaled(2.0),
            "'table_motion_1' has a motion given in time",
        ),
    ],
)
def test_wrong_numbers_and_changes_are_refused(make, words):
    """In words, before anything is built."""
    with pytest.raises(InputError, match=words):
        make()
