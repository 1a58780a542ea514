/* The contact solver for events: one problem by itself, polished as far as is asked for, and contacts
   that are held; a library of its own, compiled once. The same headers serve steps (`stepping.cpp`). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contact/held.hpp"
#include "contact/newtons_law.hpp"

static constexpr Exactness EVENTS = {EVEN, 0., WHOLE.end, WHOLE.times, PROXIMAL_ROUNDS};

EXPORTED size_t room_of_impulses(size_t rows, size_t size) { return room_of_single(rows, size); }

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law. */
EXPORTED double solve_impulses(const Cones<double>* problem, double settled, double* f) {
  bits1 done;
  return impulses_of_cones(problem, settled, f, &done, EVENTS);
}

/* Impulses f of an impact, and e (contacts) as it was used; see `newtons_law`. */
EXPORTED double impact_impulses(const Cones<double>* problem, double* free, const double* before,
                                double* e, double settled, double law, double* f) {
  return newtons_law(problem, free, before, e, settled, EVENTS, law, f).missed;
}
