"""How far loops are open (m, rad), and how near to closed they can come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..array import Array
from ..equations.algebra.spatial import SX
from ..equations.loops.linkage import Linkage, loop_functions
from ..equations.loops.planar_figure import PlanarFigure
from ..equations.system import System
from ..prepare.clusters import Cluster
from ..prepare.tree import Tree
from ..program import continuation
from ..program.continuation import Walk
from ..program.symbols import serialized


class LoopWalk:
    """Walks of one linkage; configurations are positions (n,) of its joints, as `coupled` has them.

    Of where a walk leads the independent positions count alone.
    """

    def __init__(self, tree: Tree, linkage: Linkage) -> None:
        self._free, self._bound = list(linkage.independent), list(linkage.dependent)
        self._loop = loop_functions(tree, linkage)

    def straight(self, start: Array, target: Array) -> Walk:
        """The straight way; see `continuation.follow`."""
        return continuation.follow(self._loop, self._parted(start), target[self._free])

    def by_any_way(self, start: Array, target: Array) -> Walk:
        """The first way that leads there, as the programs go; see `continuation.reach`."""
        return continuation.reach(self._loop, self._parted(start), target[self._free])

    def end(self, walk: Walk) -> Array:
        """The configuration that a walk came to."""
        result = np.empty(len(self._free) + len(self._bound))
        result[self._free], result[self._bound] = walk.independent, walk.dependent
        return result

    def _parted(self, x: Array) -> tuple[Array, Array]:
        return x[self._free], x[self._bound]


UNREPORTED_SHARE = 1e-6
"""Share of the larger limit up to which a position beyond one is not reported."""

UNREPORTED_GAP = 1e-3
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
        least = UNREPORTED_GAP * self.largest
        parts_above = [f"{x:.3g} {unit}" for x, unit in parts if not x <= least or x == math.inf]
        return " and ".join(parts_above) or "0 m"


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
    """The widest gap that the residual (m,) of all rows of a cluster corresponds to."""
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
    return over if abs(over) > UNREPORTED_SHARE * size else 0.0


def beyond_limits(names: Sequence[str], bounds: Array, positions: Array) -> str:
    """Joints beyond their limits (2, n), with how far, for messages; empty where there is none."""
    found = []
    for name, *limits, x in zip(names, *bounds.tolist(), positions.tolist(), strict=True):
        if over := excess(x, *limits):
            found.append(f"{name} at {x:.4g}, {abs(over):.3g} beyond its limit of {x - over:.4g}")
    return ", ".join(found)


@dataclass(frozen=True)
class Unreachable:
    """A loop that cannot be closed: its independent joints as wanted, and the nearest that can.

    gap : least that the dependent joints leave at the wanted position; next to nothing where it
        closes there, but beyond a singularity.
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
        gap = closure_gap(system.tree, linkage.cluster, residual(x)[0].ravel())
        if not gap.largest <= worst.largest:
            worst, name = gap, linkage.cluster.name
    return worst, name


@serialized
def unreachable(system: System, q: Array) -> Unreachable | None:
    """The first loop that cannot be closed at the independent positions q, if any."""
    whole = np.zeros(system.tree.nq)
    whole[list(system.coordinates.q)] = q
    for linkage in system.linkages:
        if linkage.linear or linkage.is_rigid:
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
            tuple(
                system.tree.bodies[linkage.cluster.coupled[k]].joint for k in linkage.independent
            ),
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
    x = np.zeros(len(linkage.cluster.coupled))
    x[list(linkage.independent)] = y

    def gap(z: Array) -> Array:
        x[list(linkage.dependent)] = z
        return residual(x)[0].ravel()

    with np.errstate(over="ignore", invalid="ignore"):  # squares of positions such as 1e300
        return closure_gap(system.tree, linkage.cluster, least_squares(gap, start).fun)
