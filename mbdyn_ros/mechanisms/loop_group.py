"""Groups of links that no dyad solves: Newton's method over many positions and designs at once.

Its derivatives are exact: the imaginary part of the gaps at unknowns with a tiny imaginary part
(Squire and Trapp 1998).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.model import Array

IMAGINARY_STEP = 1e-60
"""Imaginary part for derivatives: its square is nothing beside 1."""

GROUP_ITERATIONS = 12
"""Newton's iterations; from a neighbour five suffice."""

GROUP_SETTLED = 1e-13
"""Largest correction, in sizes of the unknowns, of a solution that stands."""

Gaps = Callable[[Array], Array]
"""Gaps (m, ...) of unknowns (m, ...)."""


def slopes(gaps: Gaps, z: Array) -> tuple[Array, Array]:
    """Gaps (..., m) at z (m, ...), and their derivatives (..., m, m)."""
    count = len(z)
    directions = np.eye(count).reshape(count, count, *[1] * (z.ndim - 1))
    found = gaps(z[:, None] + 1j * IMAGINARY_STEP * directions)
    value, slope = found[:, 0].real, found.imag / IMAGINARY_STEP
    return np.moveaxis(value, 0, -1), np.moveaxis(slope, (0, 1), (-2, -1))


def settle(gaps: Gaps, guess: Array) -> tuple[Array, Array]:
    """The solution (m, ...) near a guess, and the determinant there, of columns of length one.

    NaN where there is none. The determinant is between -1 and 1, and 0 at a toggle.
    """
    z, last = guess, np.full(guess.shape[1:], np.inf)
    for _ in range(GROUP_ITERATIONS):
        value, slope = slopes(gaps, z)
        step = _solve(slope, value)
        last = np.abs(step).max(axis=-1)
        z = z - np.moveaxis(step, -1, 0)
        if not (last > GROUP_SETTLED).any():
            break
    _, slope = slopes(gaps, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        determinant = np.linalg.det(slope / np.linalg.norm(slope, axis=-2, keepdims=True))
    lost = ~(last < np.sqrt(GROUP_SETTLED))
    return np.where(lost, np.nan, z), np.where(lost, np.nan, determinant)


def _solve(matrix: Array, right: Array) -> Array:
    """Solutions (..., m), NaN of what is singular or not finite."""
    with np.errstate(all="ignore"):
        bad = ~np.isfinite(matrix).all(axis=(-2, -1)) | (np.linalg.det(matrix) == 0)
    safe = np.where(bad[..., None, None], np.eye(matrix.shape[-1]), matrix)
    solved: Array = np.linalg.solve(safe, np.where(bad[..., None], np.nan, right)[..., None])
    return solved[..., 0]
