/* Impulses f of contacts, w = A f + b: each pushes or its normal velocity is not zero, friction
   stays in Coulomb's cone and is full, against the velocity, where that is not zero; bounded rows
   likewise. `equations/contact/impact.py` says the same in NumPy.

   Newton's method on the projections (Alart and Curnier 1991), with a line search, from the last
   impulses finds them at once where contacts stay as they are. Where it does not, as where they are
   redundant, `approach` goes safely (`convex_cones.h`). */
enum { NEWTON_STEPS = 12 };

#define NO_ROW ((size_t)-1)
#define LEAST_SHARE 1e-4   /* of a Newton step that has to help */
#define SOFTNESS 1e-11     /* share of the diagonal that Newton's matrix has more */

/* k contacts, the rows where their normals stand and the first of two tangents (NO_ROW: none), and
   their friction; then the last rows, each within +-bound. matrix = X X^T (rows, size). `room`: see
   `room_of_cones`. */
struct cones {
  size_t rows, contacts, bounded, size;
  const size_t *normal, *tangent;
  const double *friction, *bound, *matrix, *free, *X;
  double *room;
};

/* How many numbers of room m rows need. */
static inline size_t room_of_cones(size_t m, size_t size) {
  return m * m + 10 * m + size * size + 4 * size;
}

static void steps_of(const struct cones* c, double* step) {
  const size_t m = c->rows;
  const double* a = c->matrix;
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    step[n] = a[n * m + n] > 0. ? 1. / a[n * m + n] : 1.;
    if (t == NO_ROW) continue;
    const double size = a[t * m + t] + a[(t + 1) * m + t + 1];
    step[t] = step[t + 1] = size > 1e-12 * a[n * m + n] ? 1. / size : step[n];
  }
  for (size_t i = m - c->bounded; i < m; ++i) {
    step[i] = a[i * m + i] > 0. ? 1. / a[i * m + i] : 1.;
  }
}

/* f - projection(f - step w), zero where the laws hold; its derivative too if wanted. Gives the
   sum of squares, each by its weight, and the largest velocity by which a law is missed. */
static double residual_of(const struct cones* c, const double* step, const double* f,
                          double* error, double* slope, double* gap) {
  const size_t m = c->rows, last = m - c->bounded;
  const double* a = c->matrix;
  double trial[m + 1];
  for (size_t i = 0; i < m; ++i) {
    trial[i] = f[i] - step[i] * (dot(m, a + i * m, f) + c->free[i]);
    error[i] = f[i];
  }
  if (slope) {
    memset(slope, 0, m * m * sizeof *slope);
    for (size_t i = 0; i < m; ++i) slope[i * m + i] = 1.;
  }
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    if (trial[n] > 0.) {
      error[n] -= trial[n];
      if (slope) {
        for (size_t j = 0; j < m; ++j) slope[n * m + j] = step[n] * a[n * m + j];
        slope[n * m + n] += SOFTNESS;
      }
    }
    if (t == NO_ROW) continue;
    const double bound = c->friction[k] * fmax(0., f[n]), length = hypot(trial[t], trial[t + 1]);
    if (length <= bound) {
      for (size_t i = t; i < t + 2; ++i) {
        error[i] -= trial[i];
        if (!slope) continue;
        for (size_t j = 0; j < m; ++j) slope[i * m + j] = step[i] * a[i * m + j];
        slope[i * m + i] += SOFTNESS;
      }
    } else if (bound > 0.) {
      const double x = trial[t] / length, y = trial[t + 1] / length, share = bound / length;
      error[t] -= bound * x;
      error[t + 1] -= bound * y;
      if (!slope) continue;
      for (size_t j = 0; j < m; ++j) {  /* across the way: (1 - d d^T) of the trial's derivative */
        const double u = (j == t) - step[t] * a[t * m + j];
        const double v = (j == t + 1) - step[t] * a[(t + 1) * m + j];
        const double along = share * (y * u - x * v);
        slope[t * m + j] -= along * y;
        slope[(t + 1) * m + j] += along * x;
      }
      slope[t * m + n] -= c->friction[k] * x;
      slope[(t + 1) * m + n] -= c->friction[k] * y;
    }
  }
  for (size_t i = last; i < m; ++i) {
    const double bound = c->bound[i - last];
    error[i] -= fmin(fmax(trial[i], -bound), bound);
    if (!slope || !(fabs(trial[i]) < bound)) continue;
    for (size_t j = 0; j < m; ++j) slope[i * m + j] = step[i] * a[i * m + j];
    slope[i * m + i] += SOFTNESS;
  }
  double sum = 0.;
  *gap = 0.;
  for (size_t i = 0; i < m; ++i) {
    sum += error[i] * error[i] / step[i];
    *gap = fmax(*gap, fabs(error[i]) / step[i]);
  }
  return sum;
}

/* Newton's method from f, which stays the best of the way; gives the velocity it misses laws by. */
static double newton_on_cones(const struct cones* c, const double* step, double* f, double enough) {
  const size_t m = c->rows;
  double *slope = c->room, *error = slope + m * m, *trial = error + m, *way = trial + m;
  double *now = way + m, gap, least = HUGE_VAL;
  memcpy(now, f, m * sizeof *now);
  double size = residual_of(c, step, now, error, slope, &gap);
  for (int k = 0; k < NEWTON_STEPS; ++k) {
    if (gap < least) {
      least = gap;
      memcpy(f, now, m * sizeof *f);
    }
    if (!(gap > enough)) break;
    memcpy(way, error, m * sizeof *way);
    if (!eliminate(m, slope, way)) break;
    double share = 1., left = 0.;
    for (; share >= LEAST_SHARE; share /= 2.) {
      for (size_t i = 0; i < m; ++i) trial[i] = now[i] - share * way[i];
      left = residual_of(c, step, trial, error, NULL, &gap);
      if (left < (1. - 2e-4 * share) * size) break;
    }
    if (!(share >= LEAST_SHARE)) break;
    memcpy(now, trial, m * sizeof *now);
    if (gap > enough) residual_of(c, step, now, error, slope, &gap);
    size = left;
  }
  return least;
}

/* Impulses that are allowed, whatever the velocities: none pulls, all within their cones. */
static void project_on_cones(const struct cones* c, double* f) {
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    f[n] = fmax(0., f[n]);
    if (t == NO_ROW) continue;
    const double length = hypot(f[t], f[t + 1]), bound = c->friction[k] * f[n];
    if (length > bound) {
      f[t] *= bound / length;
      f[t + 1] *= bound / length;
    }
  }
  for (size_t i = 0; i < c->bounded; ++i) {
    double* one = f + c->rows - c->bounded + i;
    *one = fmin(fmax(*one, -c->bound[i]), c->bound[i]);
  }
}

#include "convex_cones.h"

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law, at most
   `settled` times that of b unless nothing better was found. */
static double impulses_of_cones(const struct cones* c, double settled, double* f) {
  const size_t m = c->rows;
  double *best = c->room + m * m + 8 * m + c->size * c->size + 4 * c->size, *step = best + m;
  double size = 0.;
  for (size_t i = 0; i < m; ++i) size = fmax(size, fabs(c->free[i]));
  if (!(size > 0.)) {
    memset(f, 0, m * sizeof *f);
    return 0.;
  }
  steps_of(c, step);
  double least = newton_on_cones(c, step, f, settled * size);
  if (least > settled * size) {
    project_on_cones(c, f);
    least = approach(c, step, f, size, settled, best);
    memcpy(f, best, m * sizeof *f);
    if (least > settled * size) {
      const double polished = newton_on_cones(c, step, best, settled * size);
      if (polished < least) least = polished, memcpy(f, best, m * sizeof *f);
    }
  }
  project_on_cones(c, f);
  return least;
}
