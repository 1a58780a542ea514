/* A program at one state, or at a vector of them. Behind its inputs stands home. */
#include "close.h"

static size_t result_size(const struct program* program) {
  return program->rows * program->columns;
}

/* How many numbers the inputs have together. */
static size_t total_size(const struct program* program) {
  size_t total = 0;
  for (size_t i = 0; i < program->inputs; ++i) total += size_of(program->input + i);
  return total;
}

/* The loops closed, then the equations; NaN where the loops cannot be closed. */
static __attribute__((noinline))
void run_closed(const struct program* program, const double* const* arg, double* const* res) {
  const double* whole[program->inputs + 1];
  double z[program->z];
  if (!program->close(arg[0], arg[program->inputs], z)) {
    for (size_t i = 0; i < result_size(program); ++i) res[0][i] = NAN;
    return;
  }
  whole[0] = arg[0];
  whole[1] = z;
  for (size_t i = 1; i < program->inputs; ++i) whole[i + 1] = arg[i];
  program->alone(whole, res);
}

static inline void run(const struct program* program, const double* const* arg,
                       double* const* res) {
  if (program->close) {
    run_closed(program, arg, res);
  } else {
    program->alone(arg, res);
  }
}

/* Divide every quaternion by its length. */
static void normalize(const struct program* program, realv* q) {
  for (size_t k = 0; k < program->quaternions; ++k) {
    realv* p = q + program->quaternion[k];
    const realv length = rootv(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int i = 0; i < 4; ++i) p[i] = p[i] / length;
  }
}

/* A program at a vector of states; `arg` leaves the second place to z where there are loops. */
static void run_together(const struct program* program, const realv** arg, const double* home,
                         realv* result) {
  realv* const res[] = {result};
  if (!program->close) {
    program->together(arg, res);
    return;
  }
  realv z[program->z];
  const bitsv closed = close_together(program, arg[0], home, z);
  arg[1] = z;
  program->together(arg, res);
  for (size_t i = 0; i < result_size(program); ++i) {
    result[i] = selectv(closed, result[i], allv(NAN));
  }
}
