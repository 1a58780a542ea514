"""How far a configuration is from closing its loops, and how near one can come."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.model import Array
from ..program.symbols import serialized
from .algebra.spatial import SX
from .loops.closure_gap import ClosureGap, closure_gap
from .loops.linkage import Linkage
from .loops.loop_walk import LoopWalk
from .loops.planar_figure import PlanarFigure
from .system import System


@dataclass(frozen=True)
class Unreachable:
    """A loop that cannot be closed: its independent joints as wanted, and the nearest that can.

    gap : least that the dependent joints leave at the wanted position; next to nothing where it
        closes there, but behind a singularity.
    """

    loop: str
    joints: tuple[str, ...]
    wanted: Array
    nearest: Array
    gap: ClosureGap


def tree_gap(system: System, position: Array) -> tuple[ClosureGap, str]:
    """The widest gap of the loops at tree positions, and the name of the worst."""
    worst, name = ClosureGap(0.0, 0.0), ""
    for linkage, residual in system.residuals.items():
        x = position[system.rows(linkage)]
        gap = closure_gap(system.tree, linkage.cluster, np.array(residual(x)).ravel())
        if not gap.largest <= worst.largest:
            worst, name = gap, linkage.cluster.name
    return worst, name


@serialized
def unreachable(system: System, q: Array) -> Unreachable | None:
    """The first loop that cannot be closed at the independent positions q, if any."""
    whole = np.zeros(system.tree.nq)
    whole[list(system.coordinates.q)] = q
    for linkage in system.linkages:
        if linkage.linear or linkage.stands:
            continue
        rows = np.array(system.rows(linkage))
        free, bound = rows[list(linkage.independent)], rows[list(linkage.dependent)]
        form = linkage.closed_form
        if isinstance(form, PlanarFigure) and len(form.given) == 1:
            arrived, nearest, start = _closed_form_end(form, float(whole[free[0]]))
        else:
            walk = LoopWalk(system.tree, linkage).by_any_way(system.home[rows], whole[rows])
            arrived, nearest, start = walk.arrived, walk.independent, walk.dependent
        if arrived:
            continue
        start = np.where(np.isfinite(start), start, system.home[bound])
        gap = _least_gap(system, linkage, whole[free], start)
        return Unreachable(
            linkage.cluster.name,
            tuple(system.tree.bodies[linkage.cluster.tied[k]].joint for k in linkage.independent),
            whole[free],
            nearest,
            gap,
        )
    return None


def _closed_form_end(form: PlanarFigure, wanted: float) -> tuple[bool, Array, Array]:
    """Whether the given joint reaches `wanted`; the nearest it reaches, and the others there."""
    nearest = form.reach[0].nearest(wanted)
    q = SX.sym("q")
    values = form.values(q)
    order = sorted(values)
    function = ca.Function("values", [q], [ca.vertcat(*(values[body] for body in order))])
    return nearest == wanted, np.array([nearest]), np.array(function(nearest)).ravel()


def _least_gap(system: System, linkage: Linkage, y: Array, start: Array) -> ClosureGap:
    """The gap that is least by the sum of its squares at the independent positions y."""
    from scipy.optimize import least_squares  # slow to import, and only errors need it

    residual = system.residuals[linkage]
    x = np.zeros(len(linkage.cluster.tied))
    x[list(linkage.independent)] = y

    def gap(z: Array) -> Array:
        x[list(linkage.dependent)] = z
        return np.array(residual(x)).ravel()

    with np.errstate(over="ignore", invalid="ignore"):  # squares of positions such as 1e300
        return closure_gap(system.tree, linkage.cluster, least_squares(gap, start).fun)
