/* The way of a step with contacts: they close, and none of them pulls. Included for single motions
   and for vectors of them, whose contacts may differ. */
#pragma once
#include "contact_rows.hpp"
#include "islands.hpp"


/* The velocity along a row, of S. */
template <class Real>
static inline Real along_row(const struct walls* w, const Work<Real>* x, size_t i, const Real* v,
                             const Real* S) {
  return dot_at(x->reach[i], x->reaches[i], S + i * w->nv, v);
}

template <class Real>
static inline Real along_row(const struct walls* w, const Work<Real>* x, size_t i,
                             const Real* v) {
  return along_row(w, x, i, v, x->S);
}

/* The same along rows of one contact, from row i on. */
template <class Real>
static inline void along_rows(const struct walls* w, const Work<Real>* x, size_t i, size_t rows,
                              const Real* v, const Real* S, Real* along) {
  if (rows != 3) {
    for (size_t r = 0; r < rows; ++r) along[r] = along_row(w, x, i + r, v, S);
    return;
  }
  const Real *one = S + i * w->nv, *two = one + w->nv, *three = two + w->nv;
  Real sum[3] = {};
  for (size_t k = 0; k < x->reaches[i]; ++k) {
    const int32_t j = x->reach[i][k];
    sum[0] += one[j] * v[j], sum[1] += two[j] * v[j], sum[2] += three[j] * v[j];
  }
  copy(3, sum, along);
}

/* v + M^-1 S^T f, of the first m rows. */
template <class Real>
static void apply_impulses(const struct walls* w, Work<Real>* x, size_t m, const Real* f,
                       Real* v) {
  Real* __restrict answer = x->answer;
  clear(w->nv, answer);
  if (w->nv <= LANES) {
    add_rows(m, w->nv, f, x->X, answer);
  } else {
    for (size_t i = 0; i < m; ++i) {
      if (!any(is(f[i] != 0.))) continue;
      const Span span = span_of(x, i);
      add_to(span.to - span.from, f[i], x->X + i * w->nv + span.from, answer + span.from);
    }
  }
  solve_down(w, x->mass, answer);
  add_to(w->nv, all<Real>(1.), answer, v);
}

/* How velocities along the normal of a contact answer to impulses along that of another one. */
template <class Real>
static inline Real between_normals(size_t n, const Work<Real>* x, size_t m, size_t i, size_t j) {
  const size_t here = x->first[i], there = x->first[j];
  if (x->whole) return x->A[here * m + there];
  const Span one = span_of(x, here), other = span_of(x, there);
  const size_t from = one.from > other.from ? one.from : other.from;
  const size_t to = one.to < other.to ? one.to : other.to;
  return from < to ? dot(to - from, x->X + here * n + from, x->X + there * n + from) : all<Real>(0.);
}

enum { MOST_LET_GO = 2 };

/* Shares of a depth that does not count: of gaps that need no closing, and that may be left by it. */
#define NO_GAP 1e-5
#define REST 0.1

/* Add to a way what closes the contacts in `closed` that would stand apart by `gap`, by the least
   motion; A has m rows. The way is that of impulses f for a time `part`. Contacts at which it would pull
   are let go, and lose what they pushed. Gives where that is enough and none of these is inside then:
   else nothing is added, for the contacts cannot all close, and what comes near to it where they are
   redundant may be of any size, as it is where they are more than velocities. */
template <class Real>
static Bits<Real> close_contacts(const struct walls* w, Work<Real>* x, size_t m, double part,
                          Real* way) {
  const size_t count = x->count;
  const Real zero = all<Real>(0.);
  Real most = zero, largest = zero, *impulse = x->impulse, *y = x->correction;
  Real *a = x->closing, *push = x->lost_push, close = most;
  Bits<Real>* holds = x->holds;
  for (size_t i = 0; i < count; ++i) {
    close += select(x->closed[i], all<Real>(1.), zero);
    most = greatest(most, select(x->closed[i], magnitude(x->gap[i]), zero));
    holds[i] = ~is(zero == zero);
  }
  const Bits<Real> stays = ~is(most > NO_GAP * w->graze), may_close = is(close <= (double)w->nv) & ~stays;
  if (!any(may_close)) return stays;
  const auto together = [x](size_t i, size_t j) {
    return x->island[x->first[i]] == x->island[x->first[j]];
  };
  const auto gap_with = [&](size_t i, const Real* impulses) {
    Real gap = x->gap[i];
    for (size_t j = 0; j < count; ++j) {
      const Real one = impulses[j];
      if (together(i, j) && any(is(one != 0.))) gap += between_normals(w->nv, x, m, i, j) * one;
    }
    return gap;
  };
  for (size_t i = 0; i < count; ++i) {
    largest = greatest(largest, x->f[x->first[i]]);
    holds[i] = x->closed[i], push[i] = zero;
  }
  Bits<Real> closes = may_close, open = may_close;
  for (int round = 0; any(open); ++round) {
    most = zero;
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        const Bits<Real> both = holds[i] & holds[j];
        const bool meet = together(i, j) && any(both);
        a[i * count + j] = meet ? select(both, between_normals(w->nv, x, m, i, j), zero) : zero;
      }
      most = greatest(most, a[i * count + i]);
    }
    for (size_t i = 0; i < count; ++i) {
      Real* own = a + i * count + i;
      const Real gap = round ? gap_with(i, push) : x->gap[i];
      *own = select(holds[i], *own + 1e-12 * most, all<Real>(1.));
      y[i] = select(holds[i], -gap, zero);
    }
    closes &= cholesky(count, a) | ~open;
    forward(count, a, y);
    backward(count, a, y);
    Bits<Real> pulls = ~may_close & may_close;
    for (size_t i = 0; i < count; ++i) {
      const Real f = part * x->f[x->first[i]];
      const Bits<Real> here = holds[i] & ~is(f + y[i] >= -PULL * part * largest);
      y[i] = select(holds[i], y[i], push[i]);
      push[i] = select(here & open, -f, push[i]);
      pulls |= here;
      if (round < MOST_LET_GO) holds[i] &= ~(here & open);
    }
    if (round == MOST_LET_GO) closes &= ~(pulls & open);
    open &= pulls & closes;
    if (round == MOST_LET_GO) break;
  }
  for (size_t i = 0; i < count; ++i) {  /* what was let go */
    if (!any(x->closed[i] & ~holds[i] & closes)) continue;
    closes &= is(gap_with(i, y) >= -w->graze) | holds[i] | ~x->closed[i];
  }
  clear(m, impulse);
  for (size_t i = 0; i < count; ++i) impulse[x->first[i]] = select(closes, y[i], zero);
  apply_impulses(w, x, m, impulse, way);
  return closes | stays;
}

/* Close what is left of gaps of held contacts by rows that differ from those of A: `gap_now` gives them. */
template <class Real, class Gap>
static void close_rest(const struct walls* w, Work<Real>* x, size_t m, Bits<Real> closes, const Gap& gap_now,
                       Real* way) {
  Real most = all<Real>(0.), *y = x->correction;
  for (size_t i = 0; i < x->count; ++i) {
    y[i] = select(x->holds[i] & closes, -gap_now(i), all<Real>(0.));
    most = greatest(most, magnitude(y[i]));
  }
  const Bits<Real> wants = closes & is(most > REST * w->graze);
  if (!any(wants)) return;
  forward(x->count, x->closing, y);
  backward(x->count, x->closing, y);
  clear(m, x->impulse);
  for (size_t i = 0; i < x->count; ++i) x->impulse[x->first[i]] = select(wants, y[i], all<Real>(0.));
  apply_impulses(w, x, m, x->impulse, way);
}

/* Safe ways follow where a gap (m) is missed by more than this, a tenth of what counts as inside. */
static constexpr Exactness GAPS = {SOFT, 1e-10, 1e-10, HUGE_VAL, FEW_ROUNDS};

/* Add to a way of impulses f for a time `part` what moves it least so that no contact is inside its
   wall, those that do not touch in the end pushing nowhere on it: gaps where no contact pulls. */
static void separate_contacts(const struct walls* w, Work<double>* x, size_t m, double part, double* way) {
  const size_t count = x->count, n = w->nv;
  size_t *own = x->own, *none = x->none, *island = x->push_island;
  double *mu = x->push_mu, *gap = x->push_gap, *push = x->push, *X = x->push_X, *impulse = x->impulse;
  const bool fewer = x->islands < 2 && are_fewer(n, count);
  double *y = x->answer, *A = x->closing;
  clear(n, y);
  for (size_t i = 0; i < count; ++i) {
    own[i] = i, none[i] = NO_ROW, mu[i] = 0., island[i] = x->island[x->first[i]];
    push[i] = part * x->f[x->first[i]];
    memcpy(X + i * n, x->X + x->first[i] * n, n * sizeof *X);
    add_to(n, push[i], X + i * n, y);
    for (size_t j = fewer ? i : 0; j <= i; ++j) {
      A[i * count + j] = A[j * count + i] = between_normals(n, x, m, i, j);
    }
  }
  for (size_t i = 0; i < count; ++i) gap[i] = x->gap[i] - dot(n, X + i * n, y);
  const Cones<double> cones = {count, count, 0, n, own, none, mu, nullptr, x->closing, gap, X,
                               x->cones, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, x->islands,
                               island, nullptr, nullptr};
  bits1 settled;
  impulses_of_cones(&cones, w->settled, push, &settled, GAPS);
  memset(impulse, 0, m * sizeof *impulse);
  for (size_t i = 0; i < count; ++i) {
    impulse[x->first[i]] = push[i] - part * x->f[x->first[i]];
  }
  apply_impulses(w, x, m, impulse, way);
}

/* What stands inside walls comes out of them. */
enum { MOST_LIFTS = 4 };

/* Lift what is inside walls out of them, by the least motions, in which what has come out of them
   stays out. */
SELDOM static void project_out(const struct walls* w, struct motion* s, Work<double>* x) {
  const size_t m = w->contacts;
  char* lifted = x->lifted;
  memset(lifted, 0, m);
  for (int k = 0; k < MOST_LIFTS; ++k) {
    double* way = x->further;
    size_t count = 0;
    int inside = 0;
    if (!x->fresh) evaluate_distances(w, s, s->q, s->v, x->now);
    x->fresh = 1;
    for (size_t i = 0; i < m; ++i) {
      const int enters = x->now[i] < -w->graze * x->now[2 * m + i] && !yields(w, i);
      inside |= enters;
      if (!(enters || lifted[i]) || !has_room(w, s, count)) continue;
      lifted[i] = 1;
      x->active[count] = i;
      x->on[count] = x->closed[count] = is(true);
      x->gap[count++] = x->now[i] / x->now[2 * m + i];
    }
    if (!inside) return;
    x->count = count;
    if (!factor_mass(w, s, x, s->q, 0.)) return;
    delassus_matrix(w, x, contact_jacobian(w, s, x, s->q, 0));
    clear(w->nv, way);
    memset(x->f, 0, x->contact_rows * sizeof *x->f);
    if (!close_contacts(w, x, x->contact_rows, 0., way)) separate_contacts(w, x, x->contact_rows, 0., way);
    move(w, s, x, 1., way, s->q);
    x->fresh = 0;
  }
}
