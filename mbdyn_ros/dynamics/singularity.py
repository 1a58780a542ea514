"""Joints that move no mass: where forward dynamics has no answer."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..model.model import Array
from .spatial import SX
from .system import System

NEGLIGIBLE = 1e-12
"""Share of a joint's composite inertia under which its articulated inertia counts as zero."""


def massless_directions(system: System) -> list[int]:
    """Independent velocity coordinates along which nothing with mass moves.

    The pivots of the factorisation H = L^T D L are the inertias that each joint feels when
    the joints it carries are free (the articulated inertias). A pivot that is zero at several
    configurations is a direction of motion without inertia.
    """
    bodies = system.tree.bodies
    if all(_positive(body.inertia.mass, body.inertia.second) for body in bodies):
        return []
    coordinates = system.coordinates
    q, z = SX.sym("q", coordinates.nq), SX.sym("z", system.nz)
    matrix = ca.Function("mass_matrix", [q, z], [ca.densify(system.mass_matrix(q, z))])
    random = np.random.default_rng(0)
    empty = np.ones(coordinates.nv, dtype=bool)
    home = system.home[list(coordinates.q)]
    tied = {row for linkage in system.linkages for row in linkage.coordinates}
    loose = np.array([row not in tied for row in coordinates.q])
    dependent = system.home[system.walked_rows]
    for _ in range(3):
        position = home + loose * random.uniform(-1.0, 1.0, coordinates.nq)
        for start in coordinates.quaternions:
            position[start : start + 4] /= np.linalg.norm(position[start : start + 4])
        empty &= _empty_pivots(np.array(matrix(position, dependent)))
    return [int(k) for k in np.flatnonzero(empty)]


def _positive(mass: float, second: Array) -> bool:
    """Whether a body resists acceleration in every direction, for certain."""
    return mass > 0 and bool(np.linalg.eigvalsh(second)[0] > NEGLIGIBLE * np.trace(second))


def _empty_pivots(matrix: Array) -> np.ndarray:
    """Which pivots of H = L^T D L vanish; the rows behind them are left out."""
    pivots = np.zeros(len(matrix), dtype=bool)
    rest = matrix.copy()
    largest = np.abs(matrix).max(initial=0.0)
    for k in reversed(range(len(matrix))):
        scale = max(abs(matrix[k, k]), NEGLIGIBLE**1.5 * largest)
        if abs(rest[k, k]) <= NEGLIGIBLE * scale:
            pivots[k] = True
            continue
        rest[:k, :k] -= np.outer(rest[:k, k], rest[k, :k]) / rest[k, k]
    return pivots
