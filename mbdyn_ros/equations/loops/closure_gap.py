"""How far loops are open: lengths in metres, angles in radians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree

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
        told = [f"{x:.3g} {unit}" for x, unit in parts if not x <= UNTOLD_GAP * self.largest]
        return " and ".join(told) or "0 m"


def closure_gap(tree: Tree, cluster: Cluster, residual: Array) -> ClosureGap:
    """The gap that the residual (m,) of all rows of a cluster stands for."""
    metres, radians, row = [0.0], [0.0], 0
    for closure in cluster.closures:
        lengths, angles = closure.closing.slide.rows, closure.closing.turn.rows
        metres.append(float(np.linalg.norm(residual[row : row + lengths])))
        radians.append(float(np.linalg.norm(residual[row + lengths : row + lengths + angles])))
        row += lengths + angles
    for gear in cluster.gears:
        slides = tree.bodies[gear.factors[0][0]].motion.slides
        (metres if slides else radians).append(abs(float(residual[row])))
        row += 1
    return ClosureGap(float(np.max(metres)), float(np.max(radians)))


def positions_text(names: tuple[str, ...], positions: Array) -> str:
    """Joints and where they are, for messages."""
    return ", ".join(f"{name} = {x!r}" for name, x in zip(names, positions.tolist(), strict=True))
