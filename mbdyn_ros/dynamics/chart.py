"""How well the independent joints determine the others, and which would do so best.

At a dead centre of a joint its velocity says nothing about the mechanism's: the rows of the
dependent joints lose rank there, although the mechanism moves on. Other joints serve as
coordinates then. Only where the rows of all joints lose rank does the mechanism itself have
a singularity (a change point), and more than one way to go.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..model.model import Array
from .assembly import spanning_rows
from .gap import linkage_rows
from .linkage import Linkage, cluster_motions, cluster_rows
from .spatial import SX
from .system import System


class Chart:
    """The constraint rows of one linkage as numbers, and what they say of its coordinates."""

    def __init__(self, system: System, linkage: Linkage) -> None:
        self.linkage = linkage
        self._places = linkage_rows(system, linkage)
        x = SX.sym("x", len(linkage.cluster.tied))
        values = {body: x[k] for k, body in enumerate(linkage.cluster.tied)}
        joints = cluster_motions(system.tree, linkage.cluster, values)
        rest = SX.zeros(system.tree.nv)
        rows = cluster_rows(system.tree, linkage.cluster, joints, values, rest)
        kept = rows.matrix[list(linkage.rows), :]
        self._rows = ca.Function("rows", [x], [ca.densify(kept)])

    def matrix(self, tree_position: Array) -> Array:
        """Kept rows (rank, n) at tree positions."""
        return np.array(self._rows(tree_position[self._places]))

    def regularity(self, matrix: Array) -> float:
        """Smallest singular value of the rows over the largest; 0 at a change point."""
        values = np.linalg.svd(matrix, compute_uv=False)
        return float(values[-1] / values[0])

    def quality(self, matrix: Array) -> float:
        """The same of the dependent joints' columns alone; 0 at a dead centre."""
        return self.quality_of(matrix, self.linkage.independent)

    def quality_of(self, matrix: Array, independent: Sequence[int]) -> float:
        """The quality of another choice."""
        dependent = [k for k in range(matrix.shape[1]) if k not in independent]
        values = np.linalg.svd(matrix[:, dependent], compute_uv=False)
        return float(values[-1] / np.linalg.norm(matrix, 2))

    def best(self, matrix: Array) -> tuple[int, ...]:
        """Places in the linkage of the joints that would best be independent."""
        dependent = spanning_rows(matrix.T, len(matrix))
        return tuple(k for k in range(matrix.shape[1]) if k not in dependent)


def charts(system: System) -> tuple[Chart, ...]:
    """The charts of all linkages with loops."""
    return tuple(Chart(system, one) for one in system.linkages if not one.linear)
