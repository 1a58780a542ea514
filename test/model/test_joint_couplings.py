"""Couplings of joints by name: differentials, racks, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from loop_judge import LoopJudge
from planar_robots import body, robot_of, slide, turn

import mbdyn_ros
from mbdyn_ros.model import Combination, ModelError, read_mechanism, read_urdf

pytestmark = pytest.mark.usefixtures("interpreted")

LEG = (
    body("thigh", 0.1, 0.3) + turn("hip", "ground", "thigh"),
    body("shank", 0.05, 0.4) + turn("knee", "thigh", "shank", "0 0 0.5", "0 1 0.3"),
    body("rotor_a", 0.01, 0.02) + turn("motor_a", "ground", "rotor_a", "0 0.1 0"),
    body("rotor_b", 0.02, 0.01) + turn("motor_b", "thigh", "rotor_b", "0 -0.1 0"),
)
SUM = """<coupling name="sum" offset="0.1"><joint name="hip" factor="2"/>
  <joint name="motor_a" factor="-1"/><joint name="motor_b" factor="-1"/></coupling>"""
DIFFERENCE = """<coupling name="difference"><joint name="knee" factor="1"/>
  <joint name="motor_a" factor="-0.5"/><joint name="motor_b" factor="0.5"/></coupling>"""
MOTORS = "{independent: [motor_a, motor_b]}"
BARE = read_urdf(f'<robot name="test"><link name="ground"/>{"".join(LEG)}</robot>')


def test_a_differential() -> None:
    """Two motors: hip = (a + b + 0.1) / 2, knee = (a - b) / 2."""
    robot = robot_of(*LEG, SUM, DIFFERENCE, mechanism=MOTORS)
    assert robot.dependent_joints == ("hip", "knee")
    assert robot.home == pytest.approx({"hip": 0.05, "knee": 0.0, "motor_a": 0.0, "motor_b": 0.0})
    judge = LoopJudge(
        f'<robot name="test"><link name="ground"/>{"".join(LEG)}</robot>',
        robot.model,
        robot.joint_names,
    )
    random = np.random.default_rng(0)
    for q, v, a in random.normal(size=(3, 3, 2)):
        x, rate, acceleration = robot.joint_state(q, v, a)
        expected = [(q.sum() + 0.1) / 2, (q[0] - q[1]) / 2, *q]
        np.testing.assert_allclose(x, expected, atol=1e-15)
        embedding, drift = judge.at(x, rate).embedding([2, 3])
        np.testing.assert_allclose(acceleration, embedding @ a + drift, atol=1e-14)
        effort = embedding.T @ judge.at(x, rate).efforts(acceleration)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), effort, atol=1e-12)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, effort), a, atol=1e-11)


def test_a_side_car_says_the_same() -> None:
    model = read_mechanism(
        "couplings:\n"
        "- {name: sum, joints: {hip: 2, motor_a: -1, motor_b: -1}, offset: 0.1}\n"
        "- {name: difference, joints: {knee: 1, motor_a: -0.5, motor_b: 0.5}}",
        BARE,
    )
    factors = (("hip", 2.0), ("motor_a", -1.0), ("motor_b", -1.0))
    assert model.couplings[0] == Combination("sum", factors, 0.1, 2)
    robot, other = mbdyn_ros.Robot(model), robot_of(*LEG, SUM, DIFFERENCE)
    assert robot.nv == 2
    state = np.array([[0.3, -0.2], [1.0, 2.0], [0.5, -0.4]])
    np.testing.assert_array_equal(robot.inverse_dynamics(*state), other.inverse_dynamics(*state))
    assert "hip - 0.5 motor_a - 0.5 motor_b - 0.05 = 0" in str(robot.report())


def test_as_a_mimic() -> None:
    mimic = LEG[1].replace("</joint>", '<mimic joint="hip" multiplier="-2" offset="0.3"/></joint>')
    one = robot_of(LEG[0], mimic)
    other = robot_of(
        *LEG[:2],
        '<coupling name="c" offset="0.15"><joint name="knee" factor="0.5"/>'
        '<joint name="hip" factor="1"/></coupling>',
        mechanism="{independent: [hip]}",
    )
    state = [0.3], [1.0], [0.5]
    np.testing.assert_allclose(
        one.inverse_dynamics(*state), other.inverse_dynamics(*state), rtol=1e-15
    )


def test_rack_and_pinion() -> None:
    """A pinion of 0.05 m on a carriage drives it along a rack; motor inertia counts by 1 / r^2."""
    robot = robot_of(
        slide("way", "ground", "carriage", "1 0 0"),
        body("wheel", 0, 0) + turn("pinion", "carriage", "wheel"),
        '<coupling name="rack"><joint name="pinion" factor="0.05"/>'
        '<joint name="way" factor="-1"/></coupling>',
        mechanism="{independent: [way]}",
    )
    assert robot.mass_matrix([0.2])[0, 0] == pytest.approx(1 + 0.02 / 0.05**2)
    assert robot.joint_state([0.2])[0] == pytest.approx([0.2, 4.0])


def test_in_a_loop() -> None:
    """Both cranks of a five-bar geared against each other leave it one freedom."""
    parts = [
        body("a", 0, 0.25) + turn("a", "ground", "a"),
        body("b", 0.2, 0.2) + turn("b", "a", "b", "0 0 0.5"),
        body("c", 0, 0.25) + turn("c", "ground", "c", "1 0 0"),
        body("d", -0.2, 0.2) + turn("d", "c", "d", "0 0 0.5"),
        """<loop name="pin" type="revolute"><axis xyz="0 1 0"/>
          <predecessor link="b"><origin xyz="0.5 0 0.4"/></predecessor>
          <successor link="d"><origin xyz="-0.5 0 0.4"/></successor></loop>""",
    ]
    gear = '<coupling name="g"><joint name="a" factor="1"/><joint name="c" factor="1"/></coupling>'
    mimic = '<mimic joint="a" multiplier="-1"/></joint>'
    one = robot_of(*parts, gear, mechanism="{independent: [a]}")
    other = robot_of(
        *parts[:2], parts[2].replace("</joint>", mimic), *parts[3:], mechanism="{independent: [a]}"
    )
    state = [0.2], [1.0], [0.5]
    np.testing.assert_allclose(
        one.inverse_dynamics(*state), other.inverse_dynamics(*state), rtol=1e-12
    )


def test_part_of_a_planar_joint() -> None:
    """A wheel rolls below a sled: x = 0.1 angle."""
    sled = """<joint name="sled" type="planar"><parent link="ground"/><child link="sled"/>
      <axis xyz="0 0 1"/></joint>"""
    robot = robot_of(
        body("sled", 0, 0), sled, body("wheel", 0, 0), turn("roll", "sled", "wheel"),
        '<coupling name="c"><joint name="sled/x" factor="1"/><joint name="roll" factor="-0.1"/>'
        "</coupling>",
        mechanism="{independent: [sled/y, sled/theta, roll]}",
    )  # fmt: skip
    assert robot.joint_names == ("sled/x", "sled/y", "sled/theta", "roll")
    x = dict(zip(robot.joint_names, robot.joint_state([0.1, 0.2, 0.7])[0], strict=True))
    assert x["sled/x"] == pytest.approx(0.07)


ONE = '<coupling name="c">{}</coupling>'
HIP = '<joint name="hip" factor="1"/>'


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (HIP, '<coupling name="c">: would hold the joint "hip" still; name the joints'),
        (HIP + HIP, 'names the joint "hip" twice; add up its factors'),
        (HIP + '<joint name="kne" factor="1"/>', '"kne" is not a joint .*mean "knee"'),
        (HIP + '<joint name="knee" factor="0"/>', "a factor of 0 leaves the joint out"),
        (HIP + '<joint name="knee"/>', 'has no attribute "factor"; give a number'),
        (HIP + '<joint name="lies" factor="1"/>', 'joint "lies" is fixed and has no position'),
        (HIP + '<joint name="sled" factor="1"/>', "has several positions; .*: sled/x, sled/y, s"),
        (HIP + '<ratio value="2"/>', "couples links, while <joint> couples joints; keep one"),
    ],
)
def test_refused_in_a_urdf(inside: str, words: str) -> None:
    more = """<link name="x"/><link name="y"/>
      <joint name="lies" type="fixed"><parent link="ground"/><child link="x"/></joint>
      <joint name="sled" type="planar"><parent link="ground"/><child link="y"/></joint>"""
    with pytest.raises(ModelError, match=words):
        robot_of(*LEG, more, ONE.format(inside))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("joints: {}", '"c": joints: names no joint'),
        ("joints: [hip]", "its joints must be a mapping, not a list"),
        ("joints: {hip: 1, knee: 0}", '"knee": a factor of 0'),
        ("joints: {hip: 1, knee: x}", 'the factor of "knee" must be a finite number'),
        ("joints: {hip: 1, kne: 1}", '<text>:1: coupling "c": "kne" is not a joint'),
        ("joints: {hip: 1, knee: 1}, ratio: 2", "links, while joints: couples joints"),
        ("offset: 1, ratio: 2", "only a coupling of joints has an offset"),
    ],
)
def test_refused_in_a_side_car(record: str, words: str) -> None:
    with pytest.raises(ModelError, match=re.escape(words)):
        read_mechanism(f"{{couplings: [{{name: c, {record}}}]}}", BARE)


def test_turns_and_ways_have_no_sum() -> None:
    text = slide("way", "shank", "foot", "1 0 0")
    links = """<coupling name="c"><predecessor link="rotor_a"/><successor link="foot"/>
      <ratio value="2"/></coupling>"""
    with pytest.raises(ModelError, match=r"turn and joints that slide \(hip, knee, way\)"):
        robot_of(*LEG, text, links)


def test_couplings_that_lock() -> None:
    three = '<coupling name="c"><joint name="motor_a" factor="1"/><joint name="{}" factor="2"/>'
    more = [three.format(name) + "</coupling>" for name in ("motor_b", "hip")]
    more[1] = more[1].replace('"c"', '"d"')
    with pytest.raises(ModelError, match="lock their joints.*leave out one of"):
        robot_of(*LEG, SUM, DIFFERENCE, *more)


CAM = (
    body("disk", 0.01, 0.02) + turn("disk", "ground", "disk"),
    body("follower", 0, 0)
    + """<joint name="lift" type="prismatic"><parent link="ground"/><child link="follower"/>
      <axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>""",
    '<coupling name="cam" offset="0.1"><joint name="disk" factor="-0.2" powers="-0.3 0.1"/>'
    '<joint name="lift" factor="1"/></coupling>',
)
"""A follower that a disk lifts: y = 0.1 + 0.2 x + 0.3 x^2 - 0.1 x^3."""


MASS = 1.0
"""Of what is lifted (kg)."""


def lifts(x: float) -> tuple[float, float, float]:
    """The lift of the cam, and its first two derivatives."""
    return (0.1 + 0.2 * x + 0.3 * x**2 - 0.1 * x**3, 0.2 + 0.6 * x - 0.3 * x**2, 0.6 - 0.6 * x)


def test_a_cam() -> None:
    """By Lagrange's equation in the disk's angle."""
    robot = robot_of(*CAM)
    assert (robot.independent_joints, robot.dependent_joints) == (("disk",), ("lift",))
    alone = robot_of(*CAM[:1])
    for q, v, a in np.random.default_rng(1).normal(size=(5, 3)):
        y, slope, bend = lifts(q)
        x, rate, acceleration = robot.joint_state([q], [v], [a])
        np.testing.assert_allclose(x, [q, y], atol=1e-14)
        np.testing.assert_allclose(rate, [v, slope * v], atol=1e-14)
        lifted = slope * a + bend * v**2
        np.testing.assert_allclose(acceleration, [a, lifted], atol=1e-14)
        effort = alone.inverse_dynamics([q], [v], [a]) + slope * MASS * (lifted + 9.81)
        np.testing.assert_allclose(robot.inverse_dynamics([q], [v], [a]), effort, atol=1e-12)
        np.testing.assert_allclose(robot.forward_dynamics([q], [v], effort), [a], atol=1e-10)


def test_a_cam_keeps_its_energy() -> None:
    robot = robot_of(*CAM)
    run = mbdyn_ros.simulate(robot, [0.0], [1.0], 1.0)
    assert np.ptp(run.q) > 0.1 and run.relative_imbalance < 1e-8


def test_a_cam_turned_by_its_follower() -> None:
    """No formula: Newton's method finds the disk's angle."""
    robot = robot_of(*CAM, mechanism="{independent: [lift]}", home={"disk": 0.5, "lift": 0.26})
    for q in (0.3, 0.5, 0.9):
        y, slope, _ = lifts(q)
        x, rate, _ = robot.joint_state([y], [0.7])
        np.testing.assert_allclose([x[0], rate[0] * slope], [q, 0.7], atol=1e-12)


def test_a_cam_is_written_and_edited(tmp_path: Path) -> None:
    robot = robot_of(*CAM)
    state = [0.7], [1.0], [0.5]
    effort = robot.inverse_dynamics(*state)
    robot.save_urdf(tmp_path / "cam.urdf")
    again = mbdyn_ros.load(tmp_path / "cam.urdf")
    side = "{couplings: [{name: cam, offset: 0.1, joints: {disk: [-0.2, -0.3, 0.1], lift: 1}}]}"
    beside = robot_of(*CAM[:2], mechanism=side)
    renamed = robot.renamed({"disk": "shaft"})
    for one in (again, beside, renamed):
        np.testing.assert_array_equal(one.inverse_dynamics(*state), effort)
    larger = robot.scaled(2.0)
    assert larger.joint_state([0.7])[0] == pytest.approx([0.7, 2 * lifts(0.7)[0]])
    for locked in (robot.locked({"disk": 0.7}), robot.locked({"lift": lifts(0.7)[0]})):
        disk, lift = locked.model.joints
        assert (locked.nv, disk.origin.rotation[0, 0]) == (0, pytest.approx(np.cos(0.7)))
        assert lift.origin.translation[2] == pytest.approx(lifts(0.7)[0])


def test_powers_of_all_joints_are_refused() -> None:
    with pytest.raises(ModelError, match='"cam">: has powers of all of its joints; leave one'):
        robot_of(*CAM[:2], CAM[2].replace('factor="1"', 'factor="1" powers="0.1"'))
