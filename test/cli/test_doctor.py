"""What is missing on a machine is said in words, and asked for in vain by its name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros import extras
from mbdyn_ros.__main__ import main
from mbdyn_ros.cli.doctor import doctor
from mbdyn_ros.compiler.gcc import toolchain, toolchain_cpp
from mbdyn_ros.errors import SimulationError


def findings() -> dict[str, dict[str, object]]:
    rows = json.loads(CliRunner().invoke(doctor, ["--json"]).stdout)
    return {row["what"]: row for row in rows}


def test_this_machine() -> None:
    found = findings()
    assert found["C compiler"]["serves"] and "cc" in str(found["C compiler"]["found"])
    assert str(found["pictures (--plot, --graph, --gif)"]["found"]).startswith("matplotlib 3")
    assert found["ROS 2"]["serves"] and found["services of the nodes"]["serves"]
    assert found["C++ compiler"]["serves"]
    assert "C compiler" in CliRunner().invoke(doctor).stdout


@pytest.mark.parametrize("command", ["no-such-compiler", "false"])
def test_without_a_compiler(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", command)
    toolchain.cache_clear()
    try:
        compiler = findings()["C compiler"]
    finally:
        toolchain.cache_clear()
    assert not compiler["serves"] and "build-essential" in str(compiler["cure"])


def test_without_a_cpp_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are compiled all the same; what steps among walls says what to install."""
    monkeypatch.setenv("CXX", "no-such-compiler")
    toolchain_cpp.cache_clear()
    try:
        compiler = findings()["C++ compiler"]
        robot = mbdyn_ros.example("four_bar")
        assert robot.inverse_dynamics([0.5], [0.0], [0.0]).shape == (1,)
        with pytest.raises(SimulationError, match=r"C\+\+ compiler.*install both"):
            mbdyn_ros.Stepper(robot, 1e-3)
    finally:
        toolchain_cpp.cache_clear()
    assert not compiler["serves"] and "build-essential" in str(compiler["cure"])


def test_extras_are_those_of_the_package() -> None:
    """What `pip install` brings, here and on the page, setup.py has."""
    root = Path(__file__).resolve().parents[2]
    setup = (root / "setup.py").read_text().split("extras_require=")[1].split("entry_points")[0]
    there = set(re.findall(r'^        "(\w+)": ', setup, re.MULTILINE))
    page = (root / "docs" / "install.md").read_text()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page, re.MULTILINE)
    reported = {name for row in rows for name in re.findall(r"\w+", row)}
    asked = {one.extra for one in extras.EXTRAS.values()}
    assert asked < there and reported == there


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    cure = "pip install 'mbdyn_ros[view]'"
    assert findings()["pictures (--plot, --graph, --gif)"]["cure"] == cure
    with pytest.raises(mbdyn_ros.MissingPackageError, match=r"matplotlib.*mbdyn_ros\[view\]"):
        extras.require("plot")
    command = ["simulate", "four_bar", "--duration", "0.01", "--plot", f"{tmp_path}/x.png"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1 and cure in result.stderr and "Traceback" not in result.stderr
