"""C of the factors of H = L^T D L and of the solution of H x = right, by lines or in loops.

Rows of L lie along vectors; a row's block takes part where it has columns that are not zero. The
solution takes one block of columns after the other: its rows stay in registers. Most rows of a
block are zero where a tree parts into branches, and nothing is done with these in the backward
pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...program.elimination import Elimination
from ..block import Lane, Table
from .lines import TableLayout, indented, whole_numbers

Factors = Callable[[int, int], str]
"""C of the factor of a row and a column."""

PASS = """
static __attribute__((noinline)) void {name}(realv* restrict x, const double* restrict factor) {{
{lines}}}
"""

SOLVE = """
static void {name}(realv* restrict x, const double* restrict factor) {{
{calls}}}
"""


def solution_lines(elimination: Elimination, right: Table, name: str, layout: TableLayout) -> str:
    """C of the function `name`, which solves for a table in its place."""
    height, factor = right.rows, _factors(elimination, layout)
    text = _pass(f"{name}_forward", _forward(elimination, factor), range(height), range(height))
    ways: dict[tuple[int, ...], str] = {}
    passes: list[tuple[str, str]] = []
    for block, matrix, rows in _blocks(elimination, right, layout.lanes):
        if rows not in ways:
            ways[rows] = f"{name}_backward{len(ways)}"
            changed = {j for k in rows for j in elimination.columns[k]}
            steps = _backward(elimination, factor, rows)
            text += _pass(ways[rows], steps, rows, sorted(changed))
        start = f"x + {(block * len(right.widths) + matrix) * height}"
        passes.append(
            (f"  {ways[rows]}({start}, factor);\n", f"  {name}_forward({start}, factor);\n")
        )
    return text + SOLVE.format(name=name, calls=_overlapped(passes))


def _overlapped(passes: Sequence[tuple[str, str]]) -> str:
    """The passes of all blocks: before a block goes forward the next goes backward, which does not
    wait for it."""
    (first, waiting), *others = passes
    calls = first
    for backward, forward in others:
        calls += backward + waiting
        waiting = forward
    return calls + waiting


def _pass(name: str, steps: Iterator[str], read: Sequence[int], changed: Sequence[int]) -> str:
    """C of a function that takes steps on some rows of a block."""
    lines = [f"realv x{k} = x[{k}];" for k in read]
    lines += steps
    lines += [f"x[{k}] = x{k};" for k in changed]
    return PASS.format(name=name, lines=indented(lines))


def _blocks(
    elimination: Elimination, right: Table, width: int
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Every block: its number, which matrix it is of, and the rows that the backward pass changes
    or reads: what is not zero, and what this adds to."""
    before = 0
    for matrix, columns in enumerate(right.widths):
        for block, first in enumerate(range(0, columns, width)):
            part = right.filled[:, before : before + columns][:, first : first + width]
            inside = {k for k, row in enumerate(part) if row.any()}
            for k in reversed(range(right.rows)):
                if k in inside:
                    inside.update(elimination.columns[k])
            yield block, matrix, tuple(sorted(inside))
        before += columns


def _backward(elimination: Elimination, factor: Factors, rows: Sequence[int]) -> Iterator[str]:
    for k in reversed(rows):
        for j in elimination.columns[k]:
            yield f"x{j} -= x{k} * {factor(k, j)};"


def _forward(elimination: Elimination, factor: Factors) -> Iterator[str]:
    for k, row in enumerate(elimination.columns):
        yield f"x{k} *= {factor(k, k)};"
        for j in row:
            yield f"x{k} -= x{j} * {factor(k, j)};"


def _factors(elimination: Elimination, layout: TableLayout) -> Factors:
    """C of a factor in its table."""
    rows = len(elimination.columns)
    return lambda k, j: f"factor[{layout.place(rows, k, j)}]"


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


FACTOR_IN_LOOPS = """
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

SOLVE_IN_LOOPS = """
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
    return FACTOR_IN_LOOPS.format(
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
    return SOLVE_IN_LOOPS.format(
        name=name,
        n=layout.lane,
        rows=rows,
        parts=count,
        part=part,
        integer=integer,
        listed=text,
        length=len(steps),
    )
