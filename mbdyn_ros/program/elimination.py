"""Linear equations of a symmetric matrix by H = L^T D L: its factors, and what is done to rows.

Eliminating from the last row to the first creates no new nonzeros in the mass matrix of a tree
(Featherstone 2008, section 6.5); other matrices are handled too, with fill-in. The factors cost
little; the right sides may have many columns, and every row of them is treated alike. So a program
may write the factors down line by line and leave the rows to a loop.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca
from casadi import SX


@dataclass(frozen=True)
class Elimination:
    """The factors of a matrix H = L^T D L: a triangle (n, n) of L, with 1 / D on the diagonal."""

    triangle: SX

    @staticmethod
    def of(matrix: SX) -> Elimination:
        """The factors of a symmetric positive definite matrix, whose lower triangle is read."""
        n, sparsity = matrix.shape[0], matrix.sparsity()
        lower: list[dict[int, SX]] = [
            {j: matrix[i, j] for j in range(i + 1) if sparsity.has_nz(i, j)} for i in range(n)
        ]
        for k in reversed(range(n)):
            row = lower[k]
            for i in sorted((i for i in row if i < k), reverse=True):
                factor = row[i] / row[k]
                for j in [j for j in row if j <= i]:
                    lower[i][j] = lower[i].get(j, SX(0)) - factor * row[j]
                row[i] = factor
            row[k] = 1 / row[k]
        places = sorted((j, k) for k, row in enumerate(lower) for j in row)  # as CasADi stores them
        numbers = ca.vertcat(SX(0, 1), *(lower[k][j] for j, k in places))
        sparsity = ca.Sparsity.triplet(n, n, [k for _, k in places], [j for j, _ in places])
        return Elimination(SX(sparsity, numbers))

    @functools.cached_property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """For every row of L the columns of its nonzeros left of the diagonal."""
        rows: list[list[int]] = [[] for _ in range(self.triangle.shape[0])]
        sparsity = self.triangle.sparsity()
        for k, j in zip(sparsity.row(), sparsity.get_col(), strict=True):
            if j < k:
                rows[k].append(j)
        return tuple(map(tuple, rows))

    @property
    def outermost_first(self) -> list[int]:
        """The rows in an order of elimination: those as far from the first, by the rows that one
        waits for, follow each other, since none waits for another."""
        depth: list[int] = []
        for row in self.columns:
            depth.append(1 + max((depth[j] for j in row), default=0))
        return sorted(range(len(depth)), key=lambda k: -depth[k])

    def negated(self) -> Elimination:
        """The factors of -H = L^T (-D) L."""
        triangle = SX(self.triangle)
        for k in range(triangle.shape[0]):
            triangle[k, k] = -triangle[k, k]
        return Elimination(triangle)

    def solve(self, right: SX) -> SX:
        """x of H x = right, (n, any)."""
        x = [right[i, :] for i in range(right.shape[0])]
        for k, row in reversed(list(enumerate(self.columns))):
            for j in row:
                x[j] = x[j] - self.triangle[k, j] * x[k]
        for k, row in enumerate(self.columns):
            x[k] = self.triangle[k, k] * x[k]
            for j in row:
                x[k] = x[k] - self.triangle[k, j] * x[j]
        return ca.vertcat(SX(0, right.shape[1]), *x)


def solve_ltl(matrix: SX, right: SX) -> SX:
    """Solve H x = right, (n, any), for a symmetric positive definite H."""
    return Elimination.of(matrix).solve(right)
