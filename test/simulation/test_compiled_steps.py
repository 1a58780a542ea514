"""Compiled steps of DOP853 against SciPy's, on the same equations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from robot_text import joint, link, robot_text
from scipy.integrate import DOP853

import mbdyn_ros
from mbdyn_ros.compiler import gcc
from mbdyn_ros.equations.programs import motion_rate
from mbdyn_ros.simulation.adaptive import integrator
from mbdyn_ros.simulation.adaptive.integrator import CompiledFormula
from mbdyn_ros.simulation.adaptive.motion import Motion
from mbdyn_ros.simulation.effort import Constant

ROOT = Path(__file__).parents[2]
KITE = robot_text(
    link("kite", 2, (0.1, 0.15, 0.2)), link("tail", 1, 0.1, "0.2 0 0.1"),
    joint("hinge", "kite", "tail", "0 1 1", more='<dynamics damping="0.3"/>'),
    base="",
)  # fmt: skip


@pytest.mark.sparse
@pytest.mark.parametrize("case", ["floating", "loop", "tree"])
def test_the_same_steps_as_scipys(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """States, rates, work and losses at the ends of steps and within; number and length of steps.

    An effort that is a function is evaluated in Python, so SciPy takes the steps.
    """
    random = np.random.default_rng(1)
    if case == "loop":
        robot = mbdyn_ros.load(ROOT / "urdf" / "slider_crank.urdf")
    elif case == "tree":
        robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    else:
        robot = mbdyn_ros.load(KITE, floating_base=True)
    q, v = random.uniform(-1, 1, robot.nq), random.uniform(-1, 1, robot.nv)
    for start in robot.system.coordinates.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    effort = random.uniform(-1, 1, len(robot.effort_labels))
    start, one_step = np.concatenate([q, v, [0, 0]]), 1e-3
    motion = Motion(robot, Constant(effort))
    loose = {"first_step": one_step, "rtol": 1.0, "atol": np.inf}
    kernel = robot.calls.kernel(motion_rate)
    ours = CompiledFormula(
        kernel, motion.rate, effort, 0.0, start, 1.0, np.inf, (1.0, np.inf), one_step
    )
    scipys = DOP853(motion.rate, 0.0, start, 1.0, **loose)
    for _ in range(3):  # steps in themselves
        ours.step()
        scipys.step()
        assert ours.t == scipys.t
        inside = np.linspace(scipys.t_old, ours.t, 7)
        for one, other in (
            (ours.y, scipys.y),
            (ours.f, scipys.f),
            (ours.dense_output()(inside), scipys.dense_output()(inside)),
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13 * np.abs(other).max())
    used = []
    monkeypatch.setattr(
        integrator, "CompiledFormula", lambda *given: used.append(1) or CompiledFormula(*given)
    )
    for times in (None, np.linspace(0, 1, 57)):  # and what is chosen by their errors
        how = {"times": times, "rtol": 1e-5, "atol": 1e-6}
        ours = mbdyn_ros.simulate(robot, q, v, 1.0, effort=effort, **how)
        count = len(used)
        scipys = mbdyn_ros.simulate(robot, q, v, 1.0, effort=lambda t, q, v: effort, **how)
        assert 0 < count == len(used) and ours.steps == scipys.steps
        for name in ("time", "q", "v", "a", "work", "energy"):
            one, other = getattr(ours, name), getattr(scipys, name)
            scale = 1e-7 * (1 + np.abs(other).max())
            np.testing.assert_allclose(one, other, rtol=0, atol=scale, err_msg=name)
    if case == "floating":
        assert ours.work[-1, 1] > 1e-3


def test_the_numbers_are_scipys() -> None:
    """Those of the formula, its errors and its interpolant."""
    text = (gcc.RUNTIME / "dop853_table.h").read_text()
    tables = {
        name: [
            [float(number) for number in row.split(",")]
            for row in re.findall(r"\{([^{}]+)\}", rows)
        ]
        for name, rows in re.findall(r"(\w+)(?:\[[^=]*\])+ = (\{.*?\});", text, re.DOTALL)
    }
    expected = {
        "by_stages": [*DOP853.A, DOP853.B, *DOP853.A_EXTRA],
        "by_order_8": [DOP853.B],
        "error_3": [DOP853.E3],
        "error_5": [DOP853.E5],
        "by_powers": DOP853.D,
    }
    assert tables.keys() == expected.keys()
    for name, rows in expected.items():
        for ours, theirs in zip(tables[name], rows, strict=True):
            assert np.array_equal(ours + [0.0] * (len(theirs) - len(ours)), theirs)
    assert "STAGES = 12, ALL_STAGES = 16, POWERS = 7" in text
