"""C of a program over many states: several at once in vectors, on several threads."""

from __future__ import annotations

from ..program.program import Program
from .ir import Lane
from .options import STANDARD, Options
from .pipeline import program_text
from .printers.tables import storage
from .rows import ROWS
from .source import preamble, walk_source
from .thread_pool import SHARER

BATCH = """
typedef struct {{
  const double* const* start;
  const size_t* step;
  double* result;
}} batch_job;

/* Rows of one input for a vector of states, copied where they do not follow each other: those of
   an input that serves all states, and of the last states where the vector is not full. */
static __attribute__((noinline))
const double* copied(const double* x, size_t step, size_t size, size_t count, double* rows) {{
  for (size_t l = 0; l < LANES; ++l) {{
    memcpy(rows + l * size, x + (l < count ? l : count - 1) * step, size * sizeof *rows);
  }}
  return rows;
}}

static inline void read_states(const batch_job* job, size_t i, size_t size, size_t k,
                               size_t count, realv* out) {{
  double spare[LANES * {largest}];
  const double *row[LANES], *x = job->start[i] + k * job->step[i];
  if (__builtin_expect(count < LANES || !job->step[i], 0)) {{
    x = copied(x, job->step[i], size, count, spare);
  }}
  for (size_t l = 0; l < LANES; ++l) row[l] = x + l * size;
  read_rows(row, size, out);
}}

static void run_batch(const void* pointer, size_t first, size_t last) {{
  const batch_job* job = pointer;
  realv in[{total_in}];
  {storage}realv out[{size_out}];
  const realv* arg[] = {{{arg}}};
  realv* const res[] = {{out}};
  for (size_t k = first; k < last; k += LANES) {{
    const size_t count = last - k < LANES ? last - k : LANES;
{read}{walk}    {name}(arg, res);
{open}    write_rows(out, {size_out}, count, job->result + k * {size_out}, {size_out});
  }}
}}

/* The program over n states; a step of 0 uses the same input for all. */
CASADI_SYMBOL_EXPORT void batch(size_t n, const double* const* start, const size_t* step,
                                double* result, sharer* share_out, int threads) {{
  const batch_job job = {{start, step, result}};
  share_out(n, 128, threads, run_batch, &job);
}}
CASADI_SYMBOL_EXPORT const size_t operations = {operations};
"""

WALK = """    realv z[{nz}];
    bitsv closed;
    for (size_t l = 0; l < LANES; ++l) {{
      double alone[{nz}] = {{0}};
      const size_t state = k + (l < count ? l : count - 1);
      closed[l] = -close_all(job->start[0] + state * job->step[0], job->start[{n_in}], alone);
      for (int i = 0; i < {nz}; ++i) z[i][l] = alone[i];
    }}
    arg[1] = z;
"""
"""Positions of loops without closed form, state by state. Home stands behind the inputs."""

OPEN = """    for (int i = 0; i < {size_out}; ++i) out[i] = selectv(closed, out[i], allv(NAN));
"""
"""NaN where a loop cannot be closed."""


def batch_source(program: Program, options: Options = STANDARD) -> str:
    """The C of a program's loop over many states."""
    inputs = [name for name in program.symbols if name != "z"]
    sizes, (rows, columns) = [program.sizes[name] for name in inputs], program.shape
    places = [sum(sizes[:i]) for i in range(len(sizes))]
    arg = [f"in + {place}" for place in places]
    text = preamble(program.length, Lane.VECTOR)
    walk = opened = ""
    closing = program.subject.closing
    if closing.nz:
        arg.insert(1, "NULL")
        text += walk_source(closing)
        walk = WALK.format(nz=closing.nz, n_in=len(inputs))
        opened = OPEN.format(size_out=rows * columns)
    text += program_text(program, "core", Lane.VECTOR, options) + ROWS + SHARER
    return text + BATCH.format(
        n_in=len(inputs),
        read="".join(
            f"    read_states(job, {i}, {size}, k, count, in + {place});\n"
            for i, (size, place) in enumerate(zip(sizes, places, strict=True))
        ),
        largest=max(1, *sizes),
        total_in=max(1, sum(sizes)),
        size_out=max(1, rows * columns),
        storage=storage(rows * columns),
        arg=", ".join(arg),
        walk=walk,
        open=opened,
        name="core",
        operations=program.length,
    )
