"""The steps of impacts as they are printed, redone from what is printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import succeed

import mbdyn_ros
from benchmarks.tree_impact import START, load
from mbdyn_ros import Environment, LinkContacts, Surface
from mbdyn_ros.simulation.contact.impact_steps import impact_steps

WALLS = Path(__file__).parents[3] / "config" / "tree_robot_walls.yaml"


def redone(robot: mbdyn_ros.Robot, walls: Environment, impact: mbdyn_ros.Impact) -> None:
    """thd+ and f by (47), as blocks that are put together from single quantities."""
    steps = impact_steps(robot, walls, impact)
    single = {
        name: [one.value for one in steps.quantities if one.symbol == name]
        for name in ("J", "n", "W", "e", "t")
    }
    for J, n, W in zip(*(single[name] for name in "JnW"), strict=bool(single["n"])):
        np.testing.assert_allclose(n.T @ J, W, atol=1e-12)
    mass, before, W = steps["I_f"], steps["thd-"], np.concatenate(single["W"])
    rubbed = sum((J.T @ t for J, t in zip(single["J"], single["t"], strict=False)), 0 * before)
    top = np.concatenate([mass, -W.T], axis=1)
    bottom = np.concatenate([W, np.zeros((len(W), len(W)))], axis=1)
    right = np.concatenate([mass @ before + rubbed, -np.concatenate(single["e"]) * (W @ before)])
    found = np.linalg.solve(np.concatenate([top, bottom]), right)[:, 0]
    np.testing.assert_allclose(found[robot.nv :], impact.impulses, rtol=1e-8)
    np.testing.assert_allclose(found[: robot.nv], impact.v_after, atol=1e-8)
    np.testing.assert_allclose(steps["thd+"][:, 0], impact.v_after, atol=1e-8)


@pytest.mark.long
def test_the_papers_first_impacts_by_hand() -> None:
    robot, walls = load()
    run = mbdyn_ros.simulate(robot, START, np.zeros(12), 0.6, environment=walls)
    assert len(run.impacts) == 2
    for impact in run.impacts:
        redone(robot, walls, impact)
    rough = Environment(
        [Surface.cylinder(radius=2.5, axis=(0, 1, 0), restitution=0.5, friction=0.4)]
    )
    run = mbdyn_ros.simulate(robot, START, np.zeros(12), 0.45, environment=rough)
    redone(robot, rough, run.impacts[0])


def test_a_stop_of_a_joint_and_two_links_by_hand() -> None:
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    links = "".join(
        f'<link name="{name}">{ball}<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        f'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{name}_x" type="prismatic">'
        f'<parent link="w"/><child link="{name}"/><origin xyz="{at} 0 0"/>'
        '<limit lower="-0.5" upper="1.5" effort="1" velocity="9"/></joint>'
        for name, at in (("a", 0), ("b", 1))
    )
    robot = mbdyn_ros.load(f'<robot name="two"><link name="w"/>{links}</robot>')
    cradle = Environment([], links=LinkContacts(restitution=0.5), joint_limits=True)
    run = mbdyn_ros.simulate(robot, [0, 0], [1.0, 0], 4.0, environment=cradle)
    assert {one.surfaces[0] for one in run.impacts} >= {
        "link 'a' on link 'b'",
        "upper limit of joint 'b_x'",
    }
    for impact in run.impacts:
        redone(robot, cradle, impact)


def test_command_line() -> None:
    start = str([float(one) for one in START])
    line = ["simulate", "tree_robot", "--position", start, "--environment", str(WALLS)]
    text = succeed(*line, "--duration", "0.4", "--explain", "text")
    assert "impact at 0.385191984 s" in text and "5.264426      5.264426" in text
