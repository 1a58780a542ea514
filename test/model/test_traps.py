"""One small robot for each trap that has bitten another library, and for massless links.

Answers are Pinocchio's for the same robot written without the trap, or derived by hand.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from robot_text import EMPTY

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from random_robots import Pair, assert_close, words  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.model.pose import snap  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")

BODY = (
    '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="{}"/>'
    '<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>'
)


def link(name: str, mass: float = 2.0) -> str:
    return f'<link name="{name}">{BODY.format(mass) if mass else ""}</link>'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "continuous") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*elements: str) -> str:
    return f'<robot name="trap">{"".join(elements)}</robot>'


def load(text: str, floating_base: bool = False) -> mbdyn_ros.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mbdyn_ros.load(text, floating_base=floating_base)


def assert_agrees(pair: Pair, tolerance: float = 1e-13) -> None:
    """All answers for one state."""
    ours, judge = pair.robot, pair.judge
    q, v, a = pair.state(8)
    effort = judge.inverse_dynamics(q, v, a)
    assert_close(ours.inverse_dynamics(q, v, a, friction=False), effort, tolerance, 1.0)
    assert_close(ours.gravity_vector(q), judge.gravity_vector(q), tolerance, 1.0)
    assert_close(ours.mass_matrix(q), judge.mass_matrix(q), tolerance, 1.0)
    assert_close(ours.energy(q, v), judge.energy(q, v), tolerance, 1.0)
    if not ours.massless_links:
        found = ours.forward_dynamics(q, v, effort, friction=False)
        assert_close(found, a, 100 * tolerance, 1.0)
    for part in ours.model.links:
        assert_close(ours.frame_pose(q, part.name), judge.frame_pose(q, part.name), tolerance)


Z, PLACE = '<axis xyz="0 0 1"/>', '<origin xyz="0.5 0.1 -0.3" rpy="0.3 0.2 0.1"/>'


def test_joints_not_in_depth_first_order() -> None:
    """The tip's joint first, branches interleaved: q follows the document, physics the tree."""
    bodies = [link(name) for name in "abcdef"]
    joints = [
        joint("ef", "e", "f", PLACE + '<axis xyz="1 1 0"/>'),
        joint("ab", "a", "b", PLACE + Z),
        joint("de", "d", "e", PLACE + '<axis xyz="0 1 0"/>'),
        joint("bc", "b", "c", PLACE + '<axis xyz="0 1 0"/>'),
        joint("bd", "b", "d", PLACE + '<axis xyz="1 0 0"/>'),
    ]
    pair = Pair(robot(*bodies, *joints))
    assert pair.robot.independent_joints == ("ef", "ab", "de", "bc", "bd")
    assert_agrees(pair)
    assert_agrees(Pair(robot(*joints, *bodies[::-1]), floating_base=True))


@pytest.mark.parametrize(
    ("axis", "unit"),
    [
        ("0 0 -1", "0 0 -1"),
        ("0 0 3", "0 0 1"),
        ("0 -0.001 0", "0 -1 0"),
        ("3e8 0 4e8", "0.6 0 0.8"),
        ("-3 0 -4", "-0.6 0 -0.8"),
    ],
)
@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
def test_axis_not_unit_or_negative(axis: str, unit: str, kind: str) -> None:
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
    texts = [
        robot(
            *map(link, "abc"),
            joint("ab", "a", "b", f'{PLACE}<axis xyz="{one}"/>{limit}', kind),
            joint("bc", "b", "c", f'{PLACE}<axis xyz="{one}"/>{limit}', kind),
        )
        for one in (axis, unit)
    ]
    pair = Pair(texts[1])
    assert_agrees(pair)
    q, v, a = pair.state(1)
    efforts = [load(text).inverse_dynamics(q, v, a) for text in texts]
    assert_close(efforts[0], efforts[1], 1e-14)
    opposite = texts[1].replace(unit, " ".join(str(-float(x)) for x in unit.split()))
    assert_close(load(opposite).inverse_dynamics(-q, -v, -a), -efforts[1], 1e-13)


def test_missing_origin_axis_and_inertial() -> None:
    """Identity, (1, 0, 0), and no mass: a massless link with mass further out is fine."""
    bare = robot(
        '<link name="a"/><link name="b"/>',
        link("c"),
        joint("ab", "a", "b"),
        joint("bc", "b", "c", '<origin xyz="0 1 0"/><axis xyz="0 0 1"/>'),
    )
    full = bare.replace(
        '<child link="b"/>',
        '<child link="b"/><origin xyz="0 0 0" rpy="0 0 0"/><axis xyz="1 0 0"/>',
    )
    pair = Pair(full)
    assert_agrees(pair)
    q, v, a = pair.state()
    with pytest.warns(mbdyn_ros.ModelWarning, match='"ab">: has no <axis>'):
        ours = mbdyn_ros.load(bare)
    assert ours.massless_links == () and len(ours.warnings) == 1
    assert_close(ours.inverse_dynamics(q, v, a), pair.judge.inverse_dynamics(q, v, a), 1e-13)


@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_fixed_joints_inside(floating_base: bool) -> None:
    """Lumped with turned, offset frames, several in a row; their links keep their poses."""
    pair = Pair(
        robot(
            *map(link, "abcdefg"),
            joint("ab", "a", "b", PLACE, "fixed"),
            joint("bc", "b", "c", PLACE + '<axis xyz="0 1 0"/>'),
            joint("cd", "c", "d", PLACE, "fixed"),
            joint("de", "d", "e", PLACE, "fixed"),
            joint("ef", "e", "f", PLACE + Z),
            joint("eg", "e", "g", PLACE, "fixed"),
        ),
        floating_base,
    )
    assert len(pair.tree.bodies) == 2 + floating_base
    assert_agrees(pair)
    q, _, _ = pair.state()
    for name in "abcdefg":
        assert_close(pair.robot.jacobian(q, name), pair.jacobian(q, name), 1e-13, 1.0)


def test_damping_and_friction_are_used() -> None:
    loss = '<dynamics damping="0.7" friction="0.3"/>'
    lossy = load(robot(link("a"), link("b"), joint("ab", "a", "b", Z + loss)))
    free = load(robot(link("a"), link("b"), joint("ab", "a", "b", Z)))
    for rate, effort in ((2.0, 1.7), (-2.0, -1.7), (0.0, 0.0)):
        q, v, a = [0.3], [rate], [0.1]
        np.testing.assert_allclose(lossy.friction_vector(q, v), [effort], rtol=1e-15)
        more = lossy.inverse_dynamics(q, v, a) - free.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(more, [effort], rtol=1e-14, atol=1e-14)
        same = lossy.inverse_dynamics(q, v, a, friction=False)
        assert same == free.inverse_dynamics(q, v, a)
        slower = free.forward_dynamics(q, v, [1.0 - effort])
        np.testing.assert_allclose(lossy.forward_dynamics(q, v, [1.0]), slower, rtol=1e-14)
        unaware = lossy.forward_dynamics(q, v, [1.0], friction=False)
        np.testing.assert_allclose(unaware, free.forward_dynamics(q, v, [1.0]), rtol=1e-14)
        assert free.friction_vector(q, v) == 0.0


def test_massless_leaf_link_is_named() -> None:
    """A tool frame on a joint of its own: its effort is 0, its acceleration is anything."""
    text = robot(link("a"), link("b"), link("tip", 0), joint("ab", "a", "b", Z))
    text = text.replace("</robot>", joint("roll", "b", "tip", PLACE) + "</robot>")
    with pytest.warns(mbdyn_ros.ModelWarning, match="no mass resists the motion of link 'tip'"):
        ours = mbdyn_ros.load(text)
    assert ours.massless_links == ("tip",)
    assert any("'tip'" in warning for warning in ours.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        pair = Pair(text)
    assert_agrees(pair)
    q, v, a = pair.state()
    assert ours.inverse_dynamics(q, v, a)[1] == 0.0
    for call in (
        lambda: ours.forward_dynamics(q, v, a),
        lambda: ours.forward_dynamics([q, q], v, a),
        lambda: ours.forward_dynamics(q, v, a, friction=False),
        lambda: ours.forward_dynamics(q, v, a, {"b": np.zeros(6)}),
        lambda: ours.bind("forward_dynamics"),
        lambda: ours.require_mass("simulation"),
    ):
        with pytest.raises(mbdyn_ros.SingularMassMatrixError, match="singular.*'tip'"):
            call()


def test_two_massless_links_in_a_row_are_both_named() -> None:
    text = robot(
        *(link(name, mass) for name, mass in (("a", 1), ("b", 1), ("c", 0), ("d", 0))),
        joint("ab", "a", "b", Z),
        joint("bc", "b", "c", PLACE),
        joint("cd", "c", "d", PLACE + '<axis xyz="0 1 0"/>'),
    )
    with pytest.warns(mbdyn_ros.ModelWarning, match="link 'c', 'd'"):
        assert set(mbdyn_ros.load(text).massless_links) == {"c", "d"}


def test_point_mass_on_its_own_axis_is_massless() -> None:
    """Mass alone is not enough: here it does not move."""
    point = '<link name="b"><inertial><origin xyz="0 0 1"/><mass value="1"/></inertial></link>'
    text = robot(link("a"), point, joint("ab", "a", "b", Z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        ours = mbdyn_ros.load(text)
        aside = mbdyn_ros.load(text.replace("0 0 1", "0 0.5 1", 1))
    assert ours.massless_links == ("b",)
    assert aside.massless_links == ()
    np.testing.assert_allclose(aside.forward_dynamics([0.2], [0.0], [0.25]), [1.0], rtol=1e-14)


def test_massless_link_between_two_joints_of_one_axis_is_named() -> None:
    """Only their sum moves mass; rounding must not hide it, whatever the axis."""
    axis = np.array([0.3, -0.5, 0.7])
    turned = pin.rpy.rpyToMatrix(1.0, 2.0, 3.0).T @ axis

    def between(step: float, tip_first: bool) -> str:
        joints = [
            joint("ab", "a", "b", PLACE + f'<axis xyz="{words(axis)}"/>'),
            joint(
                "bc",
                "b",
                "c",
                f'<origin xyz="{step} 0 0" rpy="1 2 3"/><axis xyz="{words(turned)}"/>',
            ),
        ]
        links = (link(name, mass) for name, mass in (("a", 1), ("b", 0), ("c", 1)))
        return robot(*links, *joints[:: -1 if tip_first else 1])

    for tip_first in (False, True):
        with pytest.warns(mbdyn_ros.ModelWarning, match="link 'b'"):
            assert mbdyn_ros.load(between(0.0, tip_first)).massless_links == ("b",)
        assert load(between(1e-3, tip_first)).massless_links == ()


@pytest.mark.parametrize("tilt", [0.0, 1e-9, 1e-6, 1e-4, 1e-2, 0.3])
def test_massless_floating_base_is_named(tilt: float) -> None:
    """It turns about its only joint's axis without moving mass, also where that is askew."""
    text = robot(
        link("base", 0),
        link("a"),
        joint("j", "base", "a", f'<origin xyz="1 0 0"/><axis xyz="{tilt} 0 1"/>'),
    )
    with pytest.warns(mbdyn_ros.ModelWarning, match="link 'base'"):
        assert mbdyn_ros.load(text, floating_base=True).massless_links == ("base",)
    assert load(text).massless_links == ()


def test_massless_links_between_joints_are_fine() -> None:
    """A gimbal: three axes through one point, two links without mass between."""
    pair = Pair(
        robot(
            *(link(name, mass) for name, mass in (("a", 0), ("b", 0), ("c", 0), ("d", 3))),
            joint("ab", "a", "b", '<axis xyz="1 0 0"/>'),
            joint("bc", "b", "c", '<axis xyz="0 1 0"/>'),
            joint("cd", "c", "d", '<axis xyz="0 0 1"/>'),
        )
    )
    assert pair.robot.massless_links == () and pair.robot.warnings == ()
    assert_agrees(pair)


def test_massless_mimic_finger_is_fine() -> None:
    """Its leader has mass, so the pair's acceleration is determined."""
    pair = Pair(
        robot(
            *(link(name, mass) for name, mass in (("a", 1), ("b", 1), ("c", 0))),
            joint("ab", "a", "b", Z),
            joint("ac", "a", "c", f'{PLACE}{Z}<mimic joint="ab" multiplier="-2" offset="0.1"/>'),
        )
    )
    assert pair.robot.massless_links == () and pair.robot.warnings == ()
    assert_agrees(pair)


def test_massless_leader_of_a_finger_with_mass_is_fine() -> None:
    text = robot(
        *(link(name, mass) for name, mass in (("a", 1), ("b", 0), ("c", 1))),
        joint("ab", "a", "b", Z),
        joint("ac", "a", "c", PLACE + '<mimic joint="ab" multiplier="{}"/>'),
    )
    pair = Pair(text.format(0.5))
    assert pair.robot.massless_links == ()
    assert_agrees(pair)
    with pytest.warns(mbdyn_ros.ModelWarning, match="'b'"):
        assert mbdyn_ros.load(text.format(0)).massless_links == ("b",)


def test_gravity_of_a_floating_base() -> None:
    """At rest the base wrench carries the whole weight, in base axes, at the base's origin."""
    quarter = [0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4)]  # x of the base points down
    single = robot(
        '<link name="a"><inertial><origin xyz="0 0 0.5"/><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    ours = load(single, floating_base=True)
    assert (ours.nq, ours.nv) == (7, 6) and ours.joint_names == ()
    weight = 2 * 9.81
    effort = ours.gravity_vector([1, 2, 3, *quarter])
    np.testing.assert_allclose(effort, [-weight, 0, 0, 0, -weight * 0.5, 0], atol=1e-14)
    drop = ours.forward_dynamics([1, 2, 3, *quarter], np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(drop, [9.81, 0, 0, 0, 0, 0], atol=1e-14)  # free fall
    tilted = mbdyn_ros.load(single, floating_base=True, gravity=(1.0, 2.0, 3.0))
    flat = [0, 0, 0, 0, 0, 0, 1]
    np.testing.assert_allclose(tilted.gravity_vector(flat), [-2, -4, -6, 2.0, -1.0, 0], atol=1e-14)
    np.testing.assert_allclose(tilted.energy(flat, np.zeros(6)), [0, -3.0], atol=1e-14)


def test_mimic_of_a_mimic() -> None:
    """Multipliers multiply and offsets go through; the follower may come first."""
    pair = Pair(
        robot(
            *map(link, "abcd"),
            joint("cd", "c", "d", PLACE + '<mimic joint="bc" multiplier="3" offset="0.5"/>'),
            joint("bc", "b", "c", PLACE + '<mimic joint="ab" multiplier="-2" offset="0.25"/>'),
            joint("ab", "a", "b", PLACE + Z),
        )
    )
    assert pair.robot.independent_joints == ("ab",)
    assert pair.robot.dependent_joints == ("cd", "bc")
    assert_agrees(pair)
    state = pair.robot.joint_state([0.1], [1.0], [2.0])
    np.testing.assert_allclose(state[0], [3 * (-0.2 + 0.25) + 0.5, -0.2 + 0.25, 0.1], rtol=1e-15)
    np.testing.assert_allclose(state[1], [-6, -2, 1])
    np.testing.assert_allclose(state[2], [-12, -4, 2])


def test_friction_of_a_mimic_is_reduced_by_its_multiplier() -> None:
    """The power lost is the same: effort times the leader's rate."""
    loss = '<dynamics damping="{}" friction="{}"/>'
    ours = load(
        robot(
            *map(link, "abc"),
            joint("ab", "a", "b", Z + loss.format(0.1, 0.2)),
            joint("bc", "b", "c", f'{Z}{loss.format(0.3, 0.4)}<mimic joint="ab" multiplier="-2"/>'),
        )
    )
    for rate in (1.5, -1.5):
        sign = np.sign(rate)
        effort = 0.1 * rate + 0.2 * sign + 2 * (0.3 * 2 * rate + 0.4 * sign)
        np.testing.assert_allclose(ours.friction_vector([0.4], [rate]), [effort], rtol=1e-15)
        loss_of_power = ours.inverse_dynamics([0.4], [rate], [0]) - ours.inverse_dynamics(
            [0.4], [rate], [0], friction=False
        )
        np.testing.assert_allclose(loss_of_power, [effort], rtol=1e-12)


@pytest.mark.sparse
@pytest.mark.parametrize("angle", ["1.57", "1.5708", "3.1416", "1.5707963", "1e-8", "-1.5707e0"])
def test_almost_right_angles_are_kept(angle: str) -> None:
    """Six of them in a row: snapping at 1e-8, or taking 1.57 for pi/2, would show at once."""
    names = "abcdefg"
    axes = ["0 0 1", "0 1 0", "1 0 0", "0 0 1", "0 1 0", "0 0 1"]
    turns = [f"{angle} 0 0", f"0 {angle} 0", f"0 0 {angle}"] * 2
    joints = [
        joint(p + c, p, c, f'<origin xyz="1 0.2 0.3" rpy="{rpy}"/><axis xyz="{axis}"/>')
        for p, c, rpy, axis in zip(names, names[1:], turns, axes, strict=False)
    ]
    assert_agrees(Pair(robot(*map(link, names), *joints)), 2e-14)


def test_constants_near_zero_and_one_are_kept() -> None:
    """1e-8 off is data, 1e-15 off is rounding."""
    values = [1e-8, 1 - 1e-8, -1 + 1e-12, 1e-14, 1 + 1e-14, 0.5]
    assert list(snap(np.array(values))) == values
    assert list(snap(np.array([9e-16, -9e-16, 1 - 8e-16, -1 + 8e-16]))) == [0, 0, 1, -1]
    # in a robot: an axis, a length, a mass moment
    for tiny in (1e-8, 1e-11):
        text = robot(
            *map(link, "abc"),
            joint("ab", "a", "b", f'<origin xyz="0 0 {tiny}"/><axis xyz="0 {tiny} 1"/>'),
            joint("bc", "b", "c", f'<origin xyz="1 {tiny} 0" rpy="{tiny} 0 0"/>' + Z),
        )
        pair = Pair(text)
        assert_agrees(pair, 1e-14)
        gravity = pair.robot.gravity_vector(np.array([0.3, 0.4]))
        assert 0.1 * tiny * 9.81 < np.abs(gravity).max() < 100 * tiny * 9.81  # not lost


@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
def test_robot_without_movable_joints(floating_base: bool) -> None:
    """It loads, and every method has the empty answer, for one state and for many."""
    text = robot(link("a"), link("b"), joint("ab", "a", "b", PLACE, "fixed"))
    ours = load(text, floating_base)
    assert (ours.nq, ours.nv) == ((7, 6) if floating_base else (0, 0))
    assert ours.joint_names == ours.independent_joints == ours.dependent_joints == ()
    for count in ((), (3,), (0,)):
        q, v = np.zeros((*count, ours.nq)), np.zeros((*count, ours.nv))
        q[..., 6:] = 1.0
        size = (*count, ours.nv)
        assert ours.inverse_dynamics(q, v, v).shape == size
        assert ours.forward_dynamics(q, v, v).shape == size
        assert ours.coriolis_vector(q, v).shape == size
        assert ours.gravity_vector(q).shape == size
        assert ours.friction_vector(q, v).shape == size
        assert ours.inverse_dynamics(q, v, v, {"b": np.ones(6)}).shape == size
        assert ours.forward_dynamics(q, v, v, {"b": np.ones(6)}, friction=False).shape == size
        assert ours.mass_matrix(q).shape == (*size, ours.nv)
        assert ours.jacobian(q, "b").shape == (*count, 6, ours.nv)
        assert ours.frame_pose(q, "b").shape == (*count, 4, 4)
        assert [np.shape(part) for part in ours.energy(q, v)] == [count, count]
        assert [part.shape for part in ours.joint_state(q, v, v)] == [(*count, 0)] * 3
    pose = ours.frame_pose(np.eye(7)[6] if floating_base else [], "b")
    np.testing.assert_allclose(pose[:3, 3], [0.5, 0.1, -0.3])
    assert "inverse_dynamics" in ours.operation_counts()
    bound = ours.bind("inverse_dynamics")
    bound()
    assert bound.result.shape == (ours.nv,)


def test_single_link_robot() -> None:
    ours = load(EMPTY)
    assert (ours.nq, ours.nv, ours.massless_links) == (0, 0, ())
    assert ours.inverse_dynamics([], [], []).shape == (0,)
