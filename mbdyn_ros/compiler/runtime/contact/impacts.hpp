/* Impacts: everything that hits at one instant, by Newton's law with Coulomb's friction. */
#pragma once
#include "contact_rows.hpp"
#include "newtons_law.hpp"
#include "position_correction.hpp"
#include "time_of_impact.hpp"


enum { MOST_HITS = 12, BOUNCES = 8 };

SELDOM static void record_impact(const struct walls* w, struct motion* s, const Work<double>* x,
                          const double* old, const double* e, const char* hits, double loss) {
  if (s->hits >= s->most_hits) return;
  double* out = s->impacts + s->hits++ * size_of_impact(w);
  double *f, *used, *took, largest = 0.;
  *out++ = s->time;
  *out++ = loss;
  memcpy(out, s->q, w->nq * sizeof *out), out += w->nq;
  memcpy(out, old, w->nv * sizeof *out), out += w->nv;
  memcpy(out, s->v, w->nv * sizeof *out), out += w->nv;
  memset(out, 0, (5 * w->contacts + PLANE * w->slots) * sizeof *out);
  f = out, used = f + 3 * w->contacts, took = used + w->contacts;
  for (size_t i = 0; i < x->count; ++i) largest = fmax(largest, x->f[x->first[i]]);
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->active[i], row = x->first[i];
    f[3 * k] = x->f[row];
    if (x->tangent[i] != NO_ROW) f[3 * k + 1] = x->f[row + 1], f[3 * k + 2] = x->f[row + 2];
    used[k] = e[i];
    took[k] = hits[k] || x->f[row] > 1e-12 * largest;
  }
  if (s->planes) memcpy(took + w->contacts, s->planes, PLANE * w->slots * sizeof *took);
}

/* Keep the contacts of islands in which something hits; whether others were left out. */
SELDOM static bool leave_islands(Work<double>* x, const char* hits) {
  size_t *hit = x->tree, kept = 0;
  memset(hit, 0, x->islands * sizeof *hit);
  for (size_t i = 0; i < x->count; ++i) hit[x->island[x->first[i]]] |= hits[x->active[i]] != 0;
  for (size_t i = 0; i < x->count; ++i) {
    if (hit[x->island[x->first[i]]]) x->active[kept++] = x->active[i];
  }
  const bool fewer = kept < x->count;
  x->count = kept;
  return fewer;
}

/* The velocity along a row of S, by four sums at a time over all coordinates. */
SELDOM static double along_whole_row(Work<double>* x, size_t n, size_t i, const double* v) {
  clear(n, x->answer);
  copy_row(x, i, x->S + i * n, x->answer);
  return dot(n, x->answer, v);
}

/* One impact of the held contacts, which bounce or do not; the velocity changes. */
SELDOM static int resolve_impact(const struct walls* w, struct motion* s, Work<double>* x,
                          const char* hits, int bouncing) {
  const size_t n = w->nv;
  double *e = x->bounces, *old = x->hit_v, *a = x->hit_a;
  if (!factor_mass(w, s, x, s->q, 0.)) return 0;
  size_t m = contact_jacobian(w, s, x, s->q, 0);
  number_islands(w, x, m);
  if (leave_islands(x, hits)) m = contact_jacobian(w, s, x, s->q, 0);
  delassus_matrix(w, x, m);
  double *before = x->approach, law = LAW;  /* of fast ones a share */
  for (size_t i = 0; i < m; ++i) {
    before[i] = along_whole_row(x, n, i, s->v) - (w->laws ? x->carry[i] : 0.);
    law = fmax(law, LAW * fabs(before[i]));
  }
  const Cones<double> cones = {m, x->count, 0, n, x->first, x->tangent,
                              x->mu, x->bound, x->A, x->b, x->discs ? nullptr : x->X, x->cones,
                              nullptr, x->discs, x->disc_normal, x->disc, x->disc_rows, x->disc_mu, nullptr, x->islands,
                              x->island, nullptr, x->on_chains ? &x->trees : nullptr};
  const auto restitution = [&](size_t i) {
    return bouncing && hits[x->active[i]] ? x->restitution[x->active[i]] : 0.;
  };
  for (size_t i = 0; i < x->count; ++i) e[i] = restitution(i);
  memcpy(old, s->v, n * sizeof *old);
  Bounce found = newtons_law(&cones, x->b, before, e, w->settled, WHOLE, law, x->f);
  bool bounces = false, dies = false;
  for (size_t i = 0; i < x->count; ++i) bounces |= e[i] > 0.;
  if (bounces) {  /* which bounces would all be over within a step */
    apply_impulses(w, x, m, x->f, s->v);
    clear(w->rates, x->slides);
    accelerate(w, s, s->q, s->v, 0., x->slides, a);
    for (size_t i = 0; i < x->count; ++i) {
      const double falls = -along_whole_row(x, n, x->first[i], a);
      const double up = along_whole_row(x, n, x->first[i], s->v);
      const double patience = fmax(s->step, w->window);
      double* law_e = x->gap + i;
      *law_e = restitution(i);
      if (*law_e < 1. && falls > 0. && 2. * up < patience * falls * (1. - *law_e)) {
        dies |= *law_e > 0., *law_e = 0.;
      }
    }
    if (dies) memcpy(e, x->gap, x->count * sizeof *e);
    if (dies) found = newtons_law(&cones, x->b, before, e, w->settled, WHOLE, law, x->f);
  }
  s->residual = fmax(s->residual, found.missed);
  s->unsettled += found.missed > LAW;
  memcpy(s->v, old, n * sizeof *old);
  apply_impulses(w, x, m, x->f, s->v);
  s->lost -= found.gain + (w->laws ? dot(m, x->f, x->carry) : 0.);
  if (w->givens) s->lost += taken_by_given(w, x, x->f, s->v);
  x->clean = 0;
  for (size_t i = 0; s->whole && i < x->count; ++i) {
    double* whole = s->whole + 3 * x->active[i];
    whole[0] += x->f[x->first[i]];
    if (x->tangent[i] != NO_ROW) add_to(2, 1., x->f + x->tangent[i], whole + 1);
  }
  record_impact(w, s, x, old, e, hits, -found.gain);
  return 1;
}

/* All impacts at this instant, one after the other where one causes the next; where they would hand
   the motion on to each other without end, the last ones end it. */
SELDOM static void resolve_impacts(const struct walls* w, struct motion* s, Work<double>* x) {
  const size_t m = w->contacts;
  char* hits = x->hits;
  for (int k = 0; k < MOST_HITS; ++k) {
    int some = 0;
    evaluate_distances(w, s, s->q, s->v, x->now);
    x->fresh = 1;
    x->count = 0;
    memset(hits, 0, m);
    const auto may = [w, x, m](auto kind, size_t k) {
      using Real = decltype(kind);
      const Real g = at<Real>(x->now + k), rate = at<Real>(x->now + m + k);
      return is(g <= w->touching * at<Real>(x->now + 2 * m + k)) | is(g + w->window * rate <= 0.);
    };
    each_that(m, may, [&](size_t i) {
      const double g = x->now[i], rate = x->now[m + i], slope = x->now[2 * m + i];
      const int touches = g <= w->touching * slope;
      if (yields(w, i)) return;
      hits[i] = rate < -w->slow * slope && (touches || g + w->window * rate <= 0.);
      some |= hits[i];
      if ((hits[i] || (touches && rate <= w->slow * slope)) && has_room(w, s, x->count)) {
        x->on[x->count] = is(true);
        x->active[x->count++] = i;
      }
    });
    if (!some || !resolve_impact(w, s, x, hits, k < BOUNCES)) return;
    each_known(w, x, [s](size_t k) { s->mode[k] = s->trend[k] = 0.; });
    clear(PAST * w->nv, s->reaction);
    x->fresh = 0;
  }
}
