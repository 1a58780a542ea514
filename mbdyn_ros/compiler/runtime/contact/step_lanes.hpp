/* One step of a vector of motions, of which most go on as they are: in flight, or with contacts that
   are held. Where anything else happens in one of them (impacts, walls that are entered, problems
   that Newton's method does not settle), that one takes the step by itself. */
#pragma once
#include "contact_solve.hpp"
#include "impacts.hpp"
#include "time_of_impact.hpp"


/* Where contacts touch and rest, and which hit. */
static bitsv activate_lanes(const struct walls* w, const struct motion_lanes* s, Work<realv>* x) {
  const size_t m = w->contacts;
  bitsv hits = {};
  x->count = 0;
  for (size_t k = 0; k < m; ++k) {
    const realv slope = x->now[2 * m + k], rate = x->now[m + k];
    hits |= is(x->now[k] <= w->touching * slope) & is(rate < -w->slow * slope);
    const bitsv held = stays(w, s, x, k);
    if (!any(held)) continue;
    if (x->count == w->most_active) return ~(bitsv){};
    x->on[x->count] = held;
    x->active[x->count++] = k;
  }
  return hits;
}

/* Hold one more contact in some lanes; they stay in order. Whether there is room. */
static int activate_in(const struct walls* w, Work<realv>* x, size_t k, bitsv where) {
  size_t i = 0;
  while (i < x->count && x->active[i] < k) ++i;
  if (i == x->count || x->active[i] != k) {
    if (x->count == w->most_active) return 0;
    for (size_t j = x->count++; j > i; --j) x->active[j] = x->active[j - 1], x->on[j] = x->on[j - 1];
    x->active[i] = k, x->on[i] = (bitsv){};
  }
  x->on[i] |= where;
  return 1;
}

/* Where a contact that is not held meets its wall within a step that began at `start`, or comes near it
   and goes again, or any is inside, or nobody knows. Where all that meet do so gently they are held: `more` says where there are any. */
static bitsv impacts_in(const struct walls* w, Work<realv>* x, const realv* start, double h,
                           bitsv open, int may_hold, bitsv* more) {
  const size_t m = w->contacts;
  bitsv meet = {0}, inside = {0}, *gentle = (bitsv*)x->gentle;
  *more = (bitsv){};
  for (size_t k = 0, i = 0; k < m; ++k) {
    const int here = i < x->count && x->active[i] == k;
    const bitsv held = here ? x->on[i++] : (bitsv){};
    const realv g = start[k], last = x->now[k], rate = start[m + k], end = x->now[m + k];
    const realv slope = x->now[2 * m + k], reach = greatest(magnitude(rate), magnitude(end));
    gentle[k] = (bitsv){};
    inside |= ~is(last >= -w->graze * slope);
    const bitsv near = is(g + last <= FASTER * h * reach) & ~held & open & ~meet;
    if (!any(near)) continue;
    for (size_t l = 0; l < LANES; ++l) {
      if (!near[l]) continue;
      if (turns_near(w, h, g[l], rate[l], last[l], end[l], slope[l])) meet[l] = -1;
      if (time_of_impact(w, h, g[l], rate[l], last[l], end[l], slope[l]) < 0.) continue;
      if (may_hold && is_gentle(w, k, x->restitution[k], h, g[l], rate[l], last[l], end[l], slope[l])) {
        gentle[k][l] = -1;
      } else {
        meet[l] = -1;
      }
    }
    *more |= gentle[k];
  }
  *more &= ~meet;
  for (size_t k = 0; any(*more) && k < m; ++k) {
    const bitsv also = gentle[k] & *more;
    if (any(also) && !activate_in(w, x, k, also)) return open;
  }
  return meet | (inside & ~*more);
}

/* Take what would be gained, as `trim` does. */
static void trim_lanes(const struct walls* w, struct motion_lanes* s, Work<realv>* x,
                          const realv* before, bitsv guarded) {
  const size_t m = w->contacts;
  realv now[2];
  evaluate(w, s, w->vectors->energy, s->q, s->v, now);
  const realv gain = now[0] + now[1] - (before[0] + before[1]);
  const realv left = greatest(1. - gain / now[0], all<realv>(0.));
  const bitsv gains = guarded & is(gain > 0.) & is(now[0] > 0.);
  const realv share = select(gains, root(left), all<realv>(1.));
  for (size_t i = 0; i < w->nv; ++i) s->v[i] *= share;
  for (size_t k = 0; k < 3 * m; ++k) s->slip[k] *= share;
  for (size_t k = 0; k < m; ++k) x->now[m + k] *= share;
}

/* How many contacts may have passed their walls unseen. */
static size_t count_passed(const struct walls* w, const Work<realv>* x, const realv* start,
                           double h, bitsv open) {
  const size_t m = w->contacts;
  size_t count = 0;
  for (size_t k = 0, i = 0; k < m; ++k) {
    const int here = i < x->count && x->active[i] == k;
    const bitsv held = here ? x->on[i++] : (bitsv){};
    const realv g = start[k], rate = start[m + k], last = x->now[k], end = x->now[m + k];
    const realv reach = greatest(magnitude(rate), magnitude(end));
    if (!any(open & ~held & is(3. * h * reach + magnitude(last - g) > g + last))) continue;
    for (size_t l = 0; l < LANES; ++l) {
      if (!open[l] || held[l]) continue;
      const double slope = x->now[2 * m + k][l];
      count += any(may_have_passed<double>(h, g[l], rate[l], last[l], end[l], slope));
    }
  }
  return count;
}

/* A step of length h; gives where it is to be taken again by itself, from what was before. */
static bitsv step_lanes(const struct walls* w, struct motion_lanes* s, Work<realv>* x, double h,
                           bitsv open, const struct motion_lanes* old, size_t* unseen) {
  const size_t m = w->contacts;
  realv* start = x->start;
  bitsv held = {0}, driven = {0}, more = ~held, odd;
  realv energy[2] = {};
  if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
  x->fresh = 1;
  odd = activate_lanes(w, s, x), x->again = 0;
  for (size_t i = 0; i < x->count; ++i) held |= x->on[i];
  for (size_t i = 0; i < w->ne; ++i) driven |= is(s->effort[i] != 0.);
  if (any(open & ~driven)) evaluate(w, s, w->vectors->energy, s->q, s->v, energy);
  copy(3 * m, x->now, start);
  copy(w->nq, s->q, x->q);
  copy(w->nv, s->v, x->v);
  for (size_t j = 0; j < PAST * w->nv; ++j) {
    x->old_reaction[j] = select(held, s->reaction[j], all<realv>(0.));
  }
  expect_reaction(w, x, x->old_reaction);
  if (w->rubbing) slide_directions(w, s, x);
  free_motion(w, s, x, h);
  const bitsv rubs = w->rubbing ? ~(bitsv){} : (bitsv){}, holds = held | ~all_slide_on(w, s, x);
  if (any(holds & open & ~odd)) {
    odd |= solve_contacts(w, s, x, h, holds & open & ~odd);
    odd |= held & surprises(w, s, x, h);
  } else {
    x->count = 0;
    evaluate_distances(w, s, s->q, s->v, x->now);
    copy(w->nq, s->q, x->slopes);
    copy(w->nv, s->v, x->fast);
  }
  contact_forces(w, s, x, h, ~holds);
  if (w->rubbing) sliding_forces(w, s, x, h, ~holds);
  for (int k = 0; k <= MOST_MERGES; ++k) {
    if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
    x->fresh = 1;
    odd |= impacts_in(w, x, start, h, open & ~odd & more, k < MOST_MERGES, &more);
    more &= ~odd;
    if (!any(more)) break;
    held |= more;
    take(more, w->nq, x->slopes, s->q);
    take(more, w->nv, x->fast, s->v);
    for (size_t j = 0; j < w->nv; ++j) s->v[j] += select(more, x->gained[j], all<realv>(0.));
    copy(3 * m + w->rubbing, s->force, x->guess), x->again = 1;
    take(more, 3 * m + w->rubbing, old->force, s->force);
    take(more, m, old->trend, s->trend);
    take(more, 3 * m, old->slip, s->slip);
    take(more, m, old->mode, s->mode);
    take(more, PAST * w->nv, old->reaction, s->reaction);
    odd |= solve_contacts(w, s, x, h, more);
  }
  const bitsv guarded = (held | rubs) & ~driven & open & ~odd;
  if (any(guarded)) trim_lanes(w, s, x, energy, guarded);
  *unseen += count_passed(w, x, start, h, open & ~odd);
  for (size_t i = 0; i < w->nq; ++i) odd |= ~is(s->q[i] - s->q[i] == 0.);
  for (size_t i = 0; i < w->nv; ++i) odd |= ~is(s->v[i] - s->v[i] == 0.);
  return odd & open;
}
