"""C of the solution of H x = right, given the factors of H: what is done to rows."""

from __future__ import annotations

from ..dynamics.elimination import Elimination
from ..dynamics.stages import Table
from .table_layout import blocks, integers

ROWS = """
/* Rows of L: the columns that each has, one row after the other; where its factors begin. */
static const unsigned short {name}_columns[] = {{{columns}}};
static const {integer} {name}_start[] = {{{starts}}};
"""

FACTOR = """
/* The factors of -H. Rows as far from the first come one after the other, since none waits for
   another. What stands right of the diagonal is never read. */
static void {name}(realv* restrict x, real{n}* restrict factor) {{
  static const unsigned short order[] = {{{order}}};
  for (size_t place = 0; place < {rows}; ++place) {{
    const size_t k = order[place];
    const size_t start = {name}_start[k], count = {name}_start[k + 1] - start - 1;
    const unsigned short* column = {name}_columns + start - k;
    const real{n}* row = (const real{n}*)x;
    const real{n} scale = -1. / row[PLACE{n}({rows}, k, k)];
    factor[start + count] = scale;
    for (size_t t = 0; t < count; ++t) {{
      const size_t i = column[t];
      const real{n} times = row[PLACE{n}({rows}, k, i)] * scale;
      factor[start + t] = -times;
      {update}
    }}
  }}
}}
"""

UPDATE = {
    "1": "for (size_t b = 0; b <= i / LANES; ++b) x[b * {rows} + i] += x[b * {rows} + k] * times;",
    "v": "for (size_t u = 0; u <= t; ++u)\n"
    "        x[column[u] * {rows} + i] += x[column[u] * {rows} + k] * times;",
}

SOLVE = """
enum {{ {name}_VECTORS = {blocks} * {matrices}, {name}_MOST = LANES == 8 ? 16 : 8 }};
enum {{ {name}_PARTS = ({name}_VECTORS + {name}_MOST - 1) / {name}_MOST }};
enum {{ {name}_PART = ({name}_VECTORS + {name}_PARTS - 1) / {name}_PARTS }};

/* The rows' steps: which row, how many terms, its scale (0 for none, else one more than the place
   among the factors), then row and factor of every term. Columns go through as many blocks as stay
   in registers. */
static void {name}(realv* restrict whole, const real{n}* restrict factor) {{
  static const {integer} steps[] = {{{steps}}};
  for (size_t part = 0; part < {name}_PARTS; ++part) {{
    realv* x = whole + part * {name}_PART * {rows};
    for (const {integer}* step = steps; step < steps + {length};) {{
      const size_t scale = step[2];
      realv *target = x + step[0], sum[{name}_PART];
      for (size_t k = 0; k < {name}_PART; ++k) {{
        sum[k] = scale ? target[k * {rows}] * factor[scale - 1] : target[k * {rows}];
      }}
      size_t terms = step[1];
      for (step += 3; terms > 0; --terms, step += 2) {{
        const realv* other = x + step[0];
        const real{n} times = factor[step[1]];
        for (size_t k = 0; k < {name}_PART; ++k) sum[k] -= other[k * {rows}] * times;
      }}
      for (size_t k = 0; k < {name}_PART; ++k) target[k * {rows}] = sum[k];
    }}
  }}
}}
"""


def factor_text(elimination: Elimination, name: str, n: str) -> str:
    """C of the function `name`, which fills a table of the factors of a table that it uses up."""
    rows, columns = len(elimination.columns), elimination.columns
    starts = [*elimination.starts, elimination.factors.shape[0]]
    depth: list[int] = []
    for row in columns:
        depth.append(1 + max((depth[j] for j in row), default=0))
    order = sorted(range(rows), key=lambda k: -depth[k])
    return ROWS.format(
        name=name,
        integer=integers(starts[-1]),
        columns=", ".join(str(j) for row in columns for j in row) or "0",
        starts=", ".join(map(str, starts)),
    ) + FACTOR.format(
        name=name,
        n=n,
        rows=rows,
        order=", ".join(map(str, order)),
        update=UPDATE[n].format(rows=rows),
    )


def elimination_text(elimination: Elimination, right: Table, name: str, n: str) -> str:
    """C of the function `name`, which solves for a table in its place."""
    rows, starts = len(elimination.columns), elimination.starts
    inward: list[list[int]] = [[] for _ in range(rows)]
    outward: list[int] = []
    for k, (start, row) in enumerate(zip(starts, elimination.columns, strict=True)):
        outward += [k, len(row), start + len(row) + 1]
        for place, j in enumerate(row, start):
            outward += [j, place]
            inward[j] += [k, place]
    steps = []
    for j in reversed(range(rows)):
        if inward[j]:
            steps += [j, len(inward[j]) // 2, 0, *inward[j]]
    steps += outward
    return SOLVE.format(
        name=name,
        n=n,
        rows=rows,
        blocks=blocks(right, n),
        matrices=len(right.widths),
        integer=integers(max(steps)),
        steps=", ".join(map(str, steps)),
        length=len(steps),
    )
