"""Contacts of robots whose origins vary, against the same robots with lengths folded."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from night import at_night
from variable_robots import ROBOTS, disturbed, lengths, loaded_anew

import mbdyn_ros
from mbdyn_ros import Environment, LinkContacts, Robot, Stepper, Surface, simulate

EXACT = 1e-12

INERTIA = """<inertial><mass value="{}"/>
  <inertia ixx="0.002" iyy="0.003" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>"""

LEG = f"""
<robot name="leg">
  <link name="base">{INERTIA.format(3)}
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="hip" type="continuous"><parent link="base"/><child link="thigh"/>
    <origin xyz="0.1 0 -0.02"/><axis xyz="0 1 0"/></joint>
  <link name="thigh">{INERTIA.format(0.5)}</link>
  <joint name="knee" type="continuous"><parent link="thigh"/><child link="shank"/>
    <origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/></joint>
  <link name="shank">{INERTIA.format(0.5)}</link>
  <joint name="sole" type="fixed"><parent link="shank"/><child link="foot"/>
    <origin xyz="0 0 -0.2"/></joint>
  <link name="foot">{INERTIA.format(0.1)}
    <collision><geometry><box size="0.06 0.04 0.02"/></geometry></collision></link>
  <joint name="pad_joint" type="fixed"><parent link="foot"/><child link="pad"/>
    <origin xyz="0.03 0 -0.01"/></joint>
  <link name="pad"><collision><geometry><sphere radius="0.01"/></geometry></collision></link>
</robot>
"""
"""A leg whose foot hangs on a fixed joint that varies, and a pad on one that does not."""

VARIABLE = ["hip/x", "knee/z", "sole/z", "sole/pitch"]

FLOOR = Environment([Surface.plane(restitution=0.3)])


@pytest.fixture
def leg() -> Robot:
    """The leg, other than described."""
    robot = mbdyn_ros.load(LEG, floating_base=True, variable=VARIABLE)
    robot.set_origin("hip", [0.12, 0, -0.02])
    robot.set_origin("knee", [0, 0, -0.21])
    robot.set_origin("sole", [0, 0, -0.16], [0, 0.2, 0])
    return robot


def above_floor(robot: Robot) -> np.ndarray:
    """A position in which it falls on its foot."""
    q = robot.home_position.copy()
    q[2], q[-1] = 0.45, 0.3
    return q


def require_same(robot: Robot, environment: Environment, q: np.ndarray, v: np.ndarray) -> int:
    """Assert that a robot moves as the one with folded lengths; gives the number of impacts."""
    ends, impacts, forces = [], [], []
    for one in (robot, loaded_anew(robot)):
        stepper = Stepper(one, 1e-3, environment)
        stepper.set_state(q, v)
        stepper.advance(400)
        motion = simulate(one, q, v, 0.4, environment=environment)
        impacts.append(len(motion.impacts))
        forces.append([(touch.links, touch.place, touch.force) for touch in stepper.contacts])
        ends.append([stepper.q, stepper.v, motion.q[-1], motion.v[-1], stepper.force_torque("hip")])
    for one, other in zip(*ends, strict=True):
        assert np.abs(one - other).max() < EXACT * max(1.0, np.abs(other).max())
    for one, other in zip(*forces, strict=True):
        assert one[0] == other[0]
        np.testing.assert_allclose(one[1:], other[1:], rtol=0, atol=1e-9)
    assert impacts[0] == impacts[1]
    return impacts[0]


@pytest.mark.long
def test_a_foot_on_a_fixed_joint_that_varies(leg: Robot) -> None:
    """It falls on the floor as the robot whose lengths are folded."""
    assert require_same(leg, FLOOR, above_floor(leg), np.zeros(leg.nv)) > 3


@pytest.mark.long
def test_a_foot_touches_its_own_base(leg: Robot) -> None:
    """Convex shapes of links meet where the lengths have them."""
    q, v = leg.home_position.copy(), np.zeros(leg.nv)
    q[-1], v[-2:] = 1.0, [1.0, 6.0]
    convex = Environment([], links=LinkContacts(convex=True))
    assert require_same(leg, convex, q, v) > 0


def test_a_running_stepper_takes_other_lengths(leg: Robot) -> None:
    """From the next step on the foot stands where it is then, and nothing is made anew."""
    stepper = Stepper(leg, 1e-3, FLOOR)
    stepper.set_state(above_floor(leg), np.zeros(leg.nv))
    stepper.advance(200)
    motion = stepper._motion
    leg.set_origin("sole", [0, 0, -0.12], [0, 0.2, 0])
    other = Stepper(loaded_anew(leg), 1e-3, FLOOR)
    other.set_state(stepper.q, stepper.v)
    for one in (stepper, other):
        one.advance(200)
    assert stepper._motion is motion
    assert np.abs(stepper.q - other.q).max() < EXACT


def test_every_row_of_a_rollout_has_its_lengths(leg: Robot) -> None:
    """Among walls too: as the robot with these lengths, one by one."""
    long = np.array([[0, 0, -0.16], [0, 0, -0.25], [0, 0, -0.2]])
    q, v, efforts = above_floor(leg), np.zeros(leg.nv), np.zeros((300, leg.nv))
    q[2] += 0.1
    leg.set_origin("sole", long)
    found = leg.rollout(q, v, efforts, 1e-3, environment=FLOOR)
    last, _ = leg.rollout(q, v, efforts, 1e-3, environment=FLOOR, terminal=True)
    assert found[0].shape == (3, 300, leg.nq)
    np.testing.assert_array_equal(last, found[0][:, -1])
    for k, xyz in enumerate(long):
        leg.set_origin("sole", xyz)
        alone = leg.rollout(q, v, efforts, 1e-3, environment=FLOOR)
        for one, other in zip(found, alone, strict=True):
            np.testing.assert_array_equal(one[k], other)


def test_a_start_inside_a_wall_names_its_row(leg: Robot) -> None:
    """Lengths that reach into the floor are refused by the number of the row."""
    q, v, efforts = above_floor(leg), np.zeros(leg.nv), np.zeros((2, leg.nv))
    leg.set_origin("sole", [[0, 0, -0.1], [0, 0, -0.4]])
    with pytest.raises(mbdyn_ros.SimulationError, match="row 1: .*inside"):
        leg.rollout(q, v, efforts, 1e-3, environment=FLOOR)


@pytest.mark.long
def test_loops_that_are_followed_pass_dead_centres() -> None:
    """A gripper with variable pins changes coordinates on the way, as the folded one does."""
    robot = mbdyn_ros.example("gripper")
    robot = mbdyn_ros.example("gripper", variable=lengths(robot))
    disturbed(robot, np.random.default_rng(1), 0.01)
    ends = []
    for one in (robot, loaded_anew(robot)):
        stepper = Stepper(one, 1e-3, Environment([], joint_limits=False))
        stepper.advance(150)
        ends.append([stepper.q, stepper.v])
    assert ends[0][1][0] < 0
    for one, other in zip(*ends, strict=True):
        assert np.abs(one - other).max() < 1e-9


@pytest.mark.long
@pytest.mark.parametrize("name", ["boom", *at_night(*(name for name in ROBOTS if name != "boom"))])
def test_robots_of_the_box_fall_on_a_floor(name: str) -> None:
    """Under robots that are fixed the floor is 2 cm below what hangs lowest.

    Ends differ by no more than those of starts that differ by a rounding.
    """
    free = {"floating_base": True} if name == "quadruped" else {}
    names = ROBOTS[name] or lengths(mbdyn_ros.example(name, **free))
    robot = mbdyn_ros.example(name, variable=names, **free)
    disturbed(robot, np.random.default_rng(1), 0.01)
    q = robot.home_position.copy()
    lowest = min(
        (robot.frame_pose(q, point.link) @ [*point.xyz, 1.0])[2] - point.radius
        for point in FLOOR.contact_points(robot)
    )
    floor = Environment([Surface.plane((0.0, 0.0, lowest - 0.02))], joint_limits=False)
    ends = []
    anew = loaded_anew(robot)
    for one, off in ((robot, 0), (copy.deepcopy(robot), 0), (anew, 0), (anew, 1e-15)):
        stepper = Stepper(one, 1e-3, floor)
        stepper.set_state(q + off, np.zeros(one.nv))
        stepper.advance(300)
        ends.append(stepper)
    rounding = np.abs(ends[3].q - ends[2].q).max()  # laws are met to 1e-8 m/s
    for one in ends[:2]:
        assert np.abs(one.q - ends[2].q).max() < max(1e-9, min(3 * rounding, 1e-7))
        assert len(one.contacts) == len(ends[2].contacts)
