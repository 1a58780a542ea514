"""Linear equations of a symmetric matrix by H = L^T D L: its factors, and what is done to rows.

Eliminating from the last row to the first creates no new nonzeros in the mass matrix of a tree
(Featherstone 2008, section 6.5); other matrices are handled too, with fill-in. The factors cost
little; the right sides may have many columns, and every row of them is treated alike. So a program
may write the factors down line by line and leave the rows to a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from .spatial import SX


@dataclass(frozen=True)
class Elimination:
    """The factors (n, 1) of a matrix H = L^T D L.

    columns : for every row of the unit triangle L the columns of its nonzeros left of the diagonal.

    The factors stand row by row: the nonzeros of a row of L, then 1 / D of the row.
    """

    factors: SX
    columns: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(matrix: SX) -> Elimination:
        """That of a symmetric positive definite matrix; its lower triangle is read."""
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
        factors: list[SX] = []
        columns = []
        for k, row in enumerate(lower):
            columns.append(tuple(sorted(j for j in row if j != k)))
            factors += [row[j] for j in columns[-1]] + [1 / row[k]]
        return Elimination(ca.vertcat(SX(0, 1), *factors), tuple(columns))

    @property
    def starts(self) -> list[int]:
        """Where the factors of every row begin."""
        return [sum(len(row) + 1 for row in self.columns[:k]) for k in range(len(self.columns))]

    @property
    def outermost_first(self) -> list[int]:
        """The rows in an order of elimination: those as far from the first, by the rows that one
        waits for, follow each other, since none waits for another."""
        depth: list[int] = []
        for row in self.columns:
            depth.append(1 + max((depth[j] for j in row), default=0))
        return sorted(range(len(depth)), key=lambda k: -depth[k])

    @property
    def triangle(self) -> SX:
        """The factors as a matrix (n, n): L, and 1 / D on the diagonal."""
        matrix = SX(len(self.columns), len(self.columns))
        for place, (k, j) in enumerate(self._entries()):
            matrix[k, j] = self.factors[place]
        return matrix

    def renamed(self, triangle: SX) -> Elimination:
        """The same with the factors of another such matrix."""
        factors = [triangle[k, j] for k, j in self._entries()]
        return Elimination(ca.vertcat(SX(0, 1), *factors), self.columns)

    def _entries(self) -> Iterator[tuple[int, int]]:
        """Row and column of every factor."""
        for k, row in enumerate(self.columns):
            yield from ((k, j) for j in (*row, k))

    def negated(self) -> Elimination:
        """That of -H = L^T (-D) L."""
        numbers = [self.factors[k] for k in range(self.factors.shape[0])]
        for start, row in zip(self.starts, self.columns, strict=True):
            numbers[start + len(row)] = -numbers[start + len(row)]
        return Elimination(ca.vertcat(SX(0, 1), *numbers), self.columns)

    def solve(self, right: SX) -> SX:
        """x of H x = right, (n, any)."""
        x = [right[i, :] for i in range(right.shape[0])]
        rows = list(enumerate(zip(self.starts, self.columns, strict=True)))
        for k, (start, row) in reversed(rows):
            for place, j in enumerate(row, start):
                x[j] = x[j] - self.factors[place] * x[k]
        for k, (start, row) in rows:
            x[k] = self.factors[start + len(row)] * x[k]
            for place, j in enumerate(row, start):
                x[k] = x[k] - self.factors[place] * x[j]
        return ca.vertcat(SX(0, right.shape[1]), *x)


def solve_ltl(matrix: SX, right: SX) -> SX:
    """Solve H x = right, (n, any), for a symmetric positive definite H."""
    return Elimination.of(matrix).solve(right)
