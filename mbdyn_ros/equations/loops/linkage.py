"""A constrained cluster solved for some of its joints: local constraint embedding (Jain 2012).

Of the constraint rows K qd = 0 of a cluster, as many as its rank are kept; they are solved for
as many dependent joints: qd = G yd and qdd = G ydd + g, y the independent ones.

Linear equations of a general matrix by orthogonal elimination that keeps its zeros.

A reflection (Householder 1958) turns the rows that have a number in one column so that all but one
of them have none. No pivot is chosen by size, so the same operations serve wherever the matrix is
regular; which column comes next is free, and chosen for few operations. Loops that share a body
have few joints in common, and what belongs to one of them alone goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
from numpy.polynomial.polynomial import polyder

from ...model.motion_law import MotionLaw, Sine
from ...prepare.clusters import Cluster
from ...prepare.tree import Tree
from ...program.continuation import LoopFunctions
from ...program.symbols import serialized
from ..algebra.spatial import SX, JointMotion, Position, joint_motion
from .loop_rows import loop_rows
from .units import rows_in

Row = dict[int, SX]
"""The elements of a row that are not zero by structure, by column."""


def solve_orthogonal(matrix: SX, right: SX) -> SX:
    """x (n, k) of matrix (n, n) x = right (n, k)."""
    n, k = matrix.shape[0], right.shape[1]
    rows = [_row(whole[i, :]) for whole in [ca.horzcat(matrix, right)] for i in range(n)]
    left, solved = set(range(n)), []
    while left:
        column = min(left, key=lambda one: (_cost(rows, one), one))
        left.remove(column)
        pivot, rows = _eliminated(rows, column)
        solved.append((column, pivot))
    x: list[Row] = [{} for _ in range(n)]
    for column, pivot in reversed(solved):
        inverse = 1 / pivot.pop(column)
        for j in range(k):
            terms = [pivot[n + j]] if n + j in pivot else []
            terms += [-pivot[i] * x[i][j] for i in pivot if i < n and j in x[i]]
            if terms:
                x[column][j] = _sum(terms) * inverse
    result = SX(n, k)
    for i, row in enumerate(x):
        for j, value in row.items():
            result[i, j] = value
    return ca.densify(result)


def _row(row: SX) -> Row:
    return {j: row[j] for j in range(row.shape[1]) if not row[j].is_zero()}


def _sum(terms: list[SX]) -> SX:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _cost(rows: list[Row], column: int) -> int:
    """How many elements the elimination of a column touches."""
    met = [row for row in rows if column in row]
    return 0 if len(met) == 1 else len(met) * len({j for row in met for j in row})


def _eliminated(rows: list[Row], column: int) -> tuple[Row, list[Row]]:
    """The row that determines a column, and the others without it.

    The reflection I - v v^T / (r |v_1|) with v = x + sign(x_1) r e_1, r = |x|, makes of the
    elements x of the column -sign(x_1) r e_1.
    """
    met = [row for row in rows if column in row]
    rest = [row for row in rows if column not in row]
    if len(met) == 1:
        return met[0], rest
    first, *others = (row[column] for row in met)
    length = ca.sqrt(_sum([one * one for one in (first, *others)]))
    signed = ca.copysign(length, first)
    normal = [first + signed, *others]
    scale = 1 / (signed * normal[0])
    turned: list[Row] = [{} for _ in met]
    for j in sorted({j for row in met for j in row} - {column}):
        projected = _sum([v * row[j] for v, row in zip(normal, met, strict=True) if j in row])
        share = scale * projected
        for v, row, new in zip(normal, met, turned, strict=True):
            new[j] = row[j] - share * v if j in row else -share * v
    turned[0][column] = -signed
    return turned[0], rest + turned[1:]


@dataclass(frozen=True)
class ClusterRows:
    """All rows of a cluster over its coordinates; see `loops.LoopRows`.

    wrenches : `LoopRows.wrench` of each closure, over its own rows; the rows of gears follow.
    """

    residual: SX
    matrix: SX
    drift: SX
    aligned: SX
    wrenches: tuple[SX, ...]


class LoopClosedForm(Protocol):
    """Positions of a linkage's dependent joints as formulas of the positions of `given_bodies`.

    positions : what the dependent joints do, by body. values : their positions (1, 1).
    """

    @property
    def given_bodies(self) -> tuple[int, ...]: ...

    def positions(self, *q: Any) -> dict[int, Position]: ...

    def values(self, *q: Any) -> dict[int, SX]: ...


@dataclass(frozen=True, eq=False)
class Linkage:
    """A constrained cluster and the choice of its independent coordinates.

    coordinates : tree velocity coordinates of its joints; `independent` and `dependent` are
    positions in it, `rows` the constraint rows that determine the dependent ones.
    closed_form : the solution for the positions where there is one.
    tolerances : how far each row may stay open (m or rad): 0 for `rows`, and for the others what
        rounding explains; empty where nothing is rounded.
    unit : length (m) in which gaps are measured, 1 where the linkage is neither tiny nor huge.
    """

    cluster: Cluster
    coordinates: tuple[int, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]
    closed_form: LoopClosedForm | None = None
    tolerances: tuple[float, ...] = ()
    unit: float = 1.0

    def beyond_tolerances(self, residual: SX) -> SX:
        """The residual (m, 1) of all rows, less the tolerance of each."""
        if not self.tolerances:
            return residual
        tolerances = ca.DM(self.tolerances)
        return residual - ca.fmax(ca.fmin(residual, tolerances), -tolerances)

    @property
    def linear(self) -> bool:
        """Whether gears alone constrain it, and their rows are the same at all positions."""
        return self.cluster.linear

    @property
    def has_dead_centres(self) -> bool:
        """Whether its dependent joints may be undetermined somewhere: never those of cams that
        follow by formulas."""
        solved = not self.cluster.closures and self.closed_form is not None
        return not (self.linear or self.is_rigid or solved)

    @property
    def is_rigid(self) -> bool:
        """Whether nothing of it moves."""
        return not self.independent


def cluster_coordinates(tree: Tree, cluster: Cluster) -> tuple[int, ...]:
    """Tree velocity coordinates of the joints of a constrained cluster."""
    return tuple(tree.bodies[body].v.start for body in cluster.coupled)


def cluster_rows(
    tree: Tree, cluster: Cluster, joints: Mapping[int, JointMotion], values: Mapping[int, SX], v: SX
) -> ClusterRows:
    """Rows of all loops and gears of a cluster.

    Parameters
    ----------
    joints : motions of the joints by body.
    values : positions (1, 1) by body; needed for gears alone.
    v : tree velocities.
    """
    order = {column: k for k, column in enumerate(cluster_coordinates(tree, cluster))}
    residuals, blocks, drifts, aligned = [], [], [], [SX(1)]
    wrenches: list[SX] = []
    for closure in cluster.closures:
        rows = loop_rows(tree, closure, joints, v)
        block = SX(rows.matrix.shape[0], len(order))
        for k, column in enumerate(rows.columns):
            block[:, order[column]] = rows.matrix[:, k]
        residuals.append(rows.residual)
        blocks.append(block)
        drifts.append(rows.drift)
        aligned.append(rows.aligned)
        wrenches.append(rows.wrench)
    for gear in cluster.gears:
        row, residual, drift = SX(1, len(order)), SX(gear.shift), SX(1, 1)
        powers = dict(gear.powers)
        for body, factor in gear.factors:
            speed = tree.bodies[body].v.start
            column, terms = order[speed], (0.0, factor, *powers.get(body, ()))
            row[0, column] = row[0, column] + polynomial(polyder(terms).tolist(), values[body])
            residual = residual + polynomial(terms, values[body])
            if body in powers:
                drift = drift + polynomial(polyder(terms, 2).tolist(), values[body]) * v[speed] ** 2
        for body, law in gear.laws:
            speed = tree.bodies[body].v.start
            value, slope, bend = law_of_motion(law, values[body])
            row[0, order[speed]] = row[0, order[speed]] + slope
            residual, drift = residual + value, drift + bend * v[speed] ** 2
        residuals.append(residual)
        blocks.append(row)
        drifts.append(drift)
    return ClusterRows(
        ca.vertcat(*residuals),
        ca.vertcat(*blocks),
        ca.vertcat(*drifts),
        ca.vertcat(*aligned),
        tuple(wrenches),
    )


def polynomial(coefficients: Sequence[float], x: SX) -> SX:
    """A polynomial (1, 1) by Horner's rule, `coefficients` of the lowest power first."""
    value = SX(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def law_of_motion(law: MotionLaw, x: SX) -> tuple[SX, SX, SX]:
    """A law of motion (1, 1) at x, its slope and the slope of that."""
    if isinstance(law, Sine):
        sine, cosine = ca.sin(law.rate * x + law.phase), ca.cos(law.rate * x + law.phase)
        slope = law.amplitude * law.rate
        return law.amplitude * sine, slope * cosine, -slope * law.rate * sine
    s, speed = ca.fmin(ca.fmax((x - law.start) / law.length, 0), 1), law.height / law.length
    left = s * (1 - s)
    return (
        law.height * s**3 * (10 - 15 * s + 6 * s**2),
        30 * speed * left**2,
        60 * speed / law.length * left * (1 - 2 * s),
    )


def rows_at_rest(tree: Tree, cluster: Cluster, positions: Mapping[int, SX]) -> ClusterRows:
    """All rows of a cluster at the positions of its constrained joints by body, nothing moving."""
    joints = {body: joint_motion(tree.bodies[body], positions[body]) for body in cluster.coupled}
    return cluster_rows(tree, cluster, joints, positions, SX.zeros(tree.nv))


def rows_at_positions(tree: Tree, cluster: Cluster) -> tuple[SX, ClusterRows]:
    """Symbols (n, 1) of the joints' positions, and the rows of a cluster there, at rest."""
    x = SX.sym("x", len(cluster.coupled))
    return x, rows_at_rest(tree, cluster, {body: x[k] for k, body in enumerate(cluster.coupled)})


def solve_rows(matrix: SX, right: SX) -> SX:
    """Solve a general system, block by block as far as zeros in it let one go before another.

    So the velocities of a planar linkage come dyad by dyad.
    """
    matrix = ca.sparsify(matrix)
    count, rows, columns, row_ends, column_ends, *_ = matrix.sparsity().btf()
    solved = SX(*right.shape)
    waiting = [
        (rows[row_ends[k] : row_ends[k + 1]], columns[column_ends[k] : column_ends[k + 1]])
        for k in range(count)
    ]
    for equations, unknowns in _in_order(matrix, waiting):
        rest = right[equations, :]
        earlier = matrix[equations, :]
        earlier[:, unknowns] = 0
        rest = rest - ca.sparsify(earlier) @ solved
        solved[unknowns, :] = _solve_block(matrix[equations, unknowns], rest)
    return solved


def _in_order(
    matrix: SX, blocks: list[tuple[list[int], list[int]]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Blocks of a block triangular system, each after those whose unknowns it has."""
    waiting = list(blocks)
    unknown = {column for _, columns in blocks for column in columns}
    sparsity = matrix.sparsity()
    used: dict[int, set[int]] = {}
    for row, column in zip(sparsity.row(), sparsity.get_col(), strict=True):
        used.setdefault(row, set()).add(column)
    while waiting:
        block = next(
            one
            for one in waiting
            if not (set().union(*(used[row] for row in one[0])) & unknown) - set(one[1])
        )
        waiting.remove(block)
        unknown -= set(block[1])
        yield block


def _solve_block(matrix: SX, right: SX) -> SX:
    """Solve a small general system: by Cramer's rule up to 2, else by orthogonal elimination.

    No pivot is chosen ahead of time, so the answer is good wherever the matrix is regular.
    """
    size = matrix.shape[0]
    if size == 1:
        return right / matrix[0, 0]
    if size == 2:
        (a, b), (c, d) = ((matrix[i, 0], matrix[i, 1]) for i in range(2))
        inverse = 1 / (a * d - b * c)
        adjugate = ca.blockcat([[d, -b], [-c, a]])
        return (adjugate @ right) * inverse
    return solve_orthogonal(matrix, right)


def embed(linkage: Linkage, rows: ClusterRows) -> tuple[SX, SX]:
    """G (n, independent) and g (n, 1) of a linkage at its rows."""
    kept = list(linkage.rows)
    matrix, drift = rows.matrix[kept, :], rows.drift[kept]
    free, bound = list(linkage.independent), list(linkage.dependent)
    right = ca.horzcat(-matrix[:, free], -drift)
    solved = solve_rows(matrix[:, bound], right)
    embedding = SX(len(linkage.coordinates), len(free))
    bias = SX(len(linkage.coordinates), 1)
    for k, row in enumerate(free):
        embedding[row, k] = 1
    for k, row in enumerate(bound):
        embedding[row, :] = solved[k, : len(free)]
        bias[row] = solved[k, len(free)]
    return embedding, bias


@serialized
def loop_functions(
    tree: Tree, linkage: Linkage, parameters: SX | None = None, name: str = "loop"
) -> LoopFunctions:
    """A linkage as `continuation.follow` knows it; functions `name`_rows, _change.

    parameters : symbols in the tree and in the linkage.
    """
    p = SX(0, 1) if parameters is None else parameters
    y, z = SX.sym("y", len(linkage.independent)), SX.sym("z", len(linkage.dependent))
    values: dict[int, SX] = {}
    for symbol, chosen in ((y, linkage.independent), (z, linkage.dependent)):
        for k, place in enumerate(chosen):
            values[linkage.cluster.coupled[place]] = symbol[k]
    rows = rows_at_rest(tree, linkage.cluster, values)
    kept, free, bound = list(linkage.rows), list(linkage.independent), list(linkage.dependent)
    by_z, by_y = (rows.matrix[kept, chosen] for chosen in (bound, free))
    open_rows = linkage.beyond_tolerances(rows.residual)
    if linkage.unit != 1.0:
        open_rows = open_rows * ca.DM(rows_in(tree, linkage.cluster, linkage.unit))
    gap, aligned = ca.norm_inf(open_rows), ca.mmin(rows.aligned)
    return LoopFunctions.of(y, z, p, [rows.residual[kept], by_z, by_y, gap, aligned], name)


def linear_positions(tree: Tree, linkage: Linkage, values: Mapping[int, SX]) -> dict[int, SX]:
    """Dependent positions of a linkage of gears, exactly linear in the independent ones."""
    bodies = linkage.cluster.coupled
    at_zero = dict.fromkeys((bodies[k] for k in linkage.dependent), SX(0))
    rows = rows_at_rest(tree, linkage.cluster, {**values, **at_zero})
    kept, bound = list(linkage.rows), list(linkage.dependent)
    solved = -solve_rows(rows.matrix[kept, bound], rows.residual[kept])
    return {bodies[place]: solved[k] for k, place in enumerate(bound)}
