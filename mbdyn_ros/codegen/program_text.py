"""C of a whole program: its straight lines, then the loop over what is left to do to its rows."""

from __future__ import annotations

from ..dynamics.elimination import Elimination
from .program import Program
from .straight_line import StraightLine

ELIMINATION = """
/* The rows' steps: which row, how many terms, its scale (0 for none, else one more than the place
   among the factors), then row and factor of every term. Columns go through a block that stays in
   registers and in the first cache; vectors lie along them where the numbers are single. */
static void {name}_solve(real{n}* result, const real{n}* factor) {{
  static const unsigned short steps[] = {{{steps}}};
  enum {{ VECTORS = ({columns} + WIDTH{n} - 1) / WIDTH{n}, BLOCKS = (VECTORS + 7) / 8 }};
  enum {{ PART = (VECTORS + BLOCKS - 1) / BLOCKS, WIDE = PART * WIDTH{n} }};
  realv x[{rows}][PART];
  for (int start = 0; start < {columns}; start += WIDE) {{
    const size_t bytes = sizeof *result * ({columns} - start < WIDE ? {columns} - start : WIDE);
    memset(x, 0, sizeof x);
    for (int i = 0; i < {rows}; ++i) memcpy(x[i], result + i * {columns} + start, bytes);
    for (const unsigned short* step = steps; step < steps + {length};) {{
      const int target = step[0], terms = step[1], scale = step[2];
      realv sum[PART];
      for (int k = 0; k < PART; ++k) {{
        sum[k] = scale ? x[target][k] * factor[scale - 1] : x[target][k];
      }}
      step += 3;
      for (int t = 0; t < terms; ++t, step += 2) {{
        const realv* other = x[step[0]];
        for (int k = 0; k < PART; ++k) sum[k] -= other[k] * factor[step[1]];
      }}
      memcpy(x[target], sum, sizeof sum);
    }}
    for (int i = 0; i < {rows}; ++i) memcpy(result + i * {columns} + start, x[i], bytes);
  }}
}}

static void {name}(const real{n}* const* arg, real{n}* const* res) {{
  real{n} factor[{factors}];
  real{n}* const both[] = {{res[0], factor}};
  {name}_rows(arg, both);
  {name}_solve(res[0], factor);
}}
"""


def program_text(program: Program, name: str, n: str) -> str:
    """The C function `name(arg, res)`; see `StraightLine` for n."""
    elimination = program.elimination
    if elimination is None:
        return StraightLine(program.function(), name, n).text()
    text = StraightLine(program.rows("rows"), f"{name}_rows", n).text()
    rows, columns = program.shape
    steps = _steps(elimination)
    return text + ELIMINATION.format(
        name=name,
        n=n,
        rows=rows,
        columns=columns,
        factors=elimination.factors.shape[0],
        steps=", ".join(map(str, steps)),
        length=len(steps),
    )


def _steps(elimination: Elimination) -> list[int]:
    """The steps as the C reads them."""
    numbers: list[int] = []
    for step in elimination.steps:
        numbers += (step.target, len(step.terms), 0 if step.scale is None else step.scale + 1)
        for term in step.terms:
            numbers += term
    return numbers
