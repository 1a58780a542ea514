"""The printed formulas of torques, pulses and controller: run as they stand."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.piezo import PulseController, Rotor, generalized_torques, pulse_windows
from mbdyn_ros.piezo.torque_text import (
    torque_formulas,
    torques_in_latex,
    torques_in_markdown,
    torques_in_text,
)

pytestmark = pytest.mark.usefixtures("interpreted")

URDF = Path(__file__).resolve().parents[2] / "urdf"
ROTOR = Rotor(0.002, 0.005, 1000.0)


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(URDF / "piezo_robot.yaml")


@pytest.fixture(scope="module")
def text(piezo: mbdyn_ros.Robot) -> str:
    return torques_in_text(torque_formulas(piezo, ROTOR, "gripper"))


def read(text: str, q: np.ndarray) -> dict[str, Any]:
    """All that the text defines at q."""
    known: dict[str, Any] = {name: getattr(math, name) for name in dir(math)}
    for k, x in enumerate(q, start=1):
        known |= {f"C{k}": math.cos(x), f"S{k}": math.sin(x), f"q{k}": x}
    exec(text, known)
    return known


def test_the_text_is_the_controller(piezo: mbdyn_ros.Robot, text: str) -> None:
    random = np.random.default_rng(7)
    control = PulseController(piezo, ROTOR, "gripper")
    moved = 0
    for _ in range(10):
        q = random.uniform(-1.2, 1.2, 6)
        known = read(text, q)
        F = known["F"](ROTOR.mass, ROTOR.radius, ROTOR.speed)
        X, Y, H, g = ([known[f"{name}{k}"] for k in one] for name, one in (
            ("X", range(1, 7)), ("Y", range(1, 7)), ("H", range(11, 67, 11)), ("g", range(1, 7))
        ))  # fmt: skip
        torque = generalized_torques(piezo, q, ROTOR, 0.7, "gripper")
        wanted = 0.1 * random.normal(size=6)
        windows = pulse_windows(piezo, q, ROTOR, wanted, "gripper")
        control.q[:], control.wanted_q[:] = q, q + 2e-3 * random.normal(size=6)
        control.wanted_v[:] = 0.05 * random.normal(size=6)
        control.cycle()
        for k in range(6):
            assert known["Q"](F, X[k], Y[k], 0.7) == pytest.approx(torque[k], abs=1e-14)
            R, psi = known["R"](F, X[k], Y[k]), known["psi"](X[k], Y[k])
            d = known["half"](wanted[k], R)
            if R:
                assert known["on"](psi, wanted[k], d) == pytest.approx(windows.on[k])
                assert known["off"](psi, wanted[k], d) == pytest.approx(windows.off[k])
            s = known["displacement"](
                q[k], control.wanted_q[k], control.wanted_v[k], 50.0, ROTOR.speed
            )
            load = known["load"](g[k], s)
            assert known["able"](R, load) == bool(control.able[k])
            if known["able"](R, load):
                d = known["inverse"](s, R, load, H[k], ROTOR.speed)
                T = known["T"](R, d, s)
                assert pytest.approx(control.mean_torque[k], abs=1e-12) == T
                width = known["half"](T, R)
                assert known["on"](psi, T, width) == pytest.approx(control.on[k], abs=1e-7)
                moved += 1
    assert moved > 30


def test_trees_with_slides() -> None:
    """Two branches of a chain of a hinge and a slide; the rotor in one of them."""
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0 0.02"/><mass value="0.4"/><inertia '
        'ixx="0.001" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in "abc"
    )
    robot = mbdyn_ros.load(
        f'<robot name="tree"><link name="w"/>{links}'
        '<joint name="turn" type="continuous"><parent link="w"/><child link="a"/></joint>'
        '<joint name="push" type="prismatic"><origin xyz="0.2 0 0" rpy="0.3 1 0"/>'
        '<parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
        '</joint><joint name="wag" type="continuous"><origin xyz="0 0.1 0.1"/><axis xyz="0 1 0"/>'
        '<parent link="a"/><child link="c"/></joint></robot>'
    )
    text = torques_in_text(torque_formulas(robot, ROTOR, "b"))
    q = np.array([0.4, -0.2, 1.1])
    known = read(text, q)
    torque = generalized_torques(robot, q, ROTOR, 2.0, "b")
    for k in range(3):
        name = f"{k + 1}"
        ours = known["Q"](ROTOR.amplitude, known["X" + name], known["Y" + name], 2.0)
        assert ours == pytest.approx(torque[k], abs=1e-13)
        assert known[f"H{name}{name}"] == pytest.approx(robot.mass_matrix(q)[k, k])
    assert known["X3"] == known["Y3"] == 0  # the other branch


@pytest.mark.skipif(which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_runs(piezo: mbdyn_ros.Robot, tmp_path: Path) -> None:
    file = tmp_path / "formulas.tex"
    file.write_text(torques_in_latex(torque_formulas(piezo, ROTOR, "gripper"), 3))
    call = ["pdflatex", "-halt-on-error", "-interaction=batchmode", file.name]
    assert subprocess.run(call, cwd=tmp_path, capture_output=True).returncode == 0


def test_paper_and_markdown(piezo: mbdyn_ros.Robot) -> None:
    form = torque_formulas(piezo, ROTOR, "gripper")
    paper, page = torques_in_latex(form, 3), torques_in_markdown(form, 3)
    assert paper.count(r"\begin{align*}") == paper.count(r"\end{align*}") == 5 + 5 + 6 + 4
    assert r"Q_i = F (X_i \cos \omega t" in paper and r"Q_i = F (X_i \cos \omega t" in page
    assert "Zero: $X_{6}$." in page and "## g, N m" in page


def test_on_the_command_line(tmp_path: Path, text: str) -> None:
    robot, file = str(URDF / "piezo_robot.yaml"), tmp_path / "formulas.md"
    done = CliRunner().invoke(main, ["piezo", robot, "--equations"])
    assert done.exit_code == 0 and done.output == text
    done = CliRunner().invoke(
        main, ["piezo", robot, "--equations", "--digits", "3", "-o", str(file)]
    )
    assert done.exit_code == 0 and "$$F = m r \\omega^2$$" in file.read_text()
    done = CliRunner().invoke(main, ["piezo", robot, "--digits", "3"])
    assert done.exit_code == 2 and "--digits goes with --equations" in done.output
    loop = ["piezo", str(URDF / "four_bar.urdf"), "--link", "coupler", "--equations"]
    done = CliRunner().invoke(main, loop)
    assert done.exit_code == 1 and "form a closed loop" in done.output
