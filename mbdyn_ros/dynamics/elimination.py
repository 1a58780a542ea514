"""Linear equations of a symmetric matrix by H = L^T D L: its factors, and what is done to rows.

Eliminating from the last row to the first creates no new nonzeros in the mass matrix of a tree
(Featherstone 2008, section 6.5); other matrices are handled too, with fill-in. The factors cost
little; the right sides may have many columns, and every row of them is treated alike. So a program
may write the factors down line by line and leave the rows to a loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .spatial import SX


@dataclass(frozen=True)
class RowStep:
    """Row `target` becomes scale * itself less the sum of factor * row, over the terms.

    scale : which factor, or None for one. terms : (row, factor) each.
    """

    target: int
    scale: int | None
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Elimination:
    """The factors (n, 1) of a matrix, and the steps that solve its equations with them."""

    factors: SX
    steps: tuple[RowStep, ...]

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
        places: list[dict[int, int]] = []
        for k, row in enumerate(lower):
            places.append({j: len(factors) + place for place, j in enumerate(row)})
            factors += [1 / value if j == k else value for j, value in row.items()]
        inward: list[dict[int, int]] = [{} for _ in range(n)]
        for k in reversed(range(n)):
            for j in places[k]:
                inward[j][k] = places[k][j]
        steps = [
            RowStep(j, None, tuple((k, place) for k, place in inward[j].items() if k != j))
            for j in reversed(range(n))
        ]
        for k, row_places in enumerate(places):
            terms = tuple((j, place) for j, place in row_places.items() if j != k)
            steps.append(RowStep(k, row_places[k], terms))
        needed = tuple(step for step in steps if step.terms or step.scale is not None)
        return Elimination(ca.vertcat(SX(0, 1), *factors), needed)

    def solve(self, right: SX) -> SX:
        """x of H x = right, (n, any)."""
        x = [right[i, :] for i in range(right.shape[0])]
        for step in self.steps:
            row = x[step.target]
            if step.scale is not None:
                row = self.factors[step.scale] * row
            for source, factor in step.terms:
                row = row - self.factors[factor] * x[source]
            x[step.target] = row
        return ca.vertcat(SX(0, right.shape[1]), *x)


@dataclass(frozen=True)
class Quotient:
    """x of H x = right, still to be solved for."""

    elimination: Elimination
    right: SX

    @property
    def solved(self) -> SX:
        """x as one expression."""
        return self.elimination.solve(self.right)


def solve_ltl(matrix: SX, right: SX) -> SX:
    """Solve H x = right, (n, any), for a symmetric positive definite H."""
    return Elimination.of(matrix).solve(right)
