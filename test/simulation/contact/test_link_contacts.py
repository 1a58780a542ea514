"""Links that touch each other: balls and capsules, against closed forms and conservation laws."""

from __future__ import annotations

from math import cos, sqrt

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize
from thrown_robots import ARM

import mbdyn_ros
from mbdyn_ros import Environment, InputError, ModelError, SimulationError, Stepper
from mbdyn_ros.equations.contact.rods import Couple, Rod, between
from mbdyn_ros.model.read.srdf import read_disabled_pairs
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

RADIUS, LENGTH, APART = 0.05, 1.0, 1e-3
BALL = """<link name="ball{k}"><inertial><origin xyz="0 0 {z}"/><mass value="{m}"/>
  <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 {z}"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="j{k}" type="{type}"><parent link="world"/><child link="ball{k}"/><axis xyz="0 1 0"/>
  <origin xyz="{x} 0 0"/></joint>"""


def balls(count: int, kind: str, z: float = 0.0, **options: object) -> mbdyn_ros.Robot:
    """Balls in a row with gaps of `APART`, each on a joint of its own."""
    parts = [
        BALL.format(k=k, z=z, m=1.0, x=k * (2 * RADIUS + APART), type=kind) for k in range(count)
    ]
    text = f'<robot name="balls"><link name="world"/>{"".join(parts)}</robot>'
    return mbdyn_ros.load(text, **options)  # type: ignore[arg-type]


def test_the_report_says_what_touches_what() -> None:
    """Links at walls with their points, links at each other, and stops."""
    robot, floor = (
        balls(3, "continuous"),
        mbdyn_ros.Surface.plane(name="floor", restitution=1.0, friction=0.0),
    )
    links = LinkContacts(disabled=[("ball0", "ball2")], restitution=1.0, friction=0.0)
    report = Environment([floor], links=links).report(robot)
    assert report.to_dict() == {
        "surfaces": ("floor",),
        "points": {"ball0": 1, "ball1": 1, "ball2": 1},
        "pairs": (("ball0", "ball1"), ("ball1", "ball2")),
        "stops": (),
    }
    assert str(report) == (
        "walls floor: points of ball0 (1), ball1 (1), ball2 (1)\n"
        "links on each other: ball0 and ball1, ball1 and ball2"
    )
    limited = mbdyn_ros.load(ARM.format(dry=0.0))
    stops = Environment([], joint_limits=["leg"]).report(limited)
    assert str(stops) == "stops: lower limit of joint 'leg', upper limit of joint 'leg'"
    assert str(Environment([]).report(limited)) == "nothing touches anything"


@pytest.mark.long
def test_newtons_cradle() -> None:
    """The last ball leaves as fast as the first came: m balls of equal mass hand the motion on."""
    robot = balls(4, "continuous", -LENGTH)
    start = np.array([0.4, 0.0, 0.0, 0.0])
    walls = Environment([], links=LinkContacts(restitution=1.0, friction=0.0))
    trajectory = mbdyn_ros.simulate(robot, start, np.zeros(4), 1.0, environment=walls)
    first = trajectory.impacts[0]
    assert first.surfaces == ("link 'ball0' on link 'ball1'",)
    fallen = sum(robot.energy(start, np.zeros(4))) - sum(robot.energy(first.q, np.zeros(4)))
    assert -first.v_before[0] == pytest.approx(sqrt(2 * fallen / (1.0 + 0.001)), rel=1e-9)
    third = trajectory.impacts[2]
    assert third.time - first.time < 0.02
    swing = 1.001 * (1 - cos(0.4))
    assert third.v_after[3] ** 2 == pytest.approx(2 * 9.81 * swing / 1.001**2, rel=2e-3)
    assert np.abs(third.v_after[:3]).max() < 1e-4 * abs(third.v_after[3])
    assert np.abs(trajectory.imbalance).max() < 1e-9


@pytest.mark.sparse
@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_two_free_balls(mu: float) -> None:
    """Momentum and angular momentum are kept; in one compiled step too."""
    robot = balls(2, "floating", gravity=(0, 0, 0))
    start = np.array([-0.2, 0.03, 0, 0, 0, 0, 1, 0.1, 0, 0, 0, 0, 0, 1.0])
    start[[0, 7]] -= [0.0, 2 * RADIUS + APART]
    v = np.zeros(12)
    v[0], v[5], v[6 + 2] = 2.0, 3.0, 0.1
    walls = Environment([], links=LinkContacts(restitution=0.5, friction=mu))
    trajectory = mbdyn_ros.simulate(robot, start, v, 0.3, environment=walls)
    (impact,) = trajectory.impacts
    masses = np.array([1.0, 1.0])

    def momenta(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        linear, angular = np.zeros(3), np.zeros(3)
        for k, mass in enumerate(masses):
            pose = robot.frame_pose(q, f"ball{k}")
            J = robot.jacobian(q, f"ball{k}")
            speed, turn = (J @ v)[:3], (J @ v)[3:]
            linear = linear + mass * speed
            angular = angular + mass * np.cross(pose[:3, 3], speed) + 0.001 * turn
        return np.concatenate([linear, angular])

    before, after = momenta(impact.q, impact.v_before), momenta(impact.q, impact.v_after)
    np.testing.assert_allclose(after, before, atol=1e-12)
    assert impact.normal_velocity_after == pytest.approx(-0.5 * impact.normal_velocity_before)
    assert np.linalg.norm(impact.tangential_impulses[0]) <= mu * impact.impulses[0] + 1e-12
    assert (np.linalg.norm(impact.tangential_impulses[0]) > 0) == (mu > 0)
    stepper = Stepper(robot, 1e-3, walls)
    stepper.set_state(start, v)
    stepper.advance(300)
    (same,) = stepper.impacts
    assert same.time == pytest.approx(impact.time, abs=1e-9)
    np.testing.assert_allclose(same.places, impact.places, atol=1e-8)
    np.testing.assert_allclose(same.forces, impact.forces, atol=1e-7)
    np.testing.assert_allclose(stepper.v, trajectory.v[-1], atol=1e-7)


def test_one_ball_rests_on_another() -> None:
    """Held by a rail above it: the force between them is its weight, for good."""
    text = """<robot name="stack"><link name="world"/>{}{}</robot>"""
    rail = BALL.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0 1"/>').replace("{x} 0 0", "0 0 {x}")
    robot = mbdyn_ros.load(
        text.format(*(rail.format(k=k, z=0, m=1, x=0.1 * k, type="prismatic") for k in (0, 1)))
    )
    floor = mbdyn_ros.Surface.plane(
        point=(0, 0, -RADIUS), restitution=0, name="floor", friction=0.0
    )
    walls = Environment(
        [floor], links=LinkContacts(restitution=0.0, friction=0.0), joint_limits=False
    )
    trajectory = mbdyn_ros.simulate(robot, [0, 0.01], [0, 0], 0.3, environment=walls)
    np.testing.assert_allclose(trajectory.q[-1], 0, atol=1e-9)
    stepper = Stepper(robot, 1e-3, walls)
    stepper.set_state([0, 0.01], [0, 0])
    stepper.advance(300)
    forces = {one.surface: one.force for one in stepper.contacts}
    np.testing.assert_allclose(forces["floor"], [0, 0, 2 * 9.81], atol=1e-6)
    np.testing.assert_allclose(np.abs(forces["link 'ball0' on link 'ball1'"][2]), 9.81, atol=1e-6)


def test_distances_of_capsules() -> None:
    """Against a search over both segments."""
    random = np.random.default_rng(0)
    poses = [ca.SX.eye(4)[:3, :], ca.SX.eye(4)[:3, :]]
    for trial in range(30):
        a, b, c, d = random.normal(size=(4, 3))
        if trial % 3 == 1:
            b = a
        if trial % 3 == 2 and trial % 2:
            d = c + 0.7 * (b - a)  # parallel
        couple = Couple(Rod(0, a, b, 0.1), Rod(1, c, d, 0.2))
        gap, n, place = (np.array(ca.DM(one)).squeeze() for one in between(couple, *poses))

        def apart(shares: np.ndarray) -> float:
            s, t = shares
            return float(np.linalg.norm(a + s * (b - a) - c - t * (d - c)))  # noqa: B023

        least = min(
            minimize(apart, start, bounds=[(0, 1)] * 2, tol=1e-12).fun
            for start in ([0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8])
        )
        assert gap == pytest.approx(least - 0.3, abs=1e-6)
        assert np.linalg.norm(n) == pytest.approx(1)


def test_which_links_touch() -> None:
    robot = balls(3, "continuous", -LENGTH)
    names = [name for name, _ in LinkContacts(restitution=1.0, friction=0.0).couples(robot)]
    assert names == [
        f"link 'ball{one}' on link 'ball{other}'" for one, other in ((0, 1), (0, 2), (1, 2))
    ]
    srdf = '<robot name="r"><disable_collisions link1="ball2" link2="ball0"/></robot>'
    some = LinkContacts(disabled=read_disabled_pairs(srdf), restitution=1.0, friction=0.0)
    assert [name for name, _ in some.couples(robot)] == [names[0], names[2]]
    with pytest.raises(InputError, match="'bal1'"):
        LinkContacts(disabled=[("ball0", "bal1")], restitution=1.0, friction=0.0).couples(robot)
    with pytest.raises(InputError, match="no two links can touch"):
        LinkContacts(disabled=[("ball0", "ball1")], restitution=1.0, friction=0.0).couples(
            balls(2, "continuous")
        )
    with pytest.raises(ModelError, match=":1: .*no link1 or no link2"):
        read_disabled_pairs('<robot name="r"><disable_collisions link1="a"/></robot>')
    with pytest.raises(ModelError, match="this is not an SRDF"):
        read_disabled_pairs("<sdf></sdf>")


def test_a_start_inside_itself_is_refused() -> None:
    robot = balls(2, "continuous", -LENGTH)
    walls = Environment([], links=LinkContacts(restitution=1.0, friction=0.0))
    with pytest.raises(InputError, match="disabled names link 'ball0' twice in one pair"):
        LinkContacts(disabled=[("ball0", "ball0")], restitution=1.0, friction=0.0)
    with pytest.raises(SimulationError, match=r"'ball0' on link 'ball1' starts inside it, at \("):
        mbdyn_ros.simulate(robot, [-0.1, 0.0], [0.0, 0.0], 1.0, environment=walls)


def test_links_from_a_file() -> None:
    text = "surfaces: []\njoint_limits: true\nlinks: {restitution: 0.2, friction: 0.1, %s}"
    walls = mbdyn_ros.read_environment(text % "disabled: [[a, b]]")
    assert walls.links is not None
    assert walls.links.restitution == 0.2 and walls.links.disabled == {frozenset("ab")}
    with pytest.raises(ModelError, match="3: .*two links"):
        mbdyn_ros.read_environment(text % "disabled: [[a]]")
    with pytest.raises(ModelError, match="restitution is 2"):
        mbdyn_ros.read_environment("links: {restitution: 2}\n")
