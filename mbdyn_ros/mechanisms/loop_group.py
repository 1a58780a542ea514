"""Groups of links that no dyad solves: Newton's method over many positions and designs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model.model import Array

GROUP_ITERATIONS = 12
"""Newton's iterations; from a neighbour three suffice."""

GROUP_SETTLED, GROUP_NEAR = 1e-13, 1e-5
"""Largest correction (rad or m) of a solution that stands, and of one that only leads to others."""

Gaps = Callable[[Array], tuple[Array, Array]]
"""Gaps (..., m) at unknowns (m, ...), and their derivatives (..., m, m)."""


def settle(gaps: Gaps, guess: Array, near: float = GROUP_SETTLED) -> tuple[Array, Array]:
    """The solution (m, ...) near a guess, and the determinant there, of columns of length one.

    NaN where there is none. The determinant is between -1 and 1, and 0 at a toggle.
    """
    z, last, slope = guess, np.full(guess.shape[1:], np.inf), None
    for _ in range(GROUP_ITERATIONS):
        value, slope = gaps(z)
        step = _solve(slope, value)
        last = np.abs(step).max(axis=-1)
        z = z - np.moveaxis(step, -1, 0)
        if not (last > near).any():
            break
    assert slope is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        determinant = np.linalg.det(slope / np.linalg.norm(slope, axis=-2, keepdims=True))
    lost = ~(last < np.sqrt(near))
    return np.where(lost, np.nan, z), np.where(lost, np.nan, determinant)


def _solve(matrix: Array, right: Array) -> Array:
    """Solutions (..., m), NaN of what is singular or not finite."""
    solved: Any
    try:
        solved = np.linalg.solve(matrix, right[..., None])
    except np.linalg.LinAlgError:
        bad = ~(np.abs(np.linalg.det(matrix)) > 0)
        safe = np.where(bad[..., None, None], np.eye(matrix.shape[-1]), matrix)
        solved = np.linalg.solve(safe, np.where(bad[..., None], np.nan, right)[..., None])
    found: Array = solved[..., 0]
    return found
