"""C99 that says how far a loop stays open where it cannot be closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..compiler.c_loops import runtime_text
from ..compiler.printers.c99 import c99_body
from ..compiler.printers.operations import number
from ..model.model import Array
from ..names import in_c_string

CLOSES = 1e-9
"""Gap (m or rad), found by least squares, of a loop that closes."""


@dataclass(frozen=True, eq=False)
class Opening:
    """The equations of loops that are closed together.

    name : of the loops. function : (q, z, parameters) -> residual (m,) of all rows and its
    derivatives by z (m, n), column by column. blocks : numbers of rows that are one length or
    angle each. start : dependent positions z (n,) at home.
    """

    name: str
    function: ca.Function
    blocks: tuple[int, ...]
    start: Array


def gap_text(openings: Sequence[Opening], prefix: str) -> str:
    """C of `gap`, which the model of a robot names."""
    if not openings:
        return NO_LOOPS
    parts = [
        CONSTANTS.format(
            rows=max(sum(one.blocks) for one in openings),
            columns=max(len(one.start) for one in openings),
            count=len(openings),
            closes=number(CLOSES),
        ),
        DECLARED,
    ]
    rows = []
    for k, one in enumerate(openings):
        body = c99_body(one.function, ["q", "z", "parameters"], ["residual", "by_z"])
        start = ", ".join(map(number, one.start)) or "0.0"
        blocks = ", ".join(map(str, one.blocks))
        parts.append(FUNCTION.format(k=k, body=body, start=start, blocks=blocks))
        sizes = f"{sum(one.blocks)}, {len(one.start)}, {len(one.blocks)}"
        rows.append(
            f"  {{{in_c_string(one.name)}, {sizes}, start_of_{k}, blocks_of_{k}, opening_{k}}}"
        )
    table = ",\n".join(rows)
    parts.append(f"static const struct opening openings[] = {{\n{table}\n}};\n")
    return "\n".join([*parts, runtime_text("lu.h"), runtime_text("least_gap.h")])


NO_LOOPS = """
static double gap(void *memory, const double *q, const double *parameters, const char **loop) {
  (void)memory;
  (void)q;
  (void)parameters;
  if (loop) *loop = NULL;
  return 0.0;
}
"""

CONSTANTS = """
#define MOST_ROWS {rows}
#define MOST_COLUMNS {columns}
#define OPENINGS {count}
#define CLOSES {closes}
"""

DECLARED = """
/* Loops that close together: m rows, n dependent positions that start at home, and how many rows
   are a length or an angle each. */
struct opening {
  const char *name;
  int m, n, count;
  const double *start;
  const int *blocks;
  void (*rows)(const double *q, const double *z, const double *parameters, double *residual,
               double *by_z);
};
"""

FUNCTION = """static const double start_of_{k}[] = {{{start}}};
static const int blocks_of_{k}[] = {{{blocks}}};

static void opening_{k}(const double *q, const double *z, const double *parameters,
                        double *residual, double *by_z) {{
  (void)parameters;
{body}}}
"""
