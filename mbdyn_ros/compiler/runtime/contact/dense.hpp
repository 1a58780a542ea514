/* Small dense matrices, row by row: the one solver of all contact problems. */
#pragma once
#include "number.hpp"

enum { PANEL = 4 }; /* pivots of an elimination that are taken together */

#define ROUNDING 1e-15 /* share of the largest pivot that is as good as none */

/* Four sums at a time: one would wait for itself. */
template <class Real>
static inline Real dot(size_t n, const Real* __restrict x, const Real* __restrict y) {
  Real sum[4] = {};
  size_t i = 0;
  if (n < 4) {
    for (; i < n; ++i) sum[0] += x[i] * y[i];
    return sum[0];
  }
  if constexpr (is_single<Real>) {
    typedef double four __attribute__((vector_size(4 * sizeof(double))));
    four sums = {}, one, other;
    for (; i + 4 <= n; i += 4) {
      memcpy(&one, x + i, sizeof one), memcpy(&other, y + i, sizeof other);
      sums += one * other;
    }
    memcpy(sum, &sums, sizeof sums);
  } else {
    for (; i + 4 <= n; i += 4) {
      for (size_t k = 0; k < 4; ++k) sum[k] += x[i + k] * y[i + k];
    }
  }
  for (; i < n; ++i) sum[0] += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* COUNT vectors of y += X^T f from column j on, in registers. */
template <size_t COUNT>
static inline void add_tile(size_t m, size_t n, size_t j, const double* f, const double* X, double* y) {
  realv sum[COUNT];
  memcpy(sum, y + j, sizeof sum);
  for (size_t i = 0; i < m; ++i) {
    for (size_t k = 0; k < COUNT; ++k) sum[k] += f[i] * at<realv>(X + i * n + j + k * LANES);
  }
  memcpy(y + j, sum, sizeof sum);
}

/* y += X^T f of rows X (m, n), one after the other. */
template <class Real>
static inline void add_rows(size_t m, size_t n, const Real* f, const Real* X, Real* y) {
  if constexpr (is_single<Real>) {
    size_t j = 0, i = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) add_tile<4>(m, n, j, f, X, y);
    for (; j + LANES <= n; j += LANES) add_tile<1>(m, n, j, f, X, y);
    if (j == n) return;
    realv sum = {};  /* beyond a row come the next ones */
    memcpy(&sum, y + j, (n - j) * sizeof *y);
    for (; i * n + j + LANES <= m * n; ++i) sum += f[i] * at<realv>(X + i * n + j);
    memcpy(y + j, &sum, (n - j) * sizeof *y);
    for (; i < m; ++i) add_to(n - j, f[i], X + i * n + j, y + j);
  } else {
    for (size_t i = 0; i < m; ++i) add_to(n, f[i], X + i * n, y);
  }
}

/* sum of x y over `count` places */
template <class Real>
static inline Real dot_at(const int32_t* place, size_t count, const Real* x, const Real* y) {
  Real sum = all<Real>(0.);
  for (size_t k = 0; k < count; ++k) sum += x[place[k]] * y[place[k]];
  return sum;
}

/* z = x cross y */
static inline void crossed(const double* x, const double* y, double* z) {
  for (int r = 0; r < 3; ++r) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    z[r] = x[s] * y[t] - x[t] * y[s];
  }
}

/* The lower factor of a = L L^T in place, its diagonal as reciprocals; where a is positive. What
   stands above the diagonal is left as it is. Zeros that a row begins with stay (George and Liu 1981,
   chapter 4): they are skipped by fours, so that sums keep their order. */
template <class Real> static Bits<Real> cholesky(size_t n, Real* a) {
  Bits<Real> positive = is(all<Real>(0.) == 0.);
  for (size_t i = 0; i < n; ++i) {
    Real* row = a + i * n;
    size_t from = 0;
    while (from < i && !any(is(row[from] != 0.))) ++from;
    from -= from % 4;
    for (size_t j = from; j < i; ++j) {
      row[j] = (row[j] - dot(j - from, row + from, a + j * n + from)) * a[j * n + j];
    }
    const Real left = row[i] - dot(i - from, row + from, row + from);
    positive &= is(left > 0.);
    if (!any(positive)) break;
    row[i] = 1. / root(left);
  }
  return positive;
}

/* X (n, n) of a = X X^T, of a semidefinite a: Cholesky's method from the largest pivot on, until only
   rounding is left (Higham 2002, algorithm 10.2). */
SELDOM static const double* root_of(size_t n, const double* a, double* X) {
  double size = 0.;
  memset(X, 0, n * n * sizeof *X);
  for (size_t k = 0; k < n; ++k) {
    double most = 0.;
    size_t pivot = 0;
    for (size_t i = 0; i < n; ++i) {
      const double left = a[i * n + i] - dot(k, X + i * n, X + i * n);
      if (left > most) most = left, pivot = i;
    }
    size = fmax(size, most);
    if (!(most > ROUNDING * size)) break;
    const double share = 1. / sqrt(most);
    for (size_t i = 0; i < n; ++i) {
      X[i * n + k] = share * (a[i * n + pivot] - dot(k, X + i * n, X + pivot * n));
    }
  }
  return X;
}

/* L^-1 x in place. */
template <class Real> static void forward(size_t n, const Real* factor, Real* x) {
  for (size_t i = 0; i < n; ++i) x[i] = (x[i] - dot(i, factor + i * n, x)) * factor[i * n + i];
}

/* L^-T x in place. */
template <class Real> static void backward(size_t n, const Real* factor, Real* x) {
  for (size_t i = n; i-- > 0;) {
    x[i] *= factor[i * n + i];
    add_to(i, -x[i], factor + i * n, x);
  }
}

/* Swap a row of a (n, n) from column `from` on, and of x, with that of `best` in every lane. */
template <class Real>
static void swap_rows(size_t n, size_t from, size_t row, Real best, Real* a, Real* x) {
  for (size_t l = 0; l < Number<Real>::lanes; ++l) {
    const size_t other = (size_t)lane(best, l);
    if (other == row) continue;
    for (size_t j = from; j <= n; ++j) {
      Real *one = j < n ? a + row * n + j : x + row, *two = j < n ? a + other * n + j : x + other;
      const double swap = lane(*one, l);
      lane(*one, l) = lane(*two, l);
      lane(*two, l) = swap;
    }
  }
}

/* Take shares of a whole panel of pivots from two rows, which may be the same, one pivot after the other. */
template <class Real>
static inline void take_panel(size_t n, const Real* shares, const Real* others, const Real* pivots,
                              size_t step, Real* row, Real* other) {
  constexpr size_t WIDE = is_single<Real> ? LANES : 1;
  size_t j = 0;
  for (; j + WIDE <= n; j += WIDE) {
    realv one, two, pivot;
    memcpy(&one, row + j, sizeof one), memcpy(&two, other + j, sizeof two);
    for (size_t k = 0; k < PANEL; ++k) {
      memcpy(&pivot, pivots + k * step + j, sizeof pivot);
      one -= shares[k] * pivot, two -= others[k] * pivot;
    }
    memcpy(row + j, &one, sizeof one), memcpy(other + j, &two, sizeof two);
  }
  for (; j < n; ++j) {
    Real one = row[j], two = other[j];
    for (size_t k = 0; k < PANEL; ++k) {
      const Real pivot = pivots[k * step + j];
      one -= shares[k] * pivot, two -= others[k] * pivot;
    }
    row[j] = one, other[j] = two;
  }
}

/* Solve a x = x in place by elimination with row pivoting; where a is regular. A panel of pivots at a
   time is taken from what is left, in the order in which one after the other would be. */
template <class Real> static Bits<Real> eliminate(size_t n, Real* a, Real* x) {
  Bits<Real> regular = is(all<Real>(0.) == 0.);
  for (size_t first = 0; first < n; first += PANEL) {
    const size_t end = first + PANEL < n ? first + PANEL : n;
    for (size_t k = first; k < end; ++k) {
      Real most = magnitude(a[k * n + k]), best = all<Real>((double)k);
      for (size_t i = k + 1; i < n; ++i) {
        const Real size = magnitude(a[i * n + k]);
        if (!any(is(size > most))) continue;
        best = select(is(size > most), all<Real>((double)i), best);
        most = greatest(size, most);
      }
      regular &= is(most > 0.);
      if (!any(regular)) return regular;
      if (any(is(best != (double)k))) swap_rows(n, first, k, best, a, x);
      const Real pivot = 1. / a[k * n + k];
      for (size_t i = k + 1; i < n; ++i) {
        Real* row = a + i * n;
        row[k] *= pivot;
        if (!any(is(row[k] != 0.))) continue;
        for (size_t j = k + 1; j < end; ++j) row[j] -= row[k] * a[k * n + j];
        x[i] -= row[k] * x[k];
      }
    }
    for (size_t i = first + 1; i < end; ++i) {
      Real* row = a + i * n;
      for (size_t k = first; k < i; ++k) add_to(n - end, -row[k], a + k * n + end, row + end);
    }
    const auto take = [&](size_t i, size_t j) {
      take_panel(n - end, a + i * n + first, a + j * n + first, a + first * n + end, n, a + i * n + end,
                 a + j * n + end);
    };
    size_t waits = 0;  /* a row that goes with the next one */
    for (size_t i = end; i < n; ++i) {
      const Real* shares = a + i * n + first;
      Bits<Real> some = is(shares[0] != 0.);
      for (size_t k = 1; k < PANEL; ++k) some |= is(shares[k] != 0.);
      if (!any(some)) continue;
      if (waits) take(waits, i);
      waits = waits ? 0 : i;
    }
    if (waits) take(waits, waits);
  }
  for (size_t k = n; k-- > 0;) {
    Real left = x[k];
    for (size_t j = k + 1; j < n; ++j) left -= a[k * n + j] * x[j];
    x[k] = left / a[k * n + k];
  }
  return regular;
}
