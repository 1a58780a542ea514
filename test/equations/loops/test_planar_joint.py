"""Planar joints that a loop ties in part: as three joints, with the numbers of three joints."""

from __future__ import annotations

import numpy as np
import pytest
from planar_robots import body, pin, robot_of, slide, turn

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")

PLANAR = """<joint name="p" type="planar"><parent link="ground"/><child link="b"/>
  <origin xyz="0.5 0 0.1"/><axis xyz="0 1 0"/><dynamics damping="0.3"/></joint>"""


THREE = (
    slide("p1", "ground", "x", "1 0 0", '<origin xyz="0.5 0 0.1"/>')
    + slide("p2", "x", "y", "0 0 -1")
    + turn("p3", "y", "b").replace("</joint>", '<dynamics damping="0.3"/></joint>')
)


def block(joints: str, mechanism: str | None = None, **options: object) -> mbdyn_ros.Robot:
    """A block that slides on a plane, and an arm that is pinned to it."""
    return robot_of(
        body("a", 0, 0.2), body("b", 0.1, 0), joints, turn("arm", "ground", "a"),
        pin("a", "0 0 0.4", "b", "-0.2 0 0"), mechanism=mechanism, **options,
    )  # fmt: skip


CHOICE = "{{independent: [arm, {2}], actuated: [{0}, {2}], home: {{arm: 0.3, {2}: 0.1}}}}"


@pytest.mark.parametrize("floating_base", [False, True])
def test_its_coordinates_are_chosen_one_by_one(floating_base: bool) -> None:
    parts = ("p/x", "p/y", "p/theta")
    robot = block(PLANAR, CHOICE.format(*parts), floating_base=floating_base)
    other = block(THREE, CHOICE.format("p1", "p2", "p3"), floating_base=floating_base)
    assert robot.joint_names == (*parts, "arm")
    assert robot.independent_joints == ("arm", "p/theta")
    assert robot.dependent_joints == ("p/x", "p/y")
    assert list(robot.home.values()) == list(other.home.values())
    random = np.random.default_rng(0)
    q, v, a = random.uniform(-0.3, 0.3, (3, robot.nv))
    if floating_base:
        q = np.hstack([[0, 0, 0, 0, 0, 0, 1], q[6:]])
    effort = robot.inverse_dynamics(q, v, a)
    assert np.array_equal(effort, other.inverse_dynamics(q, v, a))
    if floating_base:  # the ground has no mass, and turns while all else rests
        assert robot.massless_links == ("ground",)
    else:
        assert np.allclose(robot.forward_dynamics(q, v, effort), a, atol=1e-10)


def test_without_a_choice() -> None:
    robot = block(PLANAR)
    assert robot.nv == 2 and len(robot.dependent_joints) == 2
    assert robot.report().mobility == 2


def test_home_may_name_a_part() -> None:
    robot = block(PLANAR, "{independent: [arm, p/theta]}", home={"p/theta": 0.2, "arm": 0.3})
    assert robot.home["p/theta"] == 0.2 and robot.home["arm"] == 0.3
    with pytest.raises(mbdyn_ros.InputError, match="p/z"):
        block(PLANAR, home={"p/z": 0.2})


def test_a_whole_planar_joint_is_still_one() -> None:
    tree = robot_of(body("b", 0.1, 0), PLANAR)
    assert tree.joint_names == ("p",) and tree.nv == 3


def test_wrong_choices() -> None:
    with pytest.raises(mbdyn_ros.ModelError, match="choose 2 of p/x, p/y, p/theta, arm"):
        block(PLANAR, "{independent: [p]}")
    with pytest.raises(mbdyn_ros.ModelError, match='"p/z" is not a joint'):
        block(PLANAR, "{independent: [arm, p/z]}")
