/* The numbers of a step: a `double` of one motion, or a vector `realv` with a lane for each of LANES
   motions. Every algorithm that serves both is a template over the type `Real`; where lanes differ,
   `Bits<Real>` says in which something holds, all bits set or none, and `select` takes the one or
   the other. One text, and the same numbers for a motion alone or in a vector. */
#pragma once
#include "../program.h"

/* Before functions for rare problems, which are compiled for size: in less time. */
#define SELDOM __attribute__((cold))

/* Before functions that gain from being inlined, where the compiler would not. */
#define INLINED __attribute__((always_inline))

template <class Real> struct Number;
template <> struct Number<double> {
  using bits = bits1;
  using same = double;
  static constexpr size_t lanes = 1;
};
template <> struct Number<realv> {
  using bits = bitsv;
  using same = realv;
  static constexpr size_t lanes = LANES;
};
template <class Real> using Bits = typename Number<Real>::bits;

/* `Real` where the compiler shall not guess it from the argument, which may be nullptr. */
template <class Real> using Same = typename Number<Real>::same;

template <class Real> constexpr bool is_single = Number<Real>::lanes == 1;

/* x in every lane. */
template <class Real> static inline Real all(double x) {
  if constexpr (is_single<Real>) {
    return x;
  } else {
    return vector_of(x);
  }
}

/* Where a relation holds. */
static inline bits1 is(bool relation) { return -(bits1)relation; }
static inline bitsv is(bitsv relation) { return relation; }

static inline bool any(bits1 where) { return where != 0; }
static inline bool any(bitsv where) { return anyv(where); }

/* where ? x : y; of single numbers as processors choose them, not bit by bit */
static inline double select(bits1 where, double x, double y) { return where ? x : y; }
static inline realv select(bitsv where, realv x, realv y) { return selectv(where, x, y); }

static inline double magnitude(double x) { return fabs(x); }
static inline realv magnitude(realv x) { return magnitudev(x); }
static inline double with_sign(double x, double sign) { return copysign(x, sign); }
static inline realv with_sign(realv x, realv sign) { return with_signv(x, sign); }
static inline double least(double x, double y) { return x < y || y != y ? x : y; }
static inline realv least(realv x, realv y) { return leastv(x, y); }
static inline double greatest(double x, double y) { return x > y || y != y ? x : y; }
static inline realv greatest(realv x, realv y) { return greatestv(x, y); }
static inline double root(double x) { return root1(x); }
static inline realv root(realv x) { return rootv(x); }

/* The number in one lane. */
static inline double& lane(double& x, size_t) { return x; }
static inline double& lane(realv& x, size_t k) { return reinterpret_cast<double*>(&x)[k]; }

template <class Real> static inline void clear(size_t n, Real* x) { memset(x, 0, n * sizeof *x); }
template <class Real> static inline void copy(size_t n, const Real* x, Real* y) {
  memcpy(y, x, n * sizeof *y);
}

/* Take what is new in some lanes, and keep the rest. */
template <class Real> static inline void take(Bits<Real> where, size_t n, const Real* x, Real* y) {
  for (size_t i = 0; i < n; ++i) y[i] = select(where, x[i], y[i]);
}

/* The number at a place, or several from there on, */
template <class Real, class From> static inline Real at(const From* place) {
  Real found;
  memcpy(&found, place, sizeof found);
  return found;
}

/* and to it. */
template <class To, class Real> static inline void put(To* place, const Real& x) {
  memcpy(place, &x, sizeof x);
}

/* Half a vector, for what is left of a row. */
typedef double halfv __attribute__((vector_size(4 * LANES)));

/* Do something with n numbers that stand in a row, in pieces as wide as vectors are: it is given a number
   of the type of a piece, and which is its first number. */
template <class Real, class Do> static inline void each_piece(size_t n, const Do& something) {
  size_t i = 0;
  if constexpr (is_single<Real>) {
    for (; i + LANES <= n; i += LANES) something(realv{}, i);
    if (LANES > 2 && i + LANES / 2 <= n) something(halfv{}, i), i += LANES / 2;
  }
  for (; i < n; ++i) something(Real{}, i);
}

/* The greatest of n numbers of which `size` gives one or several from a place on, at least 0. */
template <class Real, class Size> static inline Real greatest_of(size_t n, const Size& size) {
  Real most = all<Real>(0.);
  size_t i = 0;
  if constexpr (is_single<Real>) {
    realv several = {};
    for (; i + LANES <= n; i += LANES) several = greatest(several, size(realv{}, i));
    for (size_t l = 0; l < LANES; ++l) most = greatest(most, several[l]);
  }
  for (; i < n; ++i) most = greatest(most, size(Real{}, i));
  return most;
}

/* The greatest size of n numbers. */
template <class Real> static inline Real greatest_size(size_t n, const Real* x) {
  return greatest_of<Real>(n, [=](auto piece, size_t i) { return magnitude(at<decltype(piece)>(x + i)); });
}

/* y + factor x */
template <class Real>
static inline void add_to(size_t n, Same<Real> factor, const Real* __restrict x,
                          Real* __restrict y) {
  size_t i = 0;
  for (; is_single<Real> && i + LANES <= n; i += LANES) {
    put(y + i, at<realv>(y + i) + factor * at<realv>(x + i));
  }
  for (; i < n; ++i) y[i] += factor * x[i];
}
