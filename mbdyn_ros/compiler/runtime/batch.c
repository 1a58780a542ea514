/* A program over many states: several at once in vectors, on several threads. */
#include "rows.h"

struct batch {
  const struct program* program;
  const double* const* start;  /* of every input, then of home */
  const size_t* step;          /* from state to state; 0 where one input serves all */
  double* result;
};

enum { ON_STACK = 1 << 13 };  /* vectors of a result that has no memory of its own */

/* Rows of one input for a vector of states, copied where they do not follow each other: those of
   an input that serves all states, and of the last states where the vector is not full. */
static __attribute__((noinline))
const double* copied(const double* x, size_t step, size_t size, size_t count, double* rows) {
  for (size_t l = 0; l < LANES; ++l) {
    memcpy(rows + l * size, x + (l < count ? l : count - 1) * step, size * sizeof *rows);
  }
  return rows;
}

static inline void read_states(const double* x, size_t step, size_t size, size_t count,
                               double* spare, realv* out) {
  const double* row[LANES];
  if (__builtin_expect(count < LANES || !step, 0)) x = copied(x, step, size, count, spare);
  for (size_t l = 0; l < LANES; ++l) row[l] = x + l * size;
  read_rows(row, size, out);
}

static void run_vectors(const struct batch* job, size_t first, size_t last, realv* out) {
  const struct program* program = job->program;
  const size_t inputs = program->inputs, size_out = result_size(program);
  realv in[total_size(program) + 1], *place[inputs + 1];
  double spare[LANES * largest_size(program) + 1];
  const realv* arg[inputs + 1];
  place[0] = in;
  for (size_t i = 0; i < inputs; ++i) {
    place[i + 1] = place[i] + size_of(program->input + i);
    arg[i && program->close ? i + 1 : i] = place[i];
  }
  for (size_t k = first; k < last; k += LANES) {
    const size_t count = last - k < LANES ? last - k : LANES;
    for (size_t i = 0; i < inputs; ++i) {
      const size_t size = (size_t)(place[i + 1] - place[i]), step = job->step[i];
      read_states(job->start[i] + k * step, step, size, count, spare, place[i]);
    }
    run_together(program, arg, job->start[inputs], out);
    write_rows(out, size_out, count, job->result + k * size_out, size_out);
  }
}

static void run_batch(const void* pointer, size_t first, size_t last) {
  const struct batch* job = pointer;
  const size_t size = result_size(job->program);
  if (size < ON_STACK) {
    realv out[size + 1];
    run_vectors(job, first, last, out);
    return;
  }
  realv* out = aligned_alloc(sizeof *out, size * sizeof *out);
  if (!out) abort();  /* as where the stack has no room */
  run_vectors(job, first, last, out);
  free(out);
}

/* The program over n states, in vectors. */
EXPORTED void batch(const struct program* program, size_t n, const double* const* start,
                    const size_t* step, double* result, int threads) {
  const struct batch job = {program, start, step, result};
  share_out(n, 128, threads, run_batch, &job);
}

/* The same over a few states, one by one. */
EXPORTED void batch_of_few(const struct program* program, size_t n, const double* const* start,
                           const size_t* step, double* result) {
  const double* arg[program->inputs + 1];
  for (size_t k = 0; k < n; ++k) {
    double* const res[] = {result + k * result_size(program)};
    for (size_t i = 0; i < program->inputs; ++i) arg[i] = start[i] + k * step[i];
    arg[program->inputs] = start[program->inputs];
    run(program, arg, res);
  }
}
