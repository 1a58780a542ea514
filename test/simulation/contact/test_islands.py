"""Many things on one floor, and more contacts than there is room for at first."""

from __future__ import annotations

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros import Environment, LinkContacts, Surface, World
from mbdyn_ros.array import Array
from mbdyn_ros.model.shapes import Box

FLOOR = Surface.plane(restitution=0.3, friction=0.4)
DISH = Surface.sphere(1.0, (0, 0, 1), inside=True, restitution=0.0, friction=0.3)
STEP = 1e-3


def boxes(count: int) -> World:
    """Boxes of different sizes in a row; none can touch another one."""
    world = World([FLOOR], links=None)
    for k in range(count):
        size = (0.2, 0.1 + 0.02 * k, 0.15)
        world.add(f"b{k}", Box(size), mass=1.0 + k, xyz=(k, 0, 0.3))
    return world


def starts(count: int) -> tuple[Array, Array]:
    """Their states (n, 7), (n, 6): one lies and slides, the others fall and turn."""
    rng = np.random.default_rng(3)
    q, v = np.zeros((count, 7)), rng.normal(size=(count, 6))
    q[:, 2], q[:, 3:] = 0.05, rng.normal(size=(count, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    q[0], v[0] = [0, 0, 0.075 - 0.3, 0, 0, 0, 1], [1.0, 0.5, 0, 0, 0, 0]
    return q, v


def test_each_moves_as_alone() -> None:
    """Falls with impacts, sliding and rest: no box knows of the others, whatever they do."""
    count, world = 6, boxes(6)
    q, v = starts(count)
    together = world.stepper(STEP)
    together.set_state(q.ravel(), v.ravel())
    alone = []
    for k in range(count):
        one = World([FLOOR], links=None)
        one.add("b", Box((0.2, 0.1 + 0.02 * k, 0.15)), mass=1.0 + k, xyz=(k, 0, 0.3))
        alone.append(one.stepper(STEP))
        alone[-1].set_state(q[k], v[k])
    most = 0
    for _ in range(40):
        together.advance(10)
        most = max(most, np.count_nonzero(together.modes))
        for k, stepper in enumerate(alone):
            stepper.advance(10)
            # an impact of another box divides a step, in which sliding that turns is of order 1
            np.testing.assert_allclose(together.q[7 * k : 7 * k + 7], stepper.q, atol=1e-5)
    assert most >= 12 and together.unsettled == 0
    one_slid = np.linalg.norm(alone[0].q[:2] - q[0, :2])
    assert one_slid > 0.05


@pytest.mark.long
def test_lying_boxes_weigh_what_they_weigh() -> None:
    count, world = 7, boxes(7)
    q = np.tile([0, 0, 0.075 - 0.3, 0, 0, 0, 1.0], (count, 1))
    stepper = world.stepper(STEP)
    stepper.set_state(q.ravel(), np.zeros(6 * count))
    stepper.advance(20)
    for k in range(count):
        forces = [one.force[2] for one in stepper.contacts if one.links[0] == f"b{k}"]
        assert len(forces) == 4
        assert sum(forces) == pytest.approx(9.81 * (1 + k), rel=1e-9)


def test_a_contact_joins_islands() -> None:
    """A box on two others, and one by itself: the lower ones carry half of it each."""
    world = World([FLOOR], links=LinkContacts(0.0, 0.4, convex=True))
    for name, mass, xyz in (
        ("left", 1.0, (-0.15, 0, 0.1)), ("right", 1.0, (0.15, 0, 0.1)),
        ("top", 2.0, (0, 0, 0.25)), ("far", 1.0, (3.0, 0, 0.1)),
    ):  # fmt: skip
        size = (0.4, 0.2, 0.1) if name == "top" else (0.2, 0.2, 0.2)
        world.add(name, Box(size), mass=mass, xyz=xyz)
    stepper = world.stepper(STEP)
    stepper.advance(50)
    below = {name: 0.0 for name in world.members}
    for one in stepper.contacts:
        if one.surface == "plane":
            below[one.links[0]] += one.force[2]
    expected = {"left": 2 * 9.81, "right": 2 * 9.81, "top": 0.0, "far": 9.81}
    assert below == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("most", [3, pytest.param(6, marks=pytest.mark.long)])
def test_motions_of_a_rollout_are_those_of_a_stepper(most: int) -> None:
    """Whether the other motions of a vector have more rows or islands or not."""
    world = boxes(most)
    rng, robot, count = np.random.default_rng(0), world.robot, 9
    q, v = starts(most)
    many_q = np.tile(q.ravel(), (count, 1))
    many_v = v.ravel() + 0.3 * rng.normal(size=(count, 6 * most))
    many_q[3:6] = np.tile([0, 0, 0.075 - 0.3, 0, 0, 0, 1.0], most)  # all of it lies
    many_v[3:6, 2::6] = many_v[3:6, 3::6] = many_v[3:6, 4::6] = 0.0
    efforts = np.zeros((150, len(robot.effort_labels)))
    found, _ = robot.rollout(many_q, many_v, efforts, STEP, environment=world.environment)
    stepper = world.stepper(STEP)
    for k in range(count):
        stepper.set_state(many_q[k], many_v[k])
        stepper.advance(150)
        np.testing.assert_allclose(stepper.q, found[k, -1], rtol=1e-14, atol=1e-15)


def test_more_contacts_than_there_is_room_for_at_first() -> None:
    """A raft on 150 feet lands at once, slides and lies: every foot counts, in rollouts too."""
    places = [(0.1 * i, 0.1 * k) for i in range(15) for k in range(10)]
    feet = "".join(
        f'<geom type="sphere" size="0.02" pos="{x} {y} 0" mass="0.1"/>' for x, y in places
    )
    robot = mbdyn_ros.load(
        f'<mujoco><worldbody><body name="raft"><freejoint/>{feet}</body></worldbody></mujoco>'
    )
    floor = Environment([Surface.plane(restitution=0.0, friction=0.4)])
    stepper = mbdyn_ros.Stepper(robot, STEP, floor)
    q = robot.home_position.copy()
    q[2] += 0.03
    stepper.set_state(q, [0.5, 0, 0, 0, 0, 0])
    stepper.advance(300)
    assert len(stepper.contacts) == 150 and stepper.deepest < 1e-9
    weight = sum(one.force[2] for one in stepper.contacts)
    assert weight == pytest.approx(15 * 9.81, rel=1e-9)
    assert not np.any(stepper.v.round(9)) and stepper.q[0] - q[0] == pytest.approx(
        0.5 * np.sqrt(2 * 0.01 / 9.81)
        + (0.5 - 0.4 * np.sqrt(2 * 0.01 * 9.81)) ** 2 / (2 * 0.4 * 9.81),
        abs=1e-3,
    )  # falls 1 cm, loses mu g t by the impact, slides to rest
    efforts = np.zeros((300, len(robot.effort_labels)))
    found, _ = robot.rollout(q, np.r_[0.5, np.zeros(5)], efforts, STEP, environment=floor)
    np.testing.assert_array_equal(stepper.q, found[-1])
