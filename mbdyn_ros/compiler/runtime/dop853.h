/* The step of Dormand and Prince, order 8 (DOP853), of any rates: of `simulate`'s programs, and of
   units of FMI, which are C99 of any compiler.

   The formula, its error estimate, the choice of the step and the interpolant of order 7 are those
   of Hairer, Norsett and Wanner (Solving Ordinary Differential Equations I, II.5 and II.10);
   SciPy's solver of the same name takes the same steps. It needs <math.h>, <stddef.h> and
   <string.h>. */
#include "dop853_table.h"

/* Factor on the step that the error would allow; least and greatest change of a step. */
static const double SAFETY = 0.9, LEAST = 0.2, MOST = 10.;

/* Rows of n numbers of the memory of a step: rates of all stages, and two errors. */
enum { ROWS_OF_A_STEP = ALL_STAGES + 2 };

/* The rate (n) of a motion at y (n); NaN where there is none. */
typedef void (*Rates)(const void* motion, const double* y, double* rate);

enum { SOME = 64 }; /* numbers that are summed at once */

/* x (NULL: zero) + h sum of w[j] K[j], each of n numbers */
static void along(const double* x, double h, const double* w, int stages, size_t n,
                  const double* K, double* out) {
  double sum[SOME];
  for (size_t first = 0; first < n; first += SOME) {
    const size_t count = n - first < SOME ? n - first : SOME;
    for (size_t i = 0; i < count; ++i) sum[i] = 0.;
    for (int j = 0; j < stages; ++j) {
      if (w[j] == 0.) continue;
      for (size_t i = 0; i < count; ++i) sum[i] += w[j] * K[(size_t)j * n + first + i];
    }
    for (size_t i = 0; i < count; ++i) out[first + i] = (x ? x[first + i] : 0.) + h * sum[i];
  }
}

static void run_stages(Rates rates, const void* motion, size_t n, int first, int last,
                       const double* y, double h, double* K) {
  double* x = K + (size_t)ALL_STAGES * n;
  for (int s = first; s < last; ++s) {
    along(y, h, by_stages[s], s, n, K, x);
    rates(motion, x, K + (size_t)s * n);
  }
}

/* The error of a step in units of what is allowed. */
static double error_norm(const double* y, const double* next, double h, double rtol, double atol,
                         size_t n, double* K) {
  double *third = K + (size_t)ALL_STAGES * n, *fifth = third + n, sum_3 = 0., sum_5 = 0.;
  along(NULL, 1., error_3, STAGES + 1, n, K, third);
  along(NULL, 1., error_5, STAGES + 1, n, K, fifth);
  for (size_t i = 0; i < n; ++i) {
    const double scale = atol + rtol * fmax(fabs(y[i]), fabs(next[i]));
    sum_3 += third[i] / scale * (third[i] / scale);
    sum_5 += fifth[i] / scale * (fifth[i] / scale);
  }
  if (sum_3 == 0. && sum_5 == 0.) return 0.;
  return h * sum_5 / sqrt((sum_5 + 0.01 * sum_3) * (double)n);
}

/* One accepted step from y at t[0] with the rate f there, to `next` at t[1], with f there.
   limits: the end of time, the longest step, rtol, atol. length: of the next step to try. K: memory
   (ROWS_OF_A_STEP, n). 1, or 0 where no step is long enough to count. */
static int one_step(Rates rates, const void* motion, size_t n, double* t, const double* limits,
                    double* length, const double* y, double* f, double* next, double* K) {
  const double shortest = 10. * (nextafter(t[0], HUGE_VAL) - t[0]);
  const double rtol = limits[2], atol = limits[3];
  double h = fmin(limits[1], fmax(shortest, *length)), *end = K + STAGES * n;
  int rejected = 0;
  memcpy(K, f, n * sizeof *K);
  for (;;) {
    if (!(h >= shortest)) return 0;
    t[1] = fmin(t[0] + h, limits[0]);
    h = t[1] - t[0];
    run_stages(rates, motion, n, 1, STAGES, y, h, K);
    along(y, h, by_order_8, STAGES, n, K, next);
    rates(motion, next, end);
    const double error = error_norm(y, next, h, rtol, atol, n, K);
    const double factor = SAFETY * pow(error, -1. / 8.);
    if (error < 1.) {
      *length = h * fmin(rejected ? 1. : MOST, factor);
      memcpy(f, end, n * sizeof *f);
      return 1;
    }
    h *= factor > LEAST ? factor : LEAST;  /* also where it is NaN */
    rejected = 1;
  }
}
