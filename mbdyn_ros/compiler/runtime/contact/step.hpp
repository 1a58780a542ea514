/* One step of a motion among walls, from (q, v) at time t to t + h:

     broad_phase      pairs of shapes that may touch, and their contacts (of `touching.cpp`)
     advance          again and again, until h is over:
       resolve_impacts    what hits now, by Newton's and Coulomb's laws (impacts.hpp)
       free_motion        (q*, v*) by the method of integration: q' = N(q) v, M v' = force
       solve_contacts     impulses of what touches (contact_solve.hpp):
         contact_jacobian, delassus_matrix, impulses_of_cones, correct_positions
       time_of_impact     where a distance falls below zero within the step it is taken again up to
                          that instant, and the next part begins with the impact
     correct_depths   what is inside a wall comes out of it (project_out)
     trim             undriven motions gain no energy by errors of the step

   A step in flight is one of the free motion and a look at the distances. A step in which impacts
   would follow each other without end makes contacts of what hits, so that every step is taken; it
   costs energy at most. */
#pragma once
#include "contact_solve.hpp"
#include "impacts.hpp"
#include "time_of_impact.hpp"

enum { MOST_LOCATED = 8, LANDINGS = 4 };

/* A step of length h from the state kept in x, the held contacts held; distances may be unknown. */
static void move_on(const struct walls* w, struct motion* s, Work<double>* x, double h) {
  memcpy(s->q, x->q, w->nq * sizeof *s->q);
  memcpy(s->v, x->v, w->nv * sizeof *s->v);
  if (w->rubbing) slide_directions(w, s, x);
  free_motion(w, s, x, h);
  x->fresh = 0;
  if (!x->count && !x->idle) {
    forget_contacts(w, s, x);
    if (w->laws) clear(3 * w->contacts, s->turning);
    clear(PAST * w->nv, s->reaction);
  }
  x->idle = !x->count;
  if (x->count || !all_slide_on(w, s, x)) {
    solve_contacts(w, s, x, h, is(true));
  } else if (w->rubbing) {
    sliding_forces(w, s, x, h, is(true));
  }
}

/* The same, and the distances at its end. */
static void move_on_and_look(const struct walls* w, struct motion* s, Work<double>* x, double h) {
  move_on(w, s, x, h);
  if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
  x->fresh = 1;
}

static int is_active(const Work<double>* x, size_t k) {
  for (size_t i = 0; i < x->count; ++i) {
    if (x->active[i] == k) return 1;
  }
  return 0;
}

/* Hold one more contact; they stay in order. */
static void activate(Work<double>* x, size_t k) {
  size_t i = x->count++;
  for (; i > 0 && x->active[i - 1] > k; --i) x->active[i] = x->active[i - 1];
  x->active[i] = k;
  x->on[x->count - 1] = is(true);
  clear(3, x->guess + 3 * k);
}

/* Steps that are taken again, and what is found when one is looked back at. Included where `go`
   takes a step. */

enum { HALVINGS = 30 };

#define JUMP 0.1  /* share of a turn of the normal velocity within a step that is a jump */

/* What a step is taken again from, besides what is kept in x. */
struct before {
  double lost;
  int idle;
};

/* Keep what is known of contacts and of dry friction, */
static void keep_contacts(const struct walls* w, const struct motion* s, Work<double>* x) {
  double* old = x->old_numbers;
  copy(x->old_knowns = x->knowns, x->known, x->old_known);
  each_known(w, x, [&](size_t k) {
    copy(3, s->force + 3 * k, old), copy(3, s->slip + 3 * k, old + 3);
    old[6] = s->mode[k], old[7] = s->trend[k];
    old += KEPT_NUMBERS;
  });
  copy(w->rubbing, s->force + 3 * w->contacts, old);
}

/* and know it again. */
SELDOM static void restore_contacts(const struct walls* w, struct motion* s, Work<double>* x) {
  const double* old = x->old_numbers;
  forget_contacts(w, s, x);
  copy(x->knowns = x->old_knowns, x->old_known, x->known);
  each_known(w, x, [&](size_t k) {
    copy(3, old, s->force + 3 * k), copy(3, old + 3, s->slip + 3 * k);
    s->mode[k] = old[6], s->trend[k] = old[7];
    old += KEPT_NUMBERS;
  });
  copy(w->rubbing, old, s->force + 3 * w->contacts);
}

SELDOM static void retake(const struct walls* w, struct motion* s, Work<double>* x,
                   const struct before* old, double length) {
  each_known(w, x, [&](size_t k) { copy(3, s->force + 3 * k, x->guess + 3 * k); });
  copy(w->rubbing, s->force + 3 * w->contacts, x->guess + 3 * w->contacts);
  x->again = 1;
  restore_contacts(w, s, x);
  s->lost = old->lost;
  x->idle = old->idle;
  copy(PAST * w->nv, x->old_reaction, s->reaction);
  if (length > 0.) {
    move_on_and_look(w, s, x, length);
    return;
  }
  memcpy(s->q, x->q, w->nq * sizeof *s->q);
  memcpy(s->v, x->v, w->nv * sizeof *s->v);
  evaluate_distances(w, s, s->q, s->v, x->now);
}

/* Whether a contact that has come and goes again meets its wall at an instant in between, from which
   it goes as fast as it came: so the wall has no inside, as that of |z| has none, and nothing holds
   what passes it. Takes the step again to instants that halve it. */
SELDOM static int has_no_inside(const struct walls* w, struct motion* s, Work<double>* x,
                         const struct before* old, double length, size_t k) {
  const size_t m = w->contacts;
  double left = 0., right = length;
  double comes = -x->start[m + k] / x->start[2 * m + k], goes = x->now[m + k] / x->now[2 * m + k];
  const double jump = JUMP * (comes + goes);
  int above = 1;
  for (int i = 0; i < HALVINGS && above && comes + goes > jump; ++i) {
    const double middle = 0.5 * (left + right);
    retake(w, s, x, old, middle);
    const double speed = x->now[m + k] / x->now[2 * m + k];
    above = x->now[k] >= -w->graze * x->now[2 * m + k];
    if (speed < 0.) {
      left = middle, comes = -speed;
    } else {
      right = middle, goes = isnan(speed) ? goes : speed;
    }
  }
  const double gap = x->now[k] / x->now[2 * m + k];
  const int found = above && comes + goes > jump && !(gap > 2. * (right - left) * (comes + goes));
  retake(w, s, x, old, length);
  return found;
}

static void count_unseen(const struct walls* w, struct motion* s, const Work<double>* x,
                      double length) {
  const size_t m = w->contacts;
  const double *start = x->start, *end = x->now;
  for (size_t i = 0; i < x->nears; ++i) {
    const size_t k = x->near[i];
    if (!any(may_have_passed(length, start[k], start[m + k], end[k], end[m + k], end[2 * m + k]))) continue;
    if (is_active(x, k) || s->unsound == k + 1) continue;
    ++s->unseen, s->passed = k, s->passed_at = s->time + length;
  }
}

/* The share of a step that is over when the first contact that is not held meets its wall; 2 where
   none does. Those that meet it gently are held where they may be: `more` says that there are any. */
static double first_meeting(const struct walls* w, struct motion* s, Work<double>* x,
                            const struct before* old, double length, int may_hold, size_t* which,
                            int* more) {
  const size_t m = w->contacts;
  const double* start = x->start;
  size_t *gentle = x->gentle, count = 0;
  double first = 2.;
  for (size_t i = 0; i < x->nears; ++i) {
    const size_t k = x->near[i];
    const double g = start[k], last = x->now[k], rate = start[m + k], end = x->now[m + k];
    const double slope = x->now[2 * m + k], known = fabs(rate) >= 0. ? fabs(rate) : 0.;  /* not NaN */
    const double fastest = fabs(end) > known ? fabs(end) : known;
    if (!(g + last <= FASTER * length * fastest) || is_active(x, k)) continue;
    if (turns_near(w, length, g, rate, last, end, slope) &&
        has_no_inside(w, s, x, old, length, k)) {
      s->unsound = k + 1;
      continue;
    }
    const double share = time_of_impact(w, length, g, rate, last, end, slope);
    if (share < 0.) continue;
    if (may_hold && is_gentle(w, k, x->restitution[k], length, g, rate, last, end, slope) &&
        has_room(w, s, x->count + count)) {
      gentle[count++] = k;
    } else if (share < first) {
      first = share, *which = k;
    }
  }
  *more = first > 1. && count;
  for (size_t i = 0; *more && i < count; ++i) activate(x, gentle[i]);
  return first;
}

/* Move on by a time, or up to the next impact and through it; gives how far. */
static double advance(const struct walls* w, struct motion* s, Work<double>* x, double length,
                   int locate) {
  const size_t m = w->contacts;
  int hits = 0, more;
  x->clear = is_clear(w, s, s->q, s->v, length);
  if (!x->fresh && !x->clear) evaluate_distances(w, s, s->q, s->v, x->now);
  const size_t seen = x->clear ? 0 : m;
  const double reach = NEAR * w->touching;
  const auto near = [&](auto kind, size_t k) {
    using Real = decltype(kind);
    return is(at<Real>(x->now + k) <= reach * at<Real>(x->now + 2 * m + k));
  };
  const auto look = [&] {
    x->nears = 0;
    each_that(seen, near, [x](size_t k) { x->near[x->nears++] = k; });
  };
  look();
  for (size_t i = 0; i < x->nears; ++i) {
    const size_t k = x->near[i];
    const double slope = x->now[2 * m + k];
    hits |= x->now[k] <= w->touching * slope && x->now[m + k] < -w->slow * slope && !yields(w, k);
  }
  if (hits) {
    resolve_impacts(w, s, x);
    if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
    look();
  }
  x->count = 0, x->again = 0;
  for (size_t i = 0; i < x->nears; ++i) {
    if (stays(w, s, x, x->near[i]) && has_room(w, s, x->count)) activate(x, x->near[i]);
  }
  double *const last = x->start;
  const struct before old = {s->lost, x->idle};
  keep_contacts(w, s, x);
  x->start = x->now, x->now = last;
  memcpy(x->q, s->q, w->nq * sizeof *s->q);
  memcpy(x->v, s->v, w->nv * sizeof *s->v);
  copy(PAST * w->nv, s->reaction, x->old_reaction);
  expect_reaction(w, x, x->old_reaction);
  move_on(w, s, x, length);
  if (x->count && surprises(w, s, x, length)) retake(w, s, x, &old, length);
  if (x->clear && is_clear(w, s, s->q, s->v, length)) {
    x->fresh = 0, s->clear[1] = 0.;
    return length;
  }
  if (x->clear) evaluate_distances(w, s, x->q, x->v, x->start);
  if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
  x->clear = 0, x->fresh = 1;
  if (!find_near(w, x, length)) {
    see_clearance(w, s, x->now);
    return length;
  }
  double first = 2.;
  size_t which = 0;
  for (int k = 0; k <= MOST_MERGES; ++k) {
    first = first_meeting(w, s, x, &old, length, locate && k < MOST_MERGES, &which, &more);
    if (!more) break;
    retake(w, s, x, &old, length);
    find_near(w, x, length);
  }
  if (first > 1.) {
    count_unseen(w, s, x, length);
    return length;
  }
  if (!locate) {
    for (int k = 0; k < MOST_MERGES; ++k) {
      const size_t before = x->count;
      for (size_t i = 0; i < m; ++i) {
        const int inside = x->now[i] < -w->graze * x->now[2 * m + i] && !is_active(x, i);
        if (inside && has_room(w, s, x->count)) activate(x, i);
      }
      if (x->count == before) break;
      retake(w, s, x, &old, length);
    }
    ++s->merged;
    return length;
  }
  double time = first * length;
  for (int k = 0; k < LANDINGS; ++k) {
    retake(w, s, x, &old, time);
    const double g = x->now[which], rate = x->now[m + which], slope = x->now[2 * m + which];
    if (fabs(g) <= w->closed * slope || !(rate < 0.) || k + 1 == LANDINGS) break;
    const double next = time - g / (w->stages ? rate : 2. * rate - x->start[m + which]);
    if (!(next > 0. && next < length) || next == time) break;
    time = next;
  }
  find_near(w, x, time);
  count_unseen(w, s, x, time);
  s->time += time;
  resolve_impacts(w, s, x);
  s->time -= time;
  return time;
}

static int drives(const struct walls* w, const struct motion* s) {
  if (w->givens) return 1;
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
SELDOM static void trim(const struct walls* w, struct motion* s, Work<double>* x) {
  double before[2], now[2];
  evaluate(w, s, w->energy, x->old_q, x->old_v, before);
  evaluate(w, s, w->energy, s->q, s->v, now);
  if (w->laws && !x->fresh) evaluate_distances(w, s, s->q, s->v, x->now), x->fresh = 1;
  const double gain = now[0] + now[1] + stored_energy(w, x) - (before[0] + before[1] + x->stored);
  if (!(gain > 0.) || !(now[0] > 0.)) return;
  const double share = sqrt(fmax(0., 1. - gain / now[0]));
  for (size_t i = 0; i < w->nv; ++i) s->v[i] *= share;
  each_known(w, x, [&](size_t k) {
    for (size_t at = 3 * k; at < 3 * k + 3; ++at) s->slip[at] *= share;
  });
  for (size_t k = 0; k < w->contacts; ++k) x->now[w->contacts + k] *= share;
  s->trimmed += fmin(gain, now[0]);
}

/* What is inside a wall at the end of a step comes out of it; gives whether anything was. */
static int correct_depths(const struct walls* w, struct motion* s, Work<double>* x) {
  const size_t m = w->contacts;
  int under = 0, inside = 0;
  const auto is_under = [x](auto kind, size_t i) {  /* or nobody knows */
    return ~is(at<decltype(kind)>(x->now + i) >= 0.);
  };
  const auto is_in = [x](auto kind, size_t i) { return ~is(at<decltype(kind)>(x->now + i) > 0.); };
  each_that(m, is_under, [&](size_t i) {
    under = 1;
    inside |= x->now[i] < -w->graze * x->now[2 * m + i] && !yields(w, i);
  });
  if (inside) project_out(w, s, x);
  if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
  each_that(under ? m : 0, is_in, [&](size_t i) {
    const double depth = -x->now[i] / x->now[2 * m + i];
    if (!yields(w, i)) s->deepest = fmax(s->deepest, depth);
    if (isnan(depth)) s->unsound = i + 1;
  });
  return inside;
}

/* Advance by a whole step, from impact to impact; gives whether any contact was active. */
static int advance_step(const struct walls* w, struct motion* s, Work<double>* x) {
  double left = s->step;
  x->fed = 0;
  int active = w->rubbing > 0;
  for (int parts = 0; left > 0.; ++parts) {
    const double done = advance(w, s, x, left, parts < MOST_LOCATED);
    s->time += done;
    if (s->whole && !x->idle) {
      each_known(w, x, [&](size_t k) { add_to(3, done, s->force + 3 * k, s->whole + 3 * k); });
      x->clean = 0;
    }
    left = parts > MOST_LOCATED ? 0. : left - done;
    active |= x->count > 0 || left > 0.;
    x->fed |= gives_energy(w, x);
  }
  return active;
}

/* Remember where a step begins. */
static void keep_start(const struct walls* w, struct motion* s, Work<double>* x) {
  copy(w->nq, s->q, x->old_q);
  copy(w->nv, s->v, x->old_v);
  if (s->slow) copy(w->nv, s->v, s->slow);
  if (s->whole && !x->clean) clear(3 * w->contacts, s->whole);
  x->clean = 1;
}

/* Be where a step began, and expect nothing of its contacts. */
SELDOM static void go_back(const struct walls* w, struct motion* s, const Work<double>* x, double time,
                    size_t hits, double lost) {
  copy(w->nq, x->old_q, s->q);
  copy(w->nv, x->old_v, s->v);
  clear(PAST * w->nv, s->reaction);
  clear(w->contacts, s->trend);
  s->time = time, s->hits = hits, s->lost = lost;
}

/* Take this many steps, or fewer where the record of impacts is nearly full or a wall is `unsound`; gives
   how many, and negative, less one, where the next left the finite numbers, or there was no room for
   what is near or touches (`crowded`), so that it is not taken. */
EXPORTED long walled_steps(const struct walls* w, struct motion* s, long steps) {
  Work<double> work;
  share_room(w, s->room, &work);
  find_known(w, s, &work);
  for (long k = 0; k < steps; ++k) {
    const double start = s->time, lost = s->lost;
    const size_t hits = s->hits;
    const int guarded = (w->contacts || w->rubbing) && !drives(w, s);
    if (s->most_hits && 2 * s->hits > s->most_hits) return k;
    if (w->slots && !w->broad_phase(w, s, &work)) return -k - 1;
    keep_start(w, s, &work);
    if (w->laws && !work.fresh) evaluate_distances(w, s, s->q, s->v, work.now), work.fresh = 1;
    work.stored = stored_energy(w, &work);
    int active = advance_step(w, s, &work);
    const size_t unsound = s->unsound;
    if (w->contacts && !work.clear) active |= correct_depths(w, s, &work);
    if (guarded && active && !work.fed) trim(w, s, &work);
    if (s->crowded) {
      go_back(w, s, &work, start, hits, lost);
      return -k - 1;
    }
    s->time = start + s->step;
    if (!all_finite(w->nq, s->q) || !all_finite(w->nv, s->v)) {
      s->unsound = unsound;
      if (!unsound) return -k - 1;
      copy(w->nq, work.old_q, s->q);  /* where the wall was found to be so */
      copy(w->nv, work.old_v, s->v);
      move(w, s, &work, s->step, s->v, s->q);
    }
    if (s->unsound) return k + 1;
  }
  return steps;
}
