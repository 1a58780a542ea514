"""Origins of joints and loop frames that change while programs run."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreting import interpreting
from night import at_night
from random_designs import WITH_URDF
from variable_robots import ROBOTS, disturbed, lengths, loaded_anew

import mbdyn_ros
from mbdyn_ros.assembly.closure_gap import tree_gap
from mbdyn_ros.compiler import gcc
from mbdyn_ros.errors import InputError
from mbdyn_ros.mechanisms import MECHANISMS
from mbdyn_ros.robot.described import described_model
from mbdyn_ros.robot.robot import Robot

BY_DAY = ["four_bar", "crane"]
OTHERS = at_night(*(name for name in ROBOTS if name not in BY_DAY))

EXACT = 1e-12


def apart(robot: Robot, other: Robot, rng: np.random.Generator) -> float:
    """Largest difference of two robots near home, as a share."""
    worst = 0.0
    for _ in range(3):
        q = other.home_position + 0.05 * rng.normal(size=robot.nq)
        v, a = rng.normal(size=(2, robot.nv))
        pairs = [(one.inverse_dynamics(q, v, a), one.mass_matrix(q)) for one in (robot, other)]
        pairs = [(*pair, one.frame_pose(q, one.links[-1])) for pair, one in
                 zip(pairs, (robot, other), strict=True)]  # fmt: skip
        for x, y in zip(*pairs, strict=True):
            worst = max(worst, float(np.abs(x - y).max() / max(1.0, np.abs(y).max())))
    return worst


@pytest.mark.sparse
@pytest.mark.parametrize("name", [*BY_DAY, *OTHERS])
def test_equals_a_robot_loaded_anew(name: str) -> None:
    rng = np.random.default_rng(3)
    fixed = mbdyn_ros.example(name)
    robot = mbdyn_ros.example(name, variable=ROBOTS[name] or lengths(fixed))
    assert apart(robot, fixed, rng) < EXACT
    disturbed(robot, rng)
    assert apart(robot, loaded_anew(robot), rng) < EXACT


def test_planar_loops_keep_their_closed_form() -> None:
    for name in ("four_bar", "boom", "crane"):
        assert mbdyn_ros.example(name, variable=ROBOTS[name]).system.nz == 0


def test_nothing_is_compiled_when_lengths_change(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = mbdyn_ros.example("four_bar", variable=["rocker_joint/x"])
    bound = robot.bind("inverse_dynamics")
    bound.q, bound.v = robot.home_position, [1.0]
    bound()

    def refuse(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(gcc.Toolchain, "compile", refuse)
    seen = set()
    for k in range(60):
        robot.set_origin("rocker_joint", [0.32 + 1e-4 * k, 0.0, 0.0])
        bound()
        seen.add(float(bound.result[0]))
        if k % 20 == 0:
            fresh = robot.inverse_dynamics(robot.home_position, [1.0], [0.0])
            assert np.array_equal(bound.result, fresh)
    assert len(seen) == 60


def example_with(name: str, variable: Sequence[str] = ()) -> Robot:
    """A robot of the box, or one that the mechanism lab writes."""
    if name in ROBOTS:
        return mbdyn_ros.example(name, variable=variable)
    mechanism = MECHANISMS[name]()
    return mbdyn_ros.load(mechanism.urdf(), variable=variable, gravity=(0, 0, -mechanism.gravity))


@pytest.mark.long
@pytest.mark.parametrize("name", [*ROBOTS, *(one for one in WITH_URDF if one not in ROBOTS)])
def test_a_thousand_designs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each called at once by what was compiled once; every hundredth against one loaded anew."""
    robot = example_with(name, ROBOTS.get(name) or lengths(example_with(name)))
    bound, rng = robot.bind("inverse_dynamics"), np.random.default_rng(5)
    bound.q, bound.v, bound.a = robot.home_position, *rng.normal(size=(2, robot.nv))
    bound()

    def refuse(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(gcc.Toolchain, "compile", refuse)
    first, seen = robot.parameter_values(), set()
    for k in range(1000):
        change = 0.002 * rng.normal(size=len(first))
        robot.set_parameter_values(first + change * (1 + np.abs(first)))
        bound.q = robot.home_position
        bound()
        seen.add(bound.result.tobytes())
        if k % 100 == 0:
            with interpreting():
                anew = loaded_anew(robot).inverse_dynamics(bound.q, bound.v, bound.a)
            scale = max(1.0, float(np.abs(anew).max()))
            assert bound.result == pytest.approx(anew, abs=EXACT * scale)
    assert len(seen) > (0 if name == "gear_pair" else 900)  # balanced wheels: at any distance


@pytest.mark.sparse(first=1)
@pytest.mark.parametrize(
    ("name", "frame", "change"),
    [("ur5", "elbow_joint", [0.0, 0.0, 0.05]), ("four_bar", "rocker_joint", [0.01, 0.0, 0.0]),
     ("delta", None, None)],
)  # fmt: skip
def test_each_row_of_a_batch_has_its_own_lengths(
    name: str, frame: str | None, change: list[float] | None
) -> None:
    """One length of each robot; of the delta its first."""
    fixed = mbdyn_ros.example(name)
    frame = frame or lengths(fixed)[0].rpartition("/")[0]
    at = fixed.system.origins[frame].pose.translation
    step = np.array(change) if change else 0.003 * np.eye(3)[np.abs(at).argmax()]
    parts = [f"{frame}/{'xyz'[int(np.abs(step).argmax())]}"]
    robot = mbdyn_ros.example(name, variable=parts)
    rows = at + np.outer([0.0, 0.5, 1.0, -1.0], step)
    rng = np.random.default_rng(0)
    q = fixed.home_position + 0.05 * rng.normal(size=(4, robot.nq))
    v, a = rng.normal(size=(2, 4, robot.nv))
    robot.set_origin(frame, rows)
    many = robot.inverse_dynamics(q, v, a)
    for k, row in enumerate(rows):
        robot.set_origin(frame, row)
        assert many[k] == pytest.approx(robot.inverse_dynamics(q[k], v[k], a[k]), abs=1e-11)


def test_rows_that_another_thread_sets_are_all_of_one_moment() -> None:
    """Homes were of the old rows, lengths of the new: a batch of neither."""
    robot = mbdyn_ros.example("four_bar", variable=["rocker_joint/x"])
    at = robot.system.origins["rocker_joint"].pose.translation
    robot.set_origin("rocker_joint", np.tile(at, (3, 1)))
    calls = robot.calls
    rows = calls.rows
    assert rows is not None
    before = calls._by_parameters_of(rows)
    robot.set_origin("rocker_joint", np.tile(at + np.array([0.01, 0.0, 0.0]), (5, 1)))
    assert np.array_equal(calls._by_parameters_of(rows), before)


def test_loops_reach_as_far_as_their_lengths_let_them() -> None:
    """A rod that is too short lets the crank turn until coupler and rocker are in line."""
    robot = mbdyn_ros.example("four_bar", variable=["rocker_joint/x"])
    ground = np.linspace(0.32, 0.6, 30)
    robot.set_origin("rocker_joint", ground[:, None] * [1.0, 0.0, 0.0])
    lower, upper = robot.loop_limits()[:, :, 0].T
    crank, coupler, rocker = 0.1, 0.3, 0.25
    cosine = (crank**2 + ground**2 - (coupler + rocker) ** 2) / (2 * crank * ground)
    far = np.where(cosine < -1, np.inf, np.arccos(np.clip(cosine, -1, 1)))
    assert np.isinf(far).any() and np.isfinite(far).any()
    assert upper == pytest.approx(far, abs=1e-7)
    assert lower == pytest.approx(-far, abs=1e-7)
    inside = np.isfinite(robot.inverse_dynamics(np.where(np.isinf(far), 3.0, far - 1e-3)[:, None],
                                                [1.0], [0.0]))  # fmt: skip
    assert inside.all()


def test_reach_through_other_loops_is_that_of_the_robot_loaded_anew() -> None:
    names = ["rocker_joint/x", "curl_barrel_joint/z", "lift_pin/successor/x"]
    robot = mbdyn_ros.example("excavator", variable=names)
    base, rng = robot.parameter_values(), np.random.default_rng(0)
    rows = base * (1 + 0.03 * rng.normal(size=(3, len(base))))
    for name, chosen in robot._parameters.layout.origins:
        column = names.index(f"{name}/{chosen[0]}")
        xyz = np.tile(robot.system.origins[name].six[:3], (3, 1))
        xyz[:, "xyz".index(chosen[0])] = rows[:, robot.parameter_labels().index(names[column])]
        robot.set_origin(name, xyz)
    many = robot.loop_limits()
    for name, _ in robot._parameters.layout.origins:
        robot.set_origin(name, robot._parameters.origins[name][1, :3])
    assert many[1] == pytest.approx(robot.loop_limits(), abs=1e-9)
    assert many[1] == pytest.approx(loaded_anew(robot).loop_limits(), abs=1e-9)


@pytest.mark.parametrize("name", ["four_bar", *at_night("ur5", "crane", "delta")])
def test_derivatives_by_lengths(name: str) -> None:
    variable = (ROBOTS[name] or lengths(mbdyn_ros.example(name)))[:4]
    robot, rng = mbdyn_ros.example(name, variable=variable), np.random.default_rng(1)
    q = robot.home_position + 0.1 * rng.normal(size=robot.nq)
    v, a = rng.normal(size=(2, robot.nv))
    for program, last in (("inverse_dynamics", a), ("forward_dynamics", 3.0 * a)):
        if len(last) != len(robot.effort_labels) and program == "forward_dynamics":
            last = np.zeros(len(robot.effort_labels))
        exact = getattr(robot, f"{program}_by_parameters")(q, v, last)
        numbers = robot.parameter_values()
        for k in range(len(numbers)):
            results = []
            for shift in (1e-5, -1e-5, 2e-5, -2e-5):
                changed = numbers.copy()
                changed[k] += shift
                robot.calls.set_parameters(changed)
                results.append(getattr(robot, program)(q, v, last))
            robot.calls.set_parameters(numbers)
            one, other = results[0] - results[1], results[2] - results[3]
            near = (8 * one - other) / 12e-5
            assert exact[:, k] == pytest.approx(near, rel=1e-6, abs=1e-6 * np.abs(exact).max())


def test_actuators_need_not_be_the_joints_that_are_given() -> None:
    """Where angles are given, cylinders push as in the robot loaded anew, and not into NaN."""
    boom = mbdyn_ros.example("boom", variable=["rod_pin/predecessor/x", "barrel_joint/x"])
    joints = ["boom_joint"]
    given = boom.with_independent(joints, boom.home)
    disturbed(given, np.random.default_rng(4))
    anew = loaded_anew(given)
    q = given.home_position + 0.1
    assert anew.independent_joints == given.independent_joints == ("boom_joint",)
    assert given.inverse_dynamics(q, [0.3], [0.4]) == pytest.approx(
        anew.inverse_dynamics(q, [0.3], [0.4]), rel=1e-12
    )


def test_loops_are_checked_once_in_other_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    boom = mbdyn_ros.example("boom", variable=["rod_pin/predecessor/x"])
    evaluated = []

    def counted(*arguments: Any) -> Any:
        evaluated.append(arguments)
        return tree_gap(*arguments)

    monkeypatch.setattr("mbdyn_ros.robot.robot.tree_gap", counted)
    boom.with_independent(["boom_joint"], boom.home)
    assert len(evaluated) == 1


@pytest.mark.parametrize("name", ["four_bar", *at_night("delta")])
def test_positions_and_energies_by_lengths(name: str) -> None:
    """By differences; positions of loops are followed by Newton's method in the delta."""
    robot = mbdyn_ros.example(name, variable=lengths(mbdyn_ros.example(name)))
    rng = np.random.default_rng(2)
    q, v = robot.home_position + 0.1 * rng.normal(size=robot.nq), rng.normal(size=robot.nv)
    link = robot.links[-1]
    exact = (
        robot.joint_position_by_parameters(q), robot.energy_by_parameters(q, v),
        robot.frame_pose_by_parameters(q, link),
    )  # fmt: skip
    numbers, step = robot.parameter_values(), 1e-5
    for k in range(len(numbers)):
        at = []
        for shift in (step, -step):
            robot.calls.set_parameters(numbers + shift * np.eye(len(numbers))[k])
            pose = robot.frame_pose(q, link)
            at.append((robot.joint_state(q)[0], np.array(robot.energy(q, v)), pose))
        robot.calls.set_parameters(numbers)
        for one, above, below in zip(exact[:2], at[0][:2], at[1][:2], strict=True):
            assert one[:, k] == pytest.approx((above - below) / (2 * step), rel=1e-7, abs=1e-7)
        above, below = at[0][2], at[1][2]
        turned = (above[:3, :3] - below[:3, :3]) / (2 * step) @ robot.frame_pose(q, link)[:3, :3].T
        near = [
            *(above[:3, 3] - below[:3, 3]) / (2 * step),
            turned[2, 1],
            turned[0, 2],
            turned[1, 0],
        ]
        assert exact[2][:, k] == pytest.approx(near, abs=1e-7)
    many = np.stack([q, q + 0.01])
    assert robot.energy_by_parameters(many, v)[0] == pytest.approx(exact[1], rel=1e-12)
    assert robot.joint_position_by_parameters(many)[0] == pytest.approx(exact[0], rel=1e-12)


def test_files_pickles_and_formulas_have_the_lengths_of_now(tmp_path: Path) -> None:
    robot = mbdyn_ros.example("four_bar", variable=["rocker_joint/x"])
    robot.set_origin("rocker_joint", [0.33, 0.0, 0.0])
    state = robot.home_position + 0.1, [0.5], [1.0]
    wanted = robot.inverse_dynamics(*state)
    saved = mbdyn_ros.load(robot.save_urdf(tmp_path / "four_bar.urdf").path)
    assert saved.inverse_dynamics(*state) == pytest.approx(wanted, rel=1e-12)
    copied = pickle.loads(pickle.dumps(robot))
    assert np.array_equal(copied.inverse_dynamics(*state), wanted)
    formula = robot.casadi("inverse_dynamics", parameters=True)
    found = np.array(formula(*state, robot.parameter_values())).ravel()
    assert found == pytest.approx(wanted, rel=1e-12)
    assert robot.home["rocker_joint"] == pytest.approx(saved.home["rocker_joint"], abs=1e-9)


@pytest.mark.long
def test_origins_of_joints_that_loops_took_apart_are_written() -> None:
    """That of the first motion is the joint's; of the others a description has no word."""
    names = ["platform_joint/x/z", "platform_joint/y/z"]
    robot = mbdyn_ros.example("delta", variable=names)
    at = robot.system.origins["platform_joint/x"].six[:3]
    robot.set_origin("platform_joint/x", at + np.array([0.0, 0.0, 0.002]))
    q, rng = robot.home_position, np.random.default_rng(0)
    anew = loaded_anew(robot)
    assert anew.system.origins["platform_joint/x"].six[2] == pytest.approx(at[2] + 0.002)
    v, a = rng.normal(size=(2, robot.nv))
    assert anew.inverse_dynamics(q, v, a) == pytest.approx(
        robot.inverse_dynamics(q, v, a), rel=1e-9
    )
    robot.set_origin("platform_joint/y", [0.0, 0.0, 0.002])
    with pytest.raises(InputError, match="platform_joint/y.*which a loop took apart"):
        described_model(robot)


def test_a_length_that_was_folded_becomes_variable() -> None:
    robot = mbdyn_ros.example("ur5")
    with pytest.warns(mbdyn_ros.CompilerWarning, match="elbow_joint/z.*variable from now"):
        robot.set_origin("elbow_joint", [0.0, -0.1197, 0.45])
    assert robot.parameter_labels() == ("elbow_joint/z",)
    assert robot.frame_pose([0.0] * 6, "wrist_1_link")[0, 3] == pytest.approx(0.45 + 0.39225)


@pytest.mark.parametrize(
    ("variable", "name", "xyz", "words"),
    [
        (["rocker_joint/x"], "rocker_jont", [0.3, 0, 0], "no joint or loop frame 'rocker_jont'"),
        (["rocker_joint/x"], "rocker_joint", [np.nan, 0, 0], "xyz of x is nan"),
        (["rocker_joint/x"], "rocker_joint", [0.3, 0], r"shape \(2,\)"),
        (["rocker_joint/x"], "rocker_joint", [0.3, 0.1, 0], "y of the origin.*only x may"),
        (["rocker_joint/x"], "rocker_joint", [2.0, 0, 0], "coupler_pin cannot be closed"),
        (
            ["rocker_joint/x"],
            "rocker_joint",
            [[0.3, 0, 0], [2.0, 0, 0]],
            "coupler_pin of row 1 cannot be closed",
        ),
        (["rocker_joint/y"], "rocker_joint", [0.32, 0.1, 0], "taken out of it"),
    ],
)
def test_what_cannot_be_is_refused(variable: list[str], name: str, xyz: object, words: str) -> None:
    robot = mbdyn_ros.example("four_bar", variable=variable)
    before = robot.inverse_dynamics(robot.home_position, [1.0], [1.0])
    with pytest.raises(InputError, match=words):
        robot.set_origin(name, xyz)  # type: ignore[arg-type]
    assert np.array_equal(robot.inverse_dynamics(robot.home_position, [1.0], [1.0]), before)


FOUR_BAR = ["coupler_joint/x", "rocker_joint/x", "coupler_pin/predecessor/x",
            "coupler_pin/successor/x"]  # fmt: skip


def four_bar(closing: str) -> Robot:
    """The four-bar with its lengths free; one with a pin that could slide has no closed form."""
    text = (Path(__file__).parents[2] / "urdf" / "four_bar.urdf").read_text()
    pin = '<loop name="coupler_pin" type="'
    return mbdyn_ros.load(text.replace(f"{pin}revolute", pin + closing), variable=FOUR_BAR)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("closing", ["revolute", "cylindrical"])
def test_a_length_of_0_that_leaves_a_turn_open_is_refused(closing: str) -> None:
    robot = four_bar(closing)
    for lengths_of_0, words in (
        ([0.1, 0.32, 0.0, 0.22], "'coupler_joint' and 'coupler_pin' of link 'coupler'"),
        ([0.1, 0.32, 0.22, 0.0], "'rocker_joint' and 'coupler_pin' of link 'rocker'"),
    ):
        batch = [[0.1, 0.32, 0.3, 0.25], lengths_of_0]
        for values, row in ((lengths_of_0, ""), (batch, " of row 1")):
            before = robot.inverse_dynamics([0.2], [1.0], [1.0])
            with pytest.raises(InputError, match=f"lengths{row} {words} are at one place"):
                robot.set_parameter_values(values)
            assert np.array_equal(robot.inverse_dynamics([0.2], [1.0], [1.0]), before)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("closing", ["revolute", "cylindrical"])
def test_a_length_of_0_that_is_determined_is_computed(closing: str) -> None:
    robot = four_bar(closing)
    robot.set_parameter_values([[0.1, 0.32, 0.3, 0.25], [0.0, 0.32, 0.3, 0.25]])
    _, velocity, _ = robot.joint_state([0.4], [1.0])
    assert velocity is not None
    assert velocity[1] == pytest.approx([1.0, -1.0, 0.0], abs=1e-14)  # the rest stands still
    assert abs(velocity[0, 2]) > 0.01


@pytest.mark.usefixtures("interpreted")
def test_a_singular_home_is_refused() -> None:
    for closing in ("revolute", "cylindrical"):
        with pytest.raises(InputError, match="singularity|leave the branch"):
            four_bar(closing).set_parameter_values([0.1, 0.32, 0.12, 0.1])


def test_a_number_of_a_batch_that_is_none_is_refused_by_row() -> None:
    robot = mbdyn_ros.example("four_bar", variable=["rocker_joint/x"])
    with pytest.raises(InputError, match="rocker_joint: xyz of x is nan in row 1"):
        robot.set_origin("rocker_joint", [[0.32, 0.0, 0.0], [np.nan, 0.0, 0.0]])


@pytest.mark.parametrize("name", ["rocker_joint/w", "rocker_jont/x", "rocker_joint/"])
def test_what_names_no_number_of_an_origin_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="origin"):
        mbdyn_ros.example("four_bar", variable=[name])


def test_links_without_mass() -> None:
    """Their moments are symbols in part: a length along one axis leaves some of them 0."""
    text = """<robot name="bare"><link name="base"/><link name="turned"/><link name="tip"/>
      <joint name="turn" type="continuous"><parent link="base"/><child link="turned"/>
        <axis xyz="0 0 1"/></joint>
      <joint name="bend" type="continuous"><parent link="turned"/><child link="tip"/>
        <origin xyz="0.4 0 0.2"/><axis xyz="0 1 0"/></joint></robot>"""
    with pytest.warns(mbdyn_ros.ModelWarning, match="no mass resists"):
        robot = mbdyn_ros.load(text, variable=["bend/x"])
    robot.set_origin("bend", [0.5, 0.0, 0.2])
    assert robot.frame_pose([0.0, 0.0], "tip")[:3, 3] == pytest.approx([0.5, 0.0, 0.2])


def test_a_copy_with_another_home_has_the_numbers() -> None:
    """Those that were set before and those that are set later, also in what it saves."""
    robot = mbdyn_ros.example("four_bar", variable=["coupler_pin/successor/x", "coupler"])
    x, y, z = robot.system.origins["coupler_pin/successor"].pose.translation
    robot.set_origin("coupler_pin/successor", [1.01 * x, y, z])
    other = robot.with_home({"crank_joint": 0.3})
    np.testing.assert_array_equal(other.parameter_values(), robot.parameter_values())
    robot.set_payload("coupler", 0.5)
    np.testing.assert_array_equal(other.parameter_values(), robot.parameter_values())
    np.testing.assert_allclose(
        loaded_anew(other).mass_matrix([0.4]), robot.mass_matrix([0.4]), rtol=EXACT
    )
