"""The steps of the parallel-serial paper as they are printed, redone from what is printed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from command_line import succeed

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.model import Array
from mbdyn_ros.robot.module_steps import module_steps
from mbdyn_ros.robot.steps import WRITERS, Steps, to_text

pytestmark = pytest.mark.usefixtures("interpreted")
URDFS = Path(__file__).parents[2] / "urdf"
State = tuple[mbdyn_ros.Robot, Array, Array, Array]
SEED = np.random.default_rng(3)


def printed(steps: Steps, symbol: str) -> dict[str, Array]:
    """The values of a symbol as text shows them, by body."""
    one = [quantity for quantity in steps.quantities if quantity.symbol == symbol]
    return {quantity.body: quantity.value for quantity in one}


@pytest.fixture(scope="module")
def state() -> State:
    robot = mbdyn_ros.load(URDFS / "manipulator.urdf")
    return robot, *SEED.uniform(-0.1, 0.1, (3, robot.nv))


def test_steps_give_the_efforts_and_accelerations(state: State) -> None:
    robot, q, v, a = state
    efforts = robot.inverse_dynamics(q, v, a)
    for steps in (module_steps(robot, q, v, a=a), module_steps(robot, q, v, effort=efforts)):
        found = [float((one["f"] + lost(one))[0, 0]) for one in steps]
        np.testing.assert_allclose(found, efforts, rtol=1e-12)
        moved = [float(one["xdd"][0, 0]) for one in steps]
        np.testing.assert_allclose(moved, a, rtol=1e-9)


def lost(steps: Steps) -> Array:
    return sum(printed(steps, "f_0").values(), np.zeros((1, 1)))


def test_a_loop_redone_by_hand(state: State) -> None:
    """(2) to (36) and (49) of the outermost loop from its printed quantities alone."""
    robot, q, v, a = state
    _, _, jib, telescope = module_steps(robot, q, v, a=a)
    c, L, L_1 = (float(jib[name][0, 0]) for name in ("c", "L", "L_1"))
    assert c == pytest.approx(float((jib["x"] + jib["x_0"])[0, 0]))
    angle = float(jib["q"][0, 0])
    assert np.cos(angle) == pytest.approx((L**2 + L_1**2 - c**2) / (2 * L * L_1))
    assert float(jib["J"][0, 0]) == pytest.approx(c / (L * L_1 * np.sin(angle)))
    assert sum(float(jib[name][0, 0]) for name in ("q", "q_1", "q_2")) == pytest.approx(np.pi)

    X, screws, drifts = (printed(jib, name) for name in ("X", "a", "d"))
    inertias, biases = printed(jib, "I"), printed(jib, "p")
    upper = next(iter(X))
    inertias[upper] = inertias[upper] + telescope["I^A"]  # (20) to (24)
    biases[upper] = biases[upper] + telescope["p^A"]
    mu = sum(screws[k].T @ inertias[k] @ screws[k] for k in X)
    b = sum(X[k].T @ inertias[k] @ screws[k] for k in X)
    beta_0 = sum(screws[k].T @ (inertias[k] @ drifts[k] + biases[k]) for k in X)
    np.testing.assert_allclose(jib["mu"], mu, rtol=1e-10)
    np.testing.assert_allclose(jib["b"], b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(jib["beta_0"], beta_0, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(jib["beta"], b.T @ jib["Vd_B"] + beta_0, rtol=1e-10)
    np.testing.assert_allclose(jib["f"], mu * jib["xdd"] + jib["beta"], rtol=1e-10)
    whole = sum(X[k].T @ inertias[k] @ X[k] for k in X) - b @ b.T / mu
    np.testing.assert_allclose(jib["I^A"], whole, rtol=1e-9, atol=1e-8)
    # Cramer's rule, on what the bodies ask for
    wrenches, (r_x, r_y) = printed(jib, "F"), jib["r"][:, 0]
    rod = list(wrenches)[-1]
    n_O, n_A = (float(jib[name][0, 0]) for name in ("n_O", "n_A"))
    barrel = list(X)[1]
    slide = (screws[rod] - X[rod] @ np.linalg.solve(X[barrel], screws[barrel]))[3:, 0]
    force = wrenches[rod][3:, 0] @ slide - n_O / r_y - n_A * r_x / (r_y * c)
    assert float(jib["f"][0, 0]) == pytest.approx(force)
    assert float(jib["phi_y"][0, 0]) == pytest.approx(-float(jib["n_A"][0, 0]) / c)
    assert np.hypot(r_x, r_y) == pytest.approx(L_1)


def test_friction_is_a_further_effort() -> None:
    text = (URDFS / "boom.urdf").read_text()
    text = text.replace('<axis xyz="1 0 0"/>', '<axis xyz="1 0 0"/><dynamics damping="500"/>')
    robot = mbdyn_ros.load(text)
    (rubbing,) = module_steps(robot, np.zeros(1), np.ones(1), a=np.zeros(1))
    assert float(rubbing["f_0"][0, 0]) == pytest.approx(500, rel=1e-9)
    (smooth,) = module_steps(robot, np.zeros(1), np.ones(1), a=np.zeros(1), friction=False)
    assert "f_0" not in {one.symbol for one in smooth.quantities}


def test_rounding_is_written_as_zero() -> None:
    """At rest at home an effort is the small difference of wrenches of 10 kN."""
    crane = mbdyn_ros.example("crane")
    q, rest = crane.home_position, np.zeros(crane.nv)
    for driven in ({"a": rest}, {"effort": rest}):
        steps = module_steps(crane, q, rest, **driven)
        assert not re.search(r"e-1\d", to_text(steps))
        assert all(one.symbol != "f_0" for one in steps[0].quantities)


def test_other_machines_are_refused() -> None:
    robot = mbdyn_ros.load(URDFS / "four_bar.urdf")
    with pytest.raises(InputError, match="machines of single joints and loops"):
        module_steps(robot, np.zeros(1), np.zeros(1), a=np.zeros(1))


def test_documents(state: State) -> None:
    """All formats show all quantities, with digits of a pocket calculator."""
    robot, q, v, a = state
    steps = module_steps(robot, q, v, a=a)
    for name, write in WRITERS.items():
        document = write(steps)
        for one in steps[1].quantities:
            if one.value.size == 1 and abs(float(one.value[0, 0])) > 1e-3:
                digits = f"{float(one.value[0, 0]):.7g}".partition("e")[0]
                assert digits in document, (name, one.symbol)
    lines = to_text(steps).splitlines()
    assert max(map(len, lines)) <= 90
    latex = WRITERS["latex"](steps)
    shapes = [quantity.value.shape for module in steps for quantity in module.quantities]
    assert latex.count(r"\begin{bmatrix}") == sum(np.prod(shape) > 1 for shape in shapes)
    (columns,) = re.findall(r"MaxMatrixCols}{(\d+)}", latex)
    assert int(columns) >= max(map(max, shapes)), "amsmath has ten"


@pytest.mark.skipif(which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_runs(tmp_path: Path) -> None:
    """A matrix of fourteen columns too, that of an impact of the paper's tree."""
    config = URDFS.parent / "config"
    found = succeed(
        "simulate", str(URDFS / "tree_robot.urdf"), "--duration", "0.5", "--explain", "latex",
        "--position", str(config / "tree_robot_start.csv"),
        "--environment", str(config / "tree_robot_walls.yaml"),
    )  # fmt: skip
    (tmp_path / "impact.tex").write_text(found)
    call = ["pdflatex", "-halt-on-error", "-interaction=batchmode", "impact.tex"]
    assert subprocess.run(call, cwd=tmp_path, capture_output=True).returncode == 0


def test_the_command() -> None:
    found = succeed("id", str(URDFS / "boom.urdf"), "--acceleration", "0.5", "--explain", "text")
    robot = mbdyn_ros.load(URDFS / "boom.urdf")
    (effort,) = re.findall(r"\(35\) f += (\S+)", found)
    exact = robot.inverse_dynamics([0.0], [0.0], [0.5])[0]
    assert float(effort) == pytest.approx(exact, rel=1e-6)
