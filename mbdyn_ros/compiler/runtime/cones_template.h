/* Impulses f of contacts, w = A f + b, by Newton's method: see `complementarity.h`. Included for
   single numbers and for vectors; rows that are zero in a lane change nothing in it. */

/* k contacts, the rows where their normals stand and the first of two tangents (NO_ROW: none), and
   their friction; then the last rows, each within +-bound. matrix = X X^T (rows, size). `room`: see
   `room_of_cones`. */
struct F(cones) {
  size_t rows, contacts, bounded, size;
  const size_t *normal, *tangent;
  const double* friction;
  const REAL *bound, *matrix, *free, *X;
  REAL* room;
};

static void F(steps_of)(const struct F(cones)* c, REAL* step) {
  const size_t m = c->rows;
  const REAL* a = c->matrix;
  for (size_t i = 0; i < m; ++i) {
    const REAL own = a[i * m + i];
    step[i] = F(select)(IS(own > 0.), 1. / own, ALL(1.));
  }
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    if (t == NO_ROW) continue;
    const REAL size = a[t * m + t] + a[(t + 1) * m + t + 1];
    step[t] = F(select)(IS(size > 1e-12 * a[n * m + n]), 1. / size, step[n]);
    step[t + 1] = step[t];
  }
}

/* A row of Newton's matrix: share of step A, and `rest` more on the diagonal. */
static inline void F(slope_row)(size_t m, size_t i, REAL share, REAL rest, const REAL* a,
                                REAL* row) {
  for (size_t j = 0; j < m; ++j) row[j] = share * a[i * m + j];
  row[i] += rest;
}

/* f - projection(f - step w), zero where the laws hold; its derivative too if wanted. Gives the
   sum of squares, each by its weight, and the largest velocity by which a law is missed. */
static REAL F(residual)(const struct F(cones)* c, const REAL* step, const REAL* f, REAL* error,
                        REAL* slope, double softness, REAL* gap) {
  const size_t m = c->rows, last = m - c->bounded;
  const REAL* a = c->matrix;
  REAL trial[m + 1];
  F(copy)(m, c->free, trial);
  for (size_t j = 0; j < m; ++j) F(add_to)(m, f[j], a + j * m, trial);
  for (size_t i = 0; i < m; ++i) trial[i] = f[i] - step[i] * trial[i];
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    const BITS pushes = IS(trial[n] > 0.);
    error[n] = f[n] - F(select)(pushes, trial[n], ALL(0.));
    if (slope) {
      const REAL share = F(select)(pushes, step[n], ALL(0.));
      F(slope_row)(m, n, share, F(select)(pushes, ALL(softness), ALL(1.)), a, slope + n * m);
    }
    if (t == NO_ROW) continue;
    const REAL p = trial[t], r = trial[t + 1];
    const REAL bound = c->friction[k] * F(select)(IS(f[n] > 0.), f[n], ALL(0.));
    REAL square = p * p;
    square += r * r;
    const REAL length = F(root)(square);
    const BITS sticks = IS(length <= bound), slides = ~sticks & IS(bound > 0.);
    const REAL x = F(select)(slides, p / length, ALL(0.));
    const REAL y = F(select)(slides, r / length, ALL(0.));
    error[t] = f[t] - F(select)(sticks, p, bound * x);
    error[t + 1] = f[t + 1] - F(select)(sticks, r, bound * y);
    if (!slope) continue;
    /* (1 - D) + D step A with D the projection's derivative: across the way where it slides */
    const REAL share = F(select)(slides, bound / length, ALL(0.));
    const REAL one = F(select)(sticks, ALL(1.), share * y * y), both = -share * x * y;
    const REAL two = F(select)(sticks, ALL(1.), share * x * x);
    const REAL soft = F(select)(sticks, ALL(softness), ALL(0.));
    REAL *first = slope + t * m, *second = first + m;
    const REAL *row = a + t * m, *other = row + m;
    for (size_t j = 0; j < m; ++j) {
      const REAL u = step[t] * row[j], v = step[t] * other[j];
      first[j] = one * u, second[j] = two * v;
      first[j] += both * v, second[j] += both * u;
    }
    first[t] += 1. - one + soft, second[t + 1] += 1. - two + soft;
    first[t + 1] -= both, second[t] -= both;
    first[n] -= c->friction[k] * x, second[n] -= c->friction[k] * y;
  }
  for (size_t i = last; i < m; ++i) {
    const REAL bound = c->bound[i - last];
    const BITS within = IS(F(magnitude)(trial[i]) < bound);
    error[i] = f[i] - F(least)(F(greatest)(trial[i], -bound), bound);
    if (!slope) continue;
    const REAL share = F(select)(within, step[i], ALL(0.));
    F(slope_row)(m, i, share, F(select)(within, ALL(softness), ALL(1.)), a, slope + i * m);
  }
  REAL sum = ALL(0.), most = ALL(0.);
  for (size_t i = 0; i < m; ++i) {
    const REAL velocity = error[i] / step[i];
    sum += error[i] * velocity;
    most = F(greatest)(most, F(magnitude)(velocity));
  }
  *gap = most;
  return sum;
}

/* Solve a x = x in place by elimination with row pivoting; where a is regular. */
static BITS F(eliminate)(size_t n, REAL* a, REAL* x) {
  BITS regular = IS(ALL(0.) == 0.);
  for (size_t k = 0; k < n; ++k) {
    REAL most = F(magnitude)(a[k * n + k]), best = ALL((double)k);
    for (size_t i = k + 1; i < n; ++i) {
      const BITS larger = IS(F(magnitude)(a[i * n + k]) > most);
      most = F(select)(larger, F(magnitude)(a[i * n + k]), most);
      best = F(select)(larger, ALL((double)i), best);
    }
    regular &= IS(most > 0.);
    if (F(any)(IS(best != (double)k))) {
      for (size_t l = 0; l < COUNT; ++l) {
        const size_t i = (size_t)LANE(&best, l);
        if (i == k) continue;
        for (size_t j = k; j <= n; ++j) {
          REAL *one = j < n ? a + k * n + j : x + k, *other = j < n ? a + i * n + j : x + i;
          const double swap = LANE(one, l);
          LANE(one, l) = LANE(other, l);
          LANE(other, l) = swap;
        }
      }
    }
    const REAL pivot = 1. / a[k * n + k];
    for (size_t i = k + 1; i < n; ++i) {
      const REAL share = a[i * n + k] * pivot;
      if (!F(any)(IS(share != 0.))) continue;
      for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= share * a[k * n + j];
      x[i] -= share * x[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    REAL left = x[k];
    for (size_t j = k + 1; j < n; ++j) left -= a[k * n + j] * x[j];
    x[k] = left / a[k * n + k];
  }
  return regular;
}

/* Newton's method from f, which stays the best of the way; gives the velocity it misses laws by.
   Single numbers try shorter steps where a whole one does not help; vectors leave it at that. */
static REAL F(newton_on_cones)(const struct F(cones)* c, const REAL* step, REAL* f, REAL enough,
                               double softness) {
  const size_t m = c->rows;
  REAL *slope = c->room, *error = slope + m * m, *trial = error + m, *way = trial + m;
  REAL *now = way + m, gap, least = ALL(HUGE_VAL);
  BITS open = IS(least > 0.);
  F(copy)(m, f, now);
  REAL size = F(residual)(c, step, now, error, slope, softness, &gap);
  for (int k = 0; k < NEWTON_STEPS; ++k) {
    const BITS better = open & IS(gap < least);
    least = F(select)(better, gap, least);
    F(take)(better, m, now, f);
    open &= IS(gap > enough);
    if (!F(any)(open)) break;
    F(copy)(m, error, way);
    open &= F(eliminate)(m, slope, way);
    double share = 1.;
    for (;; share /= 2.) {
      for (size_t i = 0; i < m; ++i) trial[i] = now[i] - share * way[i];
      const REAL left = F(residual)(c, step, trial, error, NULL, softness, &gap);
      const BITS helps = open & IS(left < (1. - 2e-4 * share) * size);
      if (COUNT > 1 || F(any)(helps) || !F(any)(open) || share / 2. < LEAST_SHARE) {
        open = helps;
        size = F(select)(open, left, size);
        break;
      }
    }
    if (!F(any)(open)) break;
    F(take)(open, m, trial, now);
    if (F(any)(open & IS(gap > enough))) F(residual)(c, step, now, error, slope, softness, &gap);
  }
  return least;
}

/* Where impulses are so much larger than the velocities ask for that they mostly press against
   each other. */
static BITS F(are_heavy)(const struct F(cones)* c, const REAL* f) {
  REAL most = ALL(0.), size = most;
  for (size_t i = 0; i < c->rows; ++i) {
    most = F(greatest)(most, F(magnitude)(f[i]) * c->matrix[i * c->rows + i]);
    size = F(greatest)(size, F(magnitude)(c->free[i]));
  }
  return IS(most > HEAVY * size);
}

/* Impulses that are allowed, whatever the velocities: none pulls, all within their cones. */
static void F(project_on_cones)(const struct F(cones)* c, REAL* f) {
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    f[n] = F(greatest)(f[n], ALL(0.));
    if (t == NO_ROW) continue;
    REAL square = f[t] * f[t];
    square += f[t + 1] * f[t + 1];
    const REAL length = F(root)(square), bound = c->friction[k] * f[n];
    const REAL share = F(select)(IS(length > bound), bound / length, ALL(1.));
    f[t] *= share, f[t + 1] *= share;
  }
  for (size_t i = 0; i < c->bounded; ++i) {
    REAL* one = f + c->rows - c->bounded + i;
    *one = F(least)(F(greatest)(*one, -c->bound[i]), c->bound[i]);
  }
}
