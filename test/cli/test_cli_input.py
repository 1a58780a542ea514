"""The command line with input that is not as it should be: one line says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.recording import read_table
from mbdyn_ros.recording.table import differentiated

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

ROOT = Path(__file__).resolve().parents[2]
BOOM = str(ROOT / "urdf" / "boom.urdf")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("id", BOOM, "--position", f"[1{'0' * 400}]"), "too large for a number"),
        (("mechanism", "four_bar", "--lengths", "1e160,1e160,1e160,1e160"), "1e+100 m at most"),
        (("mechanism", "four_bar", "--set", "ground=1e140"), "ground is 1e+140 m; give 1e+100"),
        (("mechanism", "four_bar", "--sweep", "crank_mass=1:2:inf"), "FROM:TO:COUNT"),
        (("mechanism", "four_bar", "--sweep", "crank_mass=1:2:nan"), "FROM:TO:COUNT"),
        (("mechanism", "four_bar", "--sweep", "crank_mass=1:2:1e12"), "1,000,000,000,000 designs"),
    ],
)
def test_numbers_beyond_all_use_are_named(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert words in result.stderr and "Traceback" not in result.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,rod_joint\n0,1" + "1" * 140_000, "field larger"),
        ("time;rod_joint\n0;0,5\n", "rod_joint in row 1 is '0,5', not a number"),
        ("0,1,2\n1,2,3\n", "the first line contains numbers"),
        ("time,rod_joint,time\n0,1,2\n", "the column 'time' appears twice"),
    ],
)
def test_tables_of_other_programs_are_refused_with_the_cause(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "states.csv"
    path.write_text(text)
    result = run("id", BOOM, "--trajectory", path)
    assert result.exit_code == 1 and words in result.stderr


def test_an_empty_object_of_positions_is_home() -> None:
    given = run("id", BOOM, "--position", "{}")
    assert given.exit_code == 0 and given.stdout == run("id", BOOM).stdout


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("redirection", "code", "words"),
    [
        ("> /dev/full", 1, "Error: cannot write: "),
        (">&-", 0, ""),
        ("2>&- > /dev/null", 0, ""),
        ("<&-", 1, "Error: -: standard input is closed"),
    ],
)
def test_streams_that_are_closed_or_full(redirection: str, code: int, words: str) -> None:
    verb = "inspect -" if "<" in redirection else "examples"
    command = f"{sys.executable} -m mbdyn_ros {verb} {redirection}"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code
    assert done.stderr.startswith(words) and "Traceback" not in done.stderr


def test_letters_that_a_terminal_does_not_have_become_question_marks() -> None:
    command = [sys.executable, "-m", "mbdyn_ros", "inspect", BOOM]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="latin-1",
        env={"PYTHONIOENCODING": "latin-1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0 and "rod_joint" in done.stdout and "?" in done.stdout


def test_a_bag_is_read_and_differentiated(tmp_path: Path) -> None:
    bag = tmp_path / "run.mcap"
    table = tmp_path / "run.csv"
    for target in (bag, table):
        moved = run("simulate", BOOM, "--duration", "0.4", "--rate", "200", "--output", target)
        assert moved.exit_code == 0, moved.output
    recorded, exact = read_table(bag), read_table(table)
    for quantity in ("position", "velocity"):
        for joint, numbers in exact[quantity].items():
            assert np.array_equal(recorded[quantity][joint], numbers)
    assert np.allclose(recorded["time"][""], exact["time"][""], atol=1e-9)
    result = run("id", BOOM, "--trajectory", bag, "--differentiate", "--json")
    assert result.exit_code == 0 and "not used" in result.stderr
    assert "acceleration" not in result.stderr, "nothing is taken as 0"


def test_derivatives_of_noisy_numbers() -> None:
    time = np.linspace(0, 2, 401)
    noise = 1e-4 * np.random.default_rng(0).normal(size=(401, 1))
    velocity, acceleration = differentiated(time, np.sin(3 * time)[:, None] + noise, "x")
    inner = slice(20, -20)  # a spline knows least at its ends
    assert np.abs(velocity[inner, 0] - 3 * np.cos(3 * time[inner])).max() < 0.01
    off = np.abs(acceleration[inner, 0] + 9 * np.sin(3 * time[inner])).max()
    assert off < 0.7, "differences are off by 16"
    with pytest.raises(mbdyn_ros.InputError, match="does not increase after row 3"):
        differentiated(np.array([0.0, 1, 2, 2, 3]), np.zeros((5, 1)), "x")
    with pytest.raises(mbdyn_ros.InputError, match="4 states"):
        differentiated(time[:4], np.zeros((4, 1)), "x")


@pytest.mark.parametrize("verb", ["id", "fd"])
def test_degrees_are_noticed_by_the_limits(verb: str) -> None:
    degrees = run(verb, "ur5", "--position", "shoulder_lift_joint=-90")
    assert degrees.exit_code == 0
    words = "position of shoulder_lift_joint is -90 rad, beyond its limit -6.28319 rad"
    assert words in degrees.stderr
    assert "beyond" not in run(verb, "ur5", "--position", "shoulder_lift_joint=-1.5").stderr


@pytest.mark.parametrize("verb", ["id", "fd"])
def test_a_stroke_that_a_plan_in_angles_exceeds_is_named(verb: str, tmp_path: Path) -> None:
    sidecar = tmp_path / "angle.yaml"
    sidecar.write_text("independent: [boom_joint]\nactuated: [rod_joint]\n")
    choice = ("--mechanism", str(sidecar), "--position")
    far = run(verb, BOOM, *choice, "boom_joint=-0.9")
    assert "position of rod_joint is -0.326969 m, beyond its limit -0.22 m" in far.stderr
    assert "beyond its limit" not in run(verb, BOOM, *choice, "boom_joint=0.1").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("id", BOOM, "--position", "rod_joint=0.1", "--position", "rod_joint=0.2"), 1, "twice"),
        (("id", BOOM, "--position", "[0.1]", "--position", "[0.2]"), 2, "is given 2 times"),
        (("id", BOOM, "--mechanism", "a", "--mechanism", "b"), 2, "--mechanism is given 2 times"),
        (("inspect", BOOM, "--home", "rest", "--home", "a=1"), 2, "--home is given 2 times"),
        (("simulate", BOOM, "--duration", "1", "--duration", "2"), 2, "--duration is given 2"),
        (
            ("simulate", BOOM, "--duration", "1", "--joint-limits", "--no-joint-limits"), 2,
            "given 2 times",
        ),
        (("mechanism", "four_bar", "--compare", "a=1", "--compare", "b=1"), 2, "--compare is"),
        (("mechanism", "four_bar", "--set", "crank_mass=1", "--set", "crank_mass=2"), 1, "twice"),
        (
            ("mechanism", "four_bar", "--sweep", "crank_mass=1:2:2", "--sweep", "crank_mass=1:2:3"),
            1, "'crank_mass' is given twice",
        ),
        (
            ("mechanism", "four_bar", "--pareto", "crank_mass=1:2", "--pareto", "crank_mass=1:3"),
            1, "'crank_mass' is given twice",
        ),
        (
            ("mechanism", "four_bar", "--id", "--friction", "0.1,0.01", "--friction", "0.2,0.01"),
            1, "all joints is given twice",
        ),
    ],
)  # fmt: skip
def test_an_option_given_twice_is_refused_by_name(
    arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == code and words in result.stderr, result.output


@pytest.mark.usefixtures("interpreted")
def test_pairs_of_repeated_options_add_up() -> None:
    once = run("id", "crane", "--position", "slew_joint=0.1,telescope_joint=0.2", "--json")
    twice = run(
        "id", "crane", "--position", "slew_joint=0.1", "--position", "telescope_joint=0.2", "--json"
    )
    assert once.exit_code == 0 and once.stdout == twice.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("edit", "ur5", "--scale", "1e308", "-o", "x.urdf"), "the factor of length is 1e+308"),
        (("ik", "ur5", "tool0", "--xyz", "1e308", "0", "0"), "--xyz: 1e+308"),
        (("ik", "ur5", "tool0", "--xyz", "nan", "0", "0"), "--xyz: nan"),
        (("simulate", "ur5", "--duration", "1e308"), "--duration is 1e+308 s"),
    ],
)
def test_numbers_that_overflow_are_refused(
    arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 1 and words in result.stderr, result.output


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("simulate", "ur5", "--duration", "1", "--plot", "a.png"), "view"),
        (("simulate", "ur5", "--duration", "1", "--output", "a.mcap"), "bag"),
        (("id", "ur5", "--plot", "a.png"), "view"),
        (("inspect", "ur5", "--graph", "a.svg"), "view"),
        (("piezo", "piezo_robot", "--plot", "a.png"), "view"),
        (("piezo", "piezo_robot", "--pulses", "a.png"), "view"),
        (("mechanism", "four_bar", "--fit", "path.csv", "--plot", "a.png"), "view"),
        (("mechanism", "four_bar", "--id", "--gif", "a.gif"), "view"),
    ],
)
def test_extras_are_asked_for_before_a_robot_is_read(
    arguments: tuple[str, ...], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("the robot was read first")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mbdyn_ros.extras.find_spec", lambda name: None)
    monkeypatch.setattr("mbdyn_ros.cli.options.RobotOptions.read", read)
    result = run(*arguments)
    assert result.exit_code == 1 and f"mbdyn_ros[{extra}]" in result.stderr, result.output
