"""Closed forms whose masses, lengths and moments are symbols, judged by other robots' numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from c_tools import built, needs_gcc
from click.testing import CliRunner
from printed_forms import PIEZO, evaluate

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.export.closed_form import NUMBER_KINDS
from mbdyn_ros.export.closed_form_text import to_latex, to_markdown, to_sympy, to_text

pytestmark = pytest.mark.usefixtures("interpreted")


def arm(seed: int) -> mbdyn_ros.Robot:
    """An arm of two hinges and a slide; all of them have zeros in the same places."""
    random = np.random.default_rng(seed)
    rows = []
    for name, kind, alpha in (
        ("one", "revolute", math.pi / 2), ("two", "revolute", 0), ("three", "prismatic", 0)
    ):  # fmt: skip
        a, d, mass, x, z, xx, yy = random.uniform(0.2, 0.4, 7)
        rows.append(
            f"{{name: {name}, type: {kind}, a: {a}, alpha: {alpha}, d: {d}, theta: 0, "
            f"mass: {mass}, centre: [{-x}, 0.0, {z}], inertia: {{ixx: {xx}, iyy: {yy}, "
            f"izz: {(xx + yy) / 2}, ixz: {0.1 * xx}}}}}"
        )
    return mbdyn_ros.load("{name: arm, joints: [" + ", ".join(rows) + "]}")


def test_symbols_are_numbers_of_any_robot_alike() -> None:
    """The formulas of one robot with the numbers of another are those of the other."""
    one, other = arm(1), arm(2)
    text = to_text(one.closed_form(NUMBER_KINDS))
    numbers = other.closed_form(NUMBER_KINDS).numbers
    assert [x.letter for x in numbers] == [x.letter for x in one.closed_form(NUMBER_KINDS).numbers]
    assert len(numbers) >= 3 * (1 + 4) + 4
    values = "\n".join(f"{x.letter}_{x.index} = {x.value!r}" for x in numbers)
    for q, v in np.random.default_rng(3).uniform(-2, 2, (4, 2, 3)):
        H, C, g = evaluate(values + "\n" + text, 3, q)
        np.testing.assert_allclose(H, other.mass_matrix(q), atol=1e-13)
        np.testing.assert_allclose(g, other.gravity_vector(q), atol=1e-12)
        expected = other.coriolis_vector(q, v)
        np.testing.assert_allclose(np.einsum("ikl,k,l->i", C, v, v), expected, atol=1e-12)
    assert np.abs(one.mass_matrix(q) - H).max() > 0.01


def test_masses_stand_once_in_every_term() -> None:
    """H and g are linear in masses, whatever else is a number."""
    robot = mbdyn_ros.load(PIEZO)
    form = robot.closed_form(["masses"])
    assert [one.index for one in form.numbers] == [1, 3, 4, 6]
    assert form.numbers[0].meaning == "mass of base_sphere"
    assert form.zeros == robot.closed_form().zeros == 30
    for element in form.elements:
        for monomial in element.polynomial.coefficients:
            assert sum(monomial[6:]) in (0, 2)


@needs_gcc
def test_symbols_are_arguments_in_c(tmp_path: Path) -> None:
    from mbdyn_ros.export.closed_form_program import closed_form_programs

    one, other = arm(1), arm(2)
    kinds = ("masses", "lengths", "centres", "moments")
    one.generate_c(tmp_path, more=closed_form_programs(one.system, one.model.source, kinds))
    exported = built(tmp_path, "arm").load()
    values = [x.value for x in other.closed_form(kinds).numbers]
    q, v, a = np.random.default_rng(4).uniform(-1, 1, (3, 3))
    efforts = exported.closed_form_inverse_dynamics(q, v, a, values)
    np.testing.assert_allclose(efforts, other.inverse_dynamics(q, v, a), rtol=1e-12)
    mass = exported.closed_form_mass_matrix(q, values)
    np.testing.assert_allclose(mass, other.mass_matrix(q), atol=1e-13)


def test_names_on_paper() -> None:
    form = arm(1).closed_form(["masses", "moments", "lengths"])
    paper, page = to_latex(form, 3), to_markdown(form, 3)
    assert "m_{1}" in paper and "l_{x,2}" in page and "I_{xx,2}" in paper
    number = next(one for one in form.numbers if one.letter == "lx" and one.index == 2)
    assert f"$l_{{x,2}} = {number.value:.6g}$ `m`: `of the origin of two" in page
    assert any(str(one) == "m_3" for one in to_sympy(form)["H33"].free_symbols)


def test_on_the_command_line(tmp_path: Path) -> None:
    robot = str(PIEZO)
    call = ["codegen", robot, "--closed-form", "--symbols", "masses, lengths", "--digits", "3"]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0 and "# m_3 = 0.0980176908 kg: mass of lower_cylinder" in done.output
    assert "*lx_4" in done.output
    done = CliRunner().invoke(main, ["codegen", robot, "--closed-form", "--symbols", "mases"])
    assert done.exit_code == 1 and "did you mean" in done.output
    done = CliRunner().invoke(main, ["codegen", robot, "--symbols", "masses", "-o", str(tmp_path)])
    assert done.exit_code == 2 and "--symbols goes with --closed-form" in done.output
