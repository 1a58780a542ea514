"""Recordings of real robots: columns, units and clocks that are found and said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.recording.columns import read_named_columns
from mbdyn_ros.recording.conditioning import chosen_cutoff, conditioned
from mbdyn_ros.recording.measured import Recording, Sensors, read_recording

pytestmark = pytest.mark.usefixtures("interpreted")

JOINTS = 6
TIME = 0.004 * np.arange(500)
Q = 0.8 * np.sin(TIME[:, None] * np.arange(1, 7) + 1)
V = 0.8 * np.arange(1, 7) * np.cos(TIME[:, None] * np.arange(1, 7) + 1)
EFFORT = 5 * np.cos(3 * Q)


@pytest.fixture(scope="module")
def arm() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(find_robot("ur5"))


def read(
    robot: mbdyn_ros.Robot, folder: Path, header: Sequence[str], *columns: Array, rate: float = 0
) -> Recording:
    """What is understood of a table."""
    path = folder / "recording.csv"
    numbers = np.column_stack(columns)
    lines = [",".join(header), *(",".join(map(repr, row)) for row in numbers.tolist())]
    path.write_text("\n".join(lines))
    return read_recording(robot, path, Sensors(rate))


def names(pattern: str, first: int = 1) -> list[str]:
    return [pattern.format(k) for k in range(first, first + JOINTS)]


@pytest.mark.parametrize(
    "position, velocity, effort, first",
    [
        ("q{}", "dq{}", "tau{}", 1), ("actual_q_{}", "actual_qd_{}", "actual_moment_{}", 0),
        ("position[{}]", "velocity[{}]", "effort[{}]", 0), ("joint{}_pos", "joint{}_vel",
        "joint{}_torque", 1), ("q.{}", "qd.{}", "tau_J.{}", 0),
        ("Joint Positions {}", "Joint Velocities {}", "Joint Torques {}", 1),
    ],
)  # fmt: skip
def test_names_by_number(
    arm: mbdyn_ros.Robot, tmp_path: Path, position: str, velocity: str, effort: str, first: int
) -> None:
    header = ["t", *names(effort, first), *names(velocity, first), *names(position, first)]
    found = read(arm, tmp_path, header, TIME, EFFORT, V, Q)
    np.testing.assert_allclose(found.q, Q)
    np.testing.assert_allclose(found.v, V)
    np.testing.assert_allclose(found.effort, EFFORT)
    assert any(position.format(first) in remark for remark in found.remarks)


def test_names_of_joints_in_any_order(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    joints = arm.independent_joints
    header = ["time", *(f"{one}_position" for one in joints[::-1])]
    header += [f"tau_{one.removesuffix('_joint')}" for one in joints]
    found = read(arm, tmp_path, header, TIME, Q[:, ::-1], EFFORT)
    kept = slice(13, -13)
    np.testing.assert_allclose(found.q, Q[kept])
    np.testing.assert_allclose(found.effort, EFFORT[kept])
    np.testing.assert_allclose(found.v, V[kept], atol=0.05)
    assert any("differentiated" in remark for remark in found.remarks)


def test_our_own_columns_need_no_remark(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    header = ["time"] + [f"{what}/{one}" for what in ("position", "velocity", "effort")
                         for one in arm.independent_joints]  # fmt: skip
    assert not read(arm, tmp_path, header, TIME, Q, V, EFFORT).remarks


def test_measured_ones_go_before_wanted_ones(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    header = ["t", *names("target_q{}"), *names("actual_q{}"), *names("tau{}"), *names("tau_ext{}")]
    found = read(arm, tmp_path, header, TIME, Q + 1, Q, EFFORT, 0 * EFFORT)
    np.testing.assert_allclose(found.q, Q[13:-13])
    np.testing.assert_allclose(found.effort, EFFORT[13:-13])


def test_degrees_are_seen(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    header = ["t", *names("q{}"), *names("dq{}"), *names("tau{}")]
    found = read(arm, tmp_path, header, TIME, np.degrees(Q), np.degrees(V), EFFORT)
    np.testing.assert_allclose(found.q, Q)
    np.testing.assert_allclose(found.v, V)
    assert sum("degrees" in remark for remark in found.remarks) == 2


def test_millimetres_of_a_cylinder_are_seen(tmp_path: Path) -> None:
    boom = mbdyn_ros.example("boom")
    way = boom.home_position + 0.2 * np.ptp(boom.position_limits) * np.sin(TIME)[:, None]
    for header, size in (["t", "rod_joint_pos", "rod_joint_effort"], 1e3), (
        ["t", "rod_joint_pos_mm", "rod_joint_effort"], 1e3,
    ), (["t", "rod_joint_pos", "rod_joint_effort"], 1.0):  # fmt: skip
        found = read(boom, tmp_path, header, TIME, size * way, 1e3 * np.cos(TIME)[:, None])
        np.testing.assert_allclose(found.q, way[13:-13])
        assert any("millimetres" in remark for remark in found.remarks) == (size != 1)


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6, 1e9])
def test_units_of_time(arm: mbdyn_ros.Robot, tmp_path: Path, unit: float) -> None:
    header = ["timestamp", *names("q{}"), *names("dq{}"), *names("tau{}")]
    found = read(arm, tmp_path, header, (1000 + TIME) * unit, Q, V, EFFORT)
    np.testing.assert_allclose(found.time, TIME, atol=1e-6)


def test_a_jittering_clock_is_made_regular(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    jitter = 4e-4 * np.random.default_rng(0).normal(size=len(TIME))
    header = ["t", *names("q{}"), *names("dq{}"), *names("tau{}")]
    found = read(arm, tmp_path, header, TIME + jitter, Q, V, EFFORT)
    assert np.diff(found.time).std() < 1e-9 and found.step == pytest.approx(4e-3, rel=1e-3)
    assert any("jitter" in remark for remark in found.remarks)


def test_rows_without_numbers_are_left_out(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    q, time = Q.copy(), TIME.copy()
    q[7, 2], time[20] = np.nan, time[19]
    header = ["t", *names("q{}"), *names("dq{}"), *names("tau{}")]
    found = read(arm, tmp_path, header, time, q, V, EFFORT)
    assert len(found.time) == len(TIME) - 2
    assert any("2 of 500 rows are left out" in remark for remark in found.remarks)


def test_velocities_that_are_none_are_not_used(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    header = ["t", *names("q{}"), *names("dq{}"), *names("tau{}")]
    found = read(arm, tmp_path, header, TIME, Q, 0 * V, EFFORT)
    np.testing.assert_allclose(found.v, V[13:-13], atol=0.05)
    assert any("are not used" in remark for remark in found.remarks)


def test_what_is_refused(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    q, tau = names("q{}"), names("tau{}")
    for header, columns, words in (
        (["t", *q], (TIME, Q), "has no effort of all of"),
        (["t", *tau], (TIME, EFFORT), "has no position of all of"),
        ([*q, *tau], (Q, EFFORT), "has no time"),
        (["t", *q, *names("current{}")], (TIME, Q, EFFORT), "multiply each by the torque constant"),
        (["t", *q, *tau], (TIME, Q, EFFORT * [1, 1, 0, 1, 1, 1]), "elbow_joint is -?0 in every"),
        (["t", *q, *tau], (0 * TIME, Q, EFFORT), "a time that rises"),
    ):
        with pytest.raises(InputError, match=words):
            read(arm, tmp_path, header, *columns)
    assert len(read(arm, tmp_path, [*q, *tau], Q, EFFORT, rate=250).time) == 474


def test_columns_that_are_named(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    np.savetxt(path, np.column_stack([TIME, np.degrees(Q), EFFORT / 50]))  # blanks, no header
    with pytest.raises(InputError, match=r"--columns FILE.yaml. It has 1, 2, 3"):
        read_recording(arm, path)
    joints = ", ".join(f"{joint}: {8 + k}" for k, joint in enumerate(arm.effort_labels))
    reported = read_named_columns(
        f"{{time: 1, position: {{columns: [2, 3, 4, 5, 6, 7], scale: {np.radians(1.0)}}}, "
        f"effort: {{columns: {{{joints}}}, scale: [50, 50, 50, 50, 50, 50]}}}}"
    )
    found = read_recording(arm, path, Sensors(columns=reported))
    np.testing.assert_allclose(found.q, Q[13:-13], atol=1e-12)
    np.testing.assert_allclose(found.effort, EFFORT[13:-13], atol=1e-12)
    for text, words in (
        ("{position: [2, 3]}", "2 columns of position are given, and it has 6"),
        ("{effort: {elbow: 3}}", "'elbow' has no effort .did you mean .elbow_joint"),
        ("{time: 20}", "has no column '20'"),
        ("{time: {columns: 1, scale: [1, 2]}}", "2 scales of time are given for 1 columns"),
    ):
        with pytest.raises(InputError, match=words):
            read_recording(arm, path, Sensors(columns=read_named_columns(text)))


def test_currents_that_were_measured_go_before_efforts_that_were_asked_for(
    arm: mbdyn_ros.Robot, tmp_path: Path
) -> None:
    header = ["t", *names("q{}"), *names("tau_des{}"), *names("i{}")]
    given = header, TIME, Q, EFFORT, EFFORT / 10
    assert any("--gain JOINT=unknown" in one for one in read(arm, tmp_path, *given).remarks)
    gains = dict.fromkeys(arm.effort_labels, 10.0)
    found = read_recording(arm, tmp_path / "recording.csv", Sensors(gains=gains))
    np.testing.assert_allclose(np.abs(found.effort).max(), np.abs(EFFORT).max(), rtol=1e-9)
    assert not any("asked for" in one for one in found.remarks)


def test_a_band_is_not_that_of_noise_that_wanders() -> None:
    random, time = np.random.default_rng(0), 1e-3 * np.arange(20_000)
    wandering = np.cumsum(random.normal(size=(len(time), 2)), axis=0) * 2e-5
    motion = np.sin(2 * np.pi * time[:, None] * [0.3, 0.5])
    assert chosen_cutoff(motion + wandering, 1e3) < 10


def test_a_short_part_does_not_choose_the_filter(arm: mbdyn_ros.Robot) -> None:
    time = 0.004 * np.arange(3000)
    q = 0.8 * np.sin(time[:, None] * np.arange(1, 7))
    whole = conditioned(arm, Recording(time, q, q, q)).cutoff
    parted = np.where(time > 11.8, time + 0.05, time)
    assert conditioned(arm, Recording(parted, q, q, q)).cutoff == pytest.approx(whole, rel=0.1)


def test_pickled_objects_of_a_file_are_passed_over(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    contacts = np.array({"foot": Q}, dtype=object)
    np.savez(path, times=TIME, positions=Q, velocities=V, torques=EFFORT, contacts=contacts)
    np.testing.assert_allclose(read_recording(arm, path).q, Q)


def test_joints_by_number_that_are_missing_are_named(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    header = ["t", *names("q{}"), *(one for one in names("tau{}") if one != "tau3")]
    with pytest.raises(InputError, match="; elbow_joint are missing: record them, or lock them"):
        read(arm, tmp_path, header, TIME, Q, EFFORT[:, 1:])
