/* Contacts that are held over a step: their impulses act evenly over it, so that no wall is entered
   and Coulomb's law holds at its end. Dry friction of joints is part of the same problem. The
   contacts of motions in a vector may differ. */
#pragma once
#include "position_correction.hpp"


/* What has happened where a step is done: forces, what slides, what stands still. */
template <class Real>
static void finish(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h, Bits<Real> done) {
  const size_t contacts = w->contacts;
  Real lost = all<Real>(0.);
  /* joints that their dry friction holds stand still exactly */
  for (size_t i = 0; i < w->rubbing; ++i) {
    const size_t row = x->held_rows + i;
    const Real f = x->f[row], speed = along_row(w, x, row, s->v);
    Real* force = s->force + 3 * contacts + i;
    *force = select(done, f / h, *force);
    lost -= 0.5 * f * (along_row(w, x, row, x->v) + speed);
    const Bits<Real> stands = done & is(magnitude(f) < x->bound[i]) &
                        is(magnitude(speed) < w->slow);
    if (w->still_v[i] < 0 || !any(stands)) continue;
    Real* v = s->v + w->still_v[i];
    *v = select(stands, all<Real>(0.), *v);
    if (w->still_q[i] < 0) continue;
    Real* q = s->q + w->still_q[i];
    const Bits<Real> stood = stands & is(x->v[w->still_v[i]] == 0.);
    *q = select(stood, x->q[w->still_q[i]], *q);
    if (any(stood)) x->fresh = 0;
  }
  for (size_t k = 0; k < contacts; ++k) {
    for (int r = 0; r < 3; ++r) {
      s->force[3 * k + r] = select(done, all<Real>(0.), s->force[3 * k + r]);
    }
    const Real before = select(is(s->mode[k] > 0.), all<Real>(-1.), all<Real>(0.));
    s->mode[k] = select(done, before, s->mode[k]);
  }
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->held[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
    const Bits<Real> here = done & x->on[i], again = is(s->mode[k] < 0.);
    Real slides = all<Real>(0.);
    for (size_t r = 0; r < rows; ++r) {
      const size_t row = x->first[i] + r;
      const Real f = x->f[row], turned = r ? all<Real>(0.) : x->shift[i];
      const Real after = along_row(w, x, row, s->v) + turned;
      Real *force = s->force + 3 * k + r, *slip = s->slip + 3 * k + r;
      const Real before = select(again, *slip, along_row(w, x, row, x->v));
      *force = select(here, f / h, *force);
      lost -= select(here, 0.5 * f * (before + after), all<Real>(0.));
      *slip = select(here, after, *slip);
      if (r) slides += after * after;
    }
    /* by the speed: forces of what sticks may lie on their cones too, where they are redundant */
    const Bits<Real> sticks = is(s->force[3 * k] > 0.) & is(root(slides) <= w->slow);
    const Real mode = rows == 3 ? select(sticks, all<Real>(1.), all<Real>(2.)) : all<Real>(2.);
    s->mode[k] = select(here, mode, s->mode[k]);
  }
  for (size_t k = 0; k < contacts; ++k) {
    s->mode[k] = select(done, greatest(s->mode[k], all<Real>(0.)), s->mode[k]);
  }
  s->lost += select(done, lost, all<Real>(0.));
}

/* Hold the contacts in a step of length h that has come to q with v, from the state in x, where
   `open`; gives where nothing was found that settles it. M and the rows are those where the step
   would end if the velocity stayed as it was: what contacts hold ends near there. Where the step
   turns walls against them all the same, as where a base turns that slides, velocities along the
   normals are not those of the rows: by as much the problem is shifted, which leaves all directions
   as they are; the rows are taken again only where they turn far. */
template <class Real>
static Bits<Real> hold(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h, Bits<Real> open) {
  const size_t n = w->nv, contacts = w->contacts;
  const double part = w->stages ? 0.5 * h : h;  /* in which a change of velocity acts */
  Real *free_q = x->slopes, *moved = x->way, *further = x->further;
  copy(w->nq, s->q, free_q);
  copy(n, s->v, x->fast);
  for (size_t j = 0; j < n; ++j) moved[j] = part * (x->v[j] - x->fast[j]);
  copy(w->nq, free_q, x->at_q);
  move(w, s, x, 1., moved, x->at_q);
  take(open, w->nq, x->at_q, s->q);
  if (x->count) measure(w, s, s->q, s->v, x->now);
  x->fresh = x->count > 0;
  Bits<Real> failed = open & ~weigh(w, s, x, w->damped ? h : 0.);
  open &= ~failed;
  int again = 1;
  for (int pass = 0; pass < MOST_PASSES; ++pass) {
    const int shifted = !again;
    if (again) {
      assemble(w, s, x, 1);
      clear(x->count, x->shift);
    }
    const size_t m = x->held_rows + w->rubbing;
    for (size_t i = 0; i < m; ++i) x->b[i] = along_row(w, x, i, x->fast);
    for (size_t i = 0; i < x->count; ++i) x->b[x->first[i]] += x->shift[i];
    for (size_t i = 0; i < w->rubbing; ++i) x->bound[i] = h * x->column[w->bounds + (int64_t)i];
    for (size_t i = 0; !pass && i < x->count; ++i) {
      const size_t k = x->held[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
      for (size_t r = 0; r < rows; ++r) {
        x->f[x->first[i] + r] = select(x->on[i], h * s->force[3 * k + r], all<Real>(0.));
      }
    }
    for (size_t i = 0; !pass && i < w->rubbing; ++i) {
      x->f[x->held_rows + i] = h * s->force[3 * contacts + i];
    }
    const Cones<Real> cones = {m, x->count, w->rubbing, n, x->first, x->tangent,
                                   x->mu, x->bound, x->A, x->b, x->X, x->cones};
    Bits<Real> settled;
    const Real missed = impulses_of_cones(&cones, w->settled, x->f, &settled);
    const Bits<Real> against = are_heavy(&cones, x->f) | is(missed > LAW);
    if constexpr (is_single<Real>) {
      again = shifted && against && pass + 1 < MOST_PASSES;
      if (again) {  /* rows that depend on each other contradict the shift: they are taken again */
        clear(m, x->f);
        continue;
      }
      s->unsettled += missed > LAW;
    } else {
      settled &= ~against;
      failed |= open & ~settled, open &= settled;
    }
    s->residual = select(open, greatest(s->residual, missed), s->residual);
    copy(n, x->fast, x->at_v);
    respond(w, x, m, x->f, x->at_v);

    /* the way: half the change of velocity (all of it without stages), and what closes contacts
       that push or are inside */
    for (size_t j = 0; j < n; ++j) further[j] = part * (x->at_v[j] - x->fast[j]) - moved[j];
    Real largest = all<Real>(0.);
    for (size_t i = 0; i < x->count; ++i) largest = greatest(largest, x->f[x->first[i]]);
    for (size_t i = 0; i < x->count; ++i) {
      const size_t k = x->held[i];
      x->gap[i] = x->now[k] / x->now[2 * contacts + k];
      x->gap[i] += along_row(w, x, x->first[i], further);
      x->closed[i] = x->on[i] & (is(x->gap[i] < 0.) | is(x->f[x->first[i]] > 1e-12 * largest));
    }
    const Bits<Real> closes = close_gaps(w, x, m, part, further);
    if constexpr (is_single<Real>) {
      if (!closes) push_out(w, x, m, part, further);
    } else {
      failed |= open & ~closes, open &= closes;
    }
    add_to(n, all<Real>(1.), further, moved);
    copy(w->nq, free_q, x->at_q);
    move(w, s, x, 1., moved, x->at_q);
    if (x->count) measure(w, s, x->at_q, x->at_v, x->end);
    take(open, w->nq, x->at_q, s->q);
    take(open, n, x->at_v, s->v);
    if (x->count) take(open, 3 * contacts, x->end, x->now);
    settled = open;
    Bits<Real> far = ~open & open;
    for (size_t i = 0; i < x->count; ++i) {
      const Real* one = x->now + x->held[i];
      const Real rate = magnitude(one[contacts]), slope = one[2 * contacts];
      settled &= is(rate <= LAW * slope) | ~x->closed[i];
      if (pass >= MOST_SHIFTS) far |= open & x->closed[i] & is(rate > w->slow * slope);
    }
    if (pass + 1 == MOST_PASSES) settled = open;
    if (any(settled)) finish(w, s, x, h, settled);
    open &= ~settled;
    far &= open;
    if (any(far) && any(open & ~far)) failed |= far, open &= ~far;
    if (!any(open)) break;
    again = any(far & open);
    for (size_t i = 0; i < x->count; ++i) {
      const Real* one = x->now + x->held[i];
      const Real off = one[contacts] / one[2 * contacts];
      x->shift[i] = select(x->on[i], off - along_row(w, x, x->first[i], s->v), all<Real>(0.));
    }
  }
  return failed;
}
