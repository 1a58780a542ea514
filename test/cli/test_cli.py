"""The command line: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import FOUR_BAR, PANDA, ROOT, UR5, document, run, succeed
from corpus import urdf_file
from robot_text import slide_text

import mbdyn_ros
from mbdyn_ros.__main__ import Verb, main
from mbdyn_ros.cli.printing import number_column
from mbdyn_ros.model.examples import PENDULUM
from mbdyn_ros.recording import read_table

SOLO = str(urdf_file("solo12.urdf"))
POSE = "[0, -1, 1, 0.2, 0.5, 0]"
VERBS = [
    "bench", "calibrate", "codegen", "completion", "convert", "doctor", "edit", "examples",
    "excite", "fd", "id", "identify", "ik", "inspect", "mechanism", "observe", "ops", "piezo",
    "simulate", "time", "view",
]  # fmt: skip
pytestmark = pytest.mark.usefixtures("interpreted_module")

GHOST = """<robot name="g"><link name="world"/><link name="ghost"/><joint name="hinge"
  type="continuous"><axis/><parent link="world"/><child link="ghost"/></joint></robot>"""


@pytest.fixture(scope="module")
def ur5() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(UR5)


def test_help_names_the_verbs_that_work_and_no_others() -> None:
    text = succeed("--help")
    listed = [line.split()[0] for line in text.partition("Commands:")[2].splitlines() if line]
    assert listed == VERBS
    for verb in VERBS:
        assert "Example" in succeed(verb, "--help")


def test_inspect() -> None:
    text = succeed("inspect", PANDA)
    assert "panda_joint7 (revolute)" in text and "mobility      8" in text
    assert "warning: " in text, "the file has words that URDF has not"
    assert run("inspect", PANDA).stderr == ""
    result = run("inspect", PANDA, "--json")
    report = json.loads(result.stdout)
    assert report["mobility"] == 8 and report["dependent"] == ["panda_finger_joint2"]
    assert "Warning: " in result.stderr
    moon = document("inspect", SOLO, "--floating-base", "--gravity", 0, 0, -1.62)
    assert moon["floating_base"] and moon["gravity"] == [0, 0, -1.62]


def test_inverse_dynamics_of_one_state(ur5: mbdyn_ros.Robot) -> None:
    q = np.array(json.loads(POSE))
    found = document("id", UR5, "--position", POSE)
    gravity = ur5.inverse_dynamics(q, np.zeros(6), np.zeros(6))
    np.testing.assert_array_equal(list(found["effort"].values()), gravity)
    assert list(found["effort"]) == list(ur5.velocity_labels)
    assert set(found["unit"].values()) == {"N m"}
    named = document(
        "id",
        UR5,
        "--position",
        "shoulder_lift_joint=-1,elbow_joint=1, wrist_1_joint=0.2,wrist_2_joint=.5",
        "--acceleration",
        '{"elbow_joint": 2}',
        "--wrench",
        "tool0=1,2,3,4,5,6",
    )
    expected = ur5.inverse_dynamics(
        q, np.zeros(6), np.array([0, 0, 2.0, 0, 0, 0]), wrenches={"tool0": [1, 2, 3, 4, 5, 6]}
    )
    np.testing.assert_array_equal(list(named["effort"].values()), expected)
    text = succeed("id", UR5, "--position", POSE)
    assert "elbow_joint" in text and "N m" in text and "\x1b" not in text


def test_friction_and_floating_base() -> None:
    with_it = document("id", PANDA, "--velocity", "panda_joint1=1")["effort"]
    without = document("id", PANDA, "--velocity", "panda_joint1=1", "--no-friction")["effort"]
    assert with_it["panda_joint1"] - without["panda_joint1"] == pytest.approx(0.003)
    base = document("id", SOLO, "--floating-base", "--position", "floating_base/z=0.3")
    assert base["effort"]["floating_base/vz"] == pytest.approx(2.5 * 9.81, rel=1e-3)
    assert base["unit"]["floating_base/vz"] == "N" and base["unit"]["floating_base/wx"] == "N m"
    text = succeed("id", SOLO, "--floating-base", "--position", "floating_base/z=0.3")
    assert "floating_base/z 0.3" in text and "floating_base/wz" in text


def test_forward_dynamics_undoes_inverse_dynamics() -> None:
    effort = document("id", UR5, "--position", POSE, "--acceleration", "elbow_joint=1.5")["effort"]
    back = document("fd", UR5, "--position", POSE, "--effort", json.dumps(effort))
    assert back["acceleration"]["elbow_joint"] == pytest.approx(1.5)
    assert back["acceleration"]["wrist_1_joint"] == pytest.approx(0, abs=1e-9)
    assert back["unit"]["elbow_joint"] == "rad/s^2"
    text = succeed("fd", UR5, "--position", POSE, "--effort", json.dumps(effort))
    wrist = next(line.split() for line in text.splitlines() if "wrist_1_joint" in line)
    assert wrist[-2:] == ["0", "rad/s^2"], "what rounding leaves is nothing"


def test_a_column_shows_no_rounding_noise() -> None:
    assert number_column([59.2, -1.7e-12, -0.0, 1e-11]) == ["59.2", "0", "0", "1e-11"]
    assert number_column([2e-12, 3e-11], noise=1e-11) == ["0", "3e-11"]
    assert number_column([1e-20]) == ["1e-20"] and number_column([]) == []
    efforts = [line.split()[-3] for line in succeed("id", UR5).splitlines() if "_joint" in line]
    assert efforts == ["0", "-59.1708", "-15.6838", "0", "0", "0"]


def test_dry_friction_at_rest_is_no_rounding_noise(tmp_path: Path) -> None:
    """Its sign jumps where a velocity of 0 is rounded; the weight stays in the table."""
    file = tmp_path / "dry.urdf"
    dry = PENDULUM.replace("</joint>", '<dynamics damping="1" friction="7"/></joint>')
    assert dry != PENDULUM
    file.write_text(dry)
    (row,) = (line.split() for line in succeed("id", file).splitlines() if " N m" in line)
    weight = document("id", file)["effort"][row[0]]
    assert abs(weight) > 1 and float(row[-3]) == pytest.approx(weight, rel=1e-5)


def test_closed_loops(tmp_path: Path) -> None:
    report = document("inspect", FOUR_BAR)
    assert report["closed_loops"] == 1 and report["loops"][0]["type"] in ("revolute", "continuous")
    assert "coupler" in succeed("inspect", FOUR_BAR)
    summary = document("simulate", FOUR_BAR, "--duration", 1, "--velocity", "crank_joint=3")
    assert summary["energy"]["drift"] < 1e-9
    assert list(summary["position"]) == ["crank_joint"]
    home = mbdyn_ros.load(FOUR_BAR).home["crank_joint"]
    assert document("id", FOUR_BAR)["position"] == {"crank_joint": home}
    out = tmp_path / "boom.csv"
    free = "--no-joint-limits"  # else its cylinder stops it
    result = run("simulate", ROOT / "urdf" / "boom.urdf", "--duration", 2, "--output", out, free)
    assert result.exit_code == 0 and out.exists()
    assert result.stderr.startswith("Warning: ") and "dead centre" in result.stderr
    assert result.stderr.count("\n") == 1


def test_graph(tmp_path: Path) -> None:
    for name in ("g.svg", "g.png"):
        said = succeed("inspect", FOUR_BAR, "--graph", tmp_path / name)
        assert f"wrote {tmp_path / name}" in said
        assert (tmp_path / name).stat().st_size > 5000
    assert document("inspect", FOUR_BAR, "--graph", tmp_path / "g.svg")["redundant"] == 3
    result = run("inspect", FOUR_BAR, "--graph", tmp_path / "g.pdf")
    assert result.exit_code == 1 and "g.pdf" in result.stderr and ".svg" in result.stderr


def test_urdf_from_standard_input() -> None:
    assert document("inspect", "-", text=Path(UR5).read_text())["mobility"] == 6


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A simulated fall in a file of every kind."""
    folder = tmp_path_factory.mktemp("run")
    common = ("simulate", UR5, "--duration", 0.5, "--position", POSE, "--rate", 50)
    summary = document(*common, "--output", folder / "run.csv", "--plot", folder / "run.png")
    succeed(*common, "--output", folder / "run.json")
    succeed(*common, "--output", folder / "run.mcap")
    return folder, summary


def test_simulate(recorded: tuple[Path, dict[str, Any]], ur5: mbdyn_ros.Robot) -> None:
    folder, summary = recorded
    times = np.arange(26) / 50
    expected = mbdyn_ros.simulate(ur5, json.loads(POSE), np.zeros(6), 0.5, times=times)
    for name in ("run.csv", "run.json"):
        table = read_table(folder / name)
        np.testing.assert_array_equal(table["time"][""], times)
        np.testing.assert_array_equal(table["position"]["elbow_joint"], expected.q[:, 2])
        np.testing.assert_array_equal(table["energy"]["kinetic"], expected.energy[:, 0])
    assert summary["samples"] == 26 and summary["position"]["elbow_joint"] == expected.q[-1, 2]
    assert summary["energy"]["drift"] < 1e-9
    assert summary["files"] == [str(folder / "run.csv"), str(folder / "run.png")]
    assert (folder / "run.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "run.mcap").read_bytes().startswith(b"\x89MCAP0")
    text = succeed("simulate", UR5, "--duration", 0.1)
    assert "drift" in text and "elbow_joint" in text


def test_a_plot_alone_is_smooth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an output too, it shows what that holds: the steps."""
    drawn: list[int] = []
    monkeypatch.setattr(
        "mbdyn_ros.view.plots.save_plot", lambda model, motion, path: drawn.append(len(motion))
    )
    fall = ("simulate", "-", "--duration", 0.5, "--plot", tmp_path / "fall.png")
    succeed(*fall, text=PENDULUM)
    succeed(*fall, "--output", tmp_path / "fall.csv", text=PENDULUM)
    assert drawn[0] == 2001 and drawn[1] == len(read_table(tmp_path / "fall.csv")["time"][""]) < 200


def test_trajectory_file_gives_many_efforts(recorded: tuple[Path, dict], tmp_path: Path) -> None:
    """What fell freely needs no effort."""
    folder, _ = recorded
    for name in ("run.csv", "run.json"):
        out = tmp_path / f"effort-{name}"
        assert "26 states" in succeed("id", UR5, "--trajectory", folder / name, "--output", out)
        table = read_table(out)
        for numbers in table["effort"].values():
            np.testing.assert_allclose(numbers, 0, atol=1e-9)
        assert table["time"][""][-1] == 0.5
    lines = succeed("id", UR5, "--trajectory", folder / "run.csv").splitlines()
    assert len(lines) == 27 and lines[0].startswith("time,position/shoulder_pan_joint,")
    many = document("fd", UR5, "--trajectory", folder / "run.csv")
    given = read_table(folder / "run.csv")["acceleration"]["elbow_joint"]
    np.testing.assert_allclose(many["acceleration"]["elbow_joint"], given, rtol=1e-9, atol=1e-9)


def test_plain_columns_and_missing_ones(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("time,elbow_joint\n0,0.5\n1,0.7\n")
    many = document("id", UR5, "--position", tmp_path / "q.csv")
    assert many["position"]["elbow_joint"] == [0.5, 0.7] and many["time"] == [0.0, 1.0]
    (tmp_path / "p.csv").write_text("position/elbow_joint\n0.5\n0.7\n")
    result = run("id", UR5, "--trajectory", tmp_path / "p.csv")
    assert result.exit_code == 0 and "no columns velocity/<joint>" in result.stderr


def test_effort_over_time(tmp_path: Path, ur5: mbdyn_ros.Robot) -> None:
    (tmp_path / "torque.csv").write_text("time,effort/shoulder_pan_joint\n0.1,0\n0.2,10\n0.3,0\n")
    out = tmp_path / "run.csv"
    succeed("simulate", UR5, "--duration", 0.4, "--effort", tmp_path / "torque.csv",
            "--gravity", 0, 0, 0, "--output", out, "--rate", 20)  # fmt: skip
    effort = read_table(out)["effort"]["shoulder_pan_joint"]
    np.testing.assert_allclose(effort, [0, 0, 0, 5, 10, 5, 0, 0, 0], atol=1e-12)
    work = read_table(out)["work"]["effort"]
    assert work[-1] > 0


BOUNCE = slide_text(1.0, -1.0, 9.0, body="ball", name="lift")
FLOOR = """surfaces: [{name: floor, type: plane, restitution: 0.5}]
points: [{link: %s}]"""


def test_simulate_among_walls(tmp_path: Path) -> None:
    """From 1 m: the first impact takes 3/4 of the energy, and so on."""
    walls, table, plot = (tmp_path / name for name in ("floor.yaml", "run.json", "run.png"))
    walls.write_text(FLOOR % "ball")
    command = ["simulate", "-", "--duration", 1, "--position", "lift=1", "--environment", walls]
    result = run(*command, "--output", table, "--plot", plot, "--json", text=BOUNCE)
    summary = json.loads(result.stdout)
    first, second = summary["impacts"]
    time = (2 / 9.81) ** 0.5
    assert (first["time"], second["time"]) == pytest.approx((time, 2 * time), rel=1e-9)
    (contact,) = first["contacts"]
    assert (contact["link"], contact["surface"]) == ("ball", "floor")
    assert contact["impulse"] == pytest.approx(1.5 * 9.81 * time, rel=1e-9)
    assert contact["normal"] == [0, 0, 1]
    assert first["energy_before"] - first["energy_after"] == pytest.approx(0.75 * 9.81)
    assert summary["energy"]["lost_in_impacts"] == pytest.approx(15 / 16 * 9.81)
    assert json.loads(table.read_text())["impacts"] == summary["impacts"]
    assert len(read_table(table)["time"][""]) == summary["samples"]
    assert plot.stat().st_size > 10_000
    text = run(*command, text=BOUNCE).stdout
    assert "2 impacts" in text and "ball (0, 0, 0)" in text


def test_bad_walls(tmp_path: Path) -> None:
    walls, table = tmp_path / "floor.yaml", tmp_path / "run.json"
    command = ["simulate", "-", "--duration", 1, "--environment", walls, "--output", table]
    for content, start, words in (
        (FLOOR % "claw", 1, [str(walls), "'claw'"]),
        ((FLOOR % "ball").replace("0.5", "1.5"), 1, [str(walls), "'floor'", "1.5"]),
        (FLOOR % "ball", -0.5, ["starts inside the wall", "'floor'", "(0, 0, -0.5)"]),
    ):
        walls.write_text(content)
        result = run(*command, "--position", f"lift={start}", text=BOUNCE)
        assert result.exit_code == 1 and all(word in result.stderr for word in words), result.stderr
    assert "no such file" in run(*command[:-3], tmp_path / "none.yaml", text=BOUNCE).stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["id", "missing.urdf"], ["missing.urdf"]),
        (["id", UR5, "--position", "elbow=1"], ["'elbow'", 'did you mean "elbow_joint"']),
        (["id", UR5, "--position", "elbow_joint=1,elbow_joint=2"], ["'elbow_joint'", "twice"]),
        (["id", UR5, "--position", "elbow_joint=x"], ["'elbow_joint=x'"]),
        (["id", UR5, "--position", "elbow_joint=nan"], ["elbow_joint is nan"]),
        (["id", UR5, "--velocity", "elbow_joint=1e999"], ["velocity of elbow_joint is inf"]),
        (["id", UR5, "--position", "[1, 2]"], ["2 numbers", "robot has 6", "wrist_3_joint"]),
        (["id", UR5, "--position", "[1, 2"], ["JSON"]),
        (["id", UR5, "--position", '["a",0,0,0,0,0]'], ["shoulder_pan_joint is 'a'"]),
        (["id", UR5, "--position", "nothing"], ["'nothing'", "neither a file"]),
        (["id", UR5, "--position", "x" * 5000], ["neither a file"]),
        (["id", UR5, "--wrench", "tool0=1,2"], ["tool0=1,2", "six"]),
        (["id", UR5, "--wrench", "claw=1,2,3,4,5,6"], ["'claw'"]),
        (["id", UR5, "--output", "x.mcap"], ["x.mcap", ".csv"]),
        (["id", UR5, "--trajectory", "none.csv"], ["none.csv", "cannot be read"]),
        (["id", PANDA, "--position", "panda_finger_joint2=0"], ["finger_joint2", "follows from"]),
        (["id", SOLO, "--floating-base", "--position", "floating_base/qx=1"], ["unit quaternion"]),
        (["fd", UR5, "--effort", "elbow_joint=-inf"], ["effort of elbow_joint is -inf"]),
        (["fd", "-"], ["ghost"]),
        (["simulate", "-", "--duration", 1], ["ghost"]),
        (["simulate", UR5, "--duration", -1], ["duration", "-1"]),
        (["simulate", UR5, "--duration", 1, "--rate", 0], ["--rate 0"]),
        (["simulate", UR5, "--duration", 1, "--rate", 1e12], ["too many"]),
        (["simulate", UR5, "--duration", 1, "--rtol", 0], ["rtol"]),
        (["simulate", UR5, "--duration", 1, "--output", "a.txt"], ["a.txt", ".mcap"]),
        (["simulate", UR5, "--duration", 1, "--output", "no/where.csv"], ["does not exist"]),
        (["simulate", UR5, "--duration", 1, "--plot", "a.gif"], ["a.gif", ".png"]),
        (["simulate", UR5, "--duration", 1, "--position", "[[0,0,0,0,0,0],[0,0,0,0,0,0]]"],
         ["2 states", "one starts"]),
        (["bench", UR5, "--program", "fly"], ["'fly'", "inverse_dynamics"]),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(arguments: list[object], words: list[str]) -> None:
    result = run(*arguments, text=GHOST)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    lines = [one for one in result.stderr.splitlines() if not one.startswith("Warning: ")]
    assert len(lines) == 1 and lines[0].startswith("Error: "), result.stderr
    assert all(word in lines[0] for word in words), lines[0]


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["id"], ["id", UR5, "--position"], ["simulate", UR5], ["inspect", UR5, "--fast"]],
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_bad_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("position/elbow_joint\n0\nnan\n")
    result = run("id", UR5, "--position", path)
    assert "elbow_joint is nan in row 2" in result.stderr and result.exit_code == 1
    path.write_text("position/elbow_joint,position/jaw\n0,0\n")
    assert "'jaw'" in run("id", UR5, "--position", path).stderr
    path.write_text("time,effort/elbow_joint\n1,0\n0,0\n")
    result = run("simulate", UR5, "--duration", 1, "--effort", path)
    assert "time must be finite and increase" in result.stderr
    path.write_text("position/elbow_joint\n0\n1\n")
    three = "[[0,0,0,0,0,0],[0,0,0,0,0,0],[0,0,0,0,0,0]]"
    result = run("id", UR5, "--position", path, "--velocity", three)
    assert "position 2, velocity 3" in result.stderr


def test_a_simulation_that_stops_keeps_its_motion(tmp_path: Path) -> None:
    """An effort that overflows in the end."""
    path = tmp_path / "effort.csv"
    path.write_text("time,effort/elbow_joint\n0,0\n0.2,0\n0.4,1e306\n")
    out = tmp_path / "run.csv"
    result = run("simulate", UR5, "--duration", 1, "--effort", path, "--output", out)
    assert result.exit_code == 1 and "t = 0." in result.stderr and str(out) in result.stderr
    assert 0 < read_table(out)["time"][""][-1] < 0.4


def test_as_a_process() -> None:
    """`python -m mbdyn_ros`, in a pipe: JSON alone on stdout, no colour, no traceback."""
    command = [sys.executable, "-m", "mbdyn_ros"]
    done = subprocess.run([*command, "id", PANDA, "--json"], capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["robot"] == "panda"
    assert done.stderr.startswith("Warning: ") and "\x1b" not in done.stdout + done.stderr
    done = subprocess.run([*command, "id", "nowhere.urdf"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", VERBS)
def test_verbs_are_listed_in_their_own_words(name: str) -> None:
    """The list is printed without importing them."""
    listed = main.commands[name]
    assert isinstance(listed, Verb)
    verb = listed.load()
    assert listed.name == verb.name
    assert listed.get_short_help_str(300) == verb.get_short_help_str(300)


def test_the_list_of_verbs_imports_none() -> None:
    code = (
        "import sys; from mbdyn_ros.__main__ import main; "
        "main(['--help'], standalone_mode=False); "
        "verbs = {n for n in sys.modules if n.startswith('mbdyn_ros.') and '.cli' in n}; "
        "verbs -= {'mbdyn_ros.cli', 'mbdyn_ros.cli.interrupts', 'mbdyn_ros.cli.streams'}; "
        "sys.exit(sorted(verbs) or 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert all(name in ran.stdout for name in VERBS)
