"""`mbdyn edit`: what is written is what was asked for, and what is wrong is said in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import mbdyn_ros
from mbdyn_ros.__main__ import main

pytestmark = pytest.mark.usefixtures("interpreted_module")
OWN = Path(__file__).resolve().parents[2] / "urdf"
MANIPULATOR = OWN / "manipulator.urdf"


def edit(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["edit", *map(str, arguments)])


def test_a_robot_is_edited_and_written(tmp_path: Path) -> None:
    out = tmp_path / "small.urdf"
    ran = edit(
        MANIPULATOR, "-o", out, "--lock", "slew_joint=0.3,telescope_joint", "--scale", 0.5,
        "--joint", "lift_rod_joint:damping=3", "--rename-joint", "boom_joint=b", "--name", "small",
        "--attach", OWN / "tree_robot.urdf", "--at", "base", "--prefix", "t_", "--json",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    reported = json.loads(ran.stdout)
    robot = mbdyn_ros.load(out)
    assert reported["joints"] == list(robot.joint_names) and robot.model.name == "small"
    assert robot.model.joint("slew_joint").type == "fixed" and "b" in robot.joint_names
    assert robot.model.joint("lift_rod_joint").damping == pytest.approx(3 * 0.5**3 / 0.5**0.5)
    assert any(name.startswith("t_") for name in robot.links)


def test_a_robot_is_converted(tmp_path: Path) -> None:
    ran = edit(OWN / "piezo_robot.yaml", "-o", tmp_path / "piezo.urdf")
    assert ran.exit_code == 0 and "wrote" in ran.stdout
    ran = edit(MANIPULATOR, "-o", tmp_path / "m.xml")
    assert "<connect" in (tmp_path / "m.xml").read_text()
    assert "not written: velocity limits" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        (["--lock", "slew_joint=x"], 1, "'x' is not a number"),
        (["--lock", "slew_join"], 1, "no movable joint"),
        (["--lock", "slew_joint,slew_joint"], 1, "given twice"),
        (["--remove", "boom"], 1, "'lift_pin' connects the link 'boom'"),
        (["--joint", "slew_joint"], 1, "is not JOINT:KEY=VALUE"),
        (["--joint", "slew_joint:damp=1"], 1, "has no 'damp'"),
        (["--rename-link", "boom"], 1, "is not OLD=NEW"),
        (["--at", "boom"], 2, "goes with --attach"),
        (["--attach", "x.urdf"], 2, "--at LINK"),
        (["--mass", "2"], 2, "goes with --scale"),
        (["--scale", "-1"], 1, "above 0"),
        (["-o", "x.foo"], 1, "must end in one of"),
    ],
)
def test_wrong_edits_are_refused(
    arguments: list[str], status: int, problem: str, tmp_path: Path
) -> None:
    output = [] if "-o" in arguments else ["-o", tmp_path / "x.urdf"]
    ran = edit(MANIPULATOR, *output, *arguments)
    assert ran.exit_code == status and problem in ran.output and "Traceback" not in ran.output
    assert not (tmp_path / "x.urdf").exists()


def test_the_own_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(MANIPULATOR.read_text())
    assert "the robot's own file" in edit(path, "-o", path).output
