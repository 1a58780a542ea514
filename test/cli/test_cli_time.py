"""mbdyn time: the fastest motion along a path of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mbdyn_ros.__main__ import main
from mbdyn_ros.recording import read_table


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("time") / "path.csv"
    file.write_text("rod_joint\n-0.1\n0.0\n0.1\n")
    return file


def timed(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["time", "boom", *map(str, arguments)])


def refusal(*arguments: object) -> str:
    result = timed(*arguments)
    assert result.exit_code == 1 and result.stderr.count("\n") == 1, result.output
    return result.stderr


def test_a_motion_and_its_picture(path: Path, tmp_path: Path) -> None:
    result = timed(path, "--output", tmp_path / "motion.csv", "--plot", tmp_path / "limits.png")
    assert result.exit_code == 0, result.output
    assert "velocity of rod_joint" in result.stdout and "at constant speed" in result.stdout
    motion = read_table(str(tmp_path / "motion.csv"))
    assert motion["position"]["rod_joint"][[0, -1]] == pytest.approx([-0.1, 0.1], abs=1e-9)
    assert abs(motion["effort"]["rod_joint"]).max() <= 40040
    assert (tmp_path / "limits.png").stat().st_size > 5000


def test_json(path: Path) -> None:
    document = json.loads(timed(path, "--acceleration", "2", "--jerk", "50", "--json").stdout)
    assert document["duration"] > document["least_duration"]
    assert max(abs(x) for x in document["acceleration"]["rod_joint"]) <= 2.001
    assert document["time"][-1] == pytest.approx(document["duration"])


@pytest.mark.long
def test_machines(path: Path) -> None:
    """Limits of a machine: its pump, its supply and its bearings."""
    document = json.loads(
        timed(
            path, "--pump", "1e-4:rod_joint=2e-3/1e-3", "--supply-power", "500",
            "--joint-force", "boom_joint=60000", "--joint-moment", "boom_joint=1e5", "--json",
        ).stdout
    )  # fmt: skip
    assert max(document["velocity"]["rod_joint"]) == pytest.approx(0.05, rel=1e-3)
    power = [
        effort * velocity
        for effort, velocity in zip(
            document["effort"]["rod_joint"], document["velocity"]["rod_joint"], strict=True
        )
    ]
    assert max(power) == pytest.approx(500, rel=1e-3)


@pytest.mark.parametrize(
    ("pump", "words"),
    [
        ("1e-3", "'1e-3' is not of the form FLOW:JOINT=BORE/RING,..., as in 1e-3:rod_joint="),
        ("fast:rod_joint=2e-3/1e-3", "'fast:rod_joint=2e-3/1e-3' is not of the form"),
        ("1e-3:rod_joint=2e-3", "'1e-3:rod_joint=2e-3' is not of the form"),
        ("1e-3:rod_joint=2e-3/x", "'1e-3:rod_joint=2e-3/x' is not of the form"),
        ("1e-3:=2e-3/1e-3", "'1e-3:=2e-3/1e-3' is not of the form"),
        ("1e-3:rod_joint=1/1,rod_joint=1/1", "--pump: 'rod_joint' is given twice"),
        ("1e-3:rod=1/1", "pumps: there is no joint 'rod' there"),
        ("0:rod_joint=1/1", "flow of a pump is 0; it must be a number above 0"),
        ("1e-3:rod_joint=2e-3/-1", "area of rod_joint is -1; it must be a number above 0"),
    ],
)
def test_pumps_that_are_refused(path: Path, pump: str, words: str) -> None:
    assert words in refusal(path, "--pump", pump)


def test_what_is_refused(path: Path, tmp_path: Path) -> None:
    assert "no joint 'rod'" in refusal(path, "--effort", "rod=3")
    assert "'rod_joint=x' is not of the form name=number" in refusal(path, "--power", "rod_joint=x")
    assert "power of the supply is 0" in refusal(path, "--supply-power", "0")
    assert "there is no joint or loop 'boom'" in refusal(path, "--joint-force", "boom=1")
    assert "the robot cannot be held there" in refusal(path, "--effort", "rod_joint=100")
    assert "--rate: 0 Hz" in refusal(path, "--rate", "0")
    same = tmp_path / "same.csv"
    same.write_text("rod_joint\n0.1\n0.1\n")
    assert "same.csv: waypoints 0 and 1 are the same point" in refusal(same)
    other = tmp_path / "other.csv"
    other.write_text("arm\n0.1\n0.2\n")
    assert "has position of no joint" in refusal(other)
