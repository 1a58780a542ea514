"""Closing loops at home, choosing joints, and what is refused: by loop, joints and gap."""

from __future__ import annotations

import re

import numpy as np
import pytest
from four_bars import HOME, four_bar, joint, links, load, pin
from random_loops import walked

import mbdyn_ros
from mbdyn_ros import InputError, ModelError

pytestmark = pytest.mark.usefixtures("interpreted")











def turned_pin(turn: float, **more: str) -> str:
    """The pin with the rocker's frame turned about z."""
    plain = "successor: {link: rocker, xyz: [0.7, 0, 0]"
    return pin(**more).replace(plain, f"{plain}, rpy: [0, 0, {turn!r}]")






def refusal(mechanism: str, text: str | None = None, **options: object) -> str:
    """The message with which a robot is refused; it names the source."""
    with pytest.raises(ModelError) as caught:
        load(mechanism, text, **options)
    message = str(caught.value)
    assert message.startswith("<text>: ")
    return message


def number(pattern: str, message: str) -> float:
    found = re.search(pattern + r" (?:\w+ = )?([-+.e0-9]+)", message)
    assert found, message
    return float(found[1])


# -- what is accepted ------------------------------------------------------------------------------


def test_a_planar_four_bar_in_space_has_five_rows_of_rank_two() -> None:
    robot = load()
    (assembly,) = robot._assemblies
    assert (assembly.row_count, assembly.rank) == (5, 2)
    assert (robot.nv, robot.independent_joints) == (1, ("j1",))
    assert robot.dependent_joints == ("j2", "j4") and robot.actuated_joints == ("j1",)


@pytest.mark.parametrize(
    ("kind", "rows"), [("revolute", 5), ("continuous", 5), ("cylindrical", 4), ("spherical", 3)]
)
def test_what_else_closes_a_planar_four_bar(kind: str, rows: int) -> None:
    robot, plain = load(pin(kind=kind)), load()
    (assembly,) = robot._assemblies
    assert (assembly.row_count, assembly.rank) == (rows, 2)
    state = [0.8], [0.5], [0.2]
    assert np.allclose(robot.inverse_dynamics(*state), plain.inverse_dynamics(*state), rtol=1e-12)


def test_the_same_loop_twice_adds_nothing_but_redundant_rows() -> None:
    twice = pin() + pin(name="again").removeprefix("loops:\n")
    robot, plain = load(twice), load()
    (assembly,) = robot._assemblies
    assert (assembly.row_count, assembly.rank) == (10, 2)
    state = [0.8], [0.5], [0.2]
    assert np.allclose(robot.inverse_dynamics(*state), plain.inverse_dynamics(*state), rtol=1e-11)
    whole = plain.loop_forces(*state)["pin"]
    halves = robot.loop_forces(*state)  # least norm: each carries half
    assert np.allclose(halves["pin"], whole / 2, atol=1e-10)
    assert np.allclose(halves["again"], whole / 2, atol=1e-10)


def test_a_rough_home_is_closed_and_decides_the_branch() -> None:
    up, down = load(), load(home={"j1": 1.0, "j2": -2.0, "j4": -1.5})
    assert up.home["j1"] == down.home["j1"] == 1.0
    assert up.home["j4"] > 0.5 and down.home["j4"] < -0.5
    for robot in (up, down):
        whole = robot.joint_state([1.0])[0]
        assert np.allclose(whole, list(robot.home.values()), atol=1e-12)
        again = mbdyn_ros.load(four_bar(), pin(), home=robot.home)
        assert np.allclose(list(again.home.values()), list(robot.home.values()), atol=1e-12)


def test_joints_that_home_does_not_name_move_first() -> None:
    robot = load(home={"j4": 2.0})
    assert robot.home["j4"] == 2.0 or robot.home["j1"] == 0.0
    (q,) = np.array(list(robot.home.values()))[None]
    assert np.allclose(robot.joint_state([q[0]])[0], q, atol=1e-12)


def test_whole_turns_of_home_are_kept() -> None:
    plain = load()
    turned = load(
        home={"j1": 1.0 + 6 * np.pi, "j2": plain.home["j2"] - 4 * np.pi, "j4": HOME["j4"]}
    )
    expected = np.array(list(plain.home.values())) + [6 * np.pi, -4 * np.pi, 0]
    assert np.allclose(list(turned.home.values()), expected, atol=1e-12)
    # a crank-rocker's coupler swings back for every turn of the crank
    back = turned.joint_state([1.0])[0] - turned.joint_state([1.0 + 6 * np.pi])[0]
    assert np.allclose(back, [-6 * np.pi, 6 * np.pi, 0], atol=1e-12)


def test_actuated_joints_are_independent_where_nothing_else_is_said() -> None:
    robot = load(pin() + "actuated: [j4]\n")
    assert robot.independent_joints == robot.actuated_joints == ("j4",)
    robot = load(pin() + "actuated: [j4]\nindependent: [j2]\n")
    assert robot.independent_joints == ("j2",) and robot.actuated_joints == ("j4",)


# -- what is refused -------------------------------------------------------------------------------


def test_a_weld_that_locks() -> None:
    closed = load().home
    turn = closed["j4"] - closed["j1"] - closed["j2"]
    message = refusal(turned_pin(-turn, kind="fixed"), home=closed)
    assert "loop 'pin' locks its joints (j1, j2, j4): 3 independent constraints on 3" in message
    assert "no mobility" in message and "revolute joint whose axis is parallel" in message


@pytest.mark.parametrize(
    ("kind", "axis"),
    [("revolute", [0, 1, 0]), ("revolute", [1, 0, 0]), ("prismatic", [0, 0, 1]),
     ("universal", [0, 0, 1])],
)  # fmt: skip
def test_a_wrong_axis_loses_the_mobility(kind: str, axis: list[int]) -> None:
    """The frames can still meet, but not move: none of these leaves the turn about z free."""
    closed = load().home
    turn = closed["j4"] - closed["j1"] - closed["j2"]
    message = refusal(turned_pin(-turn, kind=kind, axis=str(axis)), home=closed)
    assert "loop 'pin' locks its joints (j1, j2, j4)" in message
    assert "check the type and axis" in message


@pytest.mark.parametrize(
    ("kind", "axis"), [("prismatic", "[0, 1, 0]"), ("cylindrical", "[1, 0, 0]")]
)
def test_a_slide_may_close_it(kind: str, axis: str) -> None:
    closed = load().home
    turn = closed["j4"] - closed["j1"] - closed["j2"]
    robot = load(turned_pin(-turn, kind=kind, axis=axis), home=closed)
    assert robot._assemblies[0].rank == 2
    found = robot.joint_state([1.01])[0]
    assert abs(found[2] - found[0] - found[1] - turn) < 1e-12  # the slide does not turn


def test_too_few_joints_in_a_loop() -> None:
    text = four_bar().replace('"j4" type="continuous"', '"j4" type="fixed"')
    message = refusal(pin(x1=1.4), text, home={"j1": 0.5, "j2": -1.0})
    assert "loop 'pin' locks its joints (j1, j2): 2 independent constraints on 2 joints" in message


def test_home_in_whole_numbers() -> None:
    home = {"j1": 1, "j2": 0, "j4": 3}  # far from closed: other guesses are tried
    whole, same = load(home=home), load(home={name: float(x) for name, x in home.items()})
    assert whole.home == same.home


def test_links_that_cannot_meet() -> None:
    message = refusal(pin(0.1, 0.1), home={})
    assert "loop 'pin' cannot be closed near home" in message and "give a rough" in message
    assert number("a gap of", message) == pytest.approx(0.9 - 0.3 - 0.1 - 0.1, rel=1e-2)


@pytest.mark.parametrize("home", [{}, {"j1": np.pi, "j2": -np.pi, "j4": np.pi}])
def test_home_at_a_change_point(home: dict[str, float]) -> None:
    """A parallelogram laid flat could go on as a parallelogram or crossed."""
    flat = pin(1.0, 0.3)
    message = refusal(flat, four_bar(0.3, 1.0, 0.3, 1.0), home=home)
    assert "loop 'pin' has a singular configuration for home (joints j1, j2, j4 at" in message
    assert "branch is undecided" in message and "Next: give a home" in message
    fine = load(flat, four_bar(0.3, 1.0, 0.3, 1.0), home={"j1": 0.5, "j2": -0.5, "j4": 0.5})
    assert np.allclose(fine.joint_state([0.9])[0], [0.9, -0.9, 0.9], atol=1e-12)
    named = re.findall(r"(j\d) = (-?[\d.]+)", message.partition("such as")[2])
    there = {joint: float(position) for joint, position in named}
    assert set(there) == {"j1", "j2", "j4"}  # and the home that the message names is one
    assert load(flat, four_bar(0.3, 1.0, 0.3, 1.0), home=there).nv == 1


@pytest.mark.parametrize(
    ("mechanism", "options", "counted"),
    [
        (pin(0.1, 0.1), {"home": {}}, "2 of 5|3 of 5"),
        (pin().replace("revolute", "fixed"), {}, "3 of 6"),
        (pin(1.0, 0.3), {"text": four_bar(0.3, 1.0, 0.3, 1.0), "home": {}}, "2 of 5"),
        (pin() + "independent: [j1, j2]\n", {}, "2 of 5"),
    ],
    ids=["cannot meet", "locks", "singular home", "wrong choice"],
)
def test_refusals_have_one_form(
    mechanism: str, options: dict[str, object], counted: str
) -> None:
    """The loop, its gap, what the singular values say, and what to try."""
    message = refusal(mechanism, **options)
    form = (
        r"loop 'pin' .*\. Gap: \S+ \w+.* in 'pin'\. Constraints: "
        rf"(?:{counted}) count on 3 joints, the least \S+ of the largest.*\. Next: \w+ "
    )
    assert re.search(form, message), message


def test_home_of_an_independent_joint_that_cannot_be_reached() -> None:
    """The rocker of a crank-rocker swings through an arc only."""
    message = refusal(pin() + "independent: [j4]\n", home={"j1": 0.1, "j2": 0.1, "j4": 0.05})
    assert "loop 'pin'" in message and "j4" in message
    assert "nearest that can be reached" in message or "a gap of" in message


def test_independent_joints_that_say_too_much_or_too_little() -> None:
    for names in ("j1, j2", "j1, j2, j4"):
        message = refusal(pin() + f"independent: [{names}]\n")
        assert "loop 'pin' has mobility 1, but its independent joints" in message
        assert f"({names})" in message and "choose 1 of j1, j2, j4" in message


def test_independent_joints_that_do_not_determine_the_rest() -> None:
    """A four-bar's crank and rocker move together; the second four-bar stays free."""
    text = four_bar().replace(
        "</robot>",
        links("crank2", "coupler2", "rocker2")
        + joint("k1", "rocker", "crank2", 0.3)
        + joint("k2", "crank2", "coupler2", 0.3)
        + joint("k4", "ground", "rocker2", 2)
        + joint("k5", "coupler2", "tip", 0.8)
        + links("tip")
        + "</robot>",
    )
    second = (
        "  - {name: second, type: revolute, axis: [0, 0, 1],\n"
        "     predecessor: {link: tip, xyz: [0.9, 0, 0]},\n"
        "     successor: {link: rocker2, xyz: [0.8, 0, 0]}}\n"
    )
    home = {**HOME, "k1": -1.0, "k2": -0.4, "k5": -0.2, "k4": 1.5}
    robot = load(pin() + second + "independent: [j1, k1, k2]\n", text, home=home)
    assert robot.nv == 3 and len(robot._assemblies) == 1
    message = refusal(pin() + second + "independent: [j1, j4, k1]\n", text, home=home)
    assert "loops 'pin, second' has mobility 3" in message or "have mobility 3" in message
    assert "(j1, j4, k1) do not determine the others" in message


def test_a_free_joint_beside_the_loop_must_be_named_too() -> None:
    text = four_bar().replace("</robot>", links("arm") + joint("j9", "coupler", "arm") + "</robot>")
    message = refusal(pin() + "independent: [j1]\n", text)
    assert "the independent joints (j1) leave j9 undetermined" in message


# -- positions that no loop can take ---------------------------------------------------------------


@pytest.mark.sparse
@pytest.mark.parametrize("newton", [False, True])
def test_an_unreachable_position(newton: bool) -> None:
    """A rocker beyond its dead centre, where crank and coupler are in line."""
    robot = load(pin() + "independent: [j4]\n")
    if newton:
        robot = walked(robot)
    a, b, c, d = 0.3, 1.0, 0.7, 0.9
    end = np.pi - np.arccos(  # crank and coupler in line
        (d * d + c * c - (a + b) ** 2) / (2 * d * c)
    )
    far = end - 0.2
    for call in (
        lambda: robot.joint_state([far]),
        lambda: robot.inverse_dynamics([far], [0.0], [0.0]),
        lambda: robot.forward_dynamics([far], [0.0], [0.0]),
        lambda: robot.loop_forces([far], [0.0], [0.0]),
        lambda: robot.mass_matrix([far]),
        lambda: robot.frame_pose([far], "coupler"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        message = str(caught.value)
        assert message.startswith("<text>: loop 'pin' cannot be closed at j4 = "), message
        tip = d + c * np.cos(far), c * np.sin(far)
        short = abs(np.hypot(*tip) - (a + b))
        assert number("a gap of", message) == pytest.approx(short, rel=1e-2)
        assert " m is left" in message
        assert number("can be reached is", message) == pytest.approx(end, abs=1e-5)


def test_rows_of_a_batch_that_cannot_be_reached_are_nan() -> None:
    robot = load(pin() + "independent: [j4]\n")
    q = np.array([[HOME["j4"]], [9.0], [HOME["j4"] + 0.1]])
    positions = robot.joint_state(q)[0]
    assert np.isfinite(positions).all(axis=1).tolist() == [True, False, True]
    assert np.array_equal(positions[0], robot.joint_state(q[0])[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none(bad: float) -> None:
    for robot in (load(), walked(load())):
        for call in (
            lambda robot=robot: robot.joint_state([bad]),
            lambda robot=robot: robot.loop_forces([1.0], [bad], [0.0]),
            lambda robot=robot: robot.loop_forces([bad], [0.0], [0.0]),
            lambda robot=robot: robot.inverse_dynamics([1.0], [0.0], [bad]),
        ):
            with pytest.raises(InputError, match="j1"):
                call()


# -- a measured state ------------------------------------------------------------------------------


def test_a_measured_state_gives_the_independent_one() -> None:
    robot = load()
    whole = robot.joint_state([0.4])[0]
    assert np.allclose(robot.independent_state(whole), [0.4], atol=1e-15)
    noisy = whole + [0, 1e-8, -1e-8]
    assert np.allclose(robot.independent_state(noisy), [0.4], atol=1e-15)
    turned = whole + [0, 2 * np.pi, -4 * np.pi]  # an encoder that counts from elsewhere
    assert np.allclose(robot.independent_state(turned), [0.4], atol=1e-15)


def test_a_measured_state_that_is_open() -> None:
    robot = load()
    whole = robot.joint_state([0.4])[0]
    with pytest.raises(InputError) as caught:
        robot.independent_state(whole + [0, 0, 0.01])
    message = str(caught.value)
    assert message.startswith("<text>: ") and "pin" in message
    assert 0.3 * 0.007 < number("a gap of", message) <= 0.0071
    assert np.allclose(robot.independent_state(whole + [0, 0, 0.01], tolerance=0.02), [0.4])


def test_a_measured_state_on_the_other_branch() -> None:
    other = load(home={"j1": 1.0, "j2": -2.0, "j4": -1.5}).joint_state([0.4])[0]
    with pytest.raises(InputError, match=r"another assembly branch than home: joint 'j[24]'.*home"):
        load().independent_state(other)


def test_a_measured_velocity() -> None:
    robot = load()
    position, velocity, _ = robot.joint_state([0.4], [0.7])
    assert velocity is not None
    q, v = robot.independent_state(position, velocity)
    assert np.allclose(q, [0.4], atol=1e-15) and np.allclose(v, [0.7], atol=1e-15)
    robot.independent_state(position, velocity + [0, 1e-4, 0])
    with pytest.raises(InputError) as caught:
        robot.independent_state(position, velocity + [0, 0, 0.01])
    message = str(caught.value)
    assert "velocity of j4" in message and f"{velocity[2]:.6g}" in message
    assert f"{velocity[2] + 0.01:.6g}" in message
    for bad in ([0.7], [0.7, np.nan, 0.0]):
        with pytest.raises(InputError, match="velocity"):
            robot.independent_state(position, bad)


def test_a_measured_state_with_a_wrong_shape() -> None:
    with pytest.raises(InputError, match=r"position"):
        load().independent_state([0.4])
