"""A piezo robot's torques, pulses and closed forms as C99: what the microprocessor computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_tools import GCC, STRICT, URDF, built, command, needs_gcc
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.export.closed_form_program import closed_form_programs
from mbdyn_ros.piezo import PulseController, Rotor, generalized_torques, generate_c, pulse_windows

pytestmark = [pytest.mark.usefixtures("interpreted"), needs_gcc]

ROTOR = Rotor(0.002, 0.005, 1000.0)


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(URDF / "piezo_robot.yaml")


def test_torques_windows_and_controller(piezo: mbdyn_ros.Robot, tmp_path: Path) -> None:
    written = generate_c(piezo, tmp_path, ROTOR, "gripper")
    exported = built(tmp_path, "piezo_robot").load()
    random = np.random.default_rng(3)
    control = PulseController(piezo, ROTOR, "gripper")
    force, speed = [ROTOR.amplitude], [ROTOR.speed]
    for _ in range(5):
        q = random.uniform(-1, 1, 6)
        components = exported.rotor_torques(q)
        for angle in (0.0, 2.0):
            expected = generalized_torques(piezo, q, ROTOR, angle, "gripper")
            turned = ROTOR.amplitude * (components @ [np.cos(angle), np.sin(angle)])
            assert turned == pytest.approx(expected, abs=1e-13)
        wanted = random.normal(size=6) * 0.2
        windows = pulse_windows(piezo, q, ROTOR, wanted, "gripper")
        on, off, mean, saturated, *_ = exported.pulse_windows(q, force, wanted)
        assert on == pytest.approx(windows.on) and off == pytest.approx(windows.off)
        assert mean == pytest.approx(windows.mean_torque)
        assert (saturated != 0).tolist() == windows.saturated.tolist()
        control.q[:], control.wanted_q[:] = q, q + 1e-3 * random.normal(size=6)
        control.wanted_v[:] = 0.05 * random.normal(size=6)
        control.cycle()
        rows = exported.pulse_control(
            q, control.wanted_q, control.wanted_v, [control.gain], [control.tolerance], force, speed
        )
        assert rows[:4] == pytest.approx(
            np.array([control.on, control.off, control.mean_torque, control.saturated])
        )
    test = tmp_path / "run"
    command(GCC, *STRICT, tmp_path / "test_piezo_robot.c", tmp_path / "piezo_robot.c",
            "-O0", "-o", test, "-lm")  # fmt: skip
    assert command(test).count("ok ") == len(written.functions) == 8
    header = written.files[0].read_text()
    assert "rows on, off, mean_torque, saturated, amplitude, phase, displacement, able." in header


def test_closed_forms(piezo: mbdyn_ros.Robot, tmp_path: Path) -> None:
    more = closed_form_programs(piezo.system, piezo.model.source)
    piezo.generate_c(tmp_path, more=more)
    exported = built(tmp_path, "piezo_robot").load()
    q, v, a = np.random.default_rng(4).normal(size=(3, 6))
    expected = piezo.inverse_dynamics(q, v, a)
    assert exported.closed_form_inverse_dynamics(q, v, a) == pytest.approx(expected, rel=1e-11)
    assert exported.closed_form_mass_matrix(q) == pytest.approx(piezo.mass_matrix(q), abs=1e-15)


def test_on_the_command_line(tmp_path: Path) -> None:
    robot, folder = str(URDF / "piezo_robot.yaml"), tmp_path / "c"
    done = CliRunner().invoke(main, ["piezo", robot, "--codegen", str(folder)])
    assert done.exit_code == 0 and f"wrote {folder / 'piezo_robot.c'}" in done.output
    done = CliRunner().invoke(main, ["codegen", robot, "--closed-form", "-o", str(tmp_path / "d")])
    assert done.exit_code == 0, done.output
    assert "closed_form_mass_matrix" in (tmp_path / "d" / "piezo_robot.h").read_text()
    boom = str(URDF / "boom.urdf")
    done = CliRunner().invoke(main, ["codegen", boom, "--closed-form", "-o", str(tmp_path / "e")])
    assert done.exit_code == 1 and "form a closed loop" in done.output
    done = CliRunner().invoke(main, ["piezo", robot, "--codegen", "x", "--link", "gripepr"])
    assert done.exit_code == 1 and "gripper" in done.output
