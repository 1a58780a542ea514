/* Factors M = L^T L of mass matrices, which are zero where two coordinates move no body together.
   L keeps those zeros, since a coordinate is eliminated before those that carry it (Featherstone,
   Rigid Body Dynamics Algorithms, 2008, 6.5). `path` lists of every coordinate those before it that
   stand in its row of L; `reach` is a set of coordinates that is closed under these, ascending.
   Sums have one order for single numbers and for vectors. */
#pragma once
#include "model.hpp"

enum { NO_RUN = -1, LONG = 8 };

/* The first coordinate of a path of at least LONG where all follow that one without a gap, as in a chain;
   else NO_RUN. */
static inline int32_t run_of(const int32_t* path, const int32_t* end) {
  return end - path >= LONG && end[-1] - *path == end - path - 1 ? *path : NO_RUN;
}

/* L in place, its diagonal as reciprocals; whether M is positive. */
template <class Real>
static Bits<Real> factor(const struct walls* w, Real* a) {
  const size_t n = w->nv;
  Bits<Real> positive = is(all<Real>(0.) == 0.);
  for (size_t i = n; i-- > 0;) {
    const int32_t *path = w->path + w->path_start[i], *end = w->path + w->path_start[i + 1];
    Real* row = a + i * n;
    positive &= is(row[i] > 0.);
    row[i] = 1. / root(row[i]);
    for (const int32_t* j = path; j < end; ++j) row[*j] *= row[i];
    if (const int32_t run = run_of(path, end); run != NO_RUN) {
      for (size_t k = 0; k < (size_t)(end - path); ++k) {
        add_to(k + 1, -row[run + k], row + run, a + (run + k) * n + run);
      }
      continue;
    }
    for (const int32_t* j = path; j < end; ++j) {
      const Real much = row[*j];
      Real* other = a + (size_t)*j * n;
      for (const int32_t* k = path; k <= j; ++k) other[*k] -= much * row[*k];
    }
  }
  return positive;
}

/* L^-T x in place, for `rows` x, one behind the other, that are zero beyond their reach. */
template <class Real>
static inline __attribute__((always_inline)) void solve_up(
    const struct walls* w, const Real* factor, const int32_t* reach, size_t count, size_t rows,
    Real* x) {
  const size_t n = w->nv;
  while (count-- > 0) {
    const size_t i = (size_t)reach[count];
    const int32_t *path = w->path + w->path_start[i], *end = w->path + w->path_start[i + 1];
    const Real* row = factor + i * n;
    Real much[3];
    for (size_t r = 0; r < rows; ++r) much[r] = x[r * n + i] *= row[i];
    if (const int32_t run = run_of(path, end); run != NO_RUN) {
      const size_t length = (size_t)(end - path);
      const Real* __restrict from = row + run;
      if (rows == 3) {  /* at once */
        Real *one = x + run, *two = one + n, *three = two + n;
        each_piece<Real>(length, [=](auto piece, size_t j) {
          using Piece = decltype(piece);
          const Piece own = at<Piece>(from + j);
          put(one + j, at<Piece>(one + j) - much[0] * own);
          put(two + j, at<Piece>(two + j) - much[1] * own);
          put(three + j, at<Piece>(three + j) - much[2] * own);
        });
      } else {
        for (size_t r = 0; r < rows; ++r) add_to(length, -much[r], from, x + r * n + run);
      }
      continue;
    }
    for (const int32_t* j = path; j < end; ++j) {
      for (size_t r = 0; r < rows; ++r) x[r * n + (size_t)*j] -= much[r] * row[*j];
    }
  }
}

/* L^-1 x in place. */
template <class Real>
static void solve_down(const struct walls* w, const Real* factor, Real* x) {
  for (size_t i = 0; i < w->nv; ++i) {
    const int32_t *path = w->path + w->path_start[i], *end = w->path + w->path_start[i + 1];
    const Real* row = factor + i * w->nv;
    Real left = x[i];
    if (const int32_t run = run_of(path, end); run != NO_RUN) {
      left -= dot((size_t)(end - path), row + run, x + run);
    } else {
      for (const int32_t* j = path; j < end; ++j) left -= row[*j] * x[*j];
    }
    x[i] = left * row[i];
  }
}
