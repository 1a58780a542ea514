"""Linear equations of a general matrix by orthogonal elimination that keeps its zeros.

A reflection (Householder 1958) turns the rows that have a number in one column so that all but one
of them have none. No pivot is chosen by size, so the same operations serve wherever the matrix is
regular; which column comes next is free, and chosen for few operations. Loops that share a body
have few joints in common, and what belongs to one of them alone goes first.
"""

from __future__ import annotations

import casadi as ca
from casadi import SX

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
