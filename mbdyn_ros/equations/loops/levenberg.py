"""Least squares by Levenberg and Marquardt, for few unknowns, more or fewer than equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.model import Array

MOST_EVALUATIONS = 300
"""Most evaluations."""

FIRST_DAMPING = 1e-3
"""Damping of the first step, as a share of the largest square of a column."""

REGULAR_DAMPING = 1e-13
"""Damping, as a share of the largest square of a column, that keeps every step regular."""

SHORT = 1e-14
"""Step (share of the way from zero) with which nothing is gained any more."""


def least_squares(equations: Callable[[Array], tuple[Array, Array]], start: Array) -> Array:
    """The unknowns (n,) near `start` with the least sum of squared residuals, found downhill.

    Damped steps stay near where they start: of the many solutions of fewer equations than unknowns
    they come to one nearby. The damping follows the gain of each step (Nielsen 1999).

    Parameters
    ----------
    equations : the residual (m,) and its derivatives (m, n) at unknowns.
    """
    x = np.array(start, dtype=float)
    residual, matrix = equations(x)
    square, slope = residual @ residual, matrix.T @ residual
    normal = matrix.T @ matrix
    damping = FIRST_DAMPING * float(np.diag(normal).max(initial=1e-30))
    growth = 2.0
    for _ in range(MOST_EVALUATIONS):
        damping = max(damping, REGULAR_DAMPING * float(np.diag(normal).max(initial=1e-30)))
        step = -np.linalg.solve(normal + damping * np.eye(len(x)), slope)
        if not np.abs(step).max(initial=0.0) > SHORT * (1.0 + np.abs(x).max(initial=0.0)):
            break
        ahead, ahead_matrix = equations(x + step)
        ahead_square = ahead @ ahead
        gain = float((square - ahead_square) / (step @ (damping * step - slope)))
        if gain > 0:
            x, square, slope = x + step, ahead_square, ahead_matrix.T @ ahead
            normal = ahead_matrix.T @ ahead_matrix
            damping *= max(1 / 3, 1 - (2 * gain - 1) ** 3)
            growth = 2.0
        else:
            damping *= growth
            growth *= 2.0
    return x
