"""C of a program over many states: several at once in vectors, on several threads."""

from __future__ import annotations

from ..dynamics.system import System
from .elementary import elementary_functions
from .program import Program
from .program_text import program_text
from .source import HEADERS, walk_source
from .straight_line import each_functions
from .thread_pool import SHARER

LANES = """
/* Element j of the states' rows, side by side. */
static inline realv side_by_side(const double* const* row, size_t j) {
#if LANES == 8
  return (realv){row[0][j], row[1][j], row[2][j], row[3][j],
                 row[4][j], row[5][j], row[6][j], row[7][j]};
#elif LANES == 4
  return (realv){row[0][j], row[1][j], row[2][j], row[3][j]};
#else
  return (realv){row[0][j], row[1][j]};
#endif
}

#if LANES >= 4 && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif

#ifdef SHUFFLE
typedef double four __attribute__((vector_size(32)));

/* Turn over squares of four rows and columns, one in each half of eight lanes. */
static inline void turn(const realv* x, realv* out) {
#if LANES == 8
  const realv a = SHUFFLE(x[0], x[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const realv b = SHUFFLE(x[0], x[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const realv c = SHUFFLE(x[2], x[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const realv d = SHUFFLE(x[2], x[3], 1, 9, 3, 11, 5, 13, 7, 15);
  out[0] = SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  out[1] = SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  out[2] = SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  out[3] = SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
#else
  const realv a = SHUFFLE(x[0], x[1], 0, 4, 2, 6), b = SHUFFLE(x[0], x[1], 1, 5, 3, 7);
  const realv c = SHUFFLE(x[2], x[3], 0, 4, 2, 6), d = SHUFFLE(x[2], x[3], 1, 5, 3, 7);
  out[0] = SHUFFLE(a, c, 0, 1, 4, 5);
  out[1] = SHUFFLE(b, d, 0, 1, 4, 5);
  out[2] = SHUFFLE(a, c, 2, 3, 6, 7);
  out[3] = SHUFFLE(b, d, 2, 3, 6, 7);
#endif
}

/* Elements j to j + 3 of the states' rows, side by side. */
static inline void turn_in(const double* const* row, size_t j, realv* out) {
  realv x[4];
  for (int k = 0; k < 4; ++k) {
    four low;
    memcpy(&low, row[k] + j, sizeof low);
#if LANES == 8
    four high;
    memcpy(&high, row[k + 4] + j, sizeof high);
    x[k] = SHUFFLE(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    x[k] = low;
#endif
  }
  turn(x, out);
}

/* The way back, to rows of `size` elements. */
static inline void turn_out(const realv* x, size_t size, double* out) {
  realv y[4];
  turn(x, y);
  for (int k = 0; k < 4; ++k) {
#if LANES == 8
    const four low = SHUFFLE(y[k], y[k], 0, 1, 2, 3), high = SHUFFLE(y[k], y[k], 4, 5, 6, 7);
    memcpy(out + (k + 4) * size, &high, sizeof high);
#else
    const four low = y[k];
#endif
    memcpy(out + k * size, &low, sizeof low);
  }
}
#endif

/* Rows of one state each to vectors of one element each. The last four elements of a row are
   taken again where its length is no multiple of four. */
static inline void read_rows(const double* const* row, size_t size, realv* out) {
#ifdef SHUFFLE
  if (size >= 4) {
    for (size_t j = 0; j + 4 <= size; j += 4) turn_in(row, j, out + j);
    if (size % 4) turn_in(row, size - 4, out + size - 4);
    return;
  }
#endif
  for (size_t j = 0; j < size; ++j) out[j] = side_by_side(row, j);
}

/* The way back, for the first `count` states. */
static inline void write_rows(const realv* x, size_t size, size_t count, double* out) {
#ifdef SHUFFLE
  if (size >= 4 && count == LANES) {
    for (size_t j = 0; j + 4 <= size; j += 4) turn_out(x + j, size, out + j);
    if (size % 4) turn_out(x + size - 4, size, out + size - 4);
    return;
  }
#endif
  for (size_t k = 0; k < count; ++k, out += size) {
    for (size_t j = 0; j < size; ++j) out[j] = x[j][k];
  }
}
"""

BATCH = """
typedef struct {{
  const double* const* start;
  const size_t* step;
  double* result;
}} batch_job;

static void run_batch(const void* pointer, size_t first, size_t last) {{
  static const size_t size[] = {{{sizes_in}}}, place[] = {{{places_in}}};
  const batch_job* job = pointer;
  realv in[{total_in}], out[{size_out}];
  const realv* arg[] = {{{arg}}};
  realv* const res[] = {{out}};
  for (size_t k = first; k < last; k += LANES) {{
    const size_t count = last - k < LANES ? last - k : LANES;
    const double* row[LANES];
    for (size_t i = {n_in}; i-- > 0;) {{
      for (size_t l = 0; l < LANES; ++l) {{
        row[l] = job->start[i] + (k + (l < count ? l : count - 1)) * job->step[i];
      }}
      read_rows(row, size[i], in + place[i]);
    }}
{walk}    {name}(arg, res);
{open}    write_rows(out, {size_out}, count, job->result + k * {size_out});
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
      closed[l] = -close_all(row[l], job->start[{n_in}], alone);
      for (int i = 0; i < {nz}; ++i) z[i][l] = alone[i];
    }}
    arg[1] = z;
"""
"""Positions of loops without closed form, state by state; `row` has the states' q. Home stands
behind the inputs."""

OPEN = """    for (int i = 0; i < {size_out}; ++i) out[i] = selectv(closed, out[i], allv(NAN));
"""
"""NaN where a loop cannot be closed."""


def batch_source(system: System, program: Program) -> str:
    """The C of a program's loop over many states."""
    core = program.rows("core")
    inputs = [name for name in program.symbols if name != "z"]
    sizes = [core.nnz_in(core.index_in(name)) for name in inputs]
    places = [sum(sizes[:i]) for i in range(len(sizes))]
    arg = [f"in + {place}" for place in places]
    text = HEADERS + elementary_functions() + each_functions()
    walk = opened = ""
    if system.nz:
        arg.insert(1, "NULL")
        text += walk_source(system)
        walk = WALK.format(nz=system.nz, n_in=len(inputs))
        opened = OPEN.format(size_out=core.nnz_out(0))
    text += program_text(program, "core", "v") + LANES + SHARER
    return text + BATCH.format(
        n_in=len(inputs),
        sizes_in=", ".join(map(str, sizes)),
        places_in=", ".join(map(str, places)),
        total_in=max(1, sum(sizes)),
        size_out=max(1, core.nnz_out(0)),
        arg=", ".join(arg),
        walk=walk,
        open=opened,
        name="core",
        operations=core.n_instructions(),
    )
