"""Formulas that are traced once give the expressions that they give written out."""

from __future__ import annotations

import casadi as ca
import pytest

from mbdyn_ros.equations.algebra.spatial import skew
from mbdyn_ros.equations.tree.newton_euler import skew_square


@pytest.mark.parametrize("formula", [skew, skew_square])
@pytest.mark.parametrize("still", [(), (1,), (0, 2), (0, 1, 2)])
def test_the_same_expressions(formula, still: tuple[int, ...]) -> None:
    """To the last operation, also where some of the numbers are zero."""
    w = ca.SX.sym("w", 3)
    for k in still:
        w[k] = 0
    found, written_out = formula(w), formula.__wrapped__(w)
    assert found.sparsity() == written_out.sparsity()
    for one, other in zip(found.elements(), written_out.elements(), strict=True):
        assert ca.is_equal(one, other, 9)


def test_nothing_is_computed_with_zeros() -> None:
    w = ca.SX.sym("w", 3)
    w[0] = w[1] = 0
    assert ca.Function("f", [ca.symvar(w)[0]], [skew_square(w)]).n_instructions() < 15
    assert sum(not one.is_zero() for one in skew_square(w).elements()) == 2
