"""`mbdyn observe`: a recording in degrees with friction, noise and a push."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.model.read.installed import find_robot

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

FORCE = np.array([0.0, -30.0, 20.0])


def recorded(path: Path, begin: float, push: bool) -> str:
    """Six seconds at 250 Hz, pushed at the tool from 3 s to 3.6 s."""
    robot, random = mbdyn_ros.load(find_robot("ur5")), np.random.default_rng(0)
    time = 0.004 * np.arange(1500)
    rates = np.sqrt([1.0, 1.3, 1.7, 2.1, 2.3, 2.9])
    phase = (time[:, None] + begin) * rates
    q = np.array([0.2, -1.2, 1.4, -0.6, 1.1, 0.3]) + 0.5 * np.sin(phase)
    v = 0.5 * rates * np.cos(phase)
    effort = robot.inverse_dynamics(q, v, -0.5 * rates**2 * np.sin(phase))
    effort += 2 * np.tanh(v / 0.01) + v + 0.3 * random.normal(size=q.shape)
    if push:
        columns = robot.jacobian(q, "tool0")[:, :3]
        pushed = ((time >= 3) & (time < 3.6))[:, None]
        effort -= pushed * np.einsum("kij,i->kj", columns, FORCE)
    header = ["timestamp", *(f"q{k}" for k in range(6)), *(f"tau{k}" for k in range(6))]
    rows = np.column_stack([time, np.degrees(q), effort])
    np.savetxt(path, rows, fmt="%.6f", delimiter=",", header=",".join(header), comments="")
    return str(path)


def test_a_push_is_found(tmp_path: Path) -> None:
    """Its time, its force; what was concluded is said; the picture is drawn."""
    file, free = recorded(tmp_path / "a.csv", 9.0, True), recorded(tmp_path / "b.csv", 2.0, False)
    picture, table = str(tmp_path / "a.png"), str(tmp_path / "out.csv")
    for learn in ([], ["--learn", free]):
        arguments = ["observe", "ur5", file, *learn, "--link", "tool0"]
        result = CliRunner().invoke(main, [*arguments, "--json", "--plot", picture,
                                           "--output", table])  # fmt: skip
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert sum("degrees" in one for one in found["remarks"]) == 1
        assert any("differentiated" in one for one in found["remarks"])
        (contact,) = found["contacts"]
        assert 3.0 <= contact["time"] <= 3.05 and 3.6 <= contact["ended"] <= 3.8
        np.testing.assert_allclose(contact["force"], FORCE, atol=2.5)
        assert "wrist_3_link" in contact["links"]
        assert found["friction"]["elbow_joint"]["dry"] == pytest.approx(2.0, abs=0.2)
        assert Path(picture).stat().st_size > 10_000
    text = CliRunner().invoke(main, arguments).stdout
    assert "note: positions are taken for degrees" in text and "forces at tool0" in text
    nothing = CliRunner().invoke(main, ["observe", "ur5", free, "--learn", free])
    assert nothing.exit_code == 0 and "no contact" in nothing.stdout


def test_bad_input(tmp_path: Path) -> None:
    file = recorded(tmp_path / "a.csv", 9.0, False)
    for more, words in (
        (["--link", "hook"], "there is no link 'hook'"),
        (["--link", "base_link"], "fixed to the world"),
        (["--payload", "hook"], "there is no link 'hook'"),
        (["--plot", "a.txt"], "the name must end in"),
    ):
        result = CliRunner().invoke(main, ["observe", "ur5", file, *more])
        assert result.exit_code == 1 and words in result.stderr
