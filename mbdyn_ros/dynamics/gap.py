"""How far a configuration is from closing its loops, and how near one can come."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.model import Array
from .continuation import follow
from .linkage import Linkage, newton_step, rows_at_positions
from .system import System


@dataclass(frozen=True)
class Unreachable:
    """A loop that cannot be closed: its independent joints as wanted, and the nearest that can.

    gap : least residual (m or rad) that the dependent joints leave at the wanted position.
    """

    loop: str
    joints: tuple[str, ...]
    wanted: Array
    nearest: Array
    gap: float


def residual_function(system: System, linkage: Linkage) -> ca.Function:
    """Residual of a linkage's constraints as a function of its joints' positions."""
    x, rows = rows_at_positions(system.tree, linkage.cluster)
    return ca.Function("residual", [x], [rows.residual])


def tree_gap(system: System, position: Array) -> tuple[float, str]:
    """Largest residual of the constraints at tree positions, and the name of the worst."""
    worst, name = 0.0, ""
    for linkage in system.linkages:
        x = position[linkage_rows(system, linkage)]
        gap = float(np.abs(np.array(residual_function(system, linkage)(x))).max(initial=0.0))
        if not gap <= worst:
            worst, name = gap, linkage.cluster.name
    return worst, name


def linkage_rows(system: System, linkage: Linkage) -> list[int]:
    """Tree positions of a linkage's joints."""
    return [system.tree.bodies[body].q.start for body in linkage.cluster.tied]


def unreachable(system: System, q: Array) -> Unreachable | None:
    """The first loop that cannot be closed at the independent positions q, if any."""
    whole = np.zeros(system.tree.nq)
    whole[list(system.coordinates.q)] = q
    for linkage in system.linkages:
        if linkage.linear:
            continue
        rows = np.array(linkage_rows(system, linkage))
        free, bound = rows[list(linkage.independent)], rows[list(linkage.dependent)]
        start = system.home[free], system.home[bound]
        walk = follow(newton_step(system.tree, linkage), start, whole[free])
        if walk.arrived:
            continue
        gap = _least_gap(system, linkage, whole[free], walk.dependent)
        return Unreachable(
            linkage.cluster.name,
            tuple(system.tree.bodies[linkage.cluster.tied[k]].joint for k in linkage.independent),
            whole[free],
            walk.independent,
            gap,
        )
    return None


def _least_gap(system: System, linkage: Linkage, y: Array, start: Array) -> float:
    """Least residual that the dependent joints can leave at the independent positions y."""
    from scipy.optimize import least_squares  # slow to import, and only errors need it

    residual = residual_function(system, linkage)
    x = np.zeros(len(linkage.cluster.tied))
    x[list(linkage.independent)] = y

    def gap(z: Array) -> Array:
        x[list(linkage.dependent)] = z
        return np.array(residual(x)).ravel()

    return float(np.abs(least_squares(gap, start).fun).max())
