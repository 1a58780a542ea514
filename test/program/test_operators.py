"""Operators of expressions do what CasADi's own do, whatever stands on the other side."""

from __future__ import annotations

import operator
from typing import Any

import casadi as ca
import numpy as np
import pytest

from mbdyn_ros.program.symbols import OPERATIONS

X, COLUMN = ca.SX.sym("x"), ca.SX.sym("c", 3)
SPARSE = ca.SX(ca.Sparsity.diag(3))
SPARSE.nz[:] = ca.SX.sym("s", 3)

# CasADi's own functions, which search.
SEARCHING = {"add": ca.plus, "sub": ca.minus, "mul": ca.times, "truediv": ca.rdivide}

OTHERS = [X, COLUMN, SPARSE, 0, 1, -2, 0.5, True, np.float64(0.3), np.ones((1, 1)), ca.DM(2)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_expressions_are_casadis_own(name: str) -> None:
    do: Any = getattr(operator, name)
    for one in (X, COLUMN, SPARSE):
        for other in OTHERS:
            for pair in ((one, other), (other, one)):
                expected: Any
                expected, found = SEARCHING[name](*pair), do(*pair)
                assert type(found) is ca.SX, pair
                assert found.sparsity() == expected.sparsity(), pair
                # With the same operands, equal to any depth.
                assert ca.is_equal(found, expected, 2), (pair, found, expected)


def test_nothing_else_is_taken() -> None:
    other: Any
    for other in ("1", ca.MX.sym("m")):
        with pytest.raises(TypeError):
            X + other
    with pytest.raises(RuntimeError, match="Dimension mismatch"):
        COLUMN + ca.SX.sym("d", 2)
