"""Closed forms of loops that gears tie together, against Newton's method on the same robots."""

from __future__ import annotations

import numpy as np
import pytest
from planar_robots import body, robot_of, turn
from random_loops import walked
from variable_robots import loaded_anew

import mbdyn_ros
from mbdyn_ros.equations.loops.stepwise import Stepwise

pytestmark = pytest.mark.usefixtures("interpreted")


def linkage(name: str, at: str, axis: str = "0 1 0", gear: str = "") -> str:
    """A four-bar around an axis, x along, z up where that is y; `gear` is in its crank."""
    across = "0 1 0" if axis == "0 1 0" else "1 0 0"
    along = (lambda x, z: f"{x} 0 {z}") if axis == "0 1 0" else (lambda x, z: f"0 {-x} {z}")
    crank, rod, rocker = (f"{part}_{name}" for part in ("crank", "rod", "rocker"))
    base = f"base_{name}"
    return (
        f'<link name="{base}"/><joint name="{base}" type="fixed"><parent link="ground"/>'
        f'<child link="{base}"/><origin xyz="{at}"/></joint>'
        + body(crank, 0, 0.1)
        + turn(crank, base, crank, axis=across).replace("</joint>", f"{gear}</joint>")
        + body(rod, 0.1, 0.1)
        + turn(rod, crank, rod, along(0, 0.25), across)
        + body(rocker, 0, 0.3)
        + turn(rocker, base, rocker, along(0.9, 0), across)
        + f"""<loop name="pin_{name}" type="revolute"><axis xyz="{across}"/>
          <predecessor link="{rod}"><origin xyz="{along(0.8, 0.1)}"/></predecessor>
          <successor link="{rocker}"><origin xyz="{along(0, 0.6)}"/></successor></loop>"""
    )


def five_bar(gear: str) -> str:
    """Two cranks and two rods: two freedoms, except for the gear."""
    driven = turn("c", "ground", "c", "1 0 0").replace("</joint>", f"{gear}</joint>")
    return (
        body("a", 0, 0.25) + turn("a", "ground", "a")
        + body("b", 0.2, 0.2) + turn("b", "a", "b", "0 0 0.5")
        + body("c", 0, 0.25) + driven
        + body("d", -0.2, 0.2) + turn("d", "c", "d", "0 0 0.5")
        + """<loop name="pin" type="revolute"><axis xyz="0 1 0"/>
          <predecessor link="b"><origin xyz="0.5 0 0.4"/></predecessor>
          <successor link="d"><origin xyz="-0.5 0 0.4"/></successor></loop>"""
    )  # fmt: skip


ROBOTS = {
    "geared five-bar": (five_bar('<mimic joint="a" multiplier="-0.7" offset="0.1"/>'), "a"),
    "two planes": (
        linkage("one", "0 0 0")
        + linkage("two", "0 2 0", "1 0 0", '<mimic joint="crank_one" multiplier="-2"/>'),
        "crank_one",
    ),
    "by a dependent joint": (  # the rocker of one moves the crank of the other, and a flag
        linkage("one", "0 0 0")
        + linkage("two", "0 2 0", "1 0 0", '<mimic joint="rocker_one" multiplier="0.8"/>')
        + body("flag", 0, 0.1)
        + turn("flag", "ground", "flag", axis="1 2 3").replace(
            "</joint>", '<mimic joint="rod_two" multiplier="3"/></joint>'
        ),
        "crank_one",
    ),
    "a differential": (
        linkage("one", "0 0 0")
        + linkage("two", "0 2 0", "1 0 0")
        + body("sum", 0, 0.1)
        + turn("sum", "ground", "sum")
        + '<coupling name="sum"><joint name="sum" factor="2"/>'
        '<joint name="rocker_one" factor="-1"/><joint name="crank_two" factor="-1"/></coupling>',
        "crank_one, sum",
    ),
}
ROBOTS["a planetary train"] = (  # sun and ring are cranks; the arm and the planet come together
    ROBOTS["a differential"][0].partition("<coupling")[0]
    + body("arm", 0, 0.1)
    + turn("arm", "ground", "arm")
    + """<coupling name="inner"><joint name="crank_one" factor="2"/>
      <joint name="sum" factor="1.5"/><joint name="arm" factor="-3.5"/></coupling>
    <coupling name="outer"><joint name="sum" factor="-1.5"/>
      <joint name="crank_two" factor="5"/><joint name="arm" factor="-3.5"/></coupling>""",
    "crank_one, crank_two",
)
ROBOTS["long cranks"] = (
    ROBOTS["by a dependent joint"][0]
    .replace('multiplier="0.8"', 'multiplier="3"')
    .replace('xyz="0 0 0.25"', 'xyz="0 0 0.75"'),
    "crank_one",
)


@pytest.mark.sparse
@pytest.mark.parametrize("name", ROBOTS)
def test_as_by_newtons_method(name: str) -> None:
    text, independent = ROBOTS[name]
    robot = robot_of(text, mechanism=f"{{independent: [{independent}]}}")
    (one,) = robot.system.linkages
    assert isinstance(one.closed_form, Stepwise) and not robot.numerical_joints
    newton = walked(robot)
    assert newton.numerical_joints
    random = np.random.default_rng(0)
    for q in robot_positions(robot, random):
        v, a = random.normal(size=(2, robot.nv))
        for mine, theirs in zip(
            robot.joint_state(q, v, a), newton.joint_state(q, v, a), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)
        effort = newton.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), effort, rtol=1e-9, atol=1e-9)


def robot_positions(robot: mbdyn_ros.Robot, random: np.random.Generator) -> list[np.ndarray]:
    """Two positions near home."""
    home = np.array([robot.home[name] for name in robot.independent_joints])
    return [home + random.uniform(-0.15, 0.15, robot.nv) for _ in range(2)]


def test_out_of_reach() -> None:
    """A position at which a later loop does not close is refused with its gap."""
    text, independent = ROBOTS["long cranks"]
    robot = robot_of(text, mechanism=f"{{independent: [{independent}]}}")
    q = np.linspace(-3.0, 3.0, 61)[:, None]
    found = np.isfinite(robot.mass_matrix(q)[:, 0, 0])
    assert found.any() and not found.all()
    bad = q[np.flatnonzero(~found)[0]]
    with pytest.raises(mbdyn_ros.InputError, match="cannot be closed at crank_one"):
        robot.mass_matrix(bad)


@pytest.mark.parametrize("name", ROBOTS)
def test_lengths_may_vary(name: str) -> None:
    """As a robot loaded anew with them, open where that is, and each row of a batch its own."""
    text, independent = ROBOTS[name]
    choice = f"{{independent: [{independent}]}}"
    fixed = robot_of(text, mechanism=choice)
    frames = [f"{loop.name}/predecessor" for loop in fixed.model.loops]
    robot = robot_of(text, mechanism=choice, variable=[f"{one}/z" for one in frames])
    assert not robot.numerical_joints
    random, rows = np.random.default_rng(1), 4
    homes = np.array([fixed.home[one] for one in fixed.independent_joints])
    q = homes + np.linspace(-3.0, 3.0, 41)[:, None] * random.uniform(0.5, 1.0, fixed.nv)
    base, many = robot.parameter_values(), []
    changed = base + 0.01 * random.normal(size=(rows, len(base)))
    for values in changed:
        robot.set_parameter_values(values)
        anew = loaded_anew(robot)
        here, there = (one.mass_matrix(q) for one in (robot, anew))
        np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-10)
        assert robot.loop_limits() == pytest.approx(anew.loop_limits(), abs=1e-9)
        many.append(here[20])
    robot.set_parameter_values(changed)
    np.testing.assert_allclose(robot.mass_matrix(np.tile(q[20], (rows, 1))), many, rtol=1e-12)
