"""Inverse dynamics where an actuator of a loop stands still while the loop moves."""

from __future__ import annotations

import numpy as np
import pytest
from four_bars import joint, links, load, pin
from slider_cranks import SLIDER

import mbdyn_ros
from mbdyn_ros import DeadPointError

pytestmark = pytest.mark.usefixtures("interpreted")

PISTON = "{independent: [turn], actuated: [stroke]}"


@pytest.fixture
def slider() -> mbdyn_ros.Robot:
    """A slider-crank, its piston actuated: dead where crank and rod are in line."""
    return mbdyn_ros.load(SLIDER, PISTON, home={"turn": 1.0})


def test_an_effort_at_a_dead_point_is_refused_by_name(slider: mbdyn_ros.Robot) -> None:
    for q in (0.0, 1e-7, np.pi):
        with pytest.raises(DeadPointError) as caught:
            slider.inverse_dynamics([q], [0.0], [1.0])
        message = str(caught.value)
        assert message.startswith("<text>: inverse dynamics has no answer at q = [")
        assert "the actuator of stroke is at a dead point" in message
        assert "actuation_condition" in message
    with pytest.raises(DeadPointError):
        slider.inverse_dynamics_derivatives([0.0], [0.0], [1.0])
    assert np.isfinite(slider.forward_dynamics([0.0], [0.5], [2.0])).all()  # this has an answer


def test_beside_a_dead_point_efforts_are_right(slider: mbdyn_ros.Robot) -> None:
    crank = mbdyn_ros.load(SLIDER, "{independent: [turn]}", home={"turn": 1.0})
    for q in (1e-4, -0.3, 1.2, 3.1):
        state = [q], [0.7], [0.4]
        effort, torque = slider.inverse_dynamics(*state), crank.inverse_dynamics(*state)
        rate = slider.joint_state([q], [1.0])[1][2]
        assert effort[0] * rate == pytest.approx(torque[0], rel=1e-9)


def test_rows_of_a_batch_at_a_dead_point_are_nan(slider: mbdyn_ros.Robot) -> None:
    q = np.array([[0.5], [0.0], [np.pi], [2.0]])
    efforts = slider.inverse_dynamics(q, 0 * q, 0 * q + 1)
    assert np.isfinite(efforts[:, 0]).tolist() == [True, False, False, True]
    assert efforts[0] == pytest.approx(slider.inverse_dynamics(q[0], [0.0], [1.0]), rel=1e-12)


def test_the_condition_number_measures_how_near(slider: mbdyn_ros.Robot) -> None:
    q = np.array([[1.5], [1e-2], [1e-3], [1e-5], [0.0], [np.nan]])
    condition = slider.actuation_condition(q)
    rates = [slider.joint_state(x, [1.0])[1] / [1.0, 1.0, 1.3 + 0.3 + 1.0] for x in q[:4]]
    expected = [np.linalg.norm(rate) / abs(rate[2]) for rate in rates]
    assert condition[:4] == pytest.approx(expected, rel=1e-6)
    assert 1.0 < condition[0] < 20 and condition[4] > 1e12 and np.isnan(condition[5])
    assert slider.actuation_condition([1e-3]) == pytest.approx(condition[2])
    arm = '<robot name="arm">' + links("a", "b") + joint("j", "a", "b") + "</robot>"
    assert mbdyn_ros.load(arm).actuation_condition([0.3]) == 1.0


def test_a_second_actuator_helps_over_a_dead_point() -> None:
    """Driven at crank and rocker a four-bar has no dead point, at the rocker alone it has two."""
    both = load(pin() + "independent: [j1]\nactuated: [j1, j4]\n")
    rocker = load(pin() + "independent: [j1]\nactuated: [j4]\n")
    a, b, c, d = 0.3, 1.0, 0.7, 0.9  # crank and coupler in line
    dead = np.arccos((d * d + (a + b) ** 2 - c * c) / (2 * d * (a + b)))
    assert np.isfinite(both.inverse_dynamics([dead], [0.0], [1.0])).all()
    with pytest.raises(DeadPointError, match="the actuator of j4 is at a dead point"):
        rocker.inverse_dynamics([dead], [0.0], [1.0])
