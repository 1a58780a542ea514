"""C of the factors of H = L^T D L line by line.

Rows lie along vectors; a row's block takes part where it has columns that are not zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...program.elimination import Elimination
from .lines import indented
from .tables import TableLayout

FACTOR = """
static void {name}(realv* restrict x) {{
  double* factor = (double*)x;
{lines}}}
"""


def factor_lines(elimination: Elimination, name: str, layout: TableLayout) -> str:
    """C of the function `name`, which puts the factors of -H in its place: rows of L, and 1 / D on
    the diagonal. What stands right of it is never read."""
    return FACTOR.format(name=name, lines=indented(_lines(elimination, layout)))


def _lines(elimination: Elimination, layout: TableLayout) -> Iterator[str]:
    rows, lanes = len(elimination.columns), layout.lanes
    for k in elimination.outermost_first:
        columns = elimination.columns[k]
        blocks = sorted({j // lanes for j in columns})
        diagonal = f"factor[{layout.place(rows, k, k)}]"
        yield f"const double scale{k} = -1. / {diagonal};"
        for b in blocks:
            yield f"const realv h{k}_{b} = x[{b * rows + k}];"
            yield f"x[{b * rows + k}] = h{k}_{b} * -scale{k};"
        yield f"{diagonal} = scale{k};"
        for i in columns:
            for b in blocks:
                if any(j // lanes == b and j <= i for j in columns):
                    times = f"factor[{layout.place(rows, k, i)}]"
                    yield f"x[{b * rows + i}] -= h{k}_{b} * {times};"
