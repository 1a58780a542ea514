/* The safe way to impulses of contacts (`complementarity.h`), slower than Newton's: with the normal
   velocities shifted by mu times those along the wall (De Saxce and Feng 1998), the laws are those of
   a convex problem, which the method of multipliers solves; the shifts follow. */
enum { CONVEX_STEPS = 40, ROUNDS = 80, PATIENCE = 15 };

#define PENALTY 1e4        /* of the method of multipliers at first, of a contact's own mass */
#define HARDER 3.          /* how much it grows in a round, and how far */
#define HARDEST 1e7

/* The nearest impulse in a cone, in place, and how it changes with what is given (3, 3). */
static void into_cone(double mu, double* z, double* change) {
  const double r = hypot(z[1], z[2]), more = 1. / (1. + mu * mu);
  memset(change, 0, 9 * sizeof *change);
  if (r <= mu * z[0]) {
    change[0] = change[4] = change[8] = 1.;
  } else if (mu * r <= -z[0]) {
    z[0] = z[1] = z[2] = 0.;
  } else {
    const double n = (z[0] + mu * r) * more, x = z[1] / r, y = z[2] / r, across = mu * n / r;
    change[0] = more;
    change[1] = change[3] = mu * x * more;
    change[2] = change[6] = mu * y * more;
    change[4] = mu * mu * more * x * x + across * y * y;
    change[8] = mu * mu * more * y * y + across * x * x;
    change[5] = change[7] = (mu * mu * more - across) * x * y;
    z[0] = n, z[1] = mu * n * x, z[2] = mu * n * y;
  }
}

/* What the method of multipliers minimizes at y (size): |y|^2 / 2 and the penalties; its slope, and
   its second derivatives `bend` if wanted. Impulses go to f, from those in `about`. */
static double penalized(const struct cones1* c, const double* step, double penalty,
                        const double* about, const double* shift, const double* y, double* f,
                        double* slope, double* bend) {
  const size_t m = c->rows, n = c->size, last = m - c->bounded;
  double sum = 0.5 * dot(n, y, y), change[9];
  memcpy(slope, y, n * sizeof *slope);
  if (bend) {
    memset(bend, 0, n * n * sizeof *bend);
    for (size_t i = 0; i < n; ++i) bend[i * n + i] = 1.;
  }
  for (size_t k = 0; k < c->contacts + c->bounded; ++k) {
    const size_t i = k < c->contacts ? c->normal[k] : last + k - c->contacts;
    const size_t rows = k < c->contacts && c->tangent[k] != NO_ROW ? 3 : 1;
    const double weight = penalty * step[i];
    for (size_t r = i; r < i + rows; ++r) {
      f[r] = about[r] - weight * (c->free[r] + shift[r] + dot(n, c->X + r * n, y));
    }
    if (rows == 3) {
      into_cone(c->friction[k], f + i, change);
    } else if (k < c->contacts) {
      change[0] = f[i] > 0.;
      f[i] = fmax(0., f[i]);
    } else {
      const double bound = c->bound[k - c->contacts];
      change[0] = fabs(f[i]) < bound;
      const double kept = fmin(fmax(f[i], -bound), bound);
      sum += kept * (f[i] - kept) / weight;
      f[i] = kept;
    }
    for (size_t r = 0; r < rows; ++r) {
      sum += 0.5 * f[i + r] * f[i + r] / weight;
      add(n, -f[i + r], c->X + (i + r) * n, slope);
    }
    if (!bend) continue;
    for (size_t r = 0; r < rows; ++r) {
      for (size_t o = 0; o < rows; ++o) {
        const double much = weight * change[r * rows + o];
        if (much == 0.) continue;
        const double *one = c->X + (i + r) * n, *other = c->X + (i + o) * n;
        for (size_t j = 0; j < n; ++j) add(j + 1, much * one[j], other, bend + j * n);
      }
    }
  }
  return sum;
}

/* The least of what is penalized, by Newton's method from y. */
static void settle(const struct cones1* c, const double* step, double penalty, const double* about,
                   const double* shift, double* y, double* f) {
  const size_t n = c->size;
  double *bend = c->room, *slope = bend + n * n, *way = slope + n, *trial = way + n;
  double value = penalized(c, step, penalty, about, shift, y, f, slope, bend), before = HUGE_VAL;
  for (int k = 0; k < CONVEX_STEPS; ++k) {
    const double steep = dot(n, slope, slope);
    if (!cholesky(n, bend)) return;
    memcpy(way, slope, n * sizeof *way);
    forward(n, bend, way);
    backward(n, bend, way);
    const double falls = dot(n, way, slope);
    const int end = falls < 1e-11 * fabs(value);  /* beyond what values can tell */
    if (end && !(steep < 0.25 * before)) return;
    before = end ? steep : HUGE_VAL;
    double share = 1.;
    for (; share > LEAST_SHARE; share /= 2.) {
      for (size_t i = 0; i < n; ++i) trial[i] = y[i] - share * way[i];
      if (end) break;
      const double less = penalized(c, step, penalty, about, shift, trial, f, slope, NULL);
      if (less <= value - 1e-4 * share * falls) break;
    }
    memcpy(y, trial, n * sizeof *y);
    value = penalized(c, step, penalty, about, shift, y, f, slope, bend);
  }
}

/* Impulses from those in f, safely; gives the least velocity by which a law is missed. */
static double approach(const struct cones1* c, const double* step, double* f, double size,
                       double enough, double* best) {
  const size_t m = c->rows, n = c->size;
  double *about = c->room + m * m + n * n + 3 * n, *shift = about + m, *now = shift + m;
  double *error = now + m, *y = error + m, gap, least = HUGE_VAL, penalty = PENALTY;
  int idle = 0;
  memset(shift, 0, m * sizeof *shift);
  memset(y, 0, n * sizeof *y);
  memcpy(about, f, m * sizeof *about);
  for (size_t i = 0; i < m; ++i) add(n, f[i], c->X + i * n, y);
  for (int k = 0; k < ROUNDS && idle < PATIENCE; ++k, penalty = fmin(HARDER * penalty, HARDEST)) {
    settle(c, step, penalty, about, shift, y, now);
    residual1(c, step, now, error, NULL, 0., &gap);
    idle = gap < 0.5 * least ? 0 : idle + 1;
    if (gap < least) {
      least = gap;
      memcpy(best, now, m * sizeof *now);
    }
    if (!(gap > enough * size)) break;
    memcpy(about, now, m * sizeof *now);
    for (size_t i = 0; i < c->contacts; ++i) {
      const size_t t = c->tangent[i];
      if (t == NO_ROW) continue;
      const double one = c->free[t] + dot(n, c->X + t * n, y);
      const double two = c->free[t + 1] + dot(n, c->X + (t + 1) * n, y);
      shift[c->normal[i]] = c->friction[i] * hypot(one, two);
    }
  }
  return least;
}
