/* Steps of DOP853 (dop853.h) around a program `motion_rate`: a library of its own, since nothing but
   `simulate` takes them, and it takes as long to compile as the rest of the runtime. */
#include "program.h"
#include "run.c"
#include "dop853.h"

/* A motion y = (q, v, work, loss) of n numbers, nq of them q, under constant efforts. */
struct motion {
  const struct program* program;
  const double *effort, *home;
  double* memory;
  size_t nq, n;
};

static struct motion motion_of(const struct program* program, const double* effort,
                               const double* home, double* memory) {
  const size_t nq = size_of(program->input);
  return (struct motion){program, effort, home, memory, nq, program->size};
}

static void rate_at(const void* of, const double* y, double* out) {
  const struct motion* motion = of;
  const double* arg[] = {y, y + motion->nq, motion->effort, motion->home, motion->memory};
  double* res[] = {out};
  run(motion->program, arg, res);
}

/* `one_step` under constant efforts. */
EXPORTED int dop853(const struct program* program, double* t, const double* limits, double* length,
                    const double* y, double* f, double* next, double* K, const double* effort,
                    const double* home, double* memory) {
  const struct motion motion = motion_of(program, effort, home, memory);
  return one_step(rate_at, &motion, motion.n, t, limits, length, y, f, next, K);
}

/* The interpolant of the last step: weights of x, x (1 - x), x^2 (1 - x) ... in x = 0..1. */
EXPORTED void dop853_between(const struct program* program, const double* t, const double* y,
                             const double* next, double* K, const double* effort,
                             const double* home, double* memory, double* F) {
  const struct motion motion = motion_of(program, effort, home, memory);
  const size_t n = motion.n;
  const double h = t[1] - t[0];
  run_stages(rate_at, &motion, n, STAGES + 1, ALL_STAGES, y, h, K);
  for (size_t i = 0; i < n; ++i) {
    F[i] = next[i] - y[i];
    F[n + i] = h * K[i] - F[i];
    F[2 * n + i] = 2. * F[i] - h * (K[STAGES * n + i] + K[i]);
  }
  for (int p = 3; p < POWERS; ++p) {
    along(NULL, h, by_powers[p - 3], ALL_STAGES, n, K, F + (size_t)p * n);
  }
}
