"""Expressions on arrays: the numbers of CasADi's own calls, in every thread its own."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np

from mbdyn_ros.program.evaluation import Evaluation

X, A = ca.SX.sym("x", 3), ca.SX.sym("a", 6)
WIDE = ca.reshape(A, 2, 3)
EXPRESSIONS = [WIDE @ X, ca.diag(X), WIDE.T * ca.sin(X), X.T, ca.SX(0, 1), ca.norm_2(X)]


def test_the_numbers_are_casadis() -> None:
    rng = np.random.default_rng(0)
    function, evaluation = (
        ca.Function("f", [X, A], EXPRESSIONS),
        Evaluation("f", [X, A], EXPRESSIONS),
    )
    for _ in range(5):
        x, a = rng.normal(size=3), rng.normal(size=6)
        for found, expected in zip(evaluation(x, a), function(x, a), strict=True):
            np.testing.assert_array_equal(found, np.array(ca.densify(expected)))


def test_results_are_kept() -> None:
    evaluation = Evaluation("f", [X], [2 * X])
    (first,), (second,) = evaluation(np.ones(3)), evaluation(np.zeros(3))
    np.testing.assert_array_equal([first[:, 0], second[:, 0]], [[2.0] * 3, [0.0] * 3])


def test_it_can_be_pickled() -> None:
    evaluation = Evaluation("f", [X], [2 * X])
    evaluation(np.zeros(3))
    again = pickle.loads(pickle.dumps(evaluation))
    np.testing.assert_array_equal(again(np.ones(3))[0].ravel(), [2.0] * 3)


def test_threads_do_not_meet() -> None:
    evaluation = Evaluation("f", [X], [X * X])

    def wrong(k: int) -> int:
        return sum(evaluation(np.full(3, float(k)))[0][0, 0] != k * k for _ in range(2000))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(wrong, range(8))) == [0] * 8
