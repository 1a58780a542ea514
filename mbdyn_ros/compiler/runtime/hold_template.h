/* Contacts that are held over a step: their impulses act evenly over it, so that no wall is entered
   and Coulomb's law holds at its end. Dry friction of joints is part of the same problem. Included
   for single motions and for vectors of them, whose contacts may differ. */

/* What has happened where a step is done: forces, what slides, what stands still. */
static void F(finish)(const struct walls* w, WALLED* s, struct F(work)* x, double h, BITS done) {
  const size_t contacts = w->contacts;
  REAL lost = ALL(0.);
  /* joints that their dry friction holds stand still exactly */
  for (size_t i = 0; i < w->rubbing; ++i) {
    const size_t row = x->held_rows + i;
    const REAL f = x->f[row], speed = F(along_row)(w, x, row, s->v);
    REAL* force = s->force + 3 * contacts + i;
    *force = F(select)(done, f / h, *force);
    lost -= 0.5 * f * (F(along_row)(w, x, row, x->v) + speed);
    const BITS stands = done & IS(F(magnitude)(f) < x->bound[i]) &
                        IS(F(magnitude)(speed) < w->slow);
    if (w->still_v[i] < 0 || !F(any)(stands)) continue;
    REAL* v = s->v + w->still_v[i];
    *v = F(select)(stands, ALL(0.), *v);
    if (w->still_q[i] < 0) continue;
    REAL* q = s->q + w->still_q[i];
    const BITS stood = stands & IS(x->v[w->still_v[i]] == 0.);
    *q = F(select)(stood, x->q[w->still_q[i]], *q);
    if (F(any)(stood)) x->fresh = 0;
  }
  for (size_t k = 0; k < contacts; ++k) {
    for (int r = 0; r < 3; ++r) {
      s->force[3 * k + r] = F(select)(done, ALL(0.), s->force[3 * k + r]);
    }
    const REAL before = F(select)(IS(s->mode[k] > 0.), ALL(-1.), ALL(0.));
    s->mode[k] = F(select)(done, before, s->mode[k]);
  }
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->held[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
    const BITS here = done & x->on[i], again = IS(s->mode[k] < 0.);
    REAL slides = ALL(0.);
    for (size_t r = 0; r < rows; ++r) {
      const size_t row = x->first[i] + r;
      const REAL f = x->f[row], turned = r ? ALL(0.) : x->shift[i];
      const REAL after = F(along_row)(w, x, row, s->v) + turned;
      REAL *force = s->force + 3 * k + r, *slip = s->slip + 3 * k + r;
      const REAL before = F(select)(again, *slip, F(along_row)(w, x, row, x->v));
      *force = F(select)(here, f / h, *force);
      lost -= F(select)(here, 0.5 * f * (before + after), ALL(0.));
      *slip = F(select)(here, after, *slip);
      if (r) slides += after * after;
    }
    /* by the speed: forces of what sticks may lie on their cones too, where they are redundant */
    const BITS sticks = IS(s->force[3 * k] > 0.) & IS(F(root)(slides) <= w->slow);
    const REAL mode = rows == 3 ? F(select)(sticks, ALL(1.), ALL(2.)) : ALL(2.);
    s->mode[k] = F(select)(here, mode, s->mode[k]);
  }
  for (size_t k = 0; k < contacts; ++k) {
    s->mode[k] = F(select)(done, F(greatest)(s->mode[k], ALL(0.)), s->mode[k]);
  }
  s->lost += F(select)(done, lost, ALL(0.));
}

/* Hold the contacts in a step of length h that has come to q with v, from the state in x, where
   `open`; gives where nothing was found that settles it. M and the rows are those where the step
   would end if the velocity stayed as it was: what contacts hold ends near there. Where the step
   turns walls against them all the same, as where a base turns that slides, velocities along the
   normals are not those of the rows: by as much the problem is shifted, which leaves all directions
   as they are; the rows are taken again only where they turn far. */
static BITS F(hold)(const struct walls* w, WALLED* s, struct F(work)* x, double h, BITS open) {
  const size_t n = w->nv, contacts = w->contacts;
  const double part = w->stages ? 0.5 * h : h;  /* in which a change of velocity acts */
  REAL *free_q = x->slopes, *moved = x->way, further[n + 1];
  F(copy)(w->nq, s->q, free_q);
  F(copy)(n, s->v, x->fast);
  for (size_t j = 0; j < n; ++j) moved[j] = part * (x->v[j] - x->fast[j]);
  F(copy)(w->nq, free_q, x->at_q);
  F(move)(w, s, x, 1., moved, x->at_q);
  F(take)(open, w->nq, x->at_q, s->q);
  if (x->count) F(measure)(w, s, s->q, s->v, x->now);
  x->fresh = x->count > 0;
  BITS failed = open & ~F(weigh)(w, s, x, w->damped ? h : 0.);
  open &= ~failed;
  int again = 1;
  for (int pass = 0; pass < MOST_PASSES; ++pass) {
    const int shifted = !again;
    if (again) {
      F(assemble)(w, s, x, 1);
      F(clear)(x->count, x->shift);
    }
    const size_t m = x->held_rows + w->rubbing;
    for (size_t i = 0; i < m; ++i) x->b[i] = F(along_row)(w, x, i, x->fast);
    for (size_t i = 0; i < x->count; ++i) x->b[x->first[i]] += x->shift[i];
    for (size_t i = 0; i < w->rubbing; ++i) x->bound[i] = h * x->column[w->bounds + (int64_t)i];
    for (size_t i = 0; !pass && i < x->count; ++i) {
      const size_t k = x->held[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
      for (size_t r = 0; r < rows; ++r) {
        x->f[x->first[i] + r] = F(select)(x->on[i], h * s->force[3 * k + r], ALL(0.));
      }
    }
    for (size_t i = 0; !pass && i < w->rubbing; ++i) {
      x->f[x->held_rows + i] = h * s->force[3 * contacts + i];
    }
    const struct F(cones) cones = {m, x->count, w->rubbing, n, x->first, x->tangent,
                                   x->mu, x->bound, x->A, x->b, x->X, x->cones};
    BITS settled;
    const REAL missed = F(impulses_of_cones)(&cones, w->settled, x->f, &settled);
    const BITS against = F(are_heavy)(&cones, x->f) | IS(missed > LAW);
#if SUFFIX == 1
    again = shifted && against && pass + 1 < MOST_PASSES;
    if (again) {  /* rows that depend on each other contradict the shift: they are taken again */
      F(clear)(m, x->f);
      continue;
    }
    s->unsettled += missed > LAW;
#else
    (void)shifted;
    settled &= ~against;
    failed |= open & ~settled, open &= settled;
#endif
    s->residual = F(select)(open, F(greatest)(s->residual, missed), s->residual);
    F(copy)(n, x->fast, x->at_v);
    F(respond)(w, x, m, x->f, x->at_v);

    /* the way: half the change of velocity (all of it without stages), and what closes contacts
       that push or are inside */
    for (size_t j = 0; j < n; ++j) further[j] = part * (x->at_v[j] - x->fast[j]) - moved[j];
    REAL largest = ALL(0.);
    for (size_t i = 0; i < x->count; ++i) largest = F(greatest)(largest, x->f[x->first[i]]);
    for (size_t i = 0; i < x->count; ++i) {
      const size_t k = x->held[i];
      x->gap[i] = x->now[k] / x->now[2 * contacts + k];
      x->gap[i] += F(along_row)(w, x, x->first[i], further);
      x->closed[i] = x->on[i] & (IS(x->gap[i] < 0.) | IS(x->f[x->first[i]] > 1e-12 * largest));
    }
#if SUFFIX == 1
    if (!close_gaps1(w, x, m, part, further)) push_out(w, x, m, part, further);
#else
    const BITS closes = F(close_gaps)(w, x, m, part, further);
    failed |= open & ~closes, open &= closes;
#endif
    F(add_to)(n, ALL(1.), further, moved);
    F(copy)(w->nq, free_q, x->at_q);
    F(move)(w, s, x, 1., moved, x->at_q);
    if (x->count) F(measure)(w, s, x->at_q, x->at_v, x->end);
    F(take)(open, w->nq, x->at_q, s->q);
    F(take)(open, n, x->at_v, s->v);
    if (x->count) F(take)(open, 3 * contacts, x->end, x->now);
    settled = open;
    BITS far = ~open & open;
    for (size_t i = 0; i < x->count; ++i) {
      const REAL* one = x->now + x->held[i];
      const REAL rate = F(magnitude)(one[contacts]), slope = one[2 * contacts];
      settled &= IS(rate <= LAW * slope) | ~x->closed[i];
      if (pass >= MOST_SHIFTS) far |= open & x->closed[i] & IS(rate > w->slow * slope);
    }
    if (pass + 1 == MOST_PASSES) settled = open;
    if (F(any)(settled)) F(finish)(w, s, x, h, settled);
    open &= ~settled;
    far &= open;
    if (F(any)(far) && F(any)(open & ~far)) failed |= far, open &= ~far;
    if (!F(any)(open)) break;
    again = F(any)(far & open);
    for (size_t i = 0; i < x->count; ++i) {
      const REAL* one = x->now + x->held[i];
      const REAL off = one[contacts] / one[2 * contacts];
      x->shift[i] = F(select)(x->on[i], off - F(along_row)(w, x, x->first[i], s->v), ALL(0.));
    }
  }
  return failed;
}
