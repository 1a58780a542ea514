/* Impulses f of contacts, w = A f + b: each pushes or its normal velocity is not zero, friction
   stays in Coulomb's cone and is full, against the velocity, where that is not zero; bounded rows
   likewise. `equations/contact/impact.py` says the same in NumPy.

   Newton's method on the projections (Alart and Curnier 1991), with a line search, from the last
   impulses; where that leads nowhere, sweeps over the contacts find better ones to start from. */
enum { NEWTON_STEPS = 30, SWEEPS = 30, STARTS = 12, SWEPT_STARTS = 6 };

#define NO_ROW ((size_t)-1)
#define LEAST_SHARE 1e-4   /* of a Newton step that has to help */
#define SOFTNESS 1e-11     /* share that makes redundant impulses one set; they are exact all the same */

/* k contacts, the rows where their normals stand and the first of two tangents (NO_ROW: none), and
   their friction; then the last rows, each within +-bound. `room`: see `room_of_cones`. */
struct cones {
  size_t rows, contacts, bounded;
  const size_t *normal, *tangent;
  const double *friction, *bound, *matrix, *free;
  double *room;
};

/* How many numbers of room m rows need. */
static inline size_t room_of_cones(size_t m) { return m * m + 8 * m; }

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

/* Newton's method from f; keeps the best impulses of the way in `best` if they beat `least`. */
static void newton_on_cones(const struct cones* c, const double* step, double* f, double enough,
                            double* best, double* least) {
  const size_t m = c->rows;
  double *slope = c->room, *error = slope + m * m, *trial = error + m, *way = trial + m;
  double gap, size = residual_of(c, step, f, error, slope, &gap);
  for (int k = 0; k < NEWTON_STEPS; ++k) {
    if (gap < *least) {
      *least = gap;
      memcpy(best, f, m * sizeof *f);
    }
    if (!(gap > enough)) return;
    memcpy(way, error, m * sizeof *way);
    if (!eliminate(m, slope, way)) return;
    double share = 1., left = 0.;
    for (; share >= LEAST_SHARE; share /= 2.) {
      for (size_t i = 0; i < m; ++i) trial[i] = f[i] - share * way[i];
      left = residual_of(c, step, trial, error, NULL, &gap);
      if (left < (1. - 2e-4 * share) * size) break;
    }
    if (!(share >= LEAST_SHARE)) return;
    memcpy(f, trial, m * sizeof *f);
    if (gap > enough) residual_of(c, step, f, error, slope, &gap);
    size = left;
  }
}

/* One contact after the other, given all others: the normal impulse that stops it, and as much
   friction as that allows. */
static void sweep_over_cones(const struct cones* c, const double* step, double* f) {
  const size_t m = c->rows, last = m - c->bounded;
  const double* a = c->matrix;
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    f[n] = fmax(0., f[n] - step[n] * (dot(m, a + n * m, f) + c->free[n]));
    if (t == NO_ROW) continue;
    const double x = f[t] - step[t] * (dot(m, a + t * m, f) + c->free[t]);
    const double y = f[t + 1] - step[t] * (dot(m, a + (t + 1) * m, f) + c->free[t + 1]);
    const double length = hypot(x, y), bound = c->friction[k] * f[n];
    const double share = length > bound ? bound / length : 1.;
    f[t] = share * x;
    f[t + 1] = share * y;
  }
  for (size_t i = last; i < m; ++i) {
    const double bound = c->bound[i - last];
    f[i] = fmin(fmax(f[i] - step[i] * (dot(m, a + i * m, f) + c->free[i]), -bound), bound);
  }
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

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law, at most
   `settled` times that of b unless nothing better was found. */
static double impulses_of_cones(const struct cones* c, double settled, double* f) {
  const size_t m = c->rows;
  double *best = c->room + m * m + 3 * m, *step = best + m, *now = step + m;
  double size = 0., least = HUGE_VAL, gap;
  for (size_t i = 0; i < m; ++i) size = fmax(size, fabs(c->free[i]));
  if (!(size > 0.)) {
    memset(f, 0, m * sizeof *f);
    return 0.;
  }
  steps_of(c, step);
  memcpy(best, f, m * sizeof *f);
  memcpy(now, f, m * sizeof *f);
  uint64_t random = 88172645463325252u;  /* the answer depends on the arguments alone */
  for (int start = 0; start <= STARTS; ++start) {
    if (start > SWEPT_STARTS) {
      for (size_t i = 0; i < m; ++i) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        now[i] = size * step[i] * ((double)(random >> 11) * 0x1p-52 - 1.);
      }
      for (size_t k = 0; k < c->contacts; ++k) now[c->normal[k]] = fabs(now[c->normal[k]]);
      project_on_cones(c, now);
    } else if (start) {
      if (start == 1) memset(now, 0, m * sizeof *now);
      for (int k = 0; k < SWEEPS * start; ++k) sweep_over_cones(c, step, now);
    }
    memcpy(f, now, m * sizeof *f);
    newton_on_cones(c, step, f, settled * size, best, &least);
    if (least <= settled * size) break;
  }
  if (!(least <= settled * size)) {  /* what sweeps give takes no energy out of nothing */
    for (int k = 0; k < 20 * SWEEPS; ++k) sweep_over_cones(c, step, now);
    residual_of(c, step, now, f, NULL, &gap);
    if (gap < least) memcpy(best, now, m * sizeof *now), least = gap;
  }
  memcpy(f, best, m * sizeof *f);
  project_on_cones(c, f);
  return least;
}
