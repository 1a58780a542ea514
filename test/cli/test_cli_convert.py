"""mbdyn convert: trajectories in other joints, from and into files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.motion import convert_trajectory
from mbdyn_ros.recording import read_table
from mbdyn_ros.recording.table import Table, write_csv

pytestmark = pytest.mark.usefixtures("interpreted_module")

ANGLES = ("slew_joint", "boom_joint", "jib_joint", "telescope_joint")


def convert(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["convert", "crane", *map(str, arguments)])


@pytest.fixture(scope="module")
def crane() -> mbdyn_ros.Robot:
    return mbdyn_ros.example("crane")


def plan(folder: Path, crane: mbdyn_ros.Robot, **changes: float) -> tuple[Path, Table]:
    """A file of a motion in angles, with the efforts of its cylinders in terms of angles."""
    t = np.linspace(0, 1, 6)[:, None]
    reach = np.array([changes.get(name, 0.05) for name in ANGLES])
    numbers = reach * t**2, 2 * reach * t, 2 * reach + 0 * t
    driven = convert_trajectory(crane, ANGLES, *numbers)
    effort = crane.inverse_dynamics(driven.position, driven.velocity, driven.acceleration)
    numbers += (effort,)
    table: Table = {"time": {"": t[:, 0]}}
    for quantity, rows in zip(("position", "velocity", "acceleration", "effort"), numbers,
                              strict=True):  # fmt: skip
        table[quantity] = dict(zip(ANGLES, rows.T, strict=True))
    write_csv(table, folder / "plan.csv")
    return folder / "plan.csv", table


def test_there_and_back(tmp_path: Path, crane: mbdyn_ros.Robot) -> None:
    source, given = plan(tmp_path, crane)
    there, back = tmp_path / "there.csv", tmp_path / "back.json"
    done = convert(source, "--output", there)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{there}: 6 points of {', '.join(crane.actuated_joints)}\n"
    assert list(read_table(there)["effort"]) == list(crane.actuated_joints)
    done = convert(there, "--to", ",".join(ANGLES), "--output", back)
    assert done.exit_code == 0, done.output
    found = read_table(back)
    assert found.keys() == given.keys()
    for quantity, columns in given.items():
        assert list(found[quantity]) == list(columns)
        for label, numbers in columns.items():
            assert found[quantity][label] == pytest.approx(numbers, rel=1e-9, abs=1e-9)


def test_plain_names_and_all_joints(tmp_path: Path, crane: mbdyn_ros.Robot) -> None:
    """A file of positions alone; all joints come out, and all go in again."""
    source = tmp_path / "plain.csv"
    source.write_text(",".join(ANGLES) + "\n0.1,0.02,0.01,0\n0.2,0.03,0.02,0\n")
    done = convert(source, "--to", "joints")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("position/slew_joint,position/boom_joint,position/lift_barrel")
    (tmp_path / "all.csv").write_text(done.stdout)
    again = convert(tmp_path / "all.csv", "--to", ",".join(ANGLES))
    assert again.exit_code == 0, again.output
    rows = [[float(one) for one in line.split(",")] for line in again.stdout.splitlines()[1:]]
    assert np.array(rows) == pytest.approx(np.array([[0.1, 0.02, 0.01, 0], [0.2, 0.03, 0.02, 0]]))


def test_limits_of_both(tmp_path: Path, crane: mbdyn_ros.Robot) -> None:
    """What is beyond a limit is written all the same, and named."""
    output = tmp_path / "there.csv"
    for joint, reach in (("boom_joint", 0.5), ("slew_joint", 0.6)):
        done = convert(plan(tmp_path, crane, **{joint: reach})[0], "--output", output)
        assert done.exit_code == 1 and "beyond its limit" in done.stderr
        assert ("lift_rod_joint" if joint == "boom_joint" else "velocity of slew") in done.stderr
        assert len(read_table(output)["time"][""]) == 6


@pytest.mark.parametrize(
    ("header", "options", "words"),
    [
        ("nix,nothing", [], "has position of no joint; the robot has slew_joint, boom_joint"),
        ("position/slew_joint,position/nix", [], "has position of 'nix', which is not a joint"),
        ("slew_joint,boom_joint", [], "leave 2 freedoms of the robot open"),
        (",".join(ANGLES), ["--to", "bom_joint"], "--to: there is no joint 'bom_joint' (did you"),
        (",".join(ANGLES), ["--output", "run.mcap"], "the name must end in one of .csv, .json"),
        (",".join(f"position/{one}" for one in ANGLES) + ",velocity/slew_joint", [],
         "has velocity/slew_joint, but no velocity/boom_joint"),
    ],
)  # fmt: skip
def test_bad_input(tmp_path: Path, header: str, options: list[str], words: str) -> None:
    source = tmp_path / "plan.csv"
    source.write_text(header + "\n" + ",".join("0" for _ in header.split(",")) + "\n")
    done = convert(source, *options)
    assert done.exit_code == 1 and words in done.stderr, done.output


def test_the_file_of_a_bad_number_is_named(tmp_path: Path) -> None:
    source = tmp_path / "plan.csv"
    source.write_text(",".join(ANGLES) + "\n0,0,0,0\n0,nan,0,0\n")
    done = convert(source)
    assert done.exit_code == 1
    assert done.stderr == f"Error: {source}: point 1: position of boom_joint is nan\n"
