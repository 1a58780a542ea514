/* The loop over many states, several at once in vectors. It stands in the library of every program
   for vectors, since sizes that the C compiler knows make it faster by a tenth. The text before it
   defines SIZE_IN, LARGEST_IN and SIZE_OUT (numbers of all inputs, the largest, the result), and
   INPUTS(each), which is each(k, size, place) for every input: its place is that in all numbers.
   TWICE: the equations are put into the loop, though others call them too. GCC does so by itself
   where nobody else does; a tenth faster. */
#include "close.h"
#include "rows.h"

#if SIZE_OUT >= 1 << 13  /* half a megabyte */
#define STORAGE static _Thread_local
#else
#define STORAGE
#endif

/* Rows of one input for a vector of states, copied where they do not follow each other: those of
   an input that serves all states, and of the last states where the vector is not full. */
static __attribute__((noinline))
const double* copied(const double* x, size_t step, size_t size, size_t count, double* rows) {
  for (size_t l = 0; l < LANES; ++l) {
    memcpy(rows + l * size, x + (l < count ? l : count - 1) * step, size * sizeof *rows);
  }
  return rows;
}

static inline void read_states(const struct batch* job, size_t i, size_t size, size_t k,
                               size_t count, realv* out) {
  double spare[LANES * LARGEST_IN];
  const double *row[LANES], *x = job->start[i] + k * job->step[i];
  if (__builtin_expect(count < LANES || !job->step[i], 0)) {
    x = copied(x, job->step[i], size, count, spare);
  }
  for (size_t l = 0; l < LANES; ++l) row[l] = x + l * size;
  read_rows(row, size, out);
}

#ifdef SIZE_P
/* The parameters of a vector of states, which stand behind home. */
static inline void read_parameters(const struct batch* job, size_t k, size_t count, realv* out) {
  const size_t step = job->step[job->program->inputs];
  const double *row[LANES], *x = job->start[job->program->inputs] + job->program->home;
  for (size_t l = 0; l < LANES; ++l) row[l] = x + (k + (l < count ? l : count - 1)) * step;
  read_rows(row, SIZE_P, out);
}
#endif

#ifdef TWICE
__attribute__((flatten))
#endif
static void run_batch(const void* pointer, size_t first, size_t last) {
  const struct batch* job = pointer;
  const struct program* program = job->program;
  realv in[SIZE_IN];
  STORAGE realv out[SIZE_OUT];
  realv* const res[] = {out};
#define PLACE(i, size, place) in + place,
#define READ(i, size, place) read_states(job, i, size, k, count, in + place);
#ifdef SIZE_P
  realv parameters[SIZE_P];
#else
  const realv* const parameters = NULL;
#endif
#ifdef SIZE_Z
  realv z[SIZE_Z];
  const realv* given[] = {INPUTS(PLACE) parameters};
  const realv* arg[sizeof given / sizeof *given + 1] = {in, z};
  memcpy(arg + 2, given + 1, sizeof given - sizeof *given);
#else
  const realv* const arg[] = {INPUTS(PLACE) parameters};
#endif
#ifdef SIZE_P
  const int own = job->step[program->inputs] != 0;
  if (!own) read_parameters(job, 0, LANES, parameters);
#endif
  for (size_t k = first; k < last; k += LANES) {
    const size_t count = last - k < LANES ? last - k : LANES;
    INPUTS(READ)
#ifdef SIZE_P
    if (own) read_parameters(job, k, count, parameters);
#endif
#ifdef SIZE_Z
    const bitsv closed = close_lanes(program, in, job->start[program->inputs], NULL, z);
#endif
    core(arg, res);
#ifdef SIZE_Z
    for (size_t i = 0; i < SIZE_OUT; ++i) out[i] = selectv(closed, out[i], allv(NAN));
#endif
    write_rows(out, SIZE_OUT, count, job->result + k * SIZE_OUT, SIZE_OUT);
  }
}
