"""The equations of mechanisms that one can look at: at every cut, in numbers and in formulas."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from random_designs import WITH_URDF, random_design, states

from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import (
    MECHANISMS,
    Analysis,
    CrankMotion,
    FourBar,
    SliderCrank,
    constant_speed,
)
from mbdyn_ros.mechanisms.denoc_equations import DenocEquations, denoc_equations
from mbdyn_ros.mechanisms.denoc_text import BLANK, FORMATS, formulas_of, worksheet, written

pytestmark = pytest.mark.usefixtures("interpreted")

PINNED = [name for name in WITH_URDF if name not in ("gear_pair", "planetary_gear")]
"""Mechanisms that pins close."""

CLOSE = {"rel": 1e-9, "abs": 1e-9}


def value(formula: str, equations: DenocEquations) -> float:
    """A formula, as Python reads it, at the values of its symbols."""
    known = {}
    for name, one in zip(formulas_of(equations)["symbols"], equations.symbols, strict=True):
        known[name] = one.value
        if one.angle:
            known[f"c_{one.index}"] = math.cos(one.value)
            known[f"s_{one.index}"] = math.sin(one.value)
    return float(eval(formula, {}, known))


def test_pins_close_these_and_no_others() -> None:
    assert [name for name, kind in MECHANISMS.items() if kind().layout().pins] == PINNED


@pytest.mark.sparse
@pytest.mark.parametrize("name", PINNED)
def test_every_cut_gives_the_torque_and_the_reactions(name: str) -> None:
    random = np.random.default_rng(5)
    mechanism = random_design(MECHANISMS[name], random)
    q, v, a = (one[:1] for one in states(mechanism, random))
    torque = mechanism.inverse_dynamics(q, v, a)[0]
    twice = [np.vstack([one, one]) for one in (q, v, a)]
    reactions = Analysis(mechanism, CrankMotion(np.array([0.0, 1.0]), *twice)).reactions
    layout = mechanism.layout()
    cuts = 0
    joints = [one.name for one in layout.connections]
    chosen = list(itertools.combinations(joints, len(layout.pins)))
    for cut in random.permutation(chosen)[:10].tolist():  # all but of six-bars
        try:
            found = denoc_equations(mechanism, q, v, a, cut)
        except InputError:
            continue
        cuts += 1
        matrix = {key: one.values for key, one in found.matrices.items()}
        tau = [found.tau[found.joints.index(f"{one}_joint")] for one in mechanism.inputs]
        assert tau == pytest.approx(torque, **CLOSE)
        N, M = matrix["N_l"] @ matrix["N_d"], matrix["M"]
        assert matrix["N"] == pytest.approx(N, **CLOSE)
        assert matrix["I"] == pytest.approx(N.T @ M @ N, **CLOSE)
        assert not matrix["W"].any() and not matrix["W M N"].any()
        whole = N.T @ (M @ matrix["N_rate"] + matrix["W M N"])
        assert matrix["C"] == pytest.approx(whole, rel=1e-9, abs=1e-8)
        drift = matrix["J_rate"] @ found.thd
        assert matrix["J"] @ found.thd == pytest.approx(np.zeros(len(drift)), **CLOSE)
        assert matrix["J"] @ found.thdd == pytest.approx(-drift, rel=1e-9, abs=1e-8)
        motion = matrix["I"] @ found.thdd + matrix["C"] @ found.thd
        assert found.right_side == pytest.approx(motion - matrix["tau_g"][:, 0], rel=1e-12)
        loads = found.tau + matrix["tau_g"][:, 0] + matrix["J"].T @ found.multipliers
        assert motion == pytest.approx(loads, rel=1e-9, abs=1e-8)
        borne = dict(zip(found.multiplier_names, found.multipliers, strict=True))
        for one in found.cuts:
            if one.slides:
                assert borne[f"{one.name} moment"] == pytest.approx(
                    reactions[one.name][0, 2], **CLOSE
                )
            else:
                force = [borne[f"{one.name} {axis}"] for axis in "xy"]
                assert force == pytest.approx(reactions[one.name][0, :2], **CLOSE)
    assert cuts >= 3


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["four_bar", "quick_return", "five_bar"])
def test_formulas_are_the_numbers(name: str) -> None:
    random = np.random.default_rng(6)
    mechanism = random_design(MECHANISMS[name], random)
    found = denoc_equations(mechanism, *(one[:1] for one in states(mechanism, random)))
    formulas = formulas_of(found)
    for key, matrix in found.matrices.items():
        values = [[value(one, found) for one in row] for row in formulas[key]]
        assert np.array(values) == pytest.approx(matrix.values, rel=1e-9, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("cut", ["coupler_joint", "coupler_pin", "rocker_joint"])
def test_rounding_is_written_as_zero(cut: str) -> None:
    """At the default instant the crank is level: sums of opposite terms are 0 there."""
    found = denoc_equations(FourBar(), [0.0], [10.0], cut=[cut])
    numbers = [one.values.ravel() for one in found.matrices.values()]
    small = np.abs(np.concatenate([*numbers, found.thd, found.thdd]))
    assert not ((small > 0) & (small < 1e-12)).any()
    for key, matrix in found.matrices.items():
        values = [[value(one, found) for one in row] for row in formulas_of(found)[key]]
        assert np.array(values) == pytest.approx(matrix.values, abs=1e-15), key
    assert not any("e-1" in one for one in written(found).splitlines() if "=" not in one)


def test_every_step_can_be_redone_by_hand() -> None:
    """From the printed numbers alone, of the paper's cut: (18) to (20)."""
    text = written(denoc_equations(FourBar(), [0.0], [10.0], cut=["coupler_joint"]))
    blocks = {block.split(":")[0].split("\n")[0]: block for block in text.split("\n\n")}

    def printed(name: str) -> np.ndarray:
        rows = [line.split() for line in blocks[name].splitlines()[2:] if "=" not in line]
        count = len(blocks[name].splitlines()[1].split()) // (3 if name[0] in "MW" else 2)
        return np.array([[float(one) for one in row[-count:]] for row in rows])

    N, M = printed("N"), printed("M")
    table = [line.split() for line in blocks["inverse dynamics"].splitlines()[-6:-3]]
    thd, thdd, right, borne, tau = np.array([[float(one) for one in row[1:]] for row in table]).T
    I, C = N.T @ M @ N, N.T @ M @ printed("N_rate")  # noqa: E741
    assert pytest.approx(printed("I"), abs=1e-6) == I and pytest.approx(printed("C"), abs=1e-6) == C
    weights = [0, 0, -0.35 * 9.81, 0, 0, -0.7 * 9.81, 0, 0, -0.6 * 9.81]
    tau_g = N.T @ weights
    assert printed("tau_g")[:, 0] == pytest.approx(tau_g, abs=1e-5)
    assert right == pytest.approx(I @ thdd + C @ thd - tau_g, abs=1e-5)
    multipliers = np.linalg.solve(printed("J")[:, 1:].T, right[1:])
    assert borne == pytest.approx(printed("J").T @ multipliers, abs=1e-5)
    assert tau == pytest.approx([right[0] - borne[0], 0, 0], abs=1e-5)
    assert tau[0] == pytest.approx(-0.152728, abs=1e-6)


def test_the_paper_s_four_bar_cut_between_crank_and_coupler() -> None:
    found = denoc_equations(FourBar(), [1.0], [20.0], cut=["coupler_joint"])
    assert found.subsystems == (("crank",), ("rocker", "coupler"))
    assert found.steps == (((1, 2), (0, 1)),)
    J = formulas_of(found)["J"]  # [-J_I  J_II] of equation (20), absolute angles, th_3 + th_4 + pi
    assert [row[0] for row in J] == ["s_crank*l_crank", "-c_crank*l_crank"]
    assert J[0][1:] == ["-s_rocker*l_rocker + s_coupler*l_coupler", "s_coupler*l_coupler"]
    assert J[1][1:] == ["c_rocker*l_rocker - c_coupler*l_coupler", "-c_coupler*l_coupler"]
    I_II = formulas_of(found)["I"][2][2]
    a, m, moment, length = 0.15, 0.6, FourBar().coupler.moment, 0.3
    assert value(I_II, found) == pytest.approx(moment + m * (length - a) ** 2)
    determinant = found.determinant(0)
    assert determinant is not None and len(determinant.coefficients) == 2


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (["coupler_jiont"], "no joint 'coupler_jiont' to cut (did you mean \"coupler_joint\"?)"),
        (["crank_joint"], "crank_joint is driven, its torque is wanted; cut a passive joint"),
        (["coupler_joint", "coupler_pin"], "coupler would hang on nothing; cut one joint"),
    ],
)
def test_impossible_cuts_are_refused(cut: list[str], words: str) -> None:
    with pytest.raises(InputError) as error:
        denoc_equations(FourBar(), [1.0], cut=cut)
    assert words in str(error.value)


def test_gears_are_cut_where_they_mesh() -> None:
    """lambda there is the moment that the teeth exert on the driven wheel."""
    mechanism = MECHANISMS["planetary_gear"]()
    equations = denoc_equations(mechanism, [0.3], [10.0])
    text = written(equations)
    assert "by DeNOC, cut at sun_planet_mesh and planet_ground_mesh\n" in text
    assert "lambda at sun_planet_mesh: moment on the planet about its axle" in text
    analysis = Analysis(mechanism, constant_speed(10.0, start=0.3, turn=0.1, points=2))
    force = analysis.reactions["sun_planet_mesh"][0, :2]
    axle = analysis.pose.origins["planet"][0]
    arm = analysis.pose.pitch_point(mechanism.layout().meshes[0])[0] - axle
    moment = (arm.conjugate() * complex(*force)).imag
    assert equations.multipliers[0] == pytest.approx(moment, rel=1e-12)


def test_several_instants_are_refused() -> None:
    with pytest.raises(InputError, match="q has 2 rows; the equations are of one instant"):
        denoc_equations(FourBar(), [[1.0], [2.0]])


def test_what_is_zero_is_left_out_and_named() -> None:
    found = denoc_equations(SliderCrank(), [1.0])
    assert "slider inertia" in found.zeros and "offset" in found.zeros
    assert "0 here, and left out of the formulas: offset" in written(found)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path: Path) -> None:
    found = denoc_equations(FourBar(), [1.0], [20.0])
    (tmp_path / "equations.tex").write_text(written(found, "latex"))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "equations.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize("form", FORMATS)
def test_on_the_command_line(form: str, tmp_path: Path) -> None:
    file = tmp_path / "equations.md"
    common = ["mechanism", "four_bar", "--cut", "coupler_joint", "--instant", "0.1"]
    done = CliRunner().invoke(main, [*common, "--equations", form, "--output", str(file)])
    assert done.exit_code == 0, done.output
    assert f"wrote {file}" in done.output and "at 0.0994838 s, the nearest" in done.output
    text = file.read_text()
    assert "cut at coupler" in text and "twist propagation, (14)" in text


def test_as_json() -> None:
    done = CliRunner().invoke(main, ["mechanism", "slider_crank", "--equations", "--json"])
    document = json.loads(done.stdout)
    assert document["cut"] == ["slider_pin"]
    assert document["matrices"]["N_d"]["columns"] == [
        "crank_joint", "coupler_joint", "slider_joint"
    ]  # fmt: skip
    assert document["matrices"]["tau_g"]["formulas"][1] == ["-c_coupler*g*m_coupler*a_coupler"]


def test_bordered_system_of_a_free_motion() -> None:
    """A x = B (22) by hand gives accelerations of forward dynamics, and lambda of (19), (20)."""
    line = "mechanism four_bar --equations --fd --torque 0.3 --speed 1 --duration 0.5 --instant 0.4"
    for cut in ("coupler_joint", "coupler_pin"):
        result = CliRunner().invoke(main, [*line.split(), "--cut", cut, "--json"])
        found = json.loads(result.stdout)
        A, x, B = (np.array(found[name]) for name in "AxB")
        solved = np.linalg.solve(A, B)
        np.testing.assert_allclose(solved, x, rtol=1e-8)
        np.testing.assert_allclose(x, [*found["thdd"].values(), *(-one for one in
                                       found["lambda"].values())], rtol=1e-12)  # fmt: skip
        assert found["tau"]["crank_joint"] == pytest.approx(0.3, rel=1e-9)


def test_worksheet_asks_for_what_it_answers(tmp_path: Path) -> None:
    equations = denoc_equations(FourBar(), [1.0], [20.0], cut=["coupler_joint"])
    for form in FORMATS:
        text = worksheet(equations, form)
        asked, _, answers = text.partition("answers")
        assert asked.count(BLANK) and BLANK not in answers
        for name in ("N_l", "N_d", "N", "I", "C", "tau_g", "J"):
            for value in equations.matrices[name].values.ravel():
                assert f"{value:.6g}" in answers
        assert f"{equations.tau[0]:.6g}" in answers and f"{equations.tau[0]:.6g}" not in asked
    for end, start in ((".md", "# Worksheet"), (".tex", r"\documentclass"), (".txt", "Worksheet")):
        file = tmp_path / f"sheet{end}"
        line = ["mechanism", "four_bar", "--worksheet", "--output", str(file)]
        result = CliRunner().invoke(main, line)
        assert result.exit_code == 0 and file.read_text().startswith(start)
