"""Exported C++: it computes what the robot computes, and says where it has no answer."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cpp_tools import (
    CXX,
    STRICT,
    STRICT_C,
    command,
    compiled,
    library_of,
    motion,
    needs_cxx,
    robot_of,
)
from night import at_night
from slider_cranks import SLIDER

import mbdyn_ros
from mbdyn_ros.export.c_export import Exported
from mbdyn_ros.robot.c_description import leaves

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray
ORDER = ("q", "v", "a", "effort", "force")
LONG = ["manipulator", "ur5", "panda", "flying ur5", "dyads", "coupling", "hexapod",
        "walked spatial planar"]  # fmt: skip
ROBOTS = ["walked mimic", *(pytest.param(one, marks=pytest.mark.long) for one in LONG)]
INERTIA = [[0.05, 0.001, -0.002], [0.001, 0.06, 0.003], [-0.002, 0.003, 0.07]]
PAYLOAD = 5.0, (0.1, -0.2, 0.3), np.array(INERTIA)


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints the numbers of a library."""
    return compiled("evaluate.cpp", tmp_path_factory.mktemp("evaluate") / "evaluate")


def numbers(program: Path, library: Path, states: list[dict[str, Array]], *more: str) -> Array:
    """What it prints, a row a state."""
    given = b"".join(state[key].tobytes() for state in states for key in ORDER)
    return np.frombuffer(command(program, library, *more, given=given)).reshape(len(states), -1)


def expected(robot: mbdyn_ros.Robot, state: dict[str, Array]) -> Iterator[Array | float]:
    """The same numbers by the robot, in the order of evaluate.cpp."""
    q, v, a, effort, force = (state[key] for key in ORDER)
    rest = np.zeros(robot.nv)
    yield from (part for part in robot.joint_state(q, v, a) if part is not None)
    yield robot.inverse_dynamics(q, v, a)
    yield robot.inverse_dynamics(q, rest, rest)
    if robot.system.has_friction:
        whole, smooth = (robot.inverse_dynamics(q, v, a, friction=one) for one in (True, False))
        yield whole - smooth
    yield np.linalg.pinv(driven_rates(robot, q).T) @ force  # least norm of all that do its work
    yield robot.forward_dynamics(q, v, effort)
    yield robot.mass_matrix(q)
    yield robot.gravity_vector(q)
    for link in leaves(robot):
        yield robot.jacobian(q, link)
    yield 0.0


def driven_rates(robot: mbdyn_ros.Robot, q: Array) -> Array:
    """Velocities (efforts, nv) of the actuated coordinates by those of the independent ones."""
    labels = robot.system.coordinates.joint_rate_labels
    columns = []
    for v in np.eye(robot.nv):
        rates = robot.joint_state(q, v)[1]
        assert rates is not None
        known = dict(zip(robot.velocity_labels, v, strict=True))
        known |= dict(zip(labels, rates, strict=True))
        columns.append([known[label] for label in robot.effort_labels])
    return np.array(columns).T


def assert_equal(row: Array, parts: Iterator[Array | float], tolerance: float) -> None:
    """Every part, its largest number as the measure, with the status ok behind it."""
    start = 0
    for number, part in enumerate(map(np.ravel, parts)):
        found, status = row[start : start + part.size], row[start + part.size]
        scale = max(1.0, float(np.abs(part).max(initial=0.0)))
        np.testing.assert_allclose(found, part, rtol=0, atol=tolerance * scale, err_msg=str(number))
        assert status == 0, number
        start += part.size + 1
    assert start == row.size


@needs_cxx
@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_compiled_computes_what_the_robot_computes(
    name: str, tmp_path: Path, evaluate: Path
) -> None:
    robot = robot_of(name)
    library = library_of(robot.generate_cpp(tmp_path))
    states = motion(robot)
    for row, state in zip(numbers(evaluate, library, states), states, strict=True):
        assert_equal(row, expected(robot, state), 1e-12)


@pytest.fixture(scope="module")
def crane(tmp_path_factory: pytest.TempPathFactory) -> tuple[mbdyn_ros.Robot, Exported]:
    """The crane with a variable tool, and its package."""
    robot = robot_of("manipulator")
    folder = tmp_path_factory.mktemp("crane")
    return robot, robot.generate_cpp(folder, links=["tool"], parameters=["tool", "gravity"])


@pytest.mark.long
@needs_cxx
def test_payloads_are_the_robots(crane: tuple[mbdyn_ros.Robot, Exported], evaluate: Path) -> None:
    robot, written = crane[0], crane[1]
    library, states = library_of(written), motion(robot, 2)
    bare = numbers(evaluate, library, states)
    loaded = numbers(evaluate, library, states, "tool")
    heavy = mbdyn_ros.load(robot.model.source, variable=["tool"])
    mass, com, inertia = PAYLOAD
    heavy.set_payload("tool", mass, com, inertia)
    for row, state in zip(loaded, states, strict=True):
        parts = list(expected(heavy, state))
        jacobian = heavy.jacobian(state["q"], "tool")
        assert_equal(row, iter([*parts[: -1 - len(leaves(heavy))], jacobian, 0.0]), 1e-12)
    assert np.abs(loaded - bare).max() > 1.0


@needs_cxx
@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("four_bar", ["rocker_joint/x", "coupler_pin/successor/x"]),
        *at_night(
            ("ur5", ["elbow_joint/origin", "tool0_fixed_joint/z"]),
            ("gripper", ["right_pin/predecessor/z", "right_pin/successor/x"]),
            ("delta", ["rod1a_joint/x", "ball1a/successor/x"]),
        ),
    ],
)
def test_lengths_are_parameters(
    name: str, lengths: list[str], tmp_path: Path, evaluate: Path
) -> None:
    """Of joint states, Jacobians and gaps too, and of loops that are followed."""
    robot = mbdyn_ros.example(name, variable=lengths)
    library = library_of(robot.generate_cpp(tmp_path, parameters=lengths))
    random = np.random.default_rng(0)
    values = robot.parameter_values()
    robot.set_parameter_values(values + 2e-3 * random.normal(size=len(values)))
    states = motion(robot, 3)
    given = [repr(float(one)) for one in robot.parameter_values(lengths)]
    rows = numbers(evaluate, library, states, "", "0", *given)
    for row, state in zip(rows, states, strict=True):
        assert_equal(row, expected(robot, state), 1e-11)


@pytest.mark.sparse
@needs_cxx
@pytest.mark.parametrize("name", ["manipulator", "walked mimic"])
def test_open_loops_are_reported_with_their_gap(
    name: str, tmp_path: Path, evaluate: Path, crane: tuple[mbdyn_ros.Robot, Exported]
) -> None:
    robot, written = crane if name == "manipulator" else (robot_of(name), None)
    library = library_of(written or robot.generate_cpp(tmp_path))
    near = motion(robot, 1)[0]
    far = near | {"q": near["q"] + 3.0}
    strange = near | {"q": near["q"] * np.nan}
    rows = numbers(evaluate, library, [near, far, strange, near])
    assert np.array_equal(rows[0], rows[3]), "it recovers"
    joints = len(robot.system.coordinates.joint_labels)
    assert rows[1][joints] == 2 and rows[2][joints] == 1  # MBDYN_ROS_OPEN, MBDYN_ROS_NOT_FINITE
    assert not np.isfinite(rows[1][:joints]).all()
    with pytest.raises(mbdyn_ros.InputError) as refusal:
        robot.mass_matrix(far["q"])
    said = re.search(r"a gap of ([-+.e\d]+) (?:m|rad)", str(refusal.value))
    assert said is not None and rows[1][-1] == 2
    assert rows[1][-2] == pytest.approx(float(said[1]), rel=0.01)


@pytest.mark.long
@needs_cxx
def test_jumps_are_limited(tmp_path: Path, evaluate: Path) -> None:
    """Of loops that are searched: a limit refuses at once what would be walked to."""
    robot = robot_of("walked mimic")
    library = library_of(robot.generate_cpp(tmp_path))
    near = motion(robot, 1)[0]
    states = [near | {"q": near["q"] + away} for away in (0.0, 0.04, 0.0, 0.009, 0.018)]
    joints = len(robot.system.coordinates.joint_labels)
    walked, limited = (
        numbers(evaluate, library, states, "", *more) for more in ([], ["0.01"])
    )
    assert not walked[:, joints].any()
    assert limited[:, joints].tolist() == [0, 2, 0, 0, 0]  # MBDYN_ROS_OPEN
    np.testing.assert_allclose(limited[4], walked[4], rtol=1e-9)


@needs_cxx
def test_dead_points_are_reported(tmp_path: Path, evaluate: Path) -> None:
    """A piston with crank and rod in line: no effort, but joints and accelerations."""
    robot = mbdyn_ros.load(SLIDER, "{independent: [turn], actuated: [stroke]}", home={"turn": 1.0})
    library = library_of(robot.generate_cpp(tmp_path, links=[]))
    ones = {key: np.ones(1) for key in ORDER}
    dead, alive = numbers(evaluate, library, [ones | {"q": np.zeros(1)}, ones])
    joints = 3 * (len(robot.joint_names) + 1)
    assert dead[joints - 1] == 0 and np.isfinite(dead[:joints]).all()
    assert dead[joints + 1] == 3 and np.isnan(dead[joints])  # MBDYN_ROS_NO_ANSWER
    assert alive[joints + 1] == 0
    assert alive[joints] == pytest.approx(robot.inverse_dynamics([1.0], [1.0], [1.0])[0], rel=1e-12)


def test_the_class_knows_names_limits_and_hashes(
    crane: tuple[mbdyn_ros.Robot, Exported], tmp_path: Path
) -> None:
    robot, written = crane[0], crane[1]
    folder, text = written.files[0].parent, robot.model.source
    digest = command("sha256sum", text).split()[0].decode()
    declared = Path(text).read_text().startswith("<?xml") or Path(text).read_text()[-1:].isspace()
    header = (folder / "crane.hpp").read_text()
    assert declared or digest in header
    if CXX is None:
        pytest.skip("no compiler of C++")
    source = tmp_path / "constants.cpp"
    source.write_text(f"""#include <cstdio>
#include <fstream>
#include <sstream>
#include "crane.hpp"
#include "mbdyn_ros/description.hpp"
using namespace robots::crane;
static_assert(joint_names.size() == {len(robot.joint_names)});
static_assert(independent_joints[1] == "{robot.independent_joints[1]}");
static_assert(actuated_joints[3] == "{robot.actuated_joints[3]}");
static_assert(link_names.size() == 1 && link_names[0] == "tool" && name == "crane");
static_assert(effort_limits[1] >= {robot.effort_limits[1]} && velocity_limits[0] > 0);
static_assert(parameter_names[0] == "tool/m" && parameter_names[12] == "gravity/z");
int main() {{
  std::ifstream file("{text}");
  std::stringstream text;
  text << file.rdbuf();
  Robot robot;
  Robot::Efforts effort{{}};
  Robot::JointState state;
  Robot::Velocities still{{}};
  Robot::Positions far = home_position;
  far[1] = 3.0;
  if (robot.gravity_compensation(home_position, effort) != mbdyn_ros::Status::ok) return 1;
  if (robot.joint_state(home_position, still, still, state) != mbdyn_ros::Status::ok) return 2;
  if (robot.joint_state(far, still, still, state) != mbdyn_ros::Status::open) return 3;
  if (mbdyn_ros::description_hash(text.str()) != description_hash) return 4;
  if (robot.set_payload("tool", {{100.0, {{}}, {{}}}}) != nullptr) return 5;
  if (robot.set_payload("boom", {{}}) == nullptr) return 6;
  const double before = effort[1];
  if (robot.computed_torque(home_position, still, home_position, still, still, still, still,
                            effort) != mbdyn_ros::Status::ok) return 7;
  std::printf("%.17g %.17g", before, effort[1]);
  return 0;
}}
""")
    program = tmp_path / "constants"
    parts = [folder / "crane.c", folder / "crane_model.c"]
    objects = [tmp_path / f"{part.stem}.o" for part in parts]
    for part, made in zip(parts, objects, strict=True):
        command(shutil.which("gcc"), *STRICT_C, "-O0", "-I", folder, "-c", part, "-o", made)
    command(CXX, *STRICT, "-I", folder, source, *objects, "-o", program, "-lm")
    bare, loaded = map(float, command(program).split())
    rest = np.zeros(robot.nv)
    assert bare == pytest.approx(robot.inverse_dynamics(robot.home_position, rest, rest)[1])
    assert loaded > 1.01 * bare


@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++")
def test_clang_has_nothing_to_say(crane: tuple[mbdyn_ros.Robot, Exported]) -> None:
    folder = crane[1].files[0].parent
    for part in ("crane.c", "crane_model.c"):
        command("clang", *STRICT_C, "-DMBDYN_ROS_LIBRARY", "-fsyntax-only", "-I", folder,
                folder / part)  # fmt: skip
    command("clang++", *STRICT, "-fsyntax-only", "-I", folder, folder / "example_loop.cpp")
