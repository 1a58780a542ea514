"""Constraint rows free of units, so that their ranks and motions can be judged by size."""

from __future__ import annotations

import numpy as np

from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree


def units(tree: Tree, cluster: Cluster, matrix: Array) -> tuple[Array, Array]:
    """Factors of the rows (m,) and of the joints (n,) that make the rows of a cluster pure numbers.

    Lengths count in the size of the cluster: the longest arm about its joints in `matrix` (m, n),
    its rows at one configuration.
    """
    sliding = np.array([tree.bodies[body].motion.slides for body in cluster.tied])
    lengths: list[bool] = []
    for closure in cluster.closures:
        lengths += [True] * closure.closing.slide.rows + [False] * closure.closing.turn.rows
    gears = len(matrix) - len(lengths)
    arms = np.abs(matrix[: len(lengths)][lengths][:, ~sliding])
    size = float(arms.max(initial=0.0)) or 1.0
    rows = np.where([*lengths, *[False] * gears], 1 / size, 1.0)
    joints = np.where(sliding, size, 1.0)
    for k in range(len(lengths), len(matrix)):  # a gear's row has any unit
        rows[k] = 1 / np.abs(matrix[k] * joints).max()
    return rows, joints
