/* The contact Jacobian from results of the program `contact_rows`: of every body its pose T (3, 4) and
   the centre c (3) of its tree, and motions, which bodies share: by each coordinate the velocity v at c
   and the angular velocity w. What touches at the place x moves along d with
   d (v + w x r) = (d, r x d) (v, w) where r = x - c; of two bodies that touch, the other one's velocity
   there is taken off. */
#pragma once
#include "dense.hpp"

/* What moves bodies: of every body, from start[body] on, coordinates and the numbers of their motions,
   which stand (6) from `first` on in the result of `rows`. */
struct mobility {
  const int64_t* start;
  const int32_t *coordinate, *motion;
  int64_t first;
};

enum { CENTRE = 12, BODY = 15 }; /* numbers of a pose, and of a body */

/* Two unit vectors along a wall, for any normal (Duff et al. 2017). */
template <class Real>
static void tangents(const Real* n, Real* one, Real* two) {
  const Real sign = with_sign(all<Real>(1.), n[2]), a = -1. / (sign + n[2]), b = n[0] * n[1] * a;
  const Real across = n[0] * n[0] * a, along = n[1] * n[1] * a;
  one[0] = 1. + sign * across, one[1] = sign * b, one[2] = -sign * n[0];
  two[0] = b, two[1] = sign + along, two[2] = -n[1];
}

/* Where a contact is: a point of its body (3) with a radius, which touches along the normal. */
template <class Real>
static void touching_place(const Real* body, const double* point, const Real* normal, Real* place) {
  for (int r = 0; r < 3; ++r) {
    place[r] = body[4 * r] * point[0];
    place[r] += body[4 * r + 1] * point[1];
    place[r] += body[4 * r + 2] * point[2];
    place[r] -= point[3] * normal[r];
    place[r] += body[4 * r + 3];
  }
}

/* Add to rows (n each) what turns and moves a body along `way` (6) of each, at its centre: for single
   numbers to three at once. */
template <size_t ROWS, class Real>
static inline void add_motions(const struct mobility* moves, const Real* column, const Real* body,
                               const Real (*way)[6], size_t n, Real* row) {
  const size_t b = (size_t)(body - column) / BODY;
  typedef double four __attribute__((vector_size(4 * sizeof(double))));
  four across[6];
  if constexpr (is_single<Real> && ROWS == 3) {
    for (int r = 0; r < 6; ++r) across[r] = four{way[0][r], way[1][r], way[2][r]};
  }
  for (int64_t k = moves->start[b]; k < moves->start[b + 1]; ++k) {
    const Real* motion = column + moves->first + 6 * moves->motion[k];
    Real* own = row + moves->coordinate[k];
    if constexpr (is_single<Real> && ROWS == 3) {
      four sum = {own[0], own[n], own[2 * n]};
      for (int r = 0; r < 6; ++r) sum += across[r] * motion[r];
      own[0] = sum[0], own[n] = sum[1], own[2 * n] = sum[2];
    } else {
      for (size_t d = 0; d < ROWS; ++d) {
        Real sum = own[d * n];
        for (int r = 0; r < 6; ++r) sum += way[d][r] * motion[r];
        own[d * n] = sum;
      }
    }
  }
}

/* Add to rows the velocity of a body at a place along the vectors d, each times `sign`. */
template <size_t ROWS, class Real>
static inline void add_along(const struct mobility* moves, const Real* column, const Real* body,
                             const Real* place, const Real (*d)[3], double sign, size_t n, Real* row) {
  Real way[ROWS][6], arm[3];
  for (int r = 0; r < 3; ++r) arm[r] = place[r] - body[CENTRE + r];
  for (size_t k = 0; k < ROWS; ++k) {
    for (int r = 0; r < 3; ++r) way[k][r] = sign * d[k][r];
    for (int r = 0; r < 3; ++r) {
      const int one = (r + 1) % 3, two = (r + 2) % 3;
      way[k][3 + r] = arm[one] * way[k][two];
      way[k][3 + r] -= arm[two] * way[k][one];
    }
  }
  add_motions<ROWS>(moves, column, body, way, n, row);
}

/* The same of a contact; `other` is nullptr, or the other body. */
template <size_t ROWS, class Real>
static void add_contact_rows(const struct mobility* moves, const Real* column, const Real* body,
                             const Same<Real>* other, const Real* place, const Real (*d)[3], size_t n,
                             Real* row) {
  add_along<ROWS>(moves, column, body, place, d, 1., n, row);
  if (other) add_along<ROWS>(moves, column, other, place, d, -1., n, row);
}

/* Velocity at the centre of a body, and angular velocity, at v. */
static void twist_of(const struct mobility* moves, const double* column, const double* body,
                     const double* v, double* twist) {
  const size_t b = (size_t)(body - column) / BODY;
  for (int r = 0; r < 6; ++r) twist[r] = 0.;
  for (int64_t k = moves->start[b]; k < moves->start[b + 1]; ++k) {
    const double* motion = column + moves->first + 6 * moves->motion[k];
    for (int r = 0; r < 6; ++r) twist[r] += motion[r] * v[moves->coordinate[k]];
  }
}
