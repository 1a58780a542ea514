/* Impulses f of contacts, stops and dry friction of joints as one problem, w = A f + b. Each constraint
   is a set in which its impulse lies, and a projection on that set:

     contact with friction   |f_t| <= mu f_n;  f_t = -mu f_n w_t / |w_t| where w_t is not 0   (Coulomb)
     contact, stop           0 <= f_n, 0 <= w_n, f_n w_n = 0                                  (Signorini)
     dry friction            |f_j| <= b_j;     f_j = -b_j sign(w_j) where w_j is not 0

   Newton's method on the projections (Alart and Curnier 1991), with a line search, from the last
   impulses finds them at once where contacts stay as they are. Where it does not, as where they are
   redundant, `approach` goes safely (`cone_solver.hpp`). */
#pragma once
#include "dense.hpp"

enum { NEWTON_STEPS = 12 };

#define NO_ROW ((size_t)-1)
#define LEAST_SHARE 1e-4   /* of a Newton step that has to help */
#define HEAVY 1e3          /* velocities that impulses would make, of those that there are */
/* Share of the diagonal that Newton's matrix has more: at first, and where that is not enough. */
#define SOFT 1e-11
#define SOFTER 1e-8
#define EVEN 1e-7 /* so much more at first where redundant contacts are to share their load evenly */

/* How many numbers of room m rows need. */
static inline size_t room_of_cones(size_t m, size_t size) {
  return m * m + 16 * m + size * size + 8 * size;
}

/* k contacts, the rows where their normals stand and the first of two tangents (NO_ROW: none), and
   their friction; then the last rows, each within +-bound. matrix = A = X X^T, X (rows, size); X is
   nullptr where A is not symmetric, as where contacts slide in given directions, and where it is not
   known: then `root` has memory for it, in which A is factored once X is needed. `room`: see
   `room_of_cones`. Discs are what resists turning: the row of the normal, the first of one or two rows,
   and the friction (m); problems with discs know no safe way. */
template <class Real>
struct Cones {
  size_t rows, contacts, bounded, size;
  const size_t *normal, *tangent;
  const double* friction;
  const Real *bound, *matrix, *free, *X;
  Real *room, *root;
  size_t discs;
  const size_t *disc_normal, *disc, *disc_rows;
  const double* disc_friction;
};

template <class Real>
static void steps_of(const Cones<Real>* c, Real* step) {
  const size_t m = c->rows;
  const Real* a = c->matrix;
  for (size_t i = 0; i < m; ++i) {
    const Real own = a[i * m + i];
    step[i] = select(is(own > 0.), 1. / own, all<Real>(1.));
  }
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    if (t == NO_ROW) continue;
    const Real size = a[t * m + t] + a[(t + 1) * m + t + 1];
    step[t] = select(is(size > 1e-12 * a[n * m + n]), 1. / size, step[n]);
    step[t + 1] = step[t];
  }
  for (size_t k = 0; k < c->discs; ++k) {
    if (c->disc_rows[k] < 2) continue;
    const size_t t = c->disc[k];
    const Real size = a[t * m + t] + a[(t + 1) * m + t + 1];
    step[t] = step[t + 1] = select(is(size > 0.), 1. / size, all<Real>(1.));
  }
}

/* A row of Newton's matrix: share of step A, and `rest` more on the diagonal. */
template <class Real>
static inline void slope_row(size_t m, size_t i, Real share, Real rest, const Real* a,
                                Real* row) {
  for (size_t j = 0; j < m; ++j) row[j] = share * a[i * m + j];
  row[i] += rest;
}

/* f - projection(f - step w) of one or two rows from t on within a disc of mu times the impulse along n,
   and its derivative if wanted. */
template <class Real>
static inline void disc_residual(const Cones<Real>* c, const Real* step, const Real* f,
                                 const Real* trial, size_t n, size_t t, double mu, bool two_rows,
                                 Real* error, Same<Real>* slope, double softness) {
  const size_t m = c->rows;
  const Real p = trial[t], r = two_rows ? trial[t + 1] : all<Real>(0.);
  const Real bound = mu * select(is(f[n] > 0.), f[n], all<Real>(0.));
  Real square = p * p;
  square += r * r;
  const Real length = root(square);
  const Bits<Real> sticks = is(length <= bound), slides = ~sticks & is(bound > 0.);
  const Real x = select(slides, p / length, all<Real>(0.));
  const Real y = select(slides, r / length, all<Real>(0.));
  error[t] = f[t] - select(sticks, p, bound * x);
  if (two_rows) error[t + 1] = f[t + 1] - select(sticks, r, bound * y);
  if (!slope) return;
  /* (1 - D) + D step A with D the projection's derivative: across the way where it slides */
  const Real share = select(slides, bound / length, all<Real>(0.));
  const Real one = select(sticks, all<Real>(1.), share * y * y), both = -share * x * y;
  const Real two = select(sticks, all<Real>(1.), share * x * x);
  const Real soft = select(sticks, all<Real>(softness), all<Real>(0.));
  Real *first = slope + t * m, *second = first + m;
  const Real *row = c->matrix + t * m, *other = row + m;
  if (!two_rows) {
    slope_row(m, t, one * step[t], 1. - one + soft, row, first);
    first[n] -= mu * x;
    return;
  }
  for (size_t j = 0; j < m; ++j) {
    const Real u = step[t] * row[j], v = step[t] * other[j];
    first[j] = one * u, second[j] = two * v;
    first[j] += both * v, second[j] += both * u;
  }
  first[t] += 1. - one + soft, second[t + 1] += 1. - two + soft;
  first[t + 1] -= both, second[t] -= both;
  first[n] -= mu * x, second[n] -= mu * y;
}

/* f - projection(f - step w), zero where the laws hold; its derivative too if wanted. Gives the
   sum of squares, each by its weight, and the largest velocity by which a law is missed. */
template <class Real>
static Real residual(const Cones<Real>* c, const Real* step, const Real* f, Real* error,
                     Same<Real>* slope, double softness, Real* gap) {
  const size_t m = c->rows, last = m - c->bounded;
  const Real* a = c->matrix;
  Real* __restrict trial = c->room + m * m + 10 * m + c->size * c->size + 6 * c->size;
  copy(m, c->free, trial);
  if (c->X || c->root) {
    for (size_t j = 0; j < m; ++j) add_to(m, f[j], a + j * m, trial);
  } else {
    for (size_t i = 0; i < m; ++i) trial[i] += dot(m, a + i * m, f);
  }
  for (size_t i = 0; i < m; ++i) trial[i] = f[i] - step[i] * trial[i];
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    const Bits<Real> pushes = is(trial[n] > 0.);
    error[n] = f[n] - select(pushes, trial[n], all<Real>(0.));
    if (slope) {
      const Real share = select(pushes, step[n], all<Real>(0.));
      slope_row(m, n, share, select(pushes, all<Real>(softness), all<Real>(1.)), a, slope + n * m);
    }
    if (t == NO_ROW) continue;
    disc_residual(c, step, f, trial, n, t, c->friction[k], true, error, slope, softness);
  }
  for (size_t k = 0; k < c->discs; ++k) {
    disc_residual(c, step, f, trial, c->disc_normal[k], c->disc[k], c->disc_friction[k],
                  c->disc_rows[k] > 1, error, slope, softness);
  }
  for (size_t i = last; i < m; ++i) {
    const Real bound = c->bound[i - last];
    const Bits<Real> within = is(magnitude(trial[i]) < bound);
    error[i] = f[i] - least(greatest(trial[i], -bound), bound);
    if (!slope) continue;
    const Real share = select(within, step[i], all<Real>(0.));
    slope_row(m, i, share, select(within, all<Real>(softness), all<Real>(1.)), a, slope + i * m);
  }
  Real sum = all<Real>(0.), most = all<Real>(0.);
  for (size_t i = 0; i < m; ++i) {
    const Real velocity = error[i] / step[i];
    sum += error[i] * velocity;
    most = greatest(most, magnitude(velocity));
  }
  *gap = most;
  return sum;
}

/* Newton's method from f, which stays the best of the way; gives the velocity it misses laws by.
   Single numbers try shorter steps where a whole one does not help; vectors leave it at that. */
template <class Real>
static Real newton_on_cones(const Cones<Real>* c, const Real* step, Real* f, Real enough,
                               double softness) {
  const size_t m = c->rows;
  Real *slope = c->room, *error = slope + m * m, *trial = error + m, *way = trial + m;
  Real *now = way + m, gap, least = all<Real>(HUGE_VAL);
  Bits<Real> open = is(least > 0.);
  copy(m, f, now);
  Real size = residual(c, step, now, error, slope, softness, &gap);
  for (int k = 0; k < NEWTON_STEPS; ++k) {
    const Bits<Real> better = open & is(gap < least);
    least = select(better, gap, least);
    take(better, m, now, f);
    open &= is(gap > enough);
    if (!any(open)) break;
    copy(m, error, way);
    open &= eliminate(m, slope, way);
    double share = 1.;
    for (;; share /= 2.) {
      for (size_t i = 0; i < m; ++i) trial[i] = now[i] - share * way[i];
      const Real left = residual(c, step, trial, error, nullptr, softness, &gap);
      const Bits<Real> helps = open & is(left < (1. - 2e-4 * share) * size);
      if (Number<Real>::lanes > 1 || any(helps) || !any(open) || share / 2. < LEAST_SHARE) {
        open = helps;
        size = select(open, left, size);
        break;
      }
    }
    if (!any(open)) break;
    take(open, m, trial, now);
    if (any(open & is(gap > enough))) residual(c, step, now, error, slope, softness, &gap);
  }
  return least;
}

/* Where impulses are so much larger than the velocities ask for that they mostly press against
   each other. */
template <class Real>
static Bits<Real> are_heavy(const Cones<Real>* c, const Real* f) {
  Real most = all<Real>(0.), size = most;
  for (size_t i = 0; i < c->rows; ++i) {
    most = greatest(most, magnitude(f[i]) * c->matrix[i * c->rows + i]);
    size = greatest(size, magnitude(c->free[i]));
  }
  return is(most > HEAVY * size);
}

/* Impulses that are allowed, whatever the velocities: none pulls, all within their cones. */
template <class Real>
static void project_on_cones(const Cones<Real>* c, Real* f) {
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    f[n] = greatest(f[n], all<Real>(0.));
    if (t == NO_ROW) continue;
    Real square = f[t] * f[t];
    square += f[t + 1] * f[t + 1];
    const Real length = root(square), bound = c->friction[k] * f[n];
    const Real share = select(is(length > bound), bound / length, all<Real>(1.));
    f[t] *= share, f[t + 1] *= share;
  }
  for (size_t k = 0; k < c->discs; ++k) {
    const size_t t = c->disc[k], rows = c->disc_rows[k];
    Real square = f[t] * f[t];
    if (rows > 1) square += f[t + 1] * f[t + 1];
    const Real length = root(square), bound = c->disc_friction[k] * f[c->disc_normal[k]];
    const Real share = select(is(length > bound), bound / length, all<Real>(1.));
    for (size_t r = 0; r < rows; ++r) f[t + r] *= share;
  }
  for (size_t i = 0; i < c->bounded; ++i) {
    Real* one = f + c->rows - c->bounded + i;
    *one = least(greatest(*one, -c->bound[i]), c->bound[i]);
  }
}
