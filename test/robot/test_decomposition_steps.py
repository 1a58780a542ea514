"""Virtual decomposition body by body against the collapsed law, and its flows at the cuts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.equations.control_laws import virtual_decomposition
from mbdyn_ros.robot.module_steps import decomposition_steps
from mbdyn_ros.robot.steps import Quantity, to_latex

pytestmark = pytest.mark.usefixtures("interpreted")
ROOT = Path(__file__).parents[2]
K, DAMPING = 3.0, 2.0


def test_bodies_together_are_the_law() -> None:
    robot = mbdyn_ros.load(ROOT / "urdf" / "manipulator.urdf")
    q, v, v_r, a_r = np.random.default_rng(0).uniform(-0.1, 0.1, (4, robot.nv))
    modules = decomposition_steps(robot, q, v, v_r, a_r, K, DAMPING)
    law = Bound(robot.calls.kernel(virtual_decomposition, None))
    law.q[:], law.v[:], law.wanted_v[:], law.wanted_a[:] = q, v, v_r, a_r
    law.body_rate[:], law.damping[:] = K, DAMPING
    law()
    np.testing.assert_allclose([one["f_r"].item() for one in modules], law.result, rtol=1e-13)

    flows: dict[str, float] = {}
    for steps, s in zip(modules, v_r - v, strict=True):
        pairs = [one for one in steps.quantities if one.symbol in ("p-", "p+")]
        gaps = [to.value.item() - of.value.item() for of, to in _twos(pairs)]
        driven = max(gaps, key=abs)
        assert sum(gaps) == pytest.approx(driven, rel=1e-11)  # passive cuts pass all of it on
        work = s * (steps["f_r"].item() - DAMPING * s)
        assert work - s * effort_of(steps.title, robot, q, v, law.result) == pytest.approx(driven)
        for of, to in _twos(pairs):
            flows[of.body] = flows.get(of.body, 0.0) - of.value.item()
            flows[to.body] = flows.get(to.body, 0.0) + to.value.item()
    assert flows.pop("the world") == pytest.approx(0, abs=1e-12)
    powers = {
        one.body: one.value.item() for x in modules for one in x.quantities if one.symbol == "P"
    }
    assert powers == pytest.approx(flows, rel=1e-9)
    assert to_latex(modules).count("F^*_r") == len(powers)


def _twos(pairs: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    return list(zip(pairs[::2], pairs[1::2], strict=True))


def effort_of(
    title: str, robot: mbdyn_ros.Robot, q: np.ndarray, v: np.ndarray, efforts: np.ndarray
) -> float:
    """Of the driver that a title names: that of inverse dynamics at what the law's efforts do."""
    a = robot.forward_dynamics(q, v, efforts, friction=False)
    found = robot.inverse_dynamics(q, v, a, friction=False)
    names = robot.actuated_joints
    return float(found[next(k for k, name in enumerate(names) if f" {name} " in title)])
