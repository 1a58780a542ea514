"""Methods of integration: the order each states, one list of names, and how a tableau adds up."""

import numpy as np
import pytest

from mbdyn_ros.errors import InputError
from mbdyn_ros.integration.methods import ADAPTIVE, FIXED, FixedSteps, RungeKutta, named
from mbdyn_ros.model.model import Array


def pendulum(name: str, steps: int) -> Array:
    """A driven pendulum after 1 s."""
    stepper = FixedSteps(FIXED[name], np.array([1.0]), np.array([0.5]))
    h, start = 1.0 / steps, 0.0

    def rate(q: Array, v: Array, result: Array) -> None:
        result[:] = v

    def accelerate(share: float, q: Array, v: Array, result: Array) -> None:
        result[:] = np.cos(3 * (start + share * h)) - 2 * np.sin(q) - 0.3 * v

    for _ in range(steps):
        stepper.advance(h, rate, accelerate)
        start += h
    return np.concatenate([stepper.q, stepper.v])


@pytest.mark.parametrize("name", FIXED)
def test_every_fixed_method_has_its_order(name: str) -> None:
    exact = pendulum("rk4", 5000)
    coarse, fine = (np.abs(pendulum(name, steps) - exact).max() for steps in (50, 100))
    assert np.log2(coarse / fine) == pytest.approx(FIXED[name].order, abs=0.15)


@pytest.mark.parametrize("name", [k for k in FIXED if isinstance(FIXED[k], RungeKutta)])
def test_every_tableau_is_consistent(name: str) -> None:
    method = FIXED[name]
    assert isinstance(method, RungeKutta)
    assert [len(row) for row in method.rows] == list(range(1, len(method.weights)))
    assert sum(method.weights) == method.divisor
    b, c = np.array(method.weights) / method.divisor, np.array(method.nodes)
    assert method.order < 2 or b @ c == pytest.approx(1 / 2)
    assert method.order < 3 or b @ c**2 == pytest.approx(1 / 3)
    shares = np.reshape(method.tableau[: method.stages**2], (method.stages, method.stages))
    assert shares.sum(axis=1) == pytest.approx(c)
    assert method.order < 3 or b @ shares @ c == pytest.approx(1 / 6)
    assert method.tableau[method.stages**2 :] == (*method.weights, method.divisor)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_every_adaptive_method_is_scipys(name: str) -> None:
    from scipy.integrate import OdeSolver

    assert issubclass(ADAPTIVE[name].solver(), OdeSolver)


def test_an_unknown_name_is_refused_with_the_list() -> None:
    with pytest.raises(InputError, match="no method 'Euler'; there are auto, rk4, semi_implicit"):
        named("method", "Euler", FIXED, "auto")


def test_a_batch_steps_like_its_rows() -> None:
    q, v = np.linspace(0, 1, 6).reshape(3, 2), np.linspace(1, 2, 6).reshape(3, 2)

    def rate(q: Array, v: Array, result: Array) -> None:
        result[:] = v

    def accelerate(share: float, q: Array, v: Array, result: Array) -> None:
        result[:] = -np.sin(q) - share * v

    whole = FixedSteps(FIXED["rk4"], q, v)
    whole.advance(0.1, rate, accelerate)
    for k in range(3):
        row = FixedSteps(FIXED["rk4"], q[k], v[k])
        row.advance(0.1, rate, accelerate)
        assert np.array_equal(row.q, whole.q[k]) and np.array_equal(row.v, whole.v[k])
