/* Contacts that are active over a step: their impulses act evenly over it, so that no wall is
   entered and Coulomb's law holds at its end. Dry friction of joints is part of the same problem.

   A step of length h has come to (q*, v*) by free motion. With M(q) = L^T L, S the contact Jacobian,
   both in the middle of the step (at its end for methods without stages), a = h / 2 (h for these)
   the time in which a change of velocity acts, and g what free motion has of the impulses already:
   -h b_j sign(w_j), at the velocity where the step began, of joints that slide, else 0:

     A  = S M^-1 S^T                                    Delassus matrix
     w  = A (f - g) + S v* + s                          velocities along the rows, impulses f (N s)
     0 <= f_n, 0 <= w_n, f_n w_n = 0                    walls push (Signorini)
     |f_t| <= mu f_n, and f_t = -mu f_n w_t / |w_t| where w_t is not 0     (Coulomb)
     |f_j| <= h b_j, and f_j = -h b_j sign(w_j) where w_j is not 0         dry friction of joints
     v' = v* + M^-1 S^T (f - g)
     q' = q* (+) [a (v' - v*) + M^-1 S_n^T y]           y closes the gaps: g + A_nn y = 0

   (+) integrates a displacement, with quaternions of unit length. The shift s is zero at first, and
   then what the rates of the distances, and velocities along the tangents, at (q', v') differ from
   S v': it repeats the problem until those that push move along their walls to LAW. Where Newton's
   method does not find f, as where rows depend on each other, laws are met to LAW only. Contacts of
   motions in a vector may differ. Where nothing touches and all joints with dry friction slide on,
   f = g, and nothing is to be solved.
   Alart and Curnier 1991 (cones.hpp), De Saxce and Feng 1998 (cone_solver.hpp), Jean 1999. */
#pragma once
#include "position_correction.hpp"

#define TURN 2e-3    /* share of rows by which they may turn without reactions */
#define SMOOTH 0.1   /* share of a force that changes in a step of smooth motion */
#define DEPENDENT 1e-9 /* share of the largest of a Delassus matrix in which rows depend */
#define AT_REST 1e-9 /* share of the velocities without dry friction that counts as none */

static constexpr Exactness STEPS = {SOFT, LAW, LAW, HUGE_VAL, FEW_ROUNDS};

/* Where joints slide as they did, and nothing else is to be solved: their forces, and what they take. */
template <class Real>
static void sliding_forces(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h,
                           Bits<Real> done) {
  Real lost = all<Real>(0.);
  for (size_t i = 0; i < w->rubbing; ++i) {
    const Real push = -x->column[w->bounds + (int64_t)i] * x->slides[w->slides[i]];
    Real* force = s->force + 3 * w->contacts + i;
    *force = select(done, push, *force);
    lost -= 0.5 * h * push * (along_friction(w, x, i, x->v) + along_friction(w, x, i, s->v));
  }
  s->lost += select(done, lost, all<Real>(0.));
}

/* Where no contact is active, and velocities at both ends of a step are negligible against those that it
   would have ended with: dry friction holds all, which has not moved in between either. */
template <class Real>
static Bits<Real> all_rests(const struct walls* w, const Motion<Real>* s, const Work<Real>* x) {
  Real most = all<Real>(0.), left = most;
  for (size_t j = 0; j < w->nv; ++j) {
    most = greatest(most, magnitude(x->fast[j]));
    left = greatest(left, greatest(magnitude(x->v[j]), magnitude(s->v[j])));
  }
  Bits<Real> rests = is(left <= AT_REST * most);
  for (size_t i = 0; i < x->count; ++i) rests &= ~x->on[i];
  return rests;
}

/* The same where the step was solved. */
template <class Real>
static void friction_forces(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h,
                            Bits<Real> done) {
  Real lost = all<Real>(0.);
  for (size_t i = 0; i < w->rubbing; ++i) {
    const size_t row = x->contact_rows + i;
    const Real f = x->f[row], speed = along_row(w, x, row, s->v);
    Real* force = s->force + 3 * w->contacts + i;
    *force = select(done, f / h, *force);
    lost -= 0.5 * f * (along_row(w, x, row, x->v) + speed);
  }
  const Bits<Real> rests = done & all_rests(w, s, x);
  for (size_t j = 0; j < w->nv; ++j) s->v[j] = select(rests, all<Real>(0.), s->v[j]);
  take(rests, w->nq, x->q, s->q);
  if (any(rests)) x->fresh = 0;
  s->lost += select(done, lost, all<Real>(0.));
}

/* What has happened where a step is done: forces of contacts, and which slide. */
template <class Real>
static void contact_forces(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h, Bits<Real> done) {
  const size_t contacts = w->contacts;
  Real lost = all<Real>(0.);
  Bits<Real> lasts = done, touches = ~done & done;
  each_known(w, x, [&](size_t k) {
    s->trend[k] = select(done, -s->force[3 * k], s->trend[k]);
    for (size_t at = 3 * k; at < 3 * k + 3; ++at) {
      s->force[at] = select(done, all<Real>(0.), s->force[at]);
      s->slip[at] = select(done, all<Real>(0.), s->slip[at]);
    }
    const Real before = select(is(s->mode[k] > 0.), all<Real>(-1.), all<Real>(0.));
    s->mode[k] = select(done, before, s->mode[k]);
  });
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->active[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
    const Bits<Real> here = done & x->on[i], again = is(s->mode[k] < 0.);
    Real slides = all<Real>(0.);
    lasts &= again | ~here, touches |= here;
    Real before[3], then[3];
    along_rows(w, x, x->first[i], rows, x->v, x->S, before);
    along_rows(w, x, x->first[i], rows, s->v, x->S, then);
    for (size_t r = 0; r < rows; ++r) {
      const size_t row = x->first[i] + r;
      const Real f = x->f[row], after = then[r];
      Real end = after + x->shift[row];
      if (is_single<Real> && w->laws) end -= x->carry[row];
      Real *force = s->force + 3 * k + r, *slip = s->slip + 3 * k + r;
      *force = select(here, f / h, *force);
      lost -= select(here, 0.5 * f * (before[r] + after), all<Real>(0.));
      *slip = select(here, end, *slip);
      if (r) slides += end * end;
    }
    /* by the speed: forces of what sticks may lie on their cones too, where they are redundant */
    const Real trend = select(again, s->trend[k] + s->force[3 * k], all<Real>(0.));
    s->trend[k] = select(here, trend, s->trend[k]);
    const Bits<Real> sticks = is(s->force[3 * k] > 0.) & is(root(slides) <= w->slow);
    const Real mode = rows == 3 ? select(sticks, all<Real>(1.), all<Real>(2.)) : all<Real>(2.);
    s->mode[k] = select(here, mode, s->mode[k]);
  }
  each_known(w, x, [&](size_t k) {
    s->mode[k] = select(done, greatest(s->mode[k], all<Real>(0.)), s->mode[k]);
    const Bits<Real> gone = done & is(s->mode[k] == 0.);
    s->trend[k] = select(gone, all<Real>(0.), s->trend[k]);
  });
  if constexpr (is_single<Real>) {
    copy(x->count, x->active, x->known);
    x->knowns = x->count;
    if (w->laws) clear(3 * contacts, s->turning);
    turning_moments(x, [&](size_t row, size_t at) {
      s->turning[at] = x->f[row] / h;
      lost -= 0.5 * x->f[row] * (along_row(w, x, row, x->v) + along_row(w, x, row, s->v));
    });
  }
  if (w->givens) lost += taken_by_given(w, x, x->f, s->v);
  lasts &= touches;
  for (size_t j = 0; j < w->nv; ++j) {
    Real now = select(lasts, (s->v[j] - x->fast[j]) / h, all<Real>(0.));
    for (size_t i = j; i < PAST * w->nv; i += w->nv) {
      const Real before = s->reaction[i];
      s->reaction[i] = select(done, now, before);
      now = select(lasts, before, all<Real>(0.));
    }
  }
  s->lost += select(done, lost, all<Real>(0.));
}

/* Go to where the step ends, where `open`: what is active ends near there. Its velocity is expected
   to stay or, where contacts last, to become that of free motion under the last step's reactions,
   which are taken from it again. Gives in `at_q` where the robot is in the mean over the step: there
   impulses act, but at the end for methods without stages, which move with the velocity there. */
template <class Real>
static void predict_end(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h, double part,
                        Bits<Real> open) {
  Real *free_q = x->slopes, *moved = x->displacement, *mean = x->answer;
  Bits<Real> lasts = ~open & open;
  for (size_t j = 0; j < w->nv; ++j) lasts |= is(x->gained[j] != 0.);
  copy(w->nq, s->q, free_q);
  for (size_t j = 0; j < w->nv; ++j) {
    const Real expected = select(lasts, s->v[j], x->v[j]);
    mean[j] = (2. * x->v[j] + expected) / 3.;
    moved[j] = part * (expected - s->v[j]);
    x->fast[j] = s->v[j] - select(open, x->gained[j], all<Real>(0.));
  }
  copy(w->nq, free_q, x->at_q);
  move(w, s, x, 1., moved, x->at_q);
  take(open, w->nq, x->at_q, s->q);
  if (x->count) evaluate_distances(w, s, s->q, s->v, x->now);
  x->fresh = x->count > 0;
  if constexpr (is_single<Real>) {
    const int known = all_finite(w->nq, s->q) && all_finite(w->nv, s->v);
    for (size_t i = 0; known && i < x->count; ++i) {
      if (isnan(x->now[w->contacts + x->active[i]])) s->unsound = x->active[i] + 1;
    }
  }
  if (!w->stages) return;
  copy(w->nq, x->q, x->at_q);
  move(w, s, x, 0.5 * h, mean, x->at_q);
}

/* Velocities b without impulses, bounds of dry friction, and what free motion has had of it. */
template <class Real>
static void cone_problem(const struct walls* w, Work<Real>* x, size_t m, double h) {
  for (size_t i = 0; i < m; i += rows_from(x, i)) {
    along_rows(w, x, i, rows_from(x, i), x->fast, x->S, x->b + i);
  }
  if constexpr (is_single<Real>) take_carry(w, x, x->b);
  add_to(x->contact_rows, all<Real>(1.), x->shift, x->b);
  for (size_t i = 0; i < w->rubbing; ++i) {
    x->bound[i] = h * x->column[w->bounds + (int64_t)i];
    x->given[i] = -x->bound[i] * x->slides[w->slides[i]];
    if (x->whole) add_to(m, -x->given[i], x->A + (x->contact_rows + i) * m, x->b);
  }
  if (x->whole || !w->rubbing) return;
  Real* y = x->answer;
  clear(w->nv, y);
  for (size_t i = 0; i < w->rubbing; ++i) {
    add_to(w->nv, x->given[i], x->X + (x->contact_rows + i) * w->nv, y);
  }
  for (size_t i = 0; i < m; ++i) x->b[i] -= dot(w->nv, x->X + i * w->nv, y);
}

/* Do what is given with every row that resists turning, and its place in `turning`. */
template <class Do>
static void turning_moments(const Work<double>* x, const Do& something) {
  for (size_t d = 0; d < x->discs; ++d) {
    const size_t row = x->disc[d], at = 3 * x->whose[row];
    for (size_t r = 0; r < x->disc_rows[d]; ++r) {
      something(row + r, at + (x->disc_rows[d] > 1 ? 1 + r : 0));
    }
  }
}

/* The impulses from which Newton's method starts: by the last step's forces, or by those of this step
   where it is taken again. */
template <class Real>
static void warm_start(const struct walls* w, const Motion<Real>* s, Work<Real>* x, double h) {
  const Real* force = x->again ? x->guess : s->force;
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->active[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
    for (size_t r = 0; r < rows; ++r) {
      x->f[x->first[i] + r] = select(x->on[i], h * force[3 * k + r], all<Real>(0.));
    }
  }
  if constexpr (is_single<Real>) {
    turning_moments(x, [&](size_t row, size_t at) { x->f[row] = h * s->turning[at]; });
  }
  for (size_t i = 0; i < w->rubbing; ++i) {
    x->f[x->contact_rows + i] = h * force[3 * w->contacts + i];
  }
}

/* The displacement from q*: `part` of the change of velocity, and what closes contacts that push or
   are inside; gives where these can all be closed. */
template <class Real>
static Bits<Real> correct_positions(const struct walls* w, Work<Real>* x, size_t m, double part) {
  const size_t n = w->nv, contacts = w->contacts;
  Real *further = x->further, largest = all<Real>(0.);
  for (size_t j = 0; j < n; ++j) {
    further[j] = part * (x->at_v[j] - x->fast[j] - x->gained[j]) - x->displacement[j];
  }
  for (size_t i = 0; i < x->count; ++i) largest = greatest(largest, x->f[x->first[i]]);
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->active[i];
    x->gap[i] = x->now[k] / x->now[2 * contacts + k];
    x->gap[i] += along_row(w, x, x->first[i], further, x->S_end);
    x->closed[i] = x->on[i] & (is(x->gap[i] < 0.) | is(x->f[x->first[i]] > 1e-12 * largest));
    if (yields(w, k)) x->closed[i] = is(all<Real>(1.) < 0.);
  }
  const Bits<Real> closes = close_contacts(w, x, m, part, further);
  if constexpr (is_single<Real>) {
    if (!closes) separate_contacts(w, x, m, part, further);
  }
  const auto gap_now = [&](size_t i) {
    const size_t k = x->active[i];
    return x->now[k] / x->now[2 * contacts + k] + along_row(w, x, x->first[i], further, x->S_end);
  };
  close_rest(w, x, m, closes, gap_now, further);
  add_to(n, all<Real>(1.), further, x->displacement);
  return closes;
}

/* Go to `at_q`, where the step ends. Joints that their dry friction holds there stand still exactly, and
   where they stood unless that would open a contact, which closes by all coordinates. */
template <class Real>
static void go_to_end(const struct walls* w, const Motion<Real>* s, Work<Real>* x) {
  Real* back = x->further;
  Bits<Real> exact = is(all<Real>(0.) == 0.);
  clear(w->rubbing ? w->nv : 0, back);
  for (size_t i = 0; i < w->rubbing; ++i) {
    if (w->still_v[i] < 0) continue;
    const size_t j = (size_t)w->still_v[i];
    const Real size = magnitude(x->f[x->contact_rows + i]), speed = magnitude(x->at_v[j]);
    const Bits<Real> sticks = is(size < x->bound[i]) & is(speed < w->slow);
    const Bits<Real> stands = sticks | (is(x->given[i] != 0.) & is(speed <= LAW));
    x->at_v[j] = select(stands, all<Real>(0.), x->at_v[j]);
    if (w->still_q[i] < 0) continue;
    const Real way = x->q[w->still_q[i]] - x->slopes[w->still_q[i]] - x->displacement[j];
    back[j] = select(stands & is(x->v[j] == 0.), way, all<Real>(0.));
  }
  for (size_t i = 0; w->rubbing && i < x->count; ++i) {
    exact &= is(magnitude(along_row(w, x, x->first[i], back)) <= w->touching) | ~x->closed[i];
  }
  for (size_t j = 0; w->rubbing && j < w->nv; ++j) {
    x->displacement[j] += select(exact, back[j], all<Real>(0.));
  }
  copy(w->nq, x->slopes, x->at_q);
  move(w, s, x, 1., x->displacement, x->at_q);
  for (size_t i = 0; i < w->rubbing; ++i) {  /* to the last digit */
    if (w->still_q[i] < 0) continue;
    Real* q = x->at_q + w->still_q[i];
    const Bits<Real> stood = exact & is(back[w->still_v[i]] != 0.);
    *q = select(stood, x->q[w->still_q[i]], *q);
  }
}

/* End the step there, where `open`. */
template <class Real>
static void take_end(const struct walls* w, Motion<Real>* s, Work<Real>* x, Bits<Real> open) {
  go_to_end(w, s, x);
  if (x->count) evaluate_distances(w, s, x->at_q, x->at_v, x->end);
  take(open, w->nq, x->at_q, s->q);
  take(open, w->nv, x->at_v, s->v);
  if (!x->count) return;
  if constexpr (is_single<Real>) {
    double* const before = x->now;
    if (open) x->now = x->end, x->end = before;
  } else {
    take(open, 3 * w->contacts, x->end, x->now);
  }
}

/* Where contacts that close move along their walls at the end of the step, to LAW, and which islands
   are `solved` so; `far`: where one is so far from it in the last passes that its rows have turned. */
template <class Real>
static Bits<Real> obeys(const struct walls* w, const Work<Real>* x, int pass, Bits<Real> open,
                        Bits<Real>* far) {
  Bits<Real> settled = open;
  *far = ~open & open;
  memset(x->solved, 1, x->islands);
  for (size_t i = 0; i < x->count; ++i) {
    const Real* one = x->now + x->active[i];
    const Real rate = magnitude(one[w->contacts]), slope = one[2 * w->contacts];
    Bits<Real> obeys = is(rate <= LAW * slope) | ~x->closed[i];
    if constexpr (is_single<Real>) {
      if (yields(w, x->active[i])) obeys &= is(fabs(x->load[i] - x->f[x->first[i]]) <= LAW * x->load[i]);
    }
    if (any(open & ~obeys)) x->solved[x->island[x->first[i]]] = 0;
    settled &= obeys;
    if (pass >= MOST_SHIFTS) *far |= open & x->closed[i] & is(rate > w->slow * slope);
  }
  return pass + 1 == MOST_PASSES ? open : settled;
}

/* Shift what is not solved by what the velocities at the end of the step differ from the rows'. */
template <class Real>
static void shift_problem(const struct walls* w, const Motion<Real>* s, Work<Real>* x) {
  for (size_t i = 0; i < x->count; ++i) {
    const Real* one = x->now + x->active[i];
    const size_t first = x->first[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
    if (x->solved[x->island[first]]) continue;
    Real end[3], own[3];
    along_rows(w, x, first, rows, s->v, x->S_end, end);
    along_rows(w, x, first, rows, s->v, x->S, own);
    end[0] = one[w->contacts] / one[2 * w->contacts];
    for (size_t r = 0; r < rows; ++r) {
      x->shift[first + r] = select(x->on[i], end[r] - own[r], all<Real>(0.));
    }
  }
  if constexpr (is_single<Real>) {
    turning_moments(x, [&](size_t row, size_t) {
      x->shift[row] = along_row(w, x, row, s->v, x->S_end) - along_row(w, x, row, s->v);
    });
  }
}

/* Take from the shift what rows that depend on each other contradict: it becomes the velocities of
   some impulses. Gives whether they do. */
SELDOM static int reconcile_shift(const struct walls* w, Work<double>* x, size_t m) {
  const size_t n = x->contact_rows;
  if (!x->whole) complete_delassus(w->nv, x, m);
  double *a = x->cones, *y = a + n * n, most = 0., change = 0.;
  for (size_t i = 0; i < n; ++i) {
    copy(n, x->A + i * m, a + i * n);
    most = fmax(most, a[i * n + i]);
  }
  for (size_t i = 0; i < n; ++i) a[i * n + i] += DEPENDENT * most;
  copy(n, x->shift, y);
  if (!cholesky(n, a)) return 0;
  forward(n, a, y);
  backward(n, a, y);
  for (size_t i = 0; i < n; ++i) {
    const double before = x->shift[i];
    x->shift[i] = dot(n, x->A + i * m, y);
    change = fmax(change, fabs(x->shift[i] - before));
  }
  return change > 0.1 * LAW;
}

/* Where reactions were not expected, as where contacts begin, and rows turn in the step, so that they
   matter to its end: now they are expected. */
template <class Real>
static Bits<Real> surprises(const struct walls* w, const Motion<Real>* s, Work<Real>* x, double h) {
  Real turn = all<Real>(0.), size = turn, known = turn;
  for (size_t j = 0; j < w->nv; ++j) known = greatest(known, magnitude(x->old_reaction[j]));
  if (!any(is(known == 0.))) return is(known == 0.);
  for (size_t i = 0; w->stages && i < x->contact_rows; ++i) {
    const Span span = span_of(x, i);
    for (size_t j = i * w->nv + span.from; j < i * w->nv + span.to; ++j) {
      turn = greatest(turn, magnitude(x->S_end[j] - x->S[j]));
      size = greatest(size, magnitude(x->S[j]));
    }
  }
  const Bits<Real> found = is(known == 0.) & is(turn > TURN * size);
  for (size_t j = 0; j < w->nv; ++j) {
    x->reaction[j] = select(found, (s->v[j] - x->fast[j]) / h, x->reaction[j]);
  }
  return found;
}

/* Turn rows towards the end of the step where forces grow: the mean of a force that changes while its
   row turns. Forces and their changes are those of the steps before; friction changes as they do, and
   rows of contacts that depend on each other still do. */
template <class Real>
static void lean_rows(const struct walls* w, const Motion<Real>* s, Work<Real>* x) {
  for (size_t i = 0; i < x->count; ++i) {
    const size_t rows = x->tangent[i] == NO_ROW ? 1 : 3;
    const Real force = s->force[3 * x->active[i]], trend = s->trend[x->active[i]];
    const Bits<Real> known = x->on[i] & is(magnitude(trend) < SMOOTH * force);
    if (!any(known)) continue;
    const Real lean = select(known, trend / force, all<Real>(0.)) / 6.;
    for (size_t row = x->first[i]; row < x->first[i] + rows; ++row) {
      for (size_t j = 0; j < x->reaches[row]; ++j) {
        const size_t at = row * w->nv + (size_t)x->reach[row][j];
        x->S[at] += lean * (x->S_end[at] - x->S[at]);
      }
    }
  }
}

/* Take S_end where the first pass has ended: rates of distances are from there, and rows that depend on
   each other would contradict a shift of which the tangents were from elsewhere. */
template <class Real>
static void follow_end(const struct walls* w, const Motion<Real>* s, Work<Real>* x) {
  Real* const middle = x->S;
  x->S = x->S_end, x->S_end = middle;
  contact_jacobian(w, s, x, s->q, 1);
  x->S_end = x->S, x->S = middle;
}

/* Solve the contacts of a step of length h from the state in x, where `open`; gives where nothing
   was found that settles it. The problem is shifted, which leaves all directions as they are; rows
   are taken again, at the end of the step, only where they turn far or contradict the shift. */
template <class Real>
static Bits<Real> solve_contacts(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h,
                                 Bits<Real> open) {
  const double part = w->stages ? 0.5 * h : h;
  Bits<Real> far;
  predict_end(w, s, x, h, part, open);
  Bits<Real> failed = open & ~factor_mass(w, s, x, x->at_q, w->damped ? h : 0.);
  open &= ~failed;
  int again = 1;
  for (int pass = 0; pass < MOST_PASSES; ++pass) {
    const int shifted = !again || (w->stages && !pass);
    if (again) {
      memset(x->solved, 0, w->nv);
      const size_t rows = contact_jacobian(w, s, x, s->q, 1);
      if constexpr (!is_single<Real>) {
        if (rows >= MANY_ROWS && has_trees(w)) return failed | open;
        failed |= open & are_many_alone(w, x), open &= ~failed;
      }
      if (shifted) {
        Real* const end = x->S;
        x->S = x->S_end, x->S_end = end;
        contact_jacobian(w, s, x, x->at_q, 1);
        lean_rows(w, s, x);
      } else {
        for (size_t i = 0; i < rows; ++i) copy_row(x, i, x->S + i * w->nv, x->S_end + i * w->nv);
      }
      delassus_matrix(w, x, rows);
      if constexpr (!is_single<Real>) {  /* some of them would be by themselves */
        if (are_many(w, w->rubbing) && x->trees.are_bushy && !x->on_chains) return failed | open;
      }
      if (is_single<Real> && w->laws) clear(x->count, x->yield);
    }
    if (!shifted) {
      clear(x->contact_rows, x->shift);
    } else {
      if (pass == 1 && w->stages) follow_end(w, s, x);
      shift_problem(w, s, x);
    }
    const size_t m = x->contact_rows + w->rubbing;
    cone_problem(w, x, m, h);
    if (!pass) warm_start(w, s, x, h);
    if constexpr (is_single<Real>) yield_to(w, x, m, h, part);
    const int plain = !w->laws;
    const Cones<Real> cones = {m, x->count, w->rubbing, plain ? w->nv : m, x->first, x->tangent,
                               x->mu, x->bound, x->A, x->b, plain ? x->X : nullptr, x->cones,
                               plain || x->discs ? nullptr : (Real*)x->root, x->discs,
                               x->disc_normal, x->disc, x->disc_rows, x->disc_mu, nullptr, x->islands,
                               x->island, x->solved, x->on_chains ? &x->trees : nullptr};
    Bits<Real> settled;
    Real missed = impulses_of_cones(&cones, w->settled, x->f, &settled, STEPS);
    Bits<Real> against = are_heavy(&cones, x->f) | is(missed > LAW);
    if constexpr (is_single<Real>) {
      if (shifted && against && reconcile_shift(w, x, m)) {
        memset(x->solved, 0, w->nv);
        cone_problem(w, x, m, h);
        yield_to(w, x, m, h, part);
        warm_start(w, s, x, h);
        missed = impulses_of_cones(&cones, w->settled, x->f, &settled, STEPS);
        against = are_heavy(&cones, x->f) | is(missed > LAW);
      }
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
    copy(w->nv, x->fast, x->at_v);
    copy(m, x->f, x->impulse);
    for (size_t i = 0; i < w->rubbing; ++i) x->impulse[x->contact_rows + i] -= x->given[i];
    apply_impulses(w, x, m, x->impulse, x->at_v);
    const Bits<Real> closes = correct_positions(w, x, m, part);
    if constexpr (!is_single<Real>) failed |= open & ~closes, open &= closes;
    take_end(w, s, x, open);
    settled = obeys(w, x, pass, open, &far);
    if (w->rubbing && any(settled)) friction_forces(w, s, x, h, settled);
    if (any(settled)) contact_forces(w, s, x, h, settled);
    open &= ~settled;
    far &= open;
    if (any(far) && any(open & ~far)) failed |= far, open &= ~far;
    if (!any(open)) break;
    again = any(far & open);
  }
  return failed;
}
