"""How far loops are open: lengths in metres, angles in radians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree

UNTOLD_SHARE = 1e-6
"""Share of the larger limit up to which a position beyond one is not told."""

UNTOLD_GAP = 1e-3
"""Share of the larger gap below which the other one is left out of messages."""


@dataclass(frozen=True)
class ClosureGap:
    """The widest gap of a cluster's loops: distance (m), and turn (rad; sine of it)."""

    metres: float
    radians: float

    @property
    def largest(self) -> float:
        """The larger of both numbers."""
        return max(self.metres, self.radians)

    def __str__(self) -> str:
        parts = ((self.metres, "m"), (self.radians, "rad"))
        least = UNTOLD_GAP * self.largest
        told = [f"{x:.3g} {unit}" for x, unit in parts if not x <= least or x == math.inf]
        return " and ".join(told) or "0 m"


def closure_gaps(tree: Tree, cluster: Cluster, residual: Array) -> dict[str, ClosureGap]:
    """The gap of every loop and coupling of a cluster, by the residual (m,) of all its rows."""
    gaps, row = {}, 0
    for closure in cluster.closures:
        lengths, angles = closure.closing.slide.rows, closure.closing.turn.rows
        metres = _norm(residual[row : row + lengths])
        radians = _norm(residual[row + lengths : row + lengths + angles])
        gaps[closure.name] = ClosureGap(metres, radians)
        row += lengths + angles
    for gear in cluster.gears:
        size, slides = abs(float(residual[row])), tree.bodies[gear.factors[0][0]].motion.slides
        gaps[gear.name] = ClosureGap(size, 0.0) if slides else ClosureGap(0.0, size)
        row += 1
    return gaps


def _norm(vector: Array) -> float:
    """The Euclidean norm, of numbers whose squares are too large for a float too."""
    return math.hypot(*vector.tolist())


def closure_gap(tree: Tree, cluster: Cluster, residual: Array) -> ClosureGap:
    """The widest gap that the residual (m,) of all rows of a cluster stands for."""
    gaps = closure_gaps(tree, cluster, residual).values()
    return ClosureGap(
        float(np.max([gap.metres for gap in gaps], initial=0.0)),
        float(np.max([gap.radians for gap in gaps], initial=0.0)),
    )


def positions_text(names: tuple[str, ...], positions: Array) -> str:
    """Joints and where they are, for messages."""
    return ", ".join(f"{name} = {x!r}" for name, x in zip(names, positions.tolist(), strict=True))


def excess(x: float, lower: float, upper: float) -> float:
    """How far (rad or m) a position is beyond its limits; 0 where it is no more than rounding."""
    over = x - min(max(x, lower), upper)
    size = max((abs(limit) for limit in (lower, upper) if math.isfinite(limit)), default=0.0)
    return over if abs(over) > UNTOLD_SHARE * size else 0.0


def beyond_limits(names: Sequence[str], bounds: Array, positions: Array) -> str:
    """Joints beyond their limits (2, n), with how far, for messages; empty where there is none."""
    found = []
    for name, *limits, x in zip(names, *bounds.tolist(), positions.tolist(), strict=True):
        if over := excess(x, *limits):
            found.append(f"{name} at {x:.4g}, {abs(over):.3g} beyond its limit of {x - over:.4g}")
    return ", ".join(found)
