"""Links that loops hold together without mobility: one rigid body, where the rest moves."""

from __future__ import annotations

import numpy as np
import pytest
from loop_judge import LoopJudge
from planar_robots import body, robot_of, turn

import mbdyn_ros
from mbdyn_ros.model import ModelError

pytestmark = pytest.mark.usefixtures("interpreted")

ARM = body("arm", 0, 0.3) + turn("shoulder", "ground", "arm")
SIDES = (
    body("b", 0.2, 0)
    + turn("ab", "arm", "b", "0 0 0.6")
    + body("c", 0.1, 0.1)
    + turn("bc", "b", "c", "0.5 0 0").replace("</joint>", '<dynamics friction="0.2"/></joint>')
)
HELD = {"ab": 2.498091544796509, "bc": -0.9272952180016123}
"""The triangle with sides 0.6, 0.5 and 0.5, above the arm."""


def closing(name: str, first: str, at_first: str, second: str, at_second: str) -> str:
    return f"""<loop name="{name}" type="revolute"><axis xyz="0 1 0"/>
      <predecessor link="{first}"><origin xyz="{at_first}"/></predecessor>
      <successor link="{second}"><origin xyz="{at_second}"/></successor></loop>"""


BRACE = closing("brace", "c", "0.3 0 0.4", "arm", "0 0 0")
TRUSS = (ARM, SIDES, BRACE)


def welded(text: str) -> str:
    """The same triangle, drawn as one body."""
    for name, angle in HELD.items():
        one = f'<joint name="{name}" type="continuous">'
        assert one in text
        head, rest = text.split(one)
        rest = rest.replace('<origin xyz="', f'<origin rpy="0 {angle!r} 0" xyz="', 1)
        text = head + one.replace("continuous", "fixed") + rest
    return text


@pytest.mark.parametrize("floating_base", [False, True])
def test_as_one_body(floating_base: bool) -> None:
    mass = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    more = f'<link name="more">{mass}</link>' + turn("elbow", "c", "more", "0.2 0 0", "1 0 0.5")
    with pytest.warns(mbdyn_ros.ModelWarning, match="it connects b, c and .* ab, bc cannot move"):
        robot = robot_of(*TRUSS, more, floating_base=floating_base)
    other = robot_of(ARM, welded(SIDES), more, floating_base=floating_base)
    assert robot.joint_names == ("shoulder", "ab", "bc", "elbow")
    assert robot.independent_joints == other.independent_joints == ("shoulder", "elbow")
    random = np.random.default_rng(0)
    q, v, a = random.normal(size=(3, robot.nv))
    if floating_base:
        q = np.hstack([[0.1, 0.2, 0.3, 0.6, 0, 0, 0.8], q[6:]])
    x, rate, acceleration = robot.joint_state(q, v, a)
    assert x[-3:-1] == pytest.approx(list(HELD.values()))
    assert not rate[-3:-1].any() and not acceleration[-3:-1].any()
    effort = other.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), effort, atol=1e-12)
    np.testing.assert_allclose(robot.mass_matrix(q), other.mass_matrix(q), atol=1e-12)
    if not floating_base:
        np.testing.assert_allclose(robot.forward_dynamics(q, v, effort), a, atol=1e-11)
    for mine, theirs in zip(
        robot.inverse_dynamics_derivatives(q, v, a),
        other.inverse_dynamics_derivatives(q, v, a),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-11)


def test_forces_in_it() -> None:
    """What the brace carries is reported, as in every loop."""
    robot = robot_of(*TRUSS)
    text = f'<robot name="test"><link name="ground"/>{ARM}{SIDES}</robot>'
    judge = LoopJudge(text, robot.model, robot.joint_names)
    q, v, a = np.array([[0.3], [1.0], [0.5]])
    x, rate, acceleration = robot.joint_state(q, v, a)
    at = judge.at(x, rate)
    missing = at.efforts(acceleration)
    missing[0] = 0.0  # the shoulder has a motor
    (mine,), (theirs,) = robot.loop_forces(q, v, a).values(), at.loop_forces(missing).values()
    np.testing.assert_allclose(mine, theirs, atol=1e-10)
    assert np.abs(theirs).max() > 1.0


def test_motion() -> None:
    """Friction in a joint that cannot move does nothing."""
    robot = robot_of(*TRUSS)
    motion = mbdyn_ros.simulate(robot, [0.3], [0.0], 0.5)
    assert np.ptp(np.sum(robot.energy(motion.q, motion.v), axis=0)) < 1e-8
    assert robot.independent_state(robot.joint_state(motion.q[-1])[0]) == pytest.approx(
        motion.q[-1]
    )
    assert robot.actuation_condition(motion.q[-1]) == 1.0


def test_choices_that_name_it() -> None:
    """A motor in it has nothing to do; with marks of URDF+ all other joints are independent."""
    chosen = robot_of(*TRUSS, mechanism="{actuated: [shoulder, ab]}")
    assert chosen.independent_joints == ("shoulder",)
    effort = chosen.inverse_dynamics([0.1], [0.0], [1.0])
    assert effort[1] == 0.0 and effort[0] == robot_of(*TRUSS).inverse_dynamics([0.1], [0], [1])[0]
    marked = ARM.replace('<joint name="shoulder"', '<joint name="shoulder" independent="true"')
    assert robot_of(marked, SIDES, BRACE).independent_joints == ("shoulder",)


def test_in_a_loop_that_moves() -> None:
    """The triangle as part of a four-bar's crank."""
    rest = (
        body("rocker", 0, 0.3) + turn("rocker", "ground", "rocker", "1 0 0"),
        body("d", 0.2, 0) + turn("cd", "c", "d", "0.1 0 0"),
        closing("main", "d", "0.9 0 0.1", "rocker", "0 0 0.8"),
    )
    home = {"shoulder": 0.0, "rocker": -0.8, "cd": -1.9}
    choice = "{independent: [shoulder]}"
    robot = robot_of(*TRUSS, *rest, mechanism=choice, home=home | HELD)
    other = robot_of(ARM, welded(SIDES), *rest, mechanism=choice, home=home)
    state = [0.1], [1.0], [0.5]
    np.testing.assert_allclose(
        robot.inverse_dynamics(*state), other.inverse_dynamics(*state), atol=1e-10
    )


def test_refused_where_nothing_moves() -> None:
    fixed = ARM.replace("continuous", "fixed")
    with pytest.raises(ModelError, match=r"loop 'brace' locks its joints \(ab, bc\)"):
        robot_of(fixed, SIDES, BRACE)
    floating = robot_of(fixed, SIDES, BRACE, floating_base=True)
    assert floating.nv == 6 and floating.nq == 7


def test_refused_where_a_mimic_contradicts_the_loop() -> None:
    mimic = f'<mimic joint="ab" multiplier="{HELD["bc"] / HELD["ab"]!r}"/></joint>'
    head, tail = SIDES.rsplit("</joint>", 1)
    with pytest.raises(ModelError, match="lock their joints .* leave out the <mimic> tags"):
        robot_of(ARM, head + mimic + tail, BRACE, home=HELD)
