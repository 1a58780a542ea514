"""Units in which the rows of a cluster are compared: lengths count in its own size."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...model.model import Array
from ...prepare.clusters import Closure, Cluster
from ...prepare.tree import Tree
from ..algebra.spatial import SX

NEGLIGIBLE = 1e-9
"""Share of a body's lengths under which a lever arm is the rounding of none."""


@dataclass(frozen=True, eq=False)
class Units:
    """Factors that make the rows of a cluster free of units.

    size : the longest lever arm of the loops (m). around : the longest path around one (m).
    rows : (m,), of the rows and of residuals. columns : (n,), positions of the joints per unit.
    """

    size: float
    around: float
    rows: Array
    columns: Array

    def scaled(self, matrix: Array) -> Array:
        """Rows (m, n) without units."""
        return matrix * np.outer(self.rows, self.columns)


def units_of(tree: Tree, cluster: Cluster, matrix: Array) -> Units:
    """The units of a cluster whose rows (m, n) at some configuration are `matrix`."""
    lengths = np.array(_lengths(cluster), dtype=bool)
    sliding = np.array([tree.bodies[body].motion.slides for body in cluster.coupled])
    arms = np.abs(matrix[: len(lengths)][lengths][:, ~sliding])
    size, extent = float(arms.max(initial=0.0)), _extent(tree, cluster)
    if size <= NEGLIGIBLE * extent:
        size = extent
    size = size or 1.0
    columns = np.where(sliding, size, 1.0)
    gears = np.abs(matrix[len(lengths) :] * columns).max(axis=1, initial=0.0)  # have any unit
    around = max(size, loop_length(tree, cluster))
    rows = np.concatenate([np.where(lengths, 1 / size, 1.0), 1 / gears])
    return Units(size, around, rows, columns)


def unit_of_length(size: float) -> float:
    """The unit that suits a size (m): 1 for 3 cm to 30 m, else 1 mm, 1 um, 1 km and so on."""
    return 1e3 ** round(math.log(size, 1e3))


def rows_in(tree: Tree, cluster: Cluster, unit: float) -> Array:
    """Factors (m,) of rows and residuals that make lengths count in `unit` (m)."""
    slides = [tree.bodies[gear.factors[0][0]].motion.slides for gear in cluster.gears]
    return np.where([*_lengths(cluster), *slides], 1 / unit, 1.0)


def _lengths(cluster: Cluster) -> list[bool]:
    """Of all rows of the closures, whether they are lengths."""
    kinds: list[bool] = []
    for closure in cluster.closures:
        kinds += [True] * closure.closing.slide.rows + [False] * closure.closing.turn.rows
    return kinds


def _extent(tree: Tree, cluster: Cluster) -> float:
    """The longest distance within a body of a cluster (m), 0 where all is in one point."""
    vectors = [tree.bodies[index].placement.translation for index in cluster.bodies]
    vectors += [tree.bodies[index].inertia.center for index in cluster.bodies]
    vectors += [pose.translation for index, pose in tree.frames.values() if index in cluster.bodies]
    return float(np.abs(vectors).max(initial=0.0))


def loop_length(tree: Tree, cluster: Cluster) -> Any:
    """The longest path around a loop (m); an expression where lengths are."""
    lengths = [closure_length(tree, closure) for closure in cluster.closures]
    if any(isinstance(one, SX) for one in lengths):
        return functools.reduce(ca.fmax, lengths)
    return max(lengths, default=0.0)


def closure_length(tree: Tree, closure: Closure) -> Any:
    """The length of the path around a loop, from joint to joint in the zero position (m)."""
    poses = [tree.bodies[body].placement for body in closure.bodies]
    poses += [frame for _, frame in closure.ends]
    return sum(
        ca.norm_2(shift) if isinstance(shift, SX) else float(np.linalg.norm(shift))
        for shift in (pose.translation for pose in poses)
    )
