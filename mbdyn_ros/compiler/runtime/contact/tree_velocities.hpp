/* Newton's equations of contacts (D + P A) x = x (cones.hpp) by the velocities y of trees of bodies, where
   every row S is zero but along one chain of coordinates, from a root to the tip that moves its body:

     (M + S^T W S) y = S^T G,   x = G - W S y,   W = D^-1 P,   G = D^-1 x.

   So the matrix has the zeros of M, and is eliminated without pivots in the order that keeps them
   (Featherstone, Rigid Body Dynamics Algorithms, 2008, 6.5): `path` lists of every coordinate those before
   it on its chain. Sums have one order for single numbers and for vectors. */
#pragma once
#include <type_traits>
#include "number.hpp"

#define NO_PIVOT 1e-6 /* share of the mass of a coordinate that is too little to go on with */

/* Rows on chains. mass: the matrix M as `Packed` has it, with `size` numbers in rows. begin: where these
   begin, of every coordinate. S: rows (wide), of the numbers along their chains; tip: of each its last
   coordinate; from: where it begins not to be zero. room: see `room_of_trees`. are_bushy: whether chains
   are short. */
template <class Real>
struct Trees {
  size_t n, size;
  const int64_t* path_start;
  const int32_t* path;
  const size_t* begin;
  const Real *mass, *S;
  size_t wide;
  const size_t *tip, *from;
  Real* room;
  bool are_bushy;

  size_t depth(size_t j) const { return (size_t)(path_start[j + 1] - path_start[j]); }
  const int32_t* chain(size_t j) const { return path + path_start[j]; }
};

/* A matrix with the zeros of M: of every coordinate the numbers before the diagonal in its row and in its
   column, along its chain, and the diagonal. */
template <class Real>
struct Packed {
  Real *row, *column, *diagonal;
};

/* So many numbers as have room in whole vectors. */
template <class Real> static inline size_t whole_vectors(size_t count) {
  constexpr size_t wide = is_single<Real> ? LANES : 1;
  return (count + wide - 1) / wide * wide;
}

/* How many numbers of room trees of n coordinates need, of which rows have `size` altogether. */
static inline size_t room_of_trees(size_t n, size_t size) { return 2 * size + 2 * n + 3 * (n + LANES); }

/* Do something with every piece of `count` numbers, as wide as vectors are, the last one too. */
template <class Real, class Do>
static inline void each_whole_piece(size_t count, const Do& something) {
  using Piece = std::conditional_t<is_single<Real>, realv, Real>;
  for (size_t i = 0; i < count; i += sizeof(Piece) / sizeof(Real)) something(Piece{}, i);
}

/* Add S^T W S of the ROWS rows from i on; room: 3 `wide`. */
template <size_t ROWS, class Real>
static void add_rows_on_chain(const Trees<Real>& t, const Packed<Real>& N, size_t i, const Real (*W)[ROWS],
                              Real* room) {
  const size_t wide = t.wide, tip = t.tip[i], depth = t.depth(tip), from = t.from[i];
  const Real* S = t.S + i * wide;
  if (ROWS == 1 && from == depth) {
    N.diagonal[tip] += W[0][0] * S[depth] * S[depth];
    return;
  }
  for (size_t r = 0; r < ROWS; ++r) {
    each_whole_piece<Real>(depth + 1, [=](auto piece, size_t k) {
      auto sum = W[r][0] * at<decltype(piece)>(S + k);
      for (size_t c = 1; c < ROWS; ++c) sum += W[r][c] * at<decltype(piece)>(S + c * wide + k);
      put(room + r * wide + k, sum);
    });
  }
  const int32_t* chain = t.chain(tip);
  for (size_t k = from; k <= depth; ++k) {
    const size_t j = k < depth ? (size_t)chain[k] : tip;
    Real here[ROWS], there[ROWS], sum = all<Real>(0.);
    for (size_t r = 0; r < ROWS; ++r) {
      here[r] = S[r * wide + k], there[r] = room[r * wide + k];
      sum += here[r] * there[r];
    }
    N.diagonal[j] += sum;
    Real *row = N.row + t.begin[j], *column = N.column + t.begin[j];
    each_whole_piece<Real>(k, [=](auto piece, size_t l) {
      using Piece = decltype(piece);
      Piece one = at<Piece>(row + l), two = at<Piece>(column + l);
      for (size_t r = 0; r < ROWS; ++r) {
        one += here[r] * at<Piece>(room + r * wide + l), two += there[r] * at<Piece>(S + r * wide + l);
      }
      put(row + l, one), put(column + l, two);
    });
  }
}

/* y + S^T x of ROWS rows from i on */
template <size_t ROWS, class Real>
static inline void push_on_chain(const Trees<Real>& t, size_t i, const Real* x, Real* y) {
  const size_t tip = t.tip[i], depth = t.depth(tip);
  const int32_t* chain = t.chain(tip);
  const Real* S = t.S + i * t.wide;
  for (size_t k = t.from[i]; k <= depth; ++k) {
    Real sum = x[i] * S[k];
    for (size_t r = 1; r < ROWS; ++r) sum += x[i + r] * S[r * t.wide + k];
    y[k < depth ? (size_t)chain[k] : tip] += sum;
  }
}

/* S y of ROWS rows from i on */
template <size_t ROWS, class Real>
static inline void along_chain(const Trees<Real>& t, size_t i, const Real* y, Real* along) {
  const size_t tip = t.tip[i], depth = t.depth(tip);
  const int32_t* chain = t.chain(tip);
  const Real* S = t.S + i * t.wide;
  for (size_t r = 0; r < ROWS; ++r) along[r] = S[r * t.wide + depth] * y[tip];
  for (size_t k = t.from[i]; k < depth; ++k) {
    for (size_t r = 0; r < ROWS; ++r) along[r] += S[r * t.wide + k] * y[chain[k]];
  }
}

/* Solve N y = y in place, of which N becomes the factors; where no pivot is too small. */
template <class Real>
static Bits<Real> solve_on_chains(const Trees<Real>& t, const Packed<Real>& N, Real* y) {
  Bits<Real> regular = is(all<Real>(0.) == 0.);
  for (size_t i = t.n; i-- > 0;) {
    const size_t depth = t.depth(i);
    const int32_t* chain = t.chain(i);
    Real *row = N.row + t.begin[i], *column = N.column + t.begin[i];
    regular &= is(magnitude(N.diagonal[i]) > NO_PIVOT * t.mass[t.size + i]);
    const Real pivot = N.diagonal[i] = 1. / N.diagonal[i];
    each_whole_piece<Real>(depth, [=](auto piece, size_t p) {
      put(column + p, pivot * at<decltype(piece)>(column + p));
    });
    for (size_t p = 0; p < depth; ++p) {
      const size_t j = (size_t)chain[p];
      const Real here = row[p], there = column[p];
      N.diagonal[j] -= there * here;
      y[j] -= there * y[i];
      Real *up = N.row + t.begin[j], *left = N.column + t.begin[j];
      each_whole_piece<Real>(p, [=](auto piece, size_t l) {
        using Piece = decltype(piece);
        put(up + l, at<Piece>(up + l) - there * at<Piece>(row + l));
        put(left + l, at<Piece>(left + l) - here * at<Piece>(column + l));
      });
    }
  }
  for (size_t i = 0; i < t.n; ++i) {
    const Real* row = N.row + t.begin[i];
    Real left = y[i];
    for (size_t p = 0; p < t.depth(i); ++p) left -= row[p] * y[t.chain(i)[p]];
    y[i] = left * N.diagonal[i];
  }
  return regular;
}
