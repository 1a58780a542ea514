"""Coulomb's law at every contact of every step, and steps that are too long for a fast robot."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from night import at_night, is_night
from random_robots import RandomRobot, robots
from robot_text import hinge_text, joint, link, robot_text
from thrown_robots import ARM, BLOCK, CORNERS

import mbdyn_ros
from mbdyn_ros import Environment, ModelWarning, SimulationWarning, Stepper, Surface
from mbdyn_ros.array import Array

STEPS = 150
"""Of a millisecond, of each robot."""

MISSED = 1e-8
"""Velocity (m/s) by which a law may be missed."""


def largest_rate(stepper: Stepper) -> float:
    """How fast contacts that push come or go at the end of the last step, by their distances."""
    assert stepper._contacts is not None
    _, rate, slope = stepper._contacts.distances(stepper.q, stepper.v)
    pushes = (stepper.modes > 0) & (stepper._motion.force[: 3 * len(rate) : 3] > 1e-9)
    return float(np.abs(rate / slope)[pushes].max(initial=0.0))


def lowest_distance(stepper: Stepper) -> float:
    """Of all contacts, m."""
    assert stepper._contacts is not None
    return float(stepper._contacts.distances(stepper.q, stepper.v)[0].min())


def mobility_across(robot: mbdyn_ros.Robot, q: Array, link: str, normal: Array) -> float:
    """Of the lowest point of a ball: velocities per impulse along two tangents, added, 1/kg."""
    at_point = np.hstack([np.eye(3), np.cross(-0.05 * normal, np.eye(3))])
    mobility = at_point @ robot.operational_mobility(q, link) @ at_point.T
    return float(np.trace(mobility) - normal @ mobility @ normal)


def obeys(robot: RandomRobot, seed: int, mu: float) -> None:
    """Throw a robot on a tilted floor, a ball at every link, and hold every step to the laws."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        thrown = mbdyn_ros.load(robot.urdf(), floating_base=True)
    normal = np.array([*0.2 * rng.normal(size=2), 1.0])
    floor = Surface.plane(normal=normal, restitution=0.3, friction=mu, name="floor")
    balls = [(link.name, (0.0, 0.0, 0.0), 0.05) for link in robot.links]
    stepper = Stepper(thrown, 1e-3, Environment([floor], balls, joint_limits=False))
    q = stepper.q.copy()
    normal /= np.linalg.norm(normal)
    low = min(normal @ thrown.frame_pose(q, link)[:3, 3] for link, _, _ in balls)
    q[:3] += (0.051 - low) * normal
    stepper.set_state(q, 0.5 * rng.normal(size=thrown.nv))
    held = 0
    for _ in range(STEPS):
        stepper.advance()
        motion = stepper._motion
        forces, slips = motion.force[: 3 * len(balls)], motion.slip
        assert largest_rate(stepper) <= MISSED
        for k in np.flatnonzero(stepper.modes).tolist():
            force, slip = forces[3 * k : 3 * k + 3], slips[3 * k : 3 * k + 3]
            across, speed = np.hypot(*force[1:]), np.hypot(*slip[1:])
            held += 1
            assert force[0] >= 0 and across <= mu * force[0] * (1 + 1e-12)
            assert slip[0] >= -MISSED
            assert force[0] == 0 or slip[0] <= MISSED
            if force[0] > 1e-6 and mu and speed > 1e3 * MISSED:
                # full, and against the velocity: the share of it that is not is the residual's,
                # of a force that could stop what slides at `stopped`
                mobility = mobility_across(thrown, stepper.q, balls[k][0], normal)
                stopped = mu * force[0] * stepper.step * mobility
                np.testing.assert_allclose(
                    force[1:] / (mu * force[0]),
                    -slip[1:] / speed,
                    atol=2 * MISSED * (1 / speed + 1 / stopped) + 1e-9,
                )
    assert stepper.unsettled == 0 and stepper.residual <= MISSED
    assert stepper.deepest <= 1e-6
    assert held or stepper.impacts or lowest_distance(stepper) > 0


DRAWN = {
    "robot": robots(
        joints=6, kinds=("revolute", "prismatic", "continuous", "fixed"), massless=False
    ),
    "seed": st.integers(0, 2**32 - 1),
    "mu": st.sampled_from([0.0, 0.5, 1.0]),
}


@pytest.mark.long
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
@given(**DRAWN)
def test_coulombs_law_in_every_step(robot: RandomRobot, seed: int, mu: float) -> None:
    obeys(robot, seed, mu)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[*HealthCheck])
@given(**DRAWN)
def test_coulombs_law_in_every_step_of_many(robot: RandomRobot, seed: int, mu: float) -> None:
    obeys(robot, seed, mu)


@pytest.mark.parametrize("dry", [2.0, 4.0])
def test_a_contact_neither_comes_nor_goes_where_dry_friction_holds_a_joint(dry: float) -> None:
    """The joint stays where it stood, and the law of the contact holds all the same."""
    friction = f'<dynamics friction="{dry}"/>'
    elbow = joint("elbow", "trunk", "arm", "0 1 0", "0.2 0.1 0", more=friction)
    text = robot_text(link("trunk", 2, 0.1), link("arm", 1, 0.05, "0.3 0 0.1"), elbow, base="")
    floor = Surface.plane(restitution=0.0, friction=0.0, name="floor")
    ball = [("arm", (0.5, 0.1, 0.0), 0.05)]
    robot = mbdyn_ros.load(text, floating_base=True)
    for turn in ((1, 2, 3), (3, 3, 3), (0, 3, 0)):
        stepper = Stepper(robot, 1e-3, Environment([floor], ball))
        stepper.set_state([0, 0, 0.06, 0, 0, 0, 1, 0], [0, 0, 0, *turn, 0])
        held = 0
        for _ in range(200):
            stepper.advance()
            assert largest_rate(stepper) <= MISSED
            held += int(stepper.v[6] == 0 and (stepper.modes > 0).any())
        assert stepper.unsettled == 0 and stepper.deepest <= 1e-9
        assert held or turn == (0, 3, 0)


@pytest.mark.long
def test_coulombs_law_where_a_block_is_pushed() -> None:
    """Its corners slide and tilt: the laws hold where the step ends, not where it was tried."""
    robot = mbdyn_ros.load(BLOCK, floating_base=True)
    floor = Surface.plane(restitution=0.0, friction=0.5, name="floor")
    stepper = Stepper(robot, 1e-3, Environment([floor], CORNERS))
    stepper.set_state([0, 0, 0.1, 0, 0, 0, 1], np.zeros(6))
    stepper.wrenches = {"block": [20.0, 3.0, 0.0, 0.0, 2.0, 1.0]}
    slid = 0
    for _ in range(400):
        stepper.advance()
        slid += int((stepper.modes == 2).any())
        assert largest_rate(stepper) <= MISSED
    assert slid > 100 and stepper.unsettled == 0


def test_a_wall_passed_within_a_step_is_reported() -> None:
    """A ball in the way, there before and after: the step says so, and a short one hits it."""
    robot = mbdyn_ros.load(ARM.format(dry=0.0))
    ball = Surface.sphere(radius=0.05, inside=False, name="ball", restitution=1.0, friction=0.0)
    wall = Environment([ball], [("cart", (0, 0, 0), 0.01)])
    stepper = Stepper(robot, 0.05, wall)
    stepper.set_state([0.5, 0.0], [-20.0, 0.0])
    with pytest.warns(SimulationWarning, match="'cart' on surface 'ball' may have been missed"):
        stepper.advance(2)
    assert stepper.q[0] < -0.4 and stepper.unseen == 1
    with pytest.warns(SimulationWarning, match="may have passed walls unseen, 1 times"):
        robot.rollout([0.5, 0.0], [-20.0, 0.0], np.zeros((2, 2)), 0.05, environment=wall)
    stepper = Stepper(robot, 1e-3, wall)
    stepper.set_state([0.5, 0.0], [-20.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimulationWarning)
        stepper.advance(50)
    assert stepper.q[0] > 0.04 and stepper.impacts and stepper.unseen == 0


@pytest.mark.parametrize("speed", [20.0, 100.0, 400.0, 500.0, 1000.0])
def test_no_wall_is_passed_in_silence(speed: float) -> None:
    """However fast a ball is: it hits what is in its way, or the step says that it may not have."""
    robot = mbdyn_ros.load(BLOCK, floating_base=True)
    post = Surface.sphere(radius=0.05, inside=False, name="post", restitution=1.0, friction=0.0)
    stepper = Stepper(robot, 0.01, Environment([post], [("block", (0, 0, 0), 0.01)]))
    for start in (-0.33, -0.5, -2.0, -5.0):
        stepper.set_state([start, 0, 0, 0, 0, 0, 1], [speed, 0, 0, 0, 0, 0])
        seen = stepper.unseen
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)
            while stepper.v[0] > 1 and stepper.q[0] < 0.06:
                stepper.advance()
        if stepper.q[2] > -0.03:  # slow ones fall below it
            hits = stepper.take_impacts()
            assert len(hits) + stepper.unseen - seen == 1
            assert not hits or stepper.v[0] < -0.5 * speed


def test_an_impact_that_jams_does_not_bounce() -> None:
    """No bounce of a rod obeys Coulomb's law where the line to its hinge lies within the cone."""
    robot = mbdyn_ros.load(hinge_text())
    floor = Surface.plane(point=(0, 0, -0.8), restitution=0.4, friction=1.2, name="floor")
    stepper = Stepper(robot, 2e-3, Environment([floor], [("rod", (1.0, 0.0, 0.0))]))
    stepper.set_state([0.9], [1.0])
    stepper.advance(50)
    (impact,) = stepper.impacts
    assert impact.restitution[0] == 0 and abs(stepper.v[0]) < MISSED
    assert stepper.unsettled == 0 and stepper.residual <= MISSED


@pytest.mark.sparse
@pytest.mark.parametrize("v", [(0.5, -0.5, 0.2), (0.3, 0.2, 1.0), (-1.0, 0.0, 2.0)])
def test_a_contact_wedged_against_its_joint_takes_what_holds_it(v: tuple[float, ...]) -> None:
    """Forces across the plane of the joint move nothing: they are no larger for that."""
    robot = mbdyn_ros.load(
        robot_text(
            link("wedge", 2, (0.25, 0.28, 0.08), "-0.09 -0.2 -0.3"),
            joint(
                "slide", "world", "wedge", "0 -1 0", kind="planar", more='<dynamics damping="1"/>'
            ),
        )
    )
    wall = Surface.plane((0, -0.4, -0.9), (0.2, 0.75, 0.6), restitution=0.0, friction=1.2)
    stepper = Stepper(robot, 1e-3, Environment([wall], [("wedge", (-0.18, -0.4, -0.6))]))
    for start in v + 0.1 * np.random.default_rng(4).normal(size=(3, 3)):
        stepper.set_state(np.zeros(3), start)
        energy, lost, most = stepper.energy.sum(), stepper.lost, 0.0
        for _ in range(400):
            stepper.advance()
            most = max(most, *(np.abs(contact.force).max() for contact in stepper.contacts), 0.0)
        assert 9.81 < most < 30
        assert stepper.unsettled == 0 and stepper.residual <= MISSED
        assert 0 < stepper.lost - lost < energy - stepper.energy.sum()  # the rest by damping


def test_a_turn_within_a_step_is_reported() -> None:
    """A pendulum that goes all the way round between two steps, and through the wall."""
    robot = mbdyn_ros.load(hinge_text(axis="0 0 1"))
    wall = Surface.plane(
        point=(-0.5, 0, 0), normal=(1, 0, 0), name="wall", restitution=1.0, friction=0.0
    )
    stepper = Stepper(robot, 0.01, Environment([wall], [("rod", (1.0, 0.0, 0.0))]))
    stepper.set_state([1.0], [2 * np.pi / 0.01])
    with pytest.warns(SimulationWarning, match="'rod' on surface 'wall' may have been missed"):
        stepper.advance(1)


def chain(links: int, share: float = 1.0, dry: float = 0.0) -> str:
    """Links one after the other, turning about all axes.

    share : of the mass and of the dry friction (N m) of the one before that each has.
    """
    axes = ("1 0 0", "0 1 0", "0 0 1")
    masses = [share**k for k in range(links)]
    parts = [link(f"l{k}", m, (0.004 * m, 0.006 * m, 0.008 * m)) for k, m in enumerate(masses)]
    for k in range(1, links):
        friction = f'<dynamics friction="{dry * masses[k]}"/>'
        ends = f"j{k}", f"l{k - 1}", f"l{k}"
        parts.append(joint(*ends, axes[k % 3], "0.2 0 0", more=friction))
    return robot_text(*parts, base="")


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, *at_night(2, 4, 6, 7, 8, 18, 51)])
def test_redundant_contacts_of_stiff_joints_obey_the_laws(seed: int) -> None:
    """Heaps with more rows than freedoms: neither Newton's method nor sweeps find their impulses.

    Dry friction holds most joints, light links slide, and only loads are left to be shared out.
    """
    links, rng = 10, np.random.default_rng(seed)
    robot = mbdyn_ros.load(chain(links, 0.6, 0.15), floating_base=True)
    half = np.array([0.08, 0.05, 0.03])
    signs = np.stack(np.meshgrid(*[[-1, 1]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    points = [(f"l{k}", tuple(place)) for k in range(links) for place in (signs * half).tolist()]
    floor = Surface.plane(restitution=0.0, friction=0.8, name="floor")
    stepper = Stepper(robot, 2e-3, Environment([floor], points))
    q = stepper.q.copy()
    q[2], q[3:7], q[7:] = 2.2, rng.normal(size=4), 0.8 * rng.normal(size=links - 1)
    stepper.set_state(q, np.r_[0.5 * rng.normal(size=6), np.zeros(links - 1)])
    most = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # long steps for how it falls
        for _ in range(60):
            stepper.advance(10)
            most = max(most, np.count_nonzero(stepper.modes))
    assert most > 4
    assert stepper.unsettled == 0 and stepper.residual <= MISSED


@pytest.mark.long
def test_long_steps_on_many_points_do_not_throw_a_robot_up() -> None:
    """Round links come to rest on more points than they have freedoms: none of them pulls."""
    links, count = 6, 60
    robot = mbdyn_ros.load(chain(links), floating_base=True)
    turn = np.pi * (1 + 5**0.5) * (np.arange(count) + 0.5)
    z = 1 - 2 * (np.arange(count) + 0.5) / count
    across = np.sqrt(1 - z**2)
    shell = np.array([0.15 * np.cos(turn) * across, 0.1 * np.sin(turn) * across, 0.05 * z]).T
    points = [(f"l{k}", tuple(place)) for k in range(links) for place in shell.tolist()]
    floor = Surface.plane(restitution=0.0, friction=0.8, name="floor")
    stepper = Stepper(robot, 0.01, Environment([floor], points))
    for seed in range(6 if is_night() else 2):
        rng, q = np.random.default_rng(seed), stepper.q.copy()
        q[:3], q[3:7] = (0.0, 0.0, 1.5), rng.normal(size=4)
        q[7:] = 0.5 * rng.normal(size=links - 1)
        stepper.set_state(q, np.zeros(robot.nv))
        start = energy = stepper.energy.sum()
        for _ in range(300):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SimulationWarning)  # too long for how it falls
                stepper.advance()
            rise, energy = stepper.energy.sum() - energy, stepper.energy.sum()
            assert rise <= 2e-6 * start  # a micrometre of height, with nothing left that moves
        assert energy < 0.05 * start
    assert stepper.deepest < 1e-6


def test_a_joint_that_its_friction_holds_brings_no_energy() -> None:
    """In flight, where nothing else touches: errors of the step are trimmed there too."""
    pair = [link(name, 1, (0.1, 0.2, 0.15), "0.3 0 0.1") for name in ("base", "arm")]
    friction = '<dynamics friction="5"/>'
    turn = joint("turn", "base", "arm", "0 1 0", "0.5 0 0", more=friction)
    robot = mbdyn_ros.load(robot_text(*pair, turn, base=""), floating_base=True)
    stepper = Stepper(robot, 1e-3)
    stepper.set_state(robot.home_position, [0, 0, 0, 1.0, 2.0, 3.0, 0.0])
    energies = [stepper.energy.sum()]
    for _ in range(300):
        stepper.advance()
        energies.append(stepper.energy.sum())
    assert np.diff(energies).max() < 1e-12 * energies[0]
    assert 0 < stepper.trimmed < 1e-3 * energies[0]
