"""Wrong command lines: each is answered with the nearest right word and an example that runs.

`test_help_examples.py` runs the examples.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from mbdyn_ros.__main__ import main

pytestmark = pytest.mark.usefixtures("interpreted")

FILES = {
    "run.csv": "time,position/rod_joint\n" + "".join(f"{k / 100},{k / 1e4}\n" for k in range(9)),
    "turns.csv": "time,position/slew_joint\n0,0\n1,0.1\n",
    "floor.yaml": "surfaces: [{name: floor, type: plne}]",
}
"""Files of the reader's own, the last of them wrong."""

LINES = [
    # verbs and options
    ("inspct ur5", "Did you mean 'inspect'?", "mbdyn inspect panda"),
    ("idd ur5", "Did you mean 'id'?", "mbdyn id ur5 --position"),
    ("frobnicate", "No such command 'frobnicate'", "mbdyn inspect ur5"),
    ("id ur5 --positon elbow_joint=1", 'did you mean "--position"', "mbdyn id ur5 --position "),
    ("inspect ur5 --grph a.svg", 'did you mean "--graph"', "--graph excavator.svg"),
    ("convert crane x.csv --position 1", "No such option '--position'.", "mbdyn convert boom"),
    ("doctor --jsn", 'did you mean "--json"', "mbdyn doctor --json"),
    ("doctor ur5", "unexpected extra argument (ur5)", "mbdyn doctor"),
    ("ops", "Missing argument 'ROBOT'", "mbdyn ops ur5"),
    ("simulate ur5", "Missing option '--duration'", "mbdyn simulate ur5 --duration 5"),
    ("time boom", "Missing argument 'FILE'", "path.csv && mbdyn time boom path.csv"),
    ("ik ur5 tool0 --xyz 0.4 0.2", "'--xyz' requires 3 arguments", "mbdyn ik ur5 tool0 --xyz"),
    ("inspect ur5 --gravity 9.81", "'--gravity' requires 3 arguments", "--gravity 0 0 -1.62"),
    # options that only others use
    ("id ur5 --differentiate", "--differentiate goes with --trajectory", "mbdyn id ur5 "),
    ("view crane --size 9 9", "--size goes with --screenshot", "--size 600 400"),
    ("view crane --screenshot x.png --port 9", "--port: a --screenshot is", "--screenshot crane"),
    ("piezo piezo_robot --precision single", "--precision goes with --codegen", "--codegen "),
    ("piezo piezo_robot --equations --radius 1", "--radius: --equations moves", "--equations"),
    ("mechanism four_bar --friction nowhere=0.1,0.01", "--friction goes with --id", "--friction "),
    ("mechanism four_bar --id --friction crank=1,1", 'did you mean "crank_joint"', "--friction "),
    ("mechanism four_bar --id --motion cycloid --speed 3", "--motion constant", "--id"),
    ("mechanism four_bar --start 1", "--start goes with --id, --equations", "--id"),
    ("mechanism four_bar --fd --turn 3", "--motion, not with --fd", "mbdyn mechanism four_bar "),
    ("mechanism four_bar --sweep crank_mass=1:2:3 --page", "--sweep and --page are", "--sweep "),
    ("mechanism list --id", "--id: `mbdyn mechanism list` takes --json alone", "--id"),
    # words of which one is right
    ("codegen ur5 --precision half", "'double', 'single'", "--precision single"),
    ("completion bsh", '\'bsh\' (did you mean "bash"?) is not one of', "mbdyn completion fish"),
    ("simulate ur5 --duration 1 --method rk45", 'did you mean "RK45"', "mbdyn simulate ur5"),
    ("id ur5 --explain latx", 'did you mean "latex"', "--explain text"),
    ("view crane --show force", 'did you mean "forces"', "--show forces"),
    ("bench ur5 --program inverse_dynamic", 'mean "inverse_dynamics"', "mbdyn bench ur5 panda"),
    ("codegen piezo_robot --closed-form --symbols mases", 'did you mean "masses"', "masses,"),
    ("mechanism four_bar --goals torqe --pareto ground=0.2:0.3", '"rms_torque"', "--pareto coup"),
    # robots and mechanisms
    ("inspect ur55", 'did you mean "ur5"', "mbdyn inspect panda"),
    ("view crain", 'did you mean "crane"', "mbdyn view panda"),
    ("inspect UR5.urdf", "robot 'ur5' in the box", "mbdyn inspect panda"),
    ("edit ur5 --attach griper --at tool0 -o x.urdf", '"gripper"', "--attach gripper"),
    ("mechanism forbar --id", 'did you mean "four_bar"', "mbdyn mechanism four_bar --id"),
    ("piezo ur5", "'gripper'; the links are base_link", "mbdyn piezo piezo_robot"),
    # joints and links
    ("id ur5 --position elbow=1", 'did you mean "elbow_joint"', "mbdyn id ur5 --position "),
    ("id ur5 --velocity WRIST_1_JOINT=1", '"wrist_1_joint"', "mbdyn id ur5 --position "),
    ("id ur5 --home elbow=1", 'did you mean "elbow_joint"', "mbdyn id ur5 "),
    ("fd ur5 --effort elbw=10", 'did you mean "elbow_joint"', "mbdyn fd ur5 --effort "),
    ("edit ur5 --lock elbw_joint=1 -o x.urdf", 'did you mean "elbow_joint"', "--lock elbow"),
    ("edit ur5 --joint elbow:damping=1 -o x.urdf", '"elbow_joint"', "--joint elbow_joint:damp"),
    ("convert crane turns.csv --to slew", 'did you mean "slew_joint"', "mbdyn convert boom run"),
    ("time boom run.csv --velocity rod=1", 'did you mean "rod_joint"', "mbdyn time boom path.csv"),
    ("time boom run.csv --pump 1e-3:rod=5e-3/3e-3", '"rod_joint"', "--pump 1e-3:rod_joint="),
    ("id ur5 --wrench tool=0,0,1,0,0,0", 'did you mean "tool0"', "--wrench tool0="),
    ("ik ur5 tool1 --xyz 0.4 0.2 0.5", 'did you mean "tool0"', "mbdyn ik ur5 tool0 --xyz"),
    ("codegen ur5 -o c --variable tol0", 'did you mean "tool0"', "--variable tool0"),
    ("observe boom run.csv --link bom", 'did you mean "boom"', "run.csv && mbdyn observe boom"),
    ("view boom --variable barel_joint/x", 'did you mean "barrel_joint"', "--variable barrel_"),
    ("piezo piezo_robot --link griper", 'did you mean "gripper"', "mbdyn piezo piezo_robot"),
    # settings and parts of a mechanism
    ("mechanism four_bar --set grund=2", 'did you mean "ground"', "--set offset=0.05"),
    ("mechanism four_bar --set ground", "not of the form name=number", "--set offset=0.05"),
    ("mechanism four_bar --compare coupler_mas=1,2", '"coupler_mass"', "--compare coupler_mass="),
    ("mechanism four_bar --sweep crank_lngth=1:2:3", '"crank_length"', "--sweep coupler_length="),
    ("mechanism four_bar --pareto grund=0.2:0.3", '"ground"', "--pareto coupler_length="),
    ("mechanism four_bar --lengths 1,2", "give 4 numbers", "four_bar --lengths 0.32,0.1,"),
    ("mechanism four_bar --id --friction crnk=0.1,0.01", '"crank_joint"', "--friction 0.1,0.01"),
    ("mechanism four_bar --balance crnk", 'did you mean "crank"', "four_bar --balance"),
    ("mechanism four_bar --equations --cut cupler_joint", '"coupler_joint"', "--cut coupler_joint"),
    ("mechanism four_bar --motion trapez", 'did you mean "trapezoid"', "--motion cycloid"),
    ("mechanism four_bar --curve coupler", "coupler=0.15,0.1", "--curve coupler=0.15,0.1"),
    # units
    ("id ur5 --position elbow_joint=90deg", "write 1.5708 (rad)", "mbdyn id ur5 --position "),
    ("simulate ur5 --duration 500ms", "write 0.5 (s)", "mbdyn simulate ur5 --duration 5"),
    ("ik ur5 tool0 --xyz 400mm 0 0", "write 0.4 (m)", "mbdyn ik ur5 tool0 --xyz"),
    ("mechanism four_bar --set ground=300mm", "write 0.3 (m)", "--set offset=0.05"),
    ("piezo piezo_robot --rotor-speed 3000rpm", "write 314.159 (rad/s)", "mbdyn piezo piezo"),
    ("time boom run.csv --power rod_joint=5kW", "write 5000 (W)", "--power rod_joint=3000"),
    # recordings and other files
    ("id ur5 --trajectory rum.csv", 'did you mean "run.csv"', "run.csv && mbdyn id ur5 --traj"),
    ("convert crane plan.csv", "plan.csv: cannot be read", "run.csv && mbdyn convert boom"),
    ("calibrate boom rn.csv", 'did you mean "run.csv"', "poses.csv && mbdyn calibrate boom"),
    ("identify boom rn.csv", 'did you mean "run.csv"', "run.csv && mbdyn identify boom"),
    ("identify boom run.csv --columns c.yaml", "c.yaml: no such file", "mbdyn identify boom"),
    ("observe boom rn.csv", 'did you mean "run.csv"', "run.csv && mbdyn observe boom"),
    ("time boom rn.csv", 'did you mean "run.csv"', "path.csv && mbdyn time boom"),
    ("view panda --trajectory rn.csv", 'did you mean "run.csv"', "run.csv && mbdyn view panda"),
    ("mechanism four_bar --fit rn.csv", 'did you mean "run.csv"', "path.csv && mbdyn mechanism"),
    ("inspect ur5 --srdf ur5.srdf", "ur5.srdf: no such file", "mbdyn inspect panda"),
    ("excite boom --output m.txt", "must end in one of .csv", "mbdyn excite boom --output motion"),
    ("edit ur5 -o b.docx", "must end in one of .urdf", "mbdyn edit ur5 "),
    # surfaces
    ("simulate ur5 --duration 1 --environment floor.yml", '"floor.yaml"', "floor.yaml && mbdyn"),
    ("simulate boom --duration 1 --environment '{surfaces: [{name: f, type: plne}]}'",
     'did you mean "plane"', "floor.yaml && mbdyn simulate"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "nearest", "example"), LINES, ids=[one[0] for one in LINES])
def test_a_wrong_word_is_answered_with_the_nearest_and_an_example(
    line: str, nearest: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    result = CliRunner().invoke(main, shlex.split(line))
    assert result.exit_code in (1, 2) and isinstance(result.exception, SystemExit)
    before, found, shown = result.stderr.partition("For example: ")
    assert found and nearest in before, result.stderr
    assert example in shown, result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "mechanism four_bar --set ground=2",
        "calibrate boom run.csv",
    ],
)
def test_what_is_no_slip_of_typing_names_its_own_cure(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.csv").write_text(FILES["run.csv"])
    result = CliRunner().invoke(main, shlex.split(line))
    assert result.exit_code == 1 and not re.search("For example", result.stderr)
