"""Units of FMI 3.0, judged by FMPy: valid, without warnings, and equal to `simulate`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from c_tools import GCC, command, needs_gcc
from fmpy.validation import validate_fmu
from scipy.integrate import solve_ivp

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.examples import CART

pytestmark = [needs_gcc, pytest.mark.usefixtures("interpreted")]
SPAN = 1.0
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror"]
STARTS = {"ur5": [0.1, -1, 1.2, 0.3, 0.2, 0.5], "manipulator": [0.1, 0.05, -0.03, 0.1]}
BOUNDS = {"CoSimulation": 2e-9, "ModelExchange": 1e-6}
"""Of the difference at a tolerance of 1e-10; CVode's is that of a step."""


def moved(unit: Path, robot: mbdyn_ros.Robot, start: Array, effort: Array, kind: str) -> Array:
    """Positions and velocities at the end of the span."""
    given = dict(zip((f"position/{one}" for one in robot.position_labels), start, strict=True))
    given |= zip((f"effort/{one}" for one in robot.effort_labels), effort, strict=True)
    quantities = ("position", "velocity")
    outputs = [f"{what}/{one}" for what in quantities for one in robot.velocity_labels]
    found = fmpy.simulate_fmu(
        str(unit), stop_time=SPAN, output_interval=SPAN / 3, fmi_type=kind, start_values=given,
        output=outputs, relative_tolerance=1e-10,
    )  # fmt: skip
    return np.array(list(found[-1])[1:])


@pytest.mark.sparse(first=1)
@pytest.mark.parametrize("name", STARTS)
def test_unit_moves_as_the_robot(name: str, tmp_path: Path) -> None:
    robot, start = mbdyn_ros.example(name), np.array(STARTS[name])
    (unit,) = robot.generate_fmu(tmp_path / f"{name}.fmu").files
    assert validate_fmu(str(unit)) == []
    with zipfile.ZipFile(unit) as archive:
        archive.extractall(tmp_path / "unit")
    sources = sorted((tmp_path / "unit" / "sources").glob("*.c"))
    command(GCC, "-std=c99", *WARNINGS, "-fsyntax-only", *sources)
    effort, nv = 1.05 * robot.gravity_vector(start), robot.nv

    def rate(t: float, x: Array) -> Array:
        return np.concatenate([x[nv:], robot.forward_dynamics(x[:nv], x[nv:], effort)])

    first = np.concatenate([start, np.zeros(nv)])
    expected = solve_ivp(rate, (0, SPAN), first, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    for kind, bound in BOUNDS.items():
        assert np.abs(moved(unit, robot, start, effort, kind) - expected).max() < bound


@pytest.mark.long
@pytest.mark.parametrize("name", STARTS)
def test_unit_moves_as_simulate(name: str, tmp_path: Path) -> None:
    robot, start = mbdyn_ros.example(name), np.array(STARTS[name])
    (unit,) = robot.generate_fmu(tmp_path / f"{name}.fmu").files
    effort = 1.05 * robot.gravity_vector(start)
    run = mbdyn_ros.simulate(
        robot, start, np.zeros(robot.nv), SPAN, effort, rtol=1e-11, atol=1e-13, joint_limits=False
    )
    expected = np.concatenate([run.q[-1], run.v[-1]])
    for kind, bound in BOUNDS.items():
        assert np.abs(moved(unit, robot, start, effort, kind) - expected).max() < bound


@pytest.mark.long
def test_numerically_closed_loops(tmp_path: Path) -> None:
    robot = mbdyn_ros.example("delta")
    unit = str(robot.generate_fmu(tmp_path / "delta.fmu").files[0])
    names = [f"velocity/{one}" for one in robot.velocity_labels]
    found = fmpy.simulate_fmu(unit, stop_time=0.05, output=names, relative_tolerance=1e-10)
    run = mbdyn_ros.simulate(robot, robot.home_position, np.zeros(robot.nv), 0.05,
                             joint_limits=False)  # fmt: skip
    np.testing.assert_allclose(list(found[-1])[1:], run.v[-1], atol=1e-7)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="floating base"):
        mbdyn_ros.load(CART, floating_base=True).generate_fmu(tmp_path / "cart.fmu")
    with pytest.raises(InputError, match=r"ends with \.fmu"):
        mbdyn_ros.load(CART).generate_fmu(tmp_path / "cart.zip")
