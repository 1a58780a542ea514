"""Floating and spherical joints in loops: as single joints, with the numbers of other writings."""

from __future__ import annotations

import numpy as np
import pytest
from loop_judge import LoopJudge
from planar_robots import body, robot_of, turn

import mbdyn_ros
from mbdyn_ros.model import read_mechanism, read_urdf

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray

CRANK = body("crank", 0.1, 0.2) + turn("crank", "ground", "crank")
ROCKER = body("rocker", 0, 0.4) + turn("rocker", "ground", "rocker", "0.9 0.3 0", "1 2 0")
COUPLER = body("coupler", 0.4, 0.1)
PLACE = '<origin xyz="0.1 0.2 0.4" rpy="0.2 -0.1 0.3"/>'


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/>
      <child link="{child}"/>{more}</joint>"""


def closing(name: str, kind: str, first: str, at_first: str, second: str, at_second: str) -> str:
    return f"""<loop name="{name}" type="{kind}"><axis xyz="1 0 0"/>
      <predecessor link="{first}"><origin xyz="{at_first}"/></predecessor>
      <successor link="{second}"><origin xyz="{at_second}"/></successor></loop>"""


FREE = joint("free", "floating", "ground", "coupler", PLACE)
FAR_END = closing("far", "spherical", "coupler", "0.8 0 0.1", "rocker", "0 0 0.7")
NEAR_END = closing("near", "universal", "crank", "0.1 0 0.5", "coupler", "0 0 0")
IN_TREE = joint(
    "near", "universal", "crank", "coupler", '<origin xyz="0.1 0 0.5"/><axis xyz="1 0 0"/>'
)
IN_TREE_BALL = joint("far", "spherical", "rocker", "coupler", '<origin xyz="0 0 0.7"/>')
CHOICE = "{independent: [crank], home: {crank: 0.1}}"


def free_coupler(choice: str | None = CHOICE, **options: object) -> mbdyn_ros.Robot:
    """A crank, a coupler that floats, and a rocker: a universal joint and a ball close them."""
    return robot_of(CRANK, ROCKER, COUPLER, FREE, NEAR_END, FAR_END, mechanism=choice, **options)


def states(robot: mbdyn_ros.Robot, count: int = 3) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(1)
    q, v, a = random.uniform(-0.3, 0.3, (3, count, robot.nv))
    return q, v, a


@pytest.mark.sparse
@pytest.mark.parametrize("floating_base", [False, True])
def test_as_in_the_tree(floating_base: bool) -> None:
    robot = free_coupler(floating_base=floating_base)
    other = robot_of(
        CRANK, ROCKER, COUPLER, IN_TREE, FAR_END, mechanism=CHOICE, floating_base=floating_base
    )
    parts = ("free/x", "free/y", "free/z", "free/yaw", "free/pitch", "free/roll")
    assert robot.joint_names == ("crank", "rocker", *parts)
    assert robot.dependent_joints == ("rocker", *parts)
    q, v, a = states(robot)
    if floating_base:
        q = np.hstack([np.tile([0, 0, 0, 0.6, 0, 0, 0.8], (len(q), 1)), q[:, 6:]])
    effort = other.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), effort, atol=1e-11)
    np.testing.assert_allclose(robot.mass_matrix(q), other.mass_matrix(q), atol=1e-12)
    for mine, theirs in zip(
        robot.inverse_dynamics_derivatives(q, v, a),
        other.inverse_dynamics_derivatives(q, v, a),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-10)
    if not floating_base:
        np.testing.assert_allclose(robot.forward_dynamics(q, v, effort), a, atol=1e-11)
    np.testing.assert_allclose(
        robot.frame_pose(q, "coupler"), other.frame_pose(q, "coupler"), atol=1e-12
    )


def test_by_pinocchio() -> None:
    robot = free_coupler()
    slides = [("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1")]
    turns = [("yaw", "0 0 1"), ("pitch", "0 1 0"), ("roll", "1 0 0")]
    text, parent, place = CRANK + ROCKER + COUPLER, "ground", PLACE
    for k, (name, axis) in enumerate(slides + turns):
        child = "coupler" if name == "roll" else f"at_{name}"
        kind, limit = "continuous", ""
        if k < 3:
            kind, limit = "prismatic", '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
        text += joint(f"free/{name}", kind, parent, child, f'{place}<axis xyz="{axis}"/>{limit}')
        text += "" if name == "roll" else f'<link name="{child}"/>'
        parent, place = child, ""
    begin, end = '<robot name="test"><link name="ground"/>', "</robot>"
    model = read_urdf(begin + CRANK + ROCKER + COUPLER + FREE + NEAR_END + FAR_END + end)
    judge = LoopJudge(begin + text + end, model, robot.joint_names)
    for q, v, a in zip(*states(robot), strict=True):
        x, rate, _ = robot.joint_state(q, v, a)
        at = judge.at(x, rate)
        assert np.abs(at.residual).max() < 1e-12
        embedding, drift = at.embedding([0])
        effort = embedding.T @ at.efforts(embedding @ a + drift)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), effort, atol=1e-11)


def test_a_ball_in_the_tree() -> None:
    """The loop is closed at the other end of the coupler."""
    other = closing("near", "universal", "crank", "0.1 0 0.5", "coupler", "-0.8 0 -0.1")
    shifted = COUPLER.replace('"0.4 0 0.1"', '"-0.4 0 0"')
    robot = robot_of(CRANK, ROCKER, shifted, IN_TREE_BALL, other, mechanism=CHOICE)
    same = free_coupler()
    assert robot.joint_names == ("crank", "rocker", "far/yaw", "far/pitch", "far/roll")
    rocker = robot.home["rocker"]
    assert rocker == pytest.approx(same.home["rocker"], abs=1e-9)
    q, v, a = states(robot)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, v, a), same.inverse_dynamics(q, v, a), atol=1e-10
    )


def test_without_home_or_choice(recwarn: pytest.WarningsRecorder) -> None:
    """Motors are sought among the joints that were written; the coupler's frame may be anywhere."""
    for place in (PLACE, ""):
        free = joint("free", "floating", "ground", "coupler", place)
        robot = robot_of(CRANK, ROCKER, COUPLER, free, NEAR_END, FAR_END)
        assert robot.independent_joints == ("crank",)
        assert not [one for one in recwarn if "where home would" in str(one.message)]


def test_its_pose_may_be_chosen() -> None:
    """Independent as a whole, and by parts; home counts as `rpy` does."""
    legs = CRANK + body("coupler", 0.4, 0.1) + FREE
    ball = closing("near", "spherical", "crank", "0.1 0 0.5", "coupler", "0 0 0")
    part = robot_of(
        legs, ball, mechanism="{independent: [crank, free/yaw, free/pitch, free/roll],"
        " home: {free/yaw: 0.2, free/pitch: 0.1}}",
    )  # fmt: skip
    assert part.nv == 4 and part.home["free/yaw"] == 0.2
    with pytest.raises(mbdyn_ros.ModelError, match="has mobility 4, but .* free/x, .* free/roll"):
        robot_of(legs, ball, mechanism="{independent: [free]}")
    whole = robot_of(body("coupler", 0.4, 0.1), FREE, mechanism="{independent: [free]}")
    assert whole.nv == 6 and whole.nq == 7  # no loop: it is left whole
    with pytest.raises(mbdyn_ros.InputError, match="free/yaw"):
        robot_of(body("coupler", 0.4, 0.1), FREE, home={"free/yaw": 0.2})


def test_a_floating_joint_is_never_cut() -> None:
    """The coupler as the child of three joints: the one that holds nothing makes the tree."""
    near = joint("near", "universal", "crank", "coupler", '<origin xyz="0.1 0 0.5"/>')
    text = f'<robot name="test"><link name="ground"/>{CRANK}{COUPLER}{near}{FREE}</robot>'
    model = read_urdf(text)
    assert [one.name for one in model.loops] == ["near"]
    assert [one.name for one in model.joints] == ["crank", "free"]


def test_a_pitch_near_a_quarter_turn_counts_from_home() -> None:
    """Yaw and roll turn about one axis there: on this rail they would seem to be free together."""
    free = joint("free", "floating", "ground", "coupler", '<origin rpy="0.1 1.5 0"/>')
    rail = closing("rail", "prismatic", "ground", "0 0.5 0", "coupler", "0 0 0")
    with pytest.warns(mbdyn_ros.ModelWarning, match="'free' has a pitch near a quarter turn"):
        robot = robot_of(body("coupler", 0.4, 0.1), free, rail, mechanism="{independent: [free/z]}")
    assert robot.nv == 1 and abs(robot.home["free/pitch"]) < 1e-9
    assert np.allclose(robot.frame_pose([0.3], "coupler")[:3, :3], np.eye(3), atol=1e-12)
    along = robot.frame_pose([0.3], "coupler")[0, 3] - robot.frame_pose([0.0], "coupler")[0, 3]
    assert robot.mass_matrix([0.3]) == pytest.approx((along / 0.3) ** 2)
    with pytest.raises(mbdyn_ros.ModelError, match="leave 'free/roll' out of home"):
        robot_of(body("coupler", 0.4, 0.1), free, rail, home={"free/roll": 0.0})


@pytest.mark.long
def test_motion_keeps_energy() -> None:
    robot = free_coupler()
    motion = mbdyn_ros.simulate(robot, [0.0], [0.5], 0.5)
    energy = np.sum(robot.energy(motion.q, motion.v), axis=0)
    assert np.ptp(energy) < 1e-8


def test_choices_name_parts() -> None:
    text = f'<robot name="test"><link name="ground"/>{CRANK}{ROCKER}{COUPLER}{FREE}</robot>'
    near = "{name: near, type: universal, predecessor: {link: crank}, successor: {link: coupler}}"
    loop = f"loops: [{near}]\n"
    model = read_mechanism(loop + "home: {free/yaw: 0.3}", read_urdf(text))
    assert model.home == {"free/yaw": 0.3}
    assert model.joint("free/roll").part_of == "free"
    with pytest.raises(mbdyn_ros.ModelError, match='"free/qx" is not a joint'):
        read_mechanism(loop + "home: {free/qx: 0.3}", read_urdf(text))
