/* Impacts by Newton's law, all contacts of one instant together (Shafei and Shafei 2018, 44 to 47): with
   the rows S of contacts, the velocities w- before and A = S M^-1 S^T,

     M (v+ - v-) = S^T f,   w+ = w- + A f,   w_n+ = -e w_n-    along the normals.

   Walls push and do not pull, and friction obeys Coulomb's law along them after the impact (Moreau
   1988): f is the solution of `cones.hpp` for b = w- + e w_n-. The kinetic energy changes by
   f (w- + A f / 2), at most 0 without friction. */
#pragma once
#include "islands.hpp"

enum { BISECTIONS = 24 };

/* Impulses and what they do: the energy (J) they bring, and the velocity by which they miss a law. */
struct Bounce {
  double gain, missed;
};

/* Impulses f with a share of the restitution e. c->free is `b`, which is overwritten. */
SELDOM static Bounce bounce(const Cones<double>* c, double* b, const double* before, const double* e,
                     double share, double settled, const Exactness& exactness, double* f) {
  const size_t m = c->rows;
  memcpy(b, before, m * sizeof *b);
  for (size_t i = 0; i < c->contacts; ++i) b[c->normal[i]] *= 1. + share * e[i];
  memset(f, 0, m * sizeof *f);
  bits1 done;
  Bounce found = {0., impulses_of_cones(c, settled, f, &done, exactness)};
  if (has_fewer_velocities(c)) {
    double* y = c->room;
    velocities_of(c, f, y);
    found.gain = dot(m, f, before) + 0.5 * dot(c->size, y, y);
    return found;
  }
  for (size_t i = 0; i < m; ++i) {
    found.gain += 0.5 * f[i] * (2. * before[i] + dot(m, c->matrix + i * m, f));
  }
  return found;
}

/* Impulses f of an impact; e becomes the restitution that was used. It is less than given where
   friction and Newton's law together would gain energy (Kane's paradox), by one factor for all
   contacts: the greatest that gains none. It is 0 where friction jams: a point is pressed into the
   wall so obliquely that sticking alone obeys Coulomb's law, and no bounce misses it by less than
   `law` (m/s). */
SELDOM static Bounce newtons_law(const Cones<double>* c, double* b, const double* before, double* e,
                          double settled, const Exactness& exactness, double law,
                          double* f) {
  double size = 0., low = 0., high = 1.;
  bool bounces = false;
  for (size_t i = 0; i < c->contacts; ++i) bounces |= e[i] > 0.;
  Bounce found = bounce(c, b, before, e, 1., settled, exactness, f);
  for (size_t i = 0; i < c->rows; ++i) size += fabs(f[i] * before[i]);
  const auto gains = [&] { return found.gain > 1e-14 * size || found.missed > law; };
  if (!bounces || !gains()) return found;
  const bool jams = found.missed > law;
  for (int k = 0; !jams && k < BISECTIONS; ++k) {
    const double share = 0.5 * (low + high);
    found = bounce(c, b, before, e, share, settled, exactness, f);
    (gains() ? high : low) = share;
  }
  for (size_t i = 0; i < c->contacts; ++i) e[i] *= low;
  return bounce(c, b, before, e, 1., settled, exactness, f);
}
