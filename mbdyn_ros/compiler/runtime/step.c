/* One step of a motion among walls.

   A step in flight is one of the free motion and a look at the distances. Where one of them falls
   below zero within it, the step is taken again up to that instant, the impact is solved there and
   the rest of the step follows. Contacts that rest are held. A step in which impacts would follow
   each other without end holds what hits, so that every step is taken; it costs energy at most.
   `simulation/stepped/walled_step.py` does the same in Python. */
#include "dense.h"
#include "complementarity.h"
#include "walls.h"
#include "lanes.h"
#define SUFFIX v
#include "walled_template.h"
#define SUFFIX 1
#include "walled_template.h"
#include "lift.h"
#include "meeting.h"
#include "any_contact.h"
#include "clearance.h"
#include "impact.h"
#include "convex.h"
#include "nearest.h"
#include "manifold.h"
#include "near_solids.h"

enum { MOST_LOCATED = 8, MOST_MERGES = 6, LANDINGS = 4 };

#define GENTLE 2.   /* speed of what lands gently, of what a step makes */

/* A step of length h from the state kept in x, the held contacts held; distances may be unknown. */
static void move_on(const struct walls* w, struct walled* s, struct work1* x, double h) {
  memcpy(s->q, x->q, w->nq * sizeof *s->q);
  memcpy(s->v, x->v, w->nv * sizeof *s->v);
  fly1(w, s, x, h);
  x->fresh = 0;
  if (!x->count && !x->idle) {
    memset(s->mode, 0, w->contacts * sizeof *s->mode);
    memset(s->force, 0, 3 * w->contacts * sizeof *s->force);
  }
  x->idle = !x->count;
  if (x->count || w->rubbing) hold1(w, s, x, h, is1(1));
}

/* The same, and the distances at its end. */
static void go(const struct walls* w, struct walled* s, struct work1* x, double h) {
  move_on(w, s, x, h);
  if (!x->fresh) measure1(w, s, s->q, s->v, x->now);
  x->fresh = 1;
}

/* Whether a contact that meets its wall comes so slowly that it rests at the end of the step: as
   fast as the step itself has made it, and with no bounce that would outlast it. One that is gone
   again at the end has not been slow: it may be beyond what it met. */
static int is_gentle(const struct walls* w, size_t k, double h, double g, double rate, double last,
                     double end, double slope) {
  const double gained = fabs(end - rate), e = w->restitution[k];
  return -end <= GENTLE * gained && -2. * e * end <= (1. - e) * gained &&
         !comes_and_goes(h, g, rate, last, end, slope);
}

static int is_held(const struct work1* x, size_t k) {
  for (size_t i = 0; i < x->count; ++i) {
    if (x->held[i] == k) return 1;
  }
  return 0;
}

/* Hold one more contact; they stay in order. */
static void hold_also(struct work1* x, size_t k) {
  size_t i = x->count++;
  for (; i > 0 && x->held[i - 1] > k; --i) x->held[i] = x->held[i - 1];
  x->held[i] = k;
  x->on[x->count - 1] = is1(1);
}

#include "looking_back.h"

/* The share of a step that is over when the first contact that is not held meets its wall; 2 where
   none does. Those that meet it gently are held where they may be: `more` says that there are any. */
static double first_meeting(const struct walls* w, struct walled* s, struct work1* x,
                            struct before* old, double length, int may_hold, size_t* which,
                            int* more) {
  const size_t m = w->contacts;
  const double* start = x->start;
  size_t gentle[m + 1], count = 0;
  double first = 2.;
  for (size_t k = 0; k < m; ++k) {
    const double g = start[k], last = x->now[k], rate = start[m + k], end = x->now[m + k];
    if (!(g + last <= FASTER * length * fmax(fabs(rate), fabs(end))) || is_held(x, k)) continue;
    const double slope = x->now[2 * m + k];
    if (turns_near(w, length, g, rate, last, end, slope) &&
        has_no_inside(w, s, x, old, length, k)) {
      s->unsound = k + 1;
      continue;
    }
    const double share = meeting(w, length, g, rate, last, end, slope);
    if (share < 0.) continue;
    if (may_hold && x->count + count < most_held(w) &&
        is_gentle(w, k, length, g, rate, last, end, slope)) {
      gentle[count++] = k;
    } else if (share < first) {
      first = share, *which = k;
    }
  }
  *more = first > 1. && count;
  for (size_t i = 0; *more && i < count; ++i) hold_also(x, gentle[i]);
  return first;
}

/* Move on by a time, or up to the next impact and through it; gives how far. */
static double part(const struct walls* w, struct walled* s, struct work1* x, double length,
                   int locate) {
  const size_t m = w->contacts;
  int hits = 0, more;
  x->clear = is_clear(w, s, s->q, s->v, length);
  if (!x->fresh && !x->clear) measure1(w, s, s->q, s->v, x->now);
  int touches = !x->clear && any_touches(w, x->now);
  for (size_t k = 0; touches && k < m; ++k) {
    const double slope = x->now[2 * m + k];
    hits |= x->now[k] <= w->touching * slope && x->now[m + k] < -w->slow * slope;
  }
  if (hits) {
    collide(w, s, x);
    if (!x->fresh) measure1(w, s, s->q, s->v, x->now);
    touches = any_touches(w, x->now);
  }
  x->count = 0;
  for (size_t k = 0; touches && k < m && x->count < most_held(w); ++k) {
    const double slope = x->now[2 * m + k];
    if (x->now[k] <= w->touching * slope && x->now[m + k] <= 2. * w->slow * slope) hold_also(x, k);
  }
  double slip[3 * m + 1], mode[m + 1], force[3 * m + w->rubbing + 1], *const last = x->start;
  struct before old = {slip, mode, force, s->lost, 0, x->idle};
  if (x->count || !x->idle) keep_contacts(w, s, &old);
  memcpy(force + 3 * m, s->force + 3 * m, w->rubbing * sizeof *force);
  x->start = x->now, x->now = last;
  memcpy(x->q, s->q, w->nq * sizeof *s->q);
  memcpy(x->v, s->v, w->nv * sizeof *s->v);
  move_on(w, s, x, length);
  if (x->clear && is_clear(w, s, s->q, s->v, length)) {
    x->fresh = 0, s->clear[1] = 0.;
    return length;
  }
  if (x->clear) measure1(w, s, x->q, x->v, x->start);
  if (!x->fresh) measure1(w, s, s->q, s->v, x->now);
  x->clear = 0, x->fresh = 1;
  if (!any_near(w, x->start, x->now, length)) {
    look_around(w, s, x->now);
    return length;
  }
  double first = 2.;
  size_t which = 0;
  for (int k = 0; k <= MOST_MERGES; ++k) {
    first = first_meeting(w, s, x, &old, length, locate && k < MOST_MERGES, &which, &more);
    if (!more) break;
    take_again(w, s, x, &old, length);
  }
  if (first > 1.) {
    look_back(w, s, x, length);
    return length;
  }
  if (!locate) {
    for (int k = 0; k < MOST_MERGES; ++k) {
      const size_t before = x->count;
      for (size_t i = 0; i < m && x->count < most_held(w); ++i) {
        if (x->now[i] < -w->graze * x->now[2 * m + i] && !is_held(x, i)) hold_also(x, i);
      }
      if (x->count == before) break;
      take_again(w, s, x, &old, length);
    }
    ++s->merged;
    return length;
  }
  double time = first * length;
  for (int k = 0; k < LANDINGS; ++k) {
    take_again(w, s, x, &old, time);
    const double g = x->now[which], rate = x->now[m + which], slope = x->now[2 * m + which];
    if (fabs(g) <= w->closed * slope || !(rate < 0.) || k + 1 == LANDINGS) break;
    const double next = time - g / (w->stages ? rate : 2. * rate - x->start[m + which]);
    if (!(next > 0. && next < length) || next == time) break;
    time = next;
  }
  look_back(w, s, x, time);
  s->time += time;
  collide(w, s, x);
  s->time -= time;
  return time;
}

static int all_finite(size_t n, const double* x) {
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return 0;
  }
  return 1;
}

static int drives(const struct walls* w, const struct walled* s) {
  for (size_t i = 0; i < w->ne; ++i) {
    if (s->effort[i] != 0.) return 1;
  }
  for (size_t i = 0; s->wrenches && i < 6 * w->bodies; ++i) {
    if (s->wrenches[i] != 0.) return 1;
  }
  return 0;
}

/* Nothing that is not driven gains energy: what errors of a step with contacts, or with dry friction
   of joints, have brought is taken from all velocities alike, which keeps the laws of contacts. */
static void trim(const struct walls* w, struct walled* s, struct work1* x) {
  double before[2], now[2];
  evaluate1(w, s, w->energy, x->old_q, x->old_v, before);
  evaluate1(w, s, w->energy, s->q, s->v, now);
  const double gain = now[0] + now[1] - (before[0] + before[1]);
  if (!(gain > 0.) || !(now[0] > 0.)) return;
  const double share = sqrt(fmax(0., 1. - gain / now[0]));
  for (size_t i = 0; i < w->nv; ++i) s->v[i] *= share;
  for (size_t k = 0; k < 3 * w->contacts; ++k) s->slip[k] *= share;
  for (size_t k = 0; k < w->contacts; ++k) x->now[w->contacts + k] *= share;
  s->trimmed += fmin(gain, now[0]);
}

EXPORTED size_t room_of_motion(const struct walls* w) {
  struct work1 x;
  return share_room1(w, NULL, &x);
}

/* Take so many steps, or fewer where the record of impacts is nearly full or a wall is `unsound`; gives
   how many, and negative, less one, where the next left the finite numbers, or more shapes are near
   each other than have room (`crowded`). */
EXPORTED long walled_steps(const struct walls* w, struct walled* s, long steps) {
  struct work1 work;
  share_room1(w, s->room, &work);
  for (long k = 0; k < steps; ++k) {
    const double start = s->time;
    double left = s->step;
    const int guarded = (w->contacts || w->rubbing) && !drives(w, s);
    int held = w->rubbing > 0;
    if (s->most_hits && 2 * s->hits > s->most_hits) return k;
    if (w->slots && !look(w, s, &work)) return -k - 1;
    memcpy(work.old_q, s->q, w->nq * sizeof *s->q);
    memcpy(work.old_v, s->v, w->nv * sizeof *s->v);
    if (s->slow) memcpy(s->slow, s->v, w->nv * sizeof *s->v);
    if (s->whole && !work.clean) memset(s->whole, 0, 3 * w->contacts * sizeof *s->whole);
    work.clean = 1;
    for (int parts = 0; left > 0.; ++parts) {
      const double done = part(w, s, &work, left, parts < MOST_LOCATED);
      s->time += done;
      if (s->whole && !work.idle) {
        add(3 * w->contacts, done, s->force, s->whole);
        work.clean = 0;
      }
      left = parts > MOST_LOCATED ? 0. : left - done;
      held |= work.count > 0 || left > 0.;
    }
    if (w->contacts && !work.clear) {
      const size_t m = w->contacts;
      const int under = any_under(w, work.now);
      int inside = 0;
      for (size_t i = 0; under && i < m; ++i) inside |= work.now[i] < -w->graze * work.now[2 * m + i];
      held |= inside;
      if (inside) lift(w, s, &work);
      if (!work.fresh) measure1(w, s, s->q, s->v, work.now);
      for (size_t i = 0; under && i < m; ++i) {
        const double depth = -work.now[i] / work.now[2 * m + i];
        s->deepest = fmax(s->deepest, depth);
        if (isnan(depth) && !(work.now[i] > 0.)) s->unsound = i + 1;
      }
    }
    if (guarded && held) trim(w, s, &work);
    s->time = start + s->step;
    if (!all_finite(w->nq, s->q) || !all_finite(w->nv, s->v)) {
      s->unsound = 0;
      return -k - 1;
    }
    if (s->unsound) return k + 1;
  }
  return steps;
}

/* Impulses of one problem by itself, see `impulses_of_cones1`; how much room it needs. */
EXPORTED size_t room_of_impulses(size_t rows, size_t size) { return room_of_cones(rows, size); }

EXPORTED double solve_impulses(const struct cones1* problem, double settled, double* f) {
  bits1 done;
  return impulses_of_cones1(problem, settled, f, &done);
}
