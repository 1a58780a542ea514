"""Expressions on columns of numbers."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mbdyn_ros.program.columns import Columns


def test_columns_are_what_casadi_computes() -> None:
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p", 2)
    a, b = ca.sqrt(x[0] * p[0] + 2), ca.atan2(x[1], 1 / p[1])
    result = ca.vertcat(
        *(a - b, ca.sin(a) * ca.cos(b), -ca.fabs(b) / a, 2 * a + b * b, 3.0),
        *(ca.fmin(a, b), ca.fmax(x[0], p[1]), ca.if_else(ca.logic_or(a < b, p[0] > 1.8), a, b)),
        *(ca.acos(x[0] / 3), ca.asin(x[1] / 3), ca.sign(a - 2)),
    )
    function, columns = ca.Function("f", [x, p], [result]), Columns([x, p], result)
    xs, ps = np.random.default_rng(1).uniform(0.5, 2, (2, 7, 1)), np.array([[1.5, 0.7], [2.0, 0.4]])
    found = np.broadcast_arrays(*columns(xs, ps.T))
    for i in range(7):
        for j in range(2):
            expected = np.array(function(xs[:, i, 0], ps[j])).ravel()
            assert [one[i, j] for one in found] == pytest.approx(expected, rel=1e-15)


def test_rows_of_one_column() -> None:
    x = ca.SX.sym("x", 2)
    columns = Columns([x], ca.vertcat(x[0] * x[1], 2.0))
    assert columns.at(np.array([3.0, 4.0])).tolist() == [12.0, 2.0]
    assert columns.at(np.array([[3.0, 4.0], [1.0, 2.0]])).tolist() == [[12.0, 2.0], [2.0, 2.0]]


def test_columns_say_where_there_is_no_number() -> None:
    x = ca.SX.sym("x")
    (root,) = Columns([x], 1 / ca.sqrt(x))([np.array([-1.0, 0.0, 4.0])])
    assert np.isnan(root[0]) and np.isinf(root[1]) and root[2] == 0.5
