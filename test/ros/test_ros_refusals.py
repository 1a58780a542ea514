"""Nodes that do not start: each says why in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("rclpy")

from ros_rig import ARM, GHOST, Forks

from mbdyn_ros import executables
from mbdyn_ros.errors import InputError
from mbdyn_ros.executables import NODES
from mbdyn_ros.ros.node import refusals as refusals_module
from mbdyn_ros.ros.node.health import Health
from mbdyn_ros.ros.node.refusals import ROBOTS, Refusals

REFUSED = (
    ("simulator", ["urdf:=/no/such.urdf"], "parameter urdf: /no/such.urdf: no such file"),
    ("simulator", ["urdf:=ARM", "mechanism:=loops"], "parameter mechanism: loops: no such"),
    ("simulator", ["rate:=-5.0"], "rate is -5.0: it must be from 1 to 10000"),
    ("simulator", ["rate:=500"], "decimal point"),
    ("simulator", ["urdf:=GHOST"], "'nothing'"),
    ("inverse_dynamics_server", ["urdf:=BROKEN"], "broken.urdf"),
    ("torque_feedforward", ["urdf:=ARM", "joints:=[knee]"], "no actuated joint 'knee'"),
    ("torque_feedforward", ["urdf:=ARM", "kp:=[1.0, 2.0]"], "kp has 2 numbers"),
)
"""Nodes, parameters that they refuse, and words of the line that says why."""

UNREADABLE = (("-p rate", "'-p rate'"), ("-q", "unknown after --ros-args: -q"))
"""Arguments that no node understands, and words of the line that says so."""

Refused = Callable[[str, Sequence[str]], tuple[int, str]]


@pytest.fixture
def refused(forks: Forks, tmp_path: Path) -> Refused:
    """Start a node with arguments that it refuses; gives its exit code and output."""
    files = {"ARM": ARM, "GHOST": GHOST, "BROKEN": "<robot>\n<link/>"}
    for name, text in files.items():
        (tmp_path / f"{name.lower()}.urdf").write_text(text)

    def start(node: str, arguments: Sequence[str]) -> tuple[int, str]:
        for name in files:
            path = str(tmp_path / f"{name.lower()}.urdf")
            arguments = [one.replace(name, path) for one in arguments]
        forks.start(node, *arguments)
        return forks.ended()

    return start


@pytest.mark.sparse
@pytest.mark.parametrize(("node", "settings", "message"), REFUSED)
def test_refused_with_one_line(
    refused: Refused, node: str, settings: list[str], message: str
) -> None:
    code, output = refused(node, [part for one in settings for part in ("-p", one)])
    lines = [line for line in output.splitlines() if not line.startswith(("[INFO]", "[WARN]"))]
    assert code == 1, output
    assert len(lines) == 1 and lines[0].startswith(f"{node}: ") and message in lines[0], output


@pytest.mark.sparse
@pytest.mark.parametrize(("arguments", "message"), UNREADABLE)
def test_unreadable_arguments_are_one_line_too(
    refused: Refused, arguments: str, message: str
) -> None:
    code, output = refused("simulator", arguments.split())
    assert code == 1 and "Traceback" not in output, output
    assert "simulator: " in output and message in output, output


@pytest.mark.parametrize("missing", ["rclpy", "nav_msgs"])
@pytest.mark.parametrize("node", sorted(NODES))
def test_without_ros_it_says_what_to_install(
    node: str, missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(module: str, package: str) -> None:
        raise ModuleNotFoundError(f"No module named '{missing}'", name=missing)

    monkeypatch.setattr(executables, "import_module", absent)
    monkeypatch.setattr(executables, "hear", lambda handler: None)
    with pytest.raises(SystemExit) as ended:
        executables.run(node)
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == 1 and line.startswith(f"{node}: ") and missing in line
    assert "source /opt/ros/<distro>/setup.bash" in line


def test_a_refusal_is_shown_for_a_while_and_names_the_robot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged: list[str] = []
    logger = SimpleNamespace(warning=logged.append)
    refusals = Refusals(cast(Any, SimpleNamespace(get_logger=lambda: logger)), "trajectory")
    monkeypatch.setitem(ROBOTS, "/a/long/path/crane.urdf", "crane")
    refusals.add(InputError("/a/long/path/crane.urdf: joint 'boom' is 9"))
    for _ in range(3):  # seconds
        health = Health()
        refusals.report(health)
        assert health.warnings == ["refused a trajectory: crane: joint 'boom' is 9"]
    monkeypatch.setattr(refusals_module, "SHOWN", 0.0)
    health = Health()
    refusals.report(health)
    assert not health.warnings and health.values == {"refused trajectories": 1}
