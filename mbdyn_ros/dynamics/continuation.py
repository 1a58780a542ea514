"""Dependent positions by following the loop from a known configuration (Newton's method).

From a closed configuration the independent positions move along a straight line to the wanted
ones, in steps short enough that Newton's method contracts at once and the dependent joints move
little: so the branch never changes, and a singularity stops the walk instead of being jumped.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.model import Array

LARGEST_MOVE = 0.5
"""Most that any joint may move in one step (rad or m)."""

SMALLEST_STEP = 1e-7
"""Share of the largest step under which the walk gives up."""

CLOSED = 1e-12
"""Largest residual of a closed loop (m or rad)."""

ITERATIONS = 8
"""Newton iterations within which a step must have converged."""


@dataclass(frozen=True)
class Walk:
    """How far a walk came: share of the way, positions there, and largest residual."""

    share: float
    independent: Array
    dependent: Array
    gap: float

    @property
    def arrived(self) -> bool:
        """Whether the wanted configuration was reached."""
        return self.share == 1.0


def follow(step: ca.Function, start: tuple[Array, Array], target: Array) -> Walk:
    """Walk from the closed configuration `start` (y, z) to the independent positions `target`.

    `step` is `linkage.newton_step`; the compiled programs do the same in C.
    """
    y0, z = start
    if not np.isfinite(target).all():
        return Walk(0.0, y0, z, np.nan)
    farthest = float(np.abs(target - y0).max(initial=0.0))
    largest = LARGEST_MOVE / max(farthest, LARGEST_MOVE)
    way, size, gap = 0.0, largest, 0.0
    while way < 1.0:
        ahead = min(1.0, way + size)
        y = y0 + ahead * (target - y0)
        found = _newton(step, y, z)
        if found is not None:
            z, gap = found
            way, size = ahead, min(2 * size, largest)
        else:
            size = (ahead - way) / 2
            if size < SMALLEST_STEP * largest:
                break
    return Walk(way, y0 + way * (target - y0), z, gap)


def _newton(step: ca.Function, y: Array, start: Array) -> tuple[Array, float] | None:
    """Close the loop at y from `start`; None where that does not converge nearby."""
    z, last = start, np.inf
    for _ in range(ITERATIONS):
        change, gap, aligned = (np.array(part).ravel() for part in step(y, z))
        moved = float(np.abs(change).max(initial=0.0))
        if not moved <= last / 2 and moved > CLOSED:  # NaN, or no contraction
            return None
        z, last = z + change, max(moved, CLOSED)
        if np.abs(z - start).max(initial=0.0) > LARGEST_MOVE:
            return None
        if moved <= CLOSED and gap[0] <= CLOSED and aligned[0] > 0:
            return z, float(gap[0])
    return None
