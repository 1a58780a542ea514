"""What contacts do to links in rollouts, against the steps of a `Stepper`."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import hinge_text

import mbdyn_ros
from mbdyn_ros import Environment, InputError, LinkContacts, Robot, Stepper, Surface, World
from mbdyn_ros.array import Array
from mbdyn_ros.model.shapes import Box, Sphere

FLOOR = Surface.plane(restitution=0.3, friction=0.5)
STEP, STEPS = 2e-3, 150


def by_steps(
    robot: Robot, environment: Environment, q: Array, v: Array, effort: Array
) -> dict[str, Array]:
    """The sums of forces and moments of `Stepper.contacts`, (T, 6) about links in their axes."""
    stepper = Stepper(robot, STEP, environment)
    stepper.set_state(q, v)
    stepper.effort[:] = effort
    found = {link: np.zeros((STEPS, 6)) for link in robot.links}
    for k in range(STEPS):
        stepper.advance()
        for contact in stepper.contacts:
            for link, sign in zip(contact.links, (1.0, -1.0), strict=False):
                pose = robot.frame_pose(stepper.q, link)
                force = sign * contact.force
                arm = contact.place - pose[:3, 3]
                both = np.array([force, np.cross(arm, force)]) @ pose[:3, :3]
                found[link][k] += both.ravel()
    return found


@pytest.mark.sparse
@pytest.mark.parametrize("convex", [False, True], ids=["balls", "boxes"])
def test_they_are_those_of_the_stepper(convex: bool) -> None:
    """Bodies slide, turn and lie on a floor and on each other, together on lanes and alone."""
    world = World([FLOOR], links=LinkContacts(0.1, 0.4, convex=convex))
    shape = Box((0.2, 0.3, 0.2)) if convex else Sphere(0.1)
    world.add("lower", shape, mass=2.0, xyz=(0, 0, 0.101))
    world.add("upper", Sphere(0.1), mass=1.0, xyz=(0.03, 0, 0.32))
    robot, environment = world.robot, world.environment
    rng = np.random.default_rng(0)
    q = np.tile(robot.home_position, (5, 1))
    v = 0.3 * rng.standard_normal((5, robot.nv))
    v[:, [2, 8]] = 0.0
    effort = np.zeros((5, STEPS, len(robot.effort_labels)))
    effort[..., 0] = rng.uniform(2, 5, (5, 1))
    found: dict[str, Array] = {}
    q_out, _ = robot.rollout(q, v, effort, STEP, environment=environment, contact_wrenches=found)
    assert set(found) == {"lower", "upper"} and found["lower"].shape == (5, STEPS, 6)
    for k in range(5):
        expected = by_steps(robot, environment, q[k], v[k], effort[k, 0])
        for link, values in found.items():
            np.testing.assert_allclose(values[k], expected[link], rtol=1e-12, atol=1e-12)
    assert np.abs(found["upper"]).max() > 9.81 and np.abs(found["lower"][:, -1, :3]).max() > 19
    last: dict[str, Array] = {}
    robot.rollout(q, v, effort, STEP, terminal=True, environment=environment, contact_wrenches=last)
    one: dict[str, Array] = {}
    robot.rollout(q[0], v[0], effort[0], STEP, environment=environment, contact_wrenches=one)
    for link, values in found.items():
        np.testing.assert_array_equal(last[link], values[:, -1])
        np.testing.assert_array_equal(one[link], values[0])
    assert np.isfinite(q_out).all()


def test_a_lost_motion_is_lost_alone_and_none_is_given_without_walls() -> None:
    robot = mbdyn_ros.load(hinge_text())
    with pytest.raises(InputError, match="contact_wrenches are those of an environment"):
        robot.rollout([0.0], [0.0], np.zeros((2, 1)), STEP, contact_wrenches={})
    world = World([FLOOR])
    world.add("ball", Sphere(0.1), mass=1.0, xyz=(0, 0, 0.1))
    q = np.tile(world.robot.home_position, (2, 1))
    q[1, 0] = np.nan
    found: dict[str, Array] = {}
    with pytest.warns(mbdyn_ros.SimulationWarning, match="the start of motion 1 is not finite"):
        world.robot.rollout(
            q, np.zeros((2, 6)), np.zeros((4, 6)), STEP, environment=world.environment,
            contact_wrenches=found,
        )  # fmt: skip
    np.testing.assert_allclose(found["ball"][0], [[0, 0, 9.81, 0, 0, 0]] * 4, atol=1e-9)
    assert np.isnan(found["ball"][1]).all()
