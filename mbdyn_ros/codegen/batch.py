"""C of a program over many states: several at once in vectors, on several threads."""

from __future__ import annotations

from ..dynamics.system import System
from .elementary import elementary_functions
from .program import Program
from .source import HEADERS, walk_source
from .straight_line import StraightLine, each_functions

LANES = """
#include <pthread.h>
#include <stdatomic.h>

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

static void read_rows(const double* const* row, size_t size, realv* out) {
  for (size_t j = 0; j < size; ++j) out[j] = side_by_side(row, j);
}

static void write_rows(const realv* x, size_t size, size_t count, double* out) {
  for (size_t k = 0; k < count; ++k, out += size) {
    for (size_t j = 0; j < size; ++j) out[j] = x[j][k];
  }
}

/* Shares of a job of n parts, taken by whoever is free. */
typedef struct {
  size_t n, share;
  atomic_size_t next;
  void (*run)(const void* job, size_t first, size_t last);
  const void* job;
} shared_work;

static void* take_shares(void* pointer) {
  shared_work* work = pointer;
  size_t first;
  while ((first = atomic_fetch_add(&work->next, work->share)) < work->n) {
    const size_t last = first + work->share < work->n ? first + work->share : work->n;
    work->run(work->job, first, last);
  }
  return NULL;
}

/* Run a job on several threads. They live no longer than the call, so that a process may fork;
   where none can be made, the caller's does everything. */
static void share_out(size_t n, size_t share, int threads,
                      void (*run)(const void*, size_t, size_t), const void* job) {
  enum { MOST = 256 };
  pthread_t helper[MOST];
  shared_work work = {.n = n, .share = share, .run = run, .job = job};
  int helpers = 0;
  atomic_init(&work.next, 0);
  while (helpers < MOST && helpers + 1 < threads && helpers * share < n &&
         !pthread_create(helper + helpers, NULL, take_shares, &work)) ++helpers;
  take_shares(&work);
  while (helpers) pthread_join(helper[--helpers], NULL);
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
                                double* result, int threads) {{
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
    core = program.function("core")
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
    text += StraightLine(core, "core", "v").text() + LANES
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
