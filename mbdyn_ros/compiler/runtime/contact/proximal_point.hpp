/* Impulses of redundant contacts by the proximal point method (Rockafellar 1976): every round solves
   the laws with a softness s D on the diagonal of A, D being the contacts' own, that only a change of
   the impulses from those before feels,

     w = A f + b + s D (f - about),

   which Newton's method does from any guess where s is large. What the rounds converge to obeys the
   laws themselves. Where loads of redundant contacts are shared anew, impulses go on evenly from
   round to round until one of them comes to its bound: a leap goes there at once. */
#pragma once
#include "cones.hpp"

enum { PROXIMAL_ROUNDS = 100, PROXIMAL_PATIENCE = 40, FEW_ROUNDS = 15 };

#define SOFTEST 1e2         /* softness at most, */
#define FIRST_SOFTNESS 1e-3 /* at first, */
#define LEAST_SOFTNESS 1e-6 /* and at least: */
#define SHRINKS 0.1 /* it becomes this share of it in every round, and 10 times it after a failure, */
#define LOWERS 0.3  /* below which it goes by this share a round */
#define INSIDE 1e-9 /* share of its bound by which an impulse is within it */

/* How many numbers of room the rounds need. */
static inline size_t room_of_rounds(size_t m) { return 8 * m; }

/* How often impulses f may go on as from `last` until the first leaves its bound. */
static double leap_to_bound(const Cones<double>* c, const double* f, const double* last) {
  const size_t bounded = c->rows - c->bounded;
  double leap = 1. / LEAST_SOFTNESS;
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    const double down = last[n] - f[n];
    if (!(f[n] > 0.)) continue;
    if (down > 0.) leap = fmin(leap, f[n] / down);
    if (t == NO_ROW) continue;
    const double mu = c->friction[k], x = f[t] - last[t], y = f[t + 1] - last[t + 1];
    const double bound = mu * f[n], falls = mu * down;
    const double room = bound * bound - f[t] * f[t] - f[t + 1] * f[t + 1];
    if (!(room > INSIDE * bound * bound)) continue;
    const double square = x * x + y * y - falls * falls;  /* square u^2 + 2 half u = room */
    const double half = f[t] * x + f[t + 1] * y + bound * falls;
    const double root = sqrt(fmax(half * half + square * room, 0.));
    if (half + root > 0.) leap = fmin(leap, room / (half + root));
  }
  for (size_t i = bounded; i < c->rows; ++i) {
    const double bound = c->bound[i - bounded], change = f[i] - last[i];
    if (fabs(f[i]) >= (1. - INSIDE) * bound || change == 0.) continue;
    leap = fmin(leap, (copysign(bound, change) - f[i]) / change);
  }
  return leap;
}

/* At most `most` rounds from the impulses in f, until laws are missed by no more than `near`; the
   best go to `best` if they miss them by less than `least`, and Newton's method tries now and then
   whether they do for `enough` without softness. Gives by how much the best do. `room`: see
   `room_of_rounds`. */
SELDOM static double proximal_point(const Cones<double>* c, const double* step, const double* f,
                             double enough, double near, int most, double least, double* room,
                             double* best) {
  const size_t m = c->rows;
  double *about = room, *last = about + m, *now = last + m, *error = now + m;
  double *own_step = error + m, *own = own_step + m, *b = own + m, *trial = b + m;
  double softness = FIRST_SOFTNESS, floor = LEAST_SOFTNESS, tried = HUGE_VAL, before = HUGE_VAL;
  Cones<double> soft = *c;
  soft.soft = own, soft.free = b;
  copy(m, f, about);
  copy(m, f, last);
  const auto keep_better = [&](const double* found, double gap) {
    if (gap < least) least = gap, copy(m, found, best);
  };
  for (int k = 0, idle = 0; k < most && least > (k ? near : enough); ++k) {
    if (idle == PROXIMAL_PATIENCE) break;
    for (size_t i = 0; i < m; ++i) {
      own[i] = softness / step[i];
      b[i] = c->free[i] - own[i] * about[i];
    }
    steps_of(&soft, own_step);
    copy(m, about, now);
    if (!(newton_on_cones(&soft, own_step, now, 0.1 * enough, SOFT) <= enough)) {
      softness *= 10., floor = softness;
      if (softness > SOFTEST) break;
      copy(m, last, about);
      continue;
    }
    double gap;
    residual(c, step, now, error, nullptr, &gap);
    idle = gap < 0.9 * least ? 0 : idle + 1;
    keep_better(now, gap);
    if (least > enough && (gap < 0.1 * tried || gap <= near || k % 4 == 3)) {
      tried = gap;
      copy(m, now, trial);
      keep_better(trial, newton_on_cones(c, step, trial, enough, SOFT));
    }
    const int even = gap > 0.5 * before && gap < 1.5 * before;
    const double leap = even ? leap_to_bound(c, now, last) : 0.;
    for (size_t i = 0; i < m; ++i) about[i] = now[i] + leap * (now[i] - last[i]);
    copy(m, now, last);
    before = gap;
    softness = fmax(SHRINKS * softness, floor), floor = fmax(LOWERS * floor, LEAST_SOFTNESS);
  }
  return least;
}
