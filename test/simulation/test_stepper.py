"""Steps among walls in one compiled call, judged by hand, by balances and by the laws."""

from __future__ import annotations

import copy
import ctypes
import functools
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from interpreting import interpreting
from planar_robots import own
from robot_text import body_text
from thrown_robots import ARM, BLOCK, CORNERS, START

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface
from mbdyn_ros.compiler.cache import cached_library
from mbdyn_ros.compiler.gcc import toolchain_cpp
from mbdyn_ros.errors import InputError, SimulationError, SimulationWarning
from mbdyn_ros.model.model import Array
from mbdyn_ros.model.shapes import Box
from mbdyn_ros.simulation.contact.impulses import Blocks, Problem, solver
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def block() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(BLOCK, floating_base=True)


def on_floor(robot: mbdyn_ros.Robot, e: float, mu: float) -> Stepper:
    floor = Surface.plane(restitution=e, friction=mu, name="floor")
    return Stepper(robot, 1e-3, Environment([floor], CORNERS))


def test_impacts_are_those_that_were_however_late_they_are_asked_for() -> None:
    """As taken at once, also where the robot is another one by then."""
    folded = mbdyn_ros.load(BLOCK, floating_base=True)
    name = folded.links[0]
    variable = mbdyn_ros.load(BLOCK, floating_base=True, variable=[name])
    for robot in (folded, variable):
        both = on_floor(robot, 0.5, 0.3), on_floor(robot, 0.5, 0.3)
        taken = []
        for stepper in both:
            stepper.set_state([0, 0, 0.4, 0.1, 0.2, 0, 1], np.zeros(6))
        for _ in range(500):
            both[0].advance()
            taken += both[0].take_impacts()
        both[1].advance(500)
        if robot is variable:
            robot.set_payload(name, 5.0)
        late = both[1].take_impacts()
        assert len(taken) == len(late) > 2
        for one, other in zip(taken, late, strict=True):
            for field in fields(one):
                np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


@pytest.mark.long
def test_the_papers_impacts_in_real_time_steps() -> None:
    """At 1 kHz: the event-driven numbers to seven digits, and no work is lost."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    walls = mbdyn_ros.read_environment(ROOT / "config" / "tree_robot_walls.yaml")
    with interpreting():
        judge = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
        exact = mbdyn_ros.simulate(judge, START, np.zeros(12), 1.5, environment=walls)
    stepper = Stepper(robot, 1e-3, walls)
    stepper.set_state(START, np.zeros(12))
    before = stepper.energy.sum()
    stepper.advance(1500)
    impacts = stepper.take_impacts()
    assert [one.points for one in impacts] == [one.points for one in exact.impacts]
    for one, other in zip(impacts, exact.impacts, strict=True):
        assert one.time == pytest.approx(other.time, abs=1e-7)
        np.testing.assert_allclose(one.impulses, other.impulses, rtol=1e-6)
        np.testing.assert_allclose(one.places, other.places, atol=1e-6)
        np.testing.assert_allclose(one.normals, other.normals, atol=1e-6)
        assert one.loss == pytest.approx(one.energy_before - one.energy_after, abs=1e-8)
    assert stepper.energy.sum() == pytest.approx(before, abs=1e-3)
    assert abs(stepper.lost) < 1e-7 and stepper.impacts == () and stepper.take_impacts() == []
    assert stepper.time == pytest.approx(1.5) and stepper.merged == 0
    assert stepper.deepest < 1e-9


@settings(max_examples=3, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), e=st.floats(0, 0.6), friction=st.sampled_from([0.0, 0.4]))
@example(seed=361409477, e=0.0, friction=0.4)  # rests with a force on its cone
def test_a_thrown_block(block: mbdyn_ros.Robot, seed: int, e: float, friction: float) -> None:
    """Energy never grows, nothing enters the floor, and in the end the block lies flat."""
    rng = np.random.default_rng(seed)
    stepper = on_floor(block, e, friction)
    turn = rng.normal(size=4)
    start = np.array([0, 0, 0.6, *turn / np.linalg.norm(turn)])
    stepper.set_state(start, rng.normal(size=6) * [1, 1, 1, 2, 2, 2])
    total = energy = stepper.energy.sum()
    deepest = 0.0
    for _ in range(3000):
        stepper.advance()
        assert stepper.energy.sum() <= energy + 1e-8 * total
        energy = stepper.energy.sum()
        deepest = min(deepest, lowest(stepper.q))
    assert deepest > -1e-6
    assert energy + stepper.lost == pytest.approx(total, rel=1e-3)
    assert stepper.residual < 1e-5
    assert all((one.impulses >= 0).all() for one in stepper.take_impacts())
    if friction:
        assert stepper.q[2] == pytest.approx(
            min([0.1, 0.2, 0.3], key=lambda z: abs(z - stepper.q[2]))
        )
        force = sum(contact.force for contact in stepper.contacts)
        np.testing.assert_allclose(force, [0, 0, 3 * 9.81], atol=1e-6)
        assert all(contact.sticks for contact in stepper.contacts)


def lowest(q: Array) -> float:
    """The lowest corner of the block."""
    x, y, z, w = q[3:7]
    up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    return float(q[2] + min(np.array(corner) @ up for _, corner in CORNERS))


def test_a_block_slides_and_stops(block: mbdyn_ros.Robot) -> None:
    """v^2 / (2 mu g), then it stays for good."""
    stepper = on_floor(block, 0.0, 0.5)
    stepper.set_state([0, 0, 0.1, 0, 0, 0, 1.0], [1.0, 0.5, 0, 0, 0, 0])
    stepper.advance(100)
    contacts = stepper.contacts
    assert len(contacts) == 4 and not any(contact.sticks for contact in contacts)
    force = sum(contact.force for contact in contacts)
    along = -0.5 * 3 * 9.81 * np.array([2, 1]) / 5**0.5
    np.testing.assert_allclose(force, [*along, 3 * 9.81], rtol=1e-6)
    stepper.advance(400)
    way = 1.25 / (2 * 0.5 * 9.81) * np.array([2, 1]) / 5**0.5
    np.testing.assert_allclose(stepper.q[:2], way, rtol=1e-3)
    rest = stepper.q.copy()
    stepper.advance(300)
    np.testing.assert_allclose(stepper.q, rest, atol=1e-9)
    assert np.abs(stepper.v).max() < 1e-6
    assert stepper.lost == pytest.approx(0.5 * 3 * 1.25, rel=2e-3)


@pytest.mark.long
def test_a_ball_rolls() -> None:
    """Sliding until 2/7 of the speed is lost, v0 / (3.5 mu g) later, and rolling for good."""
    ball = mbdyn_ros.load(body_text("ball", 1, 0.004), floating_base=True)
    floor = Surface.plane(restitution=0.0, friction=0.2, name="floor")
    stepper = Stepper(ball, 1e-3, Environment([floor], [("ball", (0, 0, 0), 0.1)]))
    stepper.set_state([0, 0, 0.1, 0, 0, 0, 1], [1.0, 0, 0, 0, 0, 0])
    slides = 1 / (3.5 * 0.2 * 9.81)
    stepper.advance(int(1000 * slides) - 1)
    assert not stepper.contacts[0].sticks
    stepper.advance(300)
    assert stepper.contacts[0].sticks
    assert np.linalg.norm(stepper.v[:3]) == pytest.approx(5 / 7, rel=1e-3)
    way = slides * (1 - slides * 0.5 * 0.2 * 9.81) + 5 / 7 * (stepper.time - slides)
    assert stepper.q[0] == pytest.approx(way, rel=1e-3)


@pytest.mark.long
def test_a_rod_that_jams_goes_on() -> None:
    """Painleve's rod: it slides where no force obeys Coulomb's law; the tip is caught, or lifts."""
    rod = mbdyn_ros.load(body_text("rod", 1, (0.0833, 0.0833, 1e-4)), floating_base=True)
    floor = Surface.plane(restitution=0.0, friction=2.0, name="floor")
    points = [("rod", (0, 0, -0.5)), ("rod", (0, 0, 0.5))]
    stepper = Stepper(rod, 1e-3, Environment([floor], points))
    lean = np.radians(30) / 2
    start = np.array([0, 0, 0.5 * np.cos(2 * lean), 0, np.sin(lean), 0, np.cos(lean)])
    stepper.set_state(start, [-1.0, 0, 0, 0, 0, 0] @ np.eye(6))
    energy = stepper.energy.sum()
    for _ in range(1500):
        stepper.advance()
        assert stepper.energy.sum() <= energy + 1e-8
        energy = stepper.energy.sum()
    assert stepper.residual < 1e-8 and abs(stepper.q[2]) < 1e-6


@pytest.mark.sparse
@pytest.mark.parametrize(("dry", "falls"), [(10.0, False), (30.0, False), (19.0, True)])
def test_joints_with_dry_friction_feel_the_floor(dry: float, falls: bool) -> None:
    """The leg carries 2 kg, 19.62 N, if its friction can; in the air it need not."""
    robot = mbdyn_ros.load(ARM.format(dry=dry))
    floor = Surface.plane(restitution=0.0, name="floor", friction=0.0)
    stepper = Stepper(robot, 1e-3, Environment([floor], [("foot", (0, 0, 0))]))
    stepper.set_state([1.0, 0.0], np.zeros(2))
    if dry == 10.0:
        stepper.effort[1] = -12.0  # pushes the foot down: 22 N are enough
    stepper.advance(100)
    if falls:
        assert stepper.q[0] == pytest.approx(1 - 0.5 * (19.62 - 19) / 2 * 0.1**2, rel=1e-6)
        assert stepper.q[0] + stepper.q[1] == pytest.approx(1.0, abs=1e-9)
    else:
        np.testing.assert_allclose(stepper.q, [1, 0], atol=1e-9)


def test_bounces_without_end_end() -> None:
    """A point between two elastic walls that close in on it: a step is a step."""
    robot = mbdyn_ros.load(ARM.format(dry=0.0))
    walls = [
        Surface.plane(name="floor", restitution=1.0, friction=0.0),
        Surface.plane(
            point=(0, 0, 1e-5), normal=(0, 0, -1), name="roof", restitution=1.0, friction=0.0
        ),
    ]
    stepper = Stepper(robot, 1e-3, Environment(walls, [("cart", (0, 0, 0))], 0.0))
    stepper.set_state([5e-6, 0.0], [20.0, 0.0])
    stepper.advance(5)
    assert stepper.merged and -1e-9 < stepper.q[0] < 1e-5 + 1e-9


def test_states_are_refused(block: mbdyn_ros.Robot) -> None:
    stepper = on_floor(block, 0.0, 0.5)
    stepper.set_state([0, 0, 1.0, 0, 0, 0, 1], np.ones(6))
    with pytest.raises(SimulationError, match="'block'.* on surface 'floor' starts inside"):
        stepper.set_state([0, 0, 0.0, 0, 0, 0, 1], np.zeros(6))
    with pytest.raises(InputError, match="floating_base/x"):
        stepper.set_state([np.nan, 0, 1.0, 0, 0, 0, 1], np.zeros(6))
    assert stepper.q[2] == 1 and stepper.v[0] == 1
    stepper.effort[0] = np.nan
    with pytest.raises(SimulationError, match="left the finite numbers"):
        stepper.advance()


def test_contacts_that_cannot_all_close_pull_at_none(block: mbdyn_ros.Robot) -> None:
    """Five points of which four can touch: the fifth would have to be pulled down."""
    floor = Surface.plane(restitution=0.0, friction=0.5, name="floor")
    low = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    for above in (1e-4, 1e-8):  # the latter is near enough to be held
        points = [("block", place) for place in [*low, (0.1, 0.0, -0.1 + above)]]
        stepper = Stepper(block, 1e-3, Environment([floor], points))
        stepper.set_state([0, 0, 0.1, 0, 0, 0, 1], np.zeros(6))
        for _ in range(20):
            stepper.advance()
            turn = block.frame_pose(stepper.q, "block")
            gaps = np.array([(turn @ [*place, 1.0])[2] for _, place in points])
            np.testing.assert_allclose(gaps[:4], 0, atol=1e-12)
            assert gaps.min() > -1e-12 and gaps.max() == pytest.approx(above, abs=1e-12)
            force = sum(contact.force for contact in stepper.contacts)
            np.testing.assert_allclose(force, [0, 0, 3 * 9.81], atol=1e-9)


@functools.cache
def crossing() -> Callable[..., float]:
    """The function of C that finds the first zero of a cubic."""
    text = (
        '#include "contact/time_of_impact.hpp"\n'
        "EXPORTED double first_zero(double a, double u, double b, double w, double depth) {\n"
        "  return crossing(a, u, b, w, depth);\n}\n"
    )
    path = cached_library("crossing", text, lambda: text, toolchain_cpp())
    found = ctypes.CDLL(str(path)).first_zero
    found.restype, found.argtypes = ctypes.c_double, [ctypes.c_double] * 5
    return found


@settings(max_examples=200)
@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4))
def test_the_time_of_impact_is_the_first(ends: list[float]) -> None:
    """The cubic, sampled, is not below zero before its crossing."""
    a, u, b, w = abs(ends[0]), *ends[1:]
    s = np.linspace(0, 1, 2001)
    values = a + s * (u + s * (3 * (b - a) - 2 * u - w + s * (2 * (a - b) + u + w)))
    found = crossing()(a, u, b, w, 1e-9)
    below: Array = s[values < -1e-6]
    if found < 0:
        assert not len(below)
    else:
        assert (below >= found - 1e-12).all() and values.min() < 1e-5


def test_impulses_obey_the_laws() -> None:
    """Coulomb's cone, complementarity and the direction of sliding, for any masses and levers.

    Where nothing better is found they push and stay in their cones, which is seldom.
    """
    settled = sum(obeyed(seed) for seed in range(100))
    assert settled == 100


def obeyed(seed: int) -> bool:
    """Whether one problem is solved; the laws are checked."""
    rng = np.random.default_rng(seed)
    contacts, bounded, size = rng.integers(1, 7), rng.integers(0, 3), rng.integers(3, 19)
    rows = 3 * contacts + bounded
    mu, bound = rng.uniform(0.1, 1.0, contacts), rng.uniform(0, 1, bounded)
    X = rng.normal(size=(rows, size)) / np.sqrt(size)
    X[: 3 * contacts : 3] += 0.5 * rng.normal(size=size)  # normals that have much in common
    A, b = X @ X.T, X @ rng.normal(size=size)
    normal = np.arange(0, 3 * contacts, 3)
    problem = Problem(A, b, Blocks(normal, normal + 1, mu, bound))
    f = problem.f
    missed = solver().solve_impulses(problem.address, 1e-10, f.ctypes.data)
    solved = bool(missed <= 1e-9 * np.abs(b).max())
    w = A @ f + b
    for k in range(contacts):
        n, across, slip = f[3 * k], f[3 * k + 1 : 3 * k + 3], w[3 * k + 1 : 3 * k + 3]
        assert n >= 0 and np.linalg.norm(across) <= mu[k] * n * (1 + 1e-12)
        if not solved:
            continue
        assert w[3 * k] > -1e-8 and min(n, w[3 * k]) < 1e-8
        if n < 1e-8:
            continue
        speed = np.linalg.norm(slip)
        if speed > 1e-8:
            np.testing.assert_allclose(across, -mu[k] * n * slip / speed, atol=1e-6)
    for i in range(bounded):
        one, speed = f[3 * contacts + i], w[3 * contacts + i]
        assert abs(one) <= bound[i]
        assert not solved or abs(speed) < 1e-8 or one == -np.sign(speed) * bound[i]
    return solved


def test_rollouts_among_walls_are_the_steppers(block: mbdyn_ros.Robot) -> None:
    """For every motion, on threads, except for the last digit.

    Where a compiler fuses a product and a sum in vectors but not in single numbers, or the other
    way round, that digit differs: by 6e-17 in these motions with AVX-512, not at all with AVX2.
    """
    rng = np.random.default_rng(1)
    stepper = on_floor(block, 0.4, 0.5)
    turns = rng.normal(size=(5, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    q0 = np.hstack([np.tile([0.0, 0.0, 0.45], (5, 1)), turns])
    v0, efforts = rng.normal(size=(5, 6)), rng.normal(size=(5, 300, 6))
    environment = stepper.environment
    q, v = block.rollout(q0, v0, efforts, dt=1e-3, environment=environment)
    last, _ = block.rollout(q0, v0, efforts, dt=1e-3, environment=environment, terminal=True)
    np.testing.assert_array_equal(last, q[:, -1])
    for k in range(5):
        stepper.set_state(q0[k], v0[k])
        for t in range(300):
            stepper.effort[:] = efforts[k, t]
            stepper.advance()
            np.testing.assert_allclose(stepper.q, q[k, t], rtol=0, atol=2e-15)
            np.testing.assert_allclose(stepper.v, v[k, t], rtol=0, atol=2e-13)
    q0[3, 2] = 0.0
    with pytest.raises(SimulationError, match="motion 3: .* starts inside the wall"):
        block.rollout(q0, v0, efforts, dt=1e-3, environment=environment)


def test_attributes_of_a_stepper_are_not_taken_in_silence(block: mbdyn_ros.Robot) -> None:
    stepper = on_floor(block, 0.0, 0.5)
    for name in ("q", "v", "method", "environment", "robot", "impacts", "dt", "energy", "contacts"):
        with pytest.raises(InputError, match=f"^{name} of a Stepper cannot be assigned"):
            setattr(stepper, name, np.zeros(7))
    with pytest.raises(InputError, match=r"set_state\(q, v\)"):
        stepper.q = np.zeros(7)  # type: ignore[misc]
    stepper.step, stepper.time, stepper.lost = 1e-4, 1.0, 0.0
    assert stepper.step == 1e-4 and stepper.time == 1.0


def test_a_stepper_is_not_pickled(block: mbdyn_ros.Robot) -> None:
    with pytest.raises(InputError, match=r"not pickled: make another, .* set_state"):
        pickle.dumps(on_floor(block, 0.0, 0.5))


def tumbling(taken: int) -> Stepper:
    robot = mbdyn_ros.load(BLOCK, floating_base=True)
    stepper = on_floor(robot, 0.6, 0.3)
    stepper.set_state([0, 0, 0.3, 0.1, 0.2, 0.3, 0.9], [1, 0, 0, 3, 2, 1])
    stepper.wrenches = {robot.model.root: [0.1, 0, 0, 0, 0, 0]}
    stepper.advance(taken)
    return stepper


def cranking(taken: int) -> Stepper:
    """Its slider leads, through dead centres, where other joints do."""
    robot = own("slider_crank", "slider_joint", "crank_joint")
    stepper = Stepper(robot, 1e-3, Environment([], joint_limits=False))
    stepper.set_state(robot.home_position, [-4.0])
    stepper.advance(taken)
    return stepper


def piled(taken: int) -> Stepper:
    world = mbdyn_ros.World([Surface.plane()])
    for k in range(3):
        world.add(f"box{k}", Box((0.2, 0.2, 0.2)), mass=1.0, xyz=(0.03 * k, 0, 0.101 + 0.21 * k))
    stepper = world.stepper(2e-3)
    stepper.advance(taken)
    return stepper


@pytest.mark.sparse
@pytest.mark.parametrize("moving", [tumbling, cranking, piled])
@pytest.mark.parametrize("again", [Stepper.copy, copy.deepcopy])
def test_a_copy_goes_on_as_the_stepper_does(
    moving: Callable[[int], Stepper], again: Callable[[Stepper], Stepper]
) -> None:
    """In memory of its own, to the last digit, with its contacts, accounts and impacts."""
    stepper = moving(300)
    other = again(stepper)
    start = stepper.q.copy(), stepper.v.copy()
    other.advance(400)
    np.testing.assert_array_equal(stepper.q, start[0])
    np.testing.assert_array_equal(stepper.v, start[1])
    assert not np.array_equal(other.q, start[0])
    stepper.advance(400)
    np.testing.assert_array_equal(other.q, stepper.q)
    np.testing.assert_array_equal(other.v, stepper.v)
    for name in ("time", "lost", "trimmed", "residual", "contacts"):
        assert repr(getattr(other, name)) == repr(getattr(stepper, name)), name
    assert [one.time for one in other.impacts] == [one.time for one in stepper.impacts]
    other.effort[:], other.wrenches = 1.0, {}
    assert not np.array_equal(other.effort, stepper.effort)
    assert bool(stepper.wrenches) == (moving is tumbling)


def test_an_environment_is_copied_and_pickled() -> None:
    """Processes that share work take it along; rims given as points were balls."""
    robot, floor = mbdyn_ros.example("quadruped", floating_base=True), [Surface.plane()]
    points = Environment(floor).contact_points(robot)
    walls = Environment(floor, points)
    for other in (copy.deepcopy(walls), pickle.loads(pickle.dumps(walls))):
        for one, its in zip(points, other.points, strict=True):
            assert (*one, one.radius, one.axis) == (*its, its.radius, its.axis)
    assert any(one.axis for one in points), "rims stay rims"


@pytest.mark.parametrize("steps", [-1, 1.5, "1", 10**30, 10**400, True, None, np.nan])
def test_steps_are_a_whole_number(block: mbdyn_ros.Robot, steps: object) -> None:
    stepper = on_floor(block, 0.0, 0.5)
    with pytest.raises(InputError, match="steps must be"):
        stepper.advance(steps)  # type: ignore[arg-type]
    assert stepper.time == 0.0
    stepper.advance(np.int64(2))  # type: ignore[arg-type]
    assert stepper.time == pytest.approx(2e-3)


def test_lengths_of_steps_and_walls_are_checked(block: mbdyn_ros.Robot) -> None:
    stepper = on_floor(block, 0.0, 0.5)
    for step in (10**400, 0, -1.0, np.inf, "1e-3"):
        with pytest.raises(InputError, match="positive number of seconds"):
            stepper.step = step  # type: ignore[assignment]
    with pytest.raises(InputError, match="positive number of seconds"):
        block.rollout(stepper.q, stepper.v, np.zeros((1, 6)), dt=10**400)
    with pytest.raises(InputError, match=r"write Environment\(\[surface"):
        Stepper(block, 1e-3, [Surface.plane()])  # type: ignore[arg-type]


def test_a_quaternion_of_length_zero_is_no_orientation(block: mbdyn_ros.Robot) -> None:
    stepper = on_floor(block, 0.0, 0.5)
    before = stepper.q.copy()
    with pytest.raises(InputError, match="floating_base must be a unit quaternion .* has length 0"):
        stepper.set_state([0, 0, 1, 0, 0, 0, 0], np.zeros(6))
    np.testing.assert_array_equal(stepper.q, before)
    stepper.set_state([0, 0, 1, 0, 0, 0, 2.0], np.zeros(6))
    assert stepper.q[6] == 1.0


def test_contacts_name_their_links_and_floors_are_dead_and_rough(block: mbdyn_ros.Robot) -> None:
    stepper = Stepper(block, 1e-3, Environment([Surface.plane(name="floor")], CORNERS))
    stepper.set_state([0, 0, 0.3, 0, 0, 0, 1], [0.5, 0, 0, 0, 0, 0])
    stepper.advance(2000)
    assert stepper.contacts and not stepper.v.round(6).any()
    for contact in stepper.contacts:
        assert contact.link == CORNERS[contact.point][0] and contact.links == (contact.link,)
    assert "'floor', restitution=0.0, friction=0.8" in repr(stepper.environment)
    assert len(repr(stepper)) < 250 and f"t = {stepper.time:.6g} s" in repr(stepper)
    yaml = mbdyn_ros.read_environment("surfaces: [{name: floor, type: plane}]").surfaces[0]
    assert (yaml.restitution, yaml.friction) == (0.0, 0.8)


def test_walls_in_use_are_not_changed_in_silence(block: mbdyn_ros.Robot) -> None:
    floor = Surface.plane(friction=0.5)
    links = LinkContacts()
    environment = Environment([floor], links=None)
    for made, name in (
        (floor, "friction"), (floor, "restitution"), (floor, "foo"), (links, "friction"),
        (environment, "links"), (environment, "joint_limits"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"^{name} of a .* cannot be assigned: make another "):
            setattr(made, name, 0.0)
    assert floor.friction == 0.5 and environment.with_stops(["a"]).joint_limits == ("a",)


def test_steps_of_seconds_are_reported(block: mbdyn_ros.Robot) -> None:
    with pytest.warns(SimulationWarning, match=r"the step is 1 s; a millisecond is 1e-3"):
        Stepper(block, 1)
    q, v = block.home_position, np.zeros(block.nv)
    with pytest.warns(SimulationWarning, match=r"dt is 2 s"):
        block.rollout(q, v, np.zeros((1, len(block.effort_labels))), 2)
