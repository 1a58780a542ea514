/* The contact Jacobian from results of the program `contact_rows`: of every body its pose T (3, 4) and
   the Jacobian (6, nv) of the velocity v of its origin and of its angular velocity w. What touches at
   the place x = o + r moves along d with d (v + w x r) = (d, r x d) (v, w); of two bodies that touch, the
   other one's velocity there is taken off. */
#pragma once
#include "dense.hpp"

/* Two unit vectors along a wall, for any normal (Duff et al. 2017). */
template <class Real>
static void tangents(const Real* n, Real* one, Real* two) {
  const Real sign = with_sign(all<Real>(1.), n[2]), a = -1. / (sign + n[2]), b = n[0] * n[1] * a;
  const Real across = n[0] * n[0] * a, along = n[1] * n[1] * a;
  one[0] = 1. + sign * across, one[1] = sign * b, one[2] = -sign * n[0];
  two[0] = b, two[1] = sign + along, two[2] = -n[1];
}

/* From the origin of its body to where a contact is: `place` (3), or where that is nullptr a point of
   the body (3) with a radius, which touches along the normal. */
template <class Real>
static void lever(const Real* body, const Same<Real>* place, const double* point,
                  const Same<Real>* normal, Real* arm) {
  for (int r = 0; r < 3; ++r) {
    if (place) {
      arm[r] = place[r] - body[4 * r + 3];
    } else {
      arm[r] = body[4 * r] * point[0];
      arm[r] += body[4 * r + 1] * point[1];
      arm[r] += body[4 * r + 2] * point[2];
      arm[r] -= point[3] * normal[r];
    }
  }
}

/* Add to a row, at the coordinates in its reach, the velocity of a body along d at the end of an arm. */
template <class Real>
static void add_along(size_t n, const int32_t* reach, size_t count, const Real* speeds,
                      const Real* arm, const Real* d, Real* row) {
  Real way[6] = {d[0], d[1], d[2]};
  for (int r = 0; r < 3; ++r) {
    const int one = (r + 1) % 3, two = (r + 2) % 3;
    way[3 + r] = arm[one] * d[two];
    way[3 + r] -= arm[two] * d[one];
  }
  for (size_t k = 0; k < count; ++k) {
    const Real* speed = speeds + reach[k];
    Real sum = row[reach[k]];
    for (int r = 0; r < 6; ++r) sum += way[r] * speed[(size_t)r * n];
    row[reach[k]] = sum;
  }
}

/* The same of a contact: `other` is nullptr, or the other body, and `place` is known then. */
template <class Real>
static void add_contact_row(size_t n, const int32_t* reach, size_t count, const Real* body,
                            const Same<Real>* other, const Same<Real>* place, const Real* arm,
                            const Real* d, Real* row) {
  add_along(n, reach, count, body + 12, arm, d, row);
  if (!other) return;
  Real back[3], against[3];
  lever(other, place, nullptr, nullptr, back);
  for (int r = 0; r < 3; ++r) against[r] = -d[r];
  add_along(n, reach, count, other + 12, back, against, row);
}
