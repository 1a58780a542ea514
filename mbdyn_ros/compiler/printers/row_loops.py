"""C of the solution of H x = right, given the factors of H: what is done to rows."""

from __future__ import annotations

from ...program.elimination import Elimination
from ..table import Lane, Table
from .tables import TableLayout, whole_numbers

FACTOR = """
/* The factors of -H in its place: rows of L, and 1 / D on the diagonal. Rows as far from the first
   come one after the other, since none waits for another. What stands right of the diagonal is
   never read. */
static void {name}(realv* restrict x) {{
  {listed}  real{n}* row = (real{n}*)x;
  for (const {integer}* step = listed; step < listed + {length};) {{
    const size_t k = step[0], count = step[1];
    const {integer}* column = step + 2;
    const real{n} scale = -1. / row[PLACE{n}({rows}, k, k)];
    for (size_t t = 0; t < count; ++t) {{
      const size_t i = column[t];
      const real{n} times = row[PLACE{n}({rows}, k, i)] * scale;
      {update}
    }}
    for (size_t t = 0; t < count; ++t) row[PLACE{n}({rows}, k, column[t])] *= -scale;
    row[PLACE{n}({rows}, k, k)] = scale;
    step += 2 + count;
  }}
}}
"""

UPDATE = {
    Lane.SINGLE: "for (size_t b = 0; b <= i / LANES; ++b) "
    "x[b * {rows} + i] += x[b * {rows} + k] * times;",
    Lane.VECTOR: "for (size_t u = 0; u <= t; ++u)\n"
    "        x[column[u] * {rows} + i] += x[column[u] * {rows} + k] * times;",
}

SOLVE = """
/* The rows' steps: which row, how many terms, whether it is scaled, as in the forward pass; then
   the row of every term. Columns go through as many blocks as stay in registers. */
static void {name}(realv* restrict whole, const real{n}* restrict factor) {{
  enum {{ PARTS = {parts}, PART = {part} }};
  {listed}  for (size_t part = 0; part < PARTS; ++part) {{
    realv* x = whole + part * PART * {rows};
    for (const {integer}* step = steps; step < steps + {length};) {{
      const size_t row = step[0], scaled = step[2];
      realv *target = x + row, sum[PART];
      for (size_t k = 0; k < PART; ++k) {{
        sum[k] = target[k * {rows}];
        if (scaled) sum[k] *= factor[PLACE{n}({rows}, row, row)];
      }}
      size_t terms = step[1];
      for (step += 3; terms > 0; --terms, ++step) {{
        const size_t other = step[0];
        const real{n} times = factor[
            scaled ? PLACE{n}({rows}, row, other) : PLACE{n}({rows}, other, row)];
        for (size_t k = 0; k < PART; ++k) sum[k] -= x[k * {rows} + other] * times;
      }}
      for (size_t k = 0; k < PART; ++k) target[k * {rows}] = sum[k];
    }}
  }}
}}
"""


def factor_loops(elimination: Elimination, name: str, layout: TableLayout) -> str:
    """C of the function `name`, which puts the factors of a matrix in its place."""
    listed: list[int] = []
    for k in elimination.outermost_first:
        listed += [k, len(elimination.columns[k]), *elimination.columns[k]]
    rows = len(elimination.columns)
    integer, text = whole_numbers("listed", listed)
    return FACTOR.format(
        name=name,
        n=layout.lane,
        rows=rows,
        integer=integer,
        listed=text,
        length=len(listed),
        update=UPDATE[layout.lane].format(rows=rows),
    )


def parts(right: Table, layout: TableLayout) -> tuple[int, int]:
    """In how many parts a table is solved for, and how many blocks are in one: as many as stay in
    registers. The last part may have blocks that nobody asks for."""
    blocks = layout.blocks(max(right.widths)) * len(right.widths)
    most = 16 if layout.lanes == 8 else 8
    count = -(-blocks // most)
    return count, -(-blocks // count)


def solution_loops(elimination: Elimination, right: Table, name: str, layout: TableLayout) -> str:
    """C of the function `name`, which solves for a table in its place."""
    rows = len(elimination.columns)
    backward: list[list[int]] = [[] for _ in range(rows)]
    forward: list[int] = []
    for k, row in enumerate(elimination.columns):
        forward += [k, len(row), 1, *row]
        for j in row:
            backward[j].append(k)
    steps = []
    for j in reversed(range(rows)):
        if backward[j]:
            steps += [j, len(backward[j]), 0, *backward[j]]
    steps += forward
    integer, text = whole_numbers("steps", steps)
    count, part = parts(right, layout)
    return SOLVE.format(
        name=name,
        n=layout.lane,
        rows=rows,
        parts=count,
        part=part,
        integer=integer,
        listed=text,
        length=len(steps),
    )
