"""Numbers of contacts that are none: each refused by its name, with what to write."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import InputError, MbdynError, Stepper, Surface
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

CART = robot_text(
    link("cart", 2), link("arm"), joint("pin", "cart", "arm", "0 0 1"), name="cart", base=""
)


@pytest.mark.parametrize(("name", "value", "words"), [
    ("friction", -0.1, "friction is -0.1; it must be a number 0 or more"),
    ("friction", np.nan, "friction is nan; it must be a number 0 or more"),
    ("restitution", 1.1, "restitution is 1.1; it must be a number from 0 (dead) to 1 (elastic)"),
    ("restitution", -0.1, "restitution is -0.1; it must be a number from 0 (dead) to 1 (elastic)"),
])  # fmt: skip
def test_laws_that_are_none(name: str, value: float, words: str) -> None:
    for what, made in (("surface 'plane': ", Surface.plane), ("links: ", LinkContacts)):
        with pytest.raises(InputError) as caught:
            made(**{name: value})  # type: ignore[operator]
        assert str(caught.value) == what + words
    for text in (
        f"surfaces:\n  - {{name: ice, type: plane, {name}: {value}}}",
        f"surfaces: [{{name: ice, type: plane}}]\nlinks: {{{name}: {value}}}",
    ):
        if np.isfinite(value):
            with pytest.raises(MbdynError, match=rf"^<text>:\d: .*: {name} is {value}; it must be"):
                mbdyn_ros.read_environment(text)


@pytest.mark.long
def test_efforts_of_the_motors_alone() -> None:
    """With a floating base they are taken as those of all coordinates, with zeros before them."""
    robot = mbdyn_ros.load(CART, floating_base=True)
    q, v = np.array([0, 0, 0, 0, 0, 0, 1, 0.2]), np.zeros(7)
    whole = np.r_[np.zeros(6), 2.0]
    wanted = robot.forward_dynamics(q, v, whole)
    np.testing.assert_array_equal(robot.forward_dynamics(q, v, [2.0]), wanted)
    ends = [robot.rollout(q, v, np.tile(one, (3, 1)), 1e-2)[1] for one in (whole, [2.0])]
    np.testing.assert_array_equal(*ends)
    stepper = Stepper(robot, 1e-2)
    for given in (whole, [2.0], np.array([2])):
        stepper.effort = given
        stepper.set_state(q, v)
        stepper.advance(3)
        np.testing.assert_allclose(stepper.v, ends[0][-1], rtol=1e-12)
    stepper.effort = whole
    assert np.shares_memory(stepper.effort, whole)
    with pytest.raises(InputError, match="effort has shape"):
        stepper.effort = [1.0, 2.0]


@pytest.mark.parametrize(("text", "words"), [
    ("surfaces: [{name: wall, g: z}]", "this surface has no type; give it one of plane, sphere"),
    ("surfaces: !!python/tuple [1]", "must be a list, not a list with the tag .*python/tuple"),
])  # fmt: skip
def test_surfaces_that_are_none(text: str, words: str) -> None:
    with pytest.raises(MbdynError, match=words):
        mbdyn_ros.read_environment(text)


def test_an_environment_of_one_line() -> None:
    (floor,) = mbdyn_ros.read_environment("surfaces: [{name: floor, type: plane}]").surfaces
    assert floor.name == "floor"
    with pytest.raises(mbdyn_ros.MbdynError, match="no such file"):
        mbdyn_ros.read_environment("walls.yaml")


def test_a_list_of_surfaces_is_no_environment() -> None:
    robot = mbdyn_ros.load(CART, floating_base=True)
    q, v, walls = (
        robot.home_position,
        np.zeros(7),
        [Surface.plane(name="floor", restitution=1.0, friction=0.0)],
    )
    words = r"environment must be an Environment, not \[Surface\('floor'.*: write Environment\(\["
    for call in (
        lambda: Stepper(robot, 1e-3, walls),  # type: ignore[arg-type]
        lambda: mbdyn_ros.simulate(robot, q, v, 0.1, environment=walls),  # type: ignore[arg-type]
        lambda: robot.rollout(q, v, np.zeros((1, 7)), 1e-3, environment=walls),
    ):
        with pytest.raises(InputError, match=words):
            call()
