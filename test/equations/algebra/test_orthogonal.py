"""Elimination by reflections: right for every regular matrix, and cheap where there are zeros."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mbdyn_ros.equations.loops.linkage import solve_orthogonal

Array = np.ndarray


def solver(pattern: Array, k: int) -> ca.Function:
    """Of the nonzeros of a matrix, and of right sides (n, k)."""
    rows, columns = (places.tolist() for places in pattern.T.nonzero()[::-1])
    n = len(pattern)
    matrix = ca.SX.sym("matrix", ca.Sparsity.triplet(n, n, rows, columns))
    right = ca.SX.sym("right", n, k)
    return ca.Function("solve", [matrix, right], [solve_orthogonal(matrix, right)])


def bordered(blocks: int) -> Array:
    """Three rows a block, over two columns of its own and some that all share."""
    pattern = np.zeros((3 * blocks, 3 * blocks), dtype=bool)
    pattern[:, 2 * blocks :] = True
    for k in range(blocks):
        pattern[3 * k : 3 * k + 3, 2 * k : 2 * k + 2] = True
    return pattern


@pytest.mark.parametrize("seed", range(6))
def test_it_solves_what_is_regular(seed: int) -> None:
    """Also where numbers are zero that need not be."""
    random = np.random.default_rng(seed)
    n, k = 3 + seed, 2
    pattern = random.random((n, n)) < 0.5
    pattern[np.arange(n), random.permutation(n)] = True
    solve = solver(pattern, k)
    for _ in range(20):
        matrix = pattern * random.normal(size=(n, n)) * (random.random((n, n)) < 0.8)
        condition = np.linalg.cond(matrix)
        if condition > 1e6:
            continue
        x = random.normal(size=(n, k))
        given = ca.DM(solve.sparsity_in(0), matrix.T[pattern.T])
        found = np.array(solve(given, matrix @ x))
        assert np.allclose(found, x, rtol=0, atol=1e-14 * condition)


def test_zeros_save_operations() -> None:
    """Six legs of a platform take less than half of what a full matrix takes."""
    pattern = bordered(5)
    sparse, full = solver(pattern, 7), solver(np.ones_like(pattern), 7)
    assert sparse.n_instructions() < 0.5 * full.n_instructions()
