"""Joints that close a loop and keep a position: screws, and what is named where loops are cut."""

from __future__ import annotations

import re

import numpy as np
import pytest
from planar_robots import body, robot_of, turn

import mbdyn_ros
from mbdyn_ros.model import ModelError, read_mechanism, read_urdf

pytestmark = pytest.mark.usefixtures("interpreted")

SPINDLE = (
    body("yoke", 0.1, 0.02) + turn("yoke", "ground", "yoke"),
    body("spindle", 0.3, 0) + turn("drive", "yoke", "spindle", "0 0 0", "1 0 0"),
    body("lever", 0, 0.4) + turn("lever", "ground", "lever", "1 0 0"),
)
NUT = body("nut", 0.01, 0)
PIN = turn("pin", "lever", "nut", "0 0 0.5")
LOOP = """<loop name="thread" type="screw"><predecessor link="spindle"><origin xyz="0.9 0 0"/>
  </predecessor><successor link="nut"/><axis xyz="1 0 0"/><screw pitch="0.002"/></loop>"""
CHOICE = "{independent: [drive], home: {lever: -0.1}}"


def test_a_jack_closed_by_its_thread() -> None:
    """As with the nut on the spindle, and pinned to the lever by a loop."""
    screw = """<joint name="thread" type="screw"><parent link="spindle"/><child link="nut"/>
      <origin xyz="0.9 0 0"/><axis xyz="1 0 0"/><screw pitch="0.002"/></joint>"""
    pin = """<loop name="pin" type="revolute"><axis xyz="0 1 0"/><predecessor link="nut"/>
      <successor link="lever"><origin xyz="0 0 0.5"/></successor></loop>"""
    robot = robot_of(*SPINDLE, NUT, PIN, LOOP, mechanism=CHOICE)
    other = robot_of(*SPINDLE, NUT, screw, pin, mechanism=CHOICE)
    assert robot.joint_names == ("yoke", "drive", "lever", "pin", "thread")
    names = ("yoke", "lever", "thread")
    for q in (0.3, 20.0):  # several turns
        mine, theirs = (
            dict(zip(one.joint_names, one.joint_state([q])[0], strict=True))
            for one in (robot, other)
        )
        assert [mine[name] for name in names] == pytest.approx([theirs[name] for name in names])
        state = [q], [5.0], [3.0]
        effort = other.inverse_dynamics(*state)
        np.testing.assert_allclose(robot.inverse_dynamics(*state), effort, rtol=1e-9)
        np.testing.assert_allclose(robot.forward_dynamics([q], [5.0], effort), [3.0], rtol=1e-9)
    assert set(robot.loop_forces([0.3], [0.0], [0.0])) == {"thread/end"}


def test_a_side_car_says_the_same() -> None:
    text = f'<robot name="test"><link name="ground"/>{"".join(SPINDLE)}{NUT}{PIN}'
    model = read_mechanism(
        "loops:\n"
        "- {name: thread, type: screw, pitch: 0.002, predecessor: {link: spindle,"
        " xyz: [0.9, 0, 0]}, successor: {link: nut}}\n"
        "home: {thread: 0.1}",
        read_urdf(text + "</robot>"),
    )
    whole = read_urdf(text + LOOP + "</robot>")
    assert model.home == {"thread": 0.1}
    mine, theirs = model.joint("thread"), whole.joint("thread")
    assert (mine.child, mine.numbers) == (theirs.child, theirs.numbers) == ("thread/end", {
        "pitch": 0.002
    })  # fmt: skip
    assert mine.origin.translation.tolist() == theirs.origin.translation.tolist()
    assert model.loops[0].successor == whole.loops[0].successor == "nut"


def test_drawn_with_two_parents() -> None:
    """A screw that is cut keeps its position, whatever it mimics or is marked."""
    screw = """<joint name="thread" type="screw"><parent link="spindle"/><child link="nut"/>
      <origin xyz="0.9 0 0"/><axis xyz="1 0 0"/><screw pitch="0.002"/></joint>"""
    marked = PIN.replace('<joint name="pin"', '<joint name="pin" independent="false"')
    needed = marked.replace("</joint>", '<mimic joint="lever" multiplier="0"/></joint>')
    model = read_urdf(
        f'<robot name="test"><link name="ground"/>{"".join(SPINDLE)}{NUT}{needed}{screw}</robot>'
    )
    assert {one.name for one in model.joints} == {"yoke", "drive", "lever", "pin", "thread"}
    assert [one.name for one in model.loops] == ["thread/end"]
    robot = robot_of(*SPINDLE, NUT, screw, PIN, mechanism=CHOICE)
    assert robot.nv == 1 and "thread" in robot.joint_names


def test_marks_are_of_joints() -> None:
    """Where another joint is marked, a loop is not independent for want of a mark."""
    marked = [
        part.replace("<joint ", f'<joint independent="{str("drive" in part).lower()}" ')
        for part in (*SPINDLE, PIN)
    ]
    robot = robot_of(*marked, NUT, LOOP)
    assert robot.model.independent == robot.independent_joints == ("drive",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<screw pitch="0.002"/>', "", '<loop name="thread">: has no pitch; add <screw pitch='),
        ('name="thread"', 'name="drive"', 'the name is taken by the joint'),
        ('<successor link="nut"/>', '<successor link="nit"/>', 'its successor "nit" is not a link'),
        ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>', "has no direction"),
    ],
)  # fmt: skip
def test_refusals(old: str, new: str, words: str) -> None:
    assert old in LOOP
    with pytest.raises(ModelError, match=re.escape(words)):
        robot_of(*SPINDLE, NUT, PIN, LOOP.replace(old, new))


def test_refusals_in_a_side_car() -> None:
    model = read_urdf(
        f'<robot name="test"><link name="ground"/>{"".join(SPINDLE)}{NUT}{PIN}</robot>'
    )
    record = "name: {}, type: screw, predecessor: {{link: spindle}}, successor: {{link: nut}}"
    for text, words in (
        (record.format("thread"), 'loop "thread": has no pitch; add pitch: the way'),
        (record.format("drive") + ", pitch: 1", "the name is taken by a joint"),
    ):
        with pytest.raises(ModelError, match=words):
            read_mechanism(f"{{loops: [{{{text}}}]}}", model)


def test_a_cut_joint_may_be_mimicked() -> None:
    """Both parents of a four-bar's rocker are needed: one is independent, one drives a flag."""
    parts = [
        body("crank", 0, 0.2) + turn("crank", "ground", "crank"),
        body("rod", 0.4, 0) + turn("rod", "crank", "rod", "0 0 0.4"),
        body("rocker", 0, 0.3) + turn("rocker", "ground", "rocker", "0.9 0 0"),
        turn("knee", "rod", "rocker", "0.8 0 0.1"),
    ]
    marked = [
        part.replace("<joint ", f'<joint independent="{str(k == 2).lower()}" ')
        for k, part in enumerate(parts)
    ]
    flag = '<mimic joint="knee" multiplier="2"/></joint>'
    more = body("flag", 0, 0) + turn("flag", "ground", "flag").replace("</joint>", flag)
    with pytest.warns(mbdyn_ros.ModelWarning, match='held there by the loop "knee/end"'):
        robot = robot_of(*marked, more)
    assert robot.independent_joints == ("rocker",)
    x = dict(zip(robot.joint_names, robot.joint_state([0.2])[0], strict=True))
    assert x["crank"] + x["rod"] + x["knee"] == pytest.approx(x["rocker"])
    assert x["flag"] == pytest.approx(2 * x["knee"])
