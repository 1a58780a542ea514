/* Where the distance of a contact falls below zero within a step, from its ends; and which contacts are
   active without an impact: those that stay, and those that land gently. */
#pragma once
#include "wall_laws.hpp"

#define FASTER 1.5  /* factor on the speeds at both ends of a step, for what lies between */
#define UNSEEN 1e-3 /* m that a contact has to come nearer than what is known of it */
#define GENTLE 2.   /* speed of what lands gently, of what a step makes */

enum { MOST_MERGES = 6 }; /* times that a step makes contacts of what hits */

/* a + s (u + s (two + s three)) */
static double cubic_at(double a, const double* c, double s) {
  return a + s * (c[0] + s * (c[1] + s * c[2]));
}

/* The first s in [0, 1] at which the cubic from a (slope u) to b (slope w) falls below zero;
   negative where it stays above -depth. */
SELDOM static double crossing(double a, double u, double b, double w, double depth) {
  const double c[] = {u, 3. * (b - a) - 2. * u - w, 2. * (a - b) + u + w};
  double knot[4] = {0., 1., 1., 1.};
  const double root = 4. * c[1] * c[1] - 12. * c[0] * c[2];
  int knots = 1;
  if (root >= 0.) {
    const double far = -c[1] - copysign(0.5 * sqrt(root), c[1]);
    double one = c[2] != 0. ? far / (3. * c[2]) : 2., two = far != 0. ? c[0] / far : 2.;
    if (one > two) {
      const double swap = one;
      one = two, two = swap;
    }
    if (one > 0. && one < 1.) knot[knots++] = one;
    if (two > 0. && two < 1.) knot[knots++] = two;
  }
  knot[knots] = 1.;
  for (int k = 0; k < knots; ++k) {
    double left = knot[k], right = knot[k + 1];
    const double start = cubic_at(a, c, left), end = cubic_at(a, c, right);
    if (end >= -depth || end >= start) continue;
    if (start <= 0.) return left;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (left + right);
      if (cubic_at(a, c, middle) > 0.) {
        left = middle;
      } else {
        right = middle;
      }
    }
    return right;
  }
  return -1.;
}

/* Where within a step of length h a distance falls below zero; without stages it is a square of the
   time for which the step goes on. */
static double time_of_impact(const struct walls* w, double h, double g, double rate, double last,
                      double end, double slope) {
  const double depth = w->graze * fmax(slope, 1e-12);
  return crossing(g, rate * h, last, (w->stages ? end : 2. * end - rate) * h, depth);
}

/* Whether a contact came as if to hit its wall, and left as if it had. */
template <class Real>
static inline Bits<Real> comes_and_goes(double h, Real g, Real rate, Real last, Real end, Real slope) {
  const Real more = UNSEEN * slope;
  return is(-rate * h > g + more) & is(end * h > last + more);
}

/* Whether a contact that has met its wall nowhere on the way that its distances and rates give may
   have passed it all the same: it came and went as if it had hit, or the way is another. */
template <class Real>
static inline Bits<Real> may_have_passed(double h, Real g, Real rate, Real last, Real end, Real slope) {
  const Bits<Real> other = is(magnitude(last - g - 0.5 * h * (rate + end)) > g + last + UNSEEN * slope);
  return is(g > 0.) & (comes_and_goes(h, g, rate, last, end, slope) | other);
}

/* Whether a contact comes near its wall within a step of length h and goes again. */
static int turns_near(const struct walls* w, double h, double g, double rate, double last,
                      double end, double slope) {
  const double slow = w->slow * slope;
  return -rate > slow && end > slow && g + last <= FASTER * h * fmax(-rate, end);
}

/* Of all contacts at once whether there is any of a kind: most are far from their walls, and only
   where one is not it is looked for. `now` and `start` are results of `distances`. */

#define NEAR 10. /* times `touching`, within which what rests may stay active */
static_assert(NEAR > 1., "what touches is near");

enum { CHUNK = 32 };

/* Whether `may` holds for any contact in a range. It is asked of contact k, or of several from k on, as
   the type of its first argument says. */
template <class May>
static inline bool any_that(size_t from, size_t end, const May& may) {
  bitsv several = {};
  bits1 one = 0;
  size_t k = from;
  for (; k + LANES <= end; k += LANES) several |= may(realv{}, k);
  for (; k < end; ++k) one |= may(0., k);
  return any(several) || any(one);
}

/* Do something with every contact of m for which `may` holds. */
template <class May, class Do>
static inline void each_that(size_t m, const May& may, const Do& something) {
  for (size_t from = 0; from < m; from += CHUNK) {
    const size_t end = from + CHUNK < m ? from + CHUNK : m;
    if (!any_that(from, end, may)) continue;
    for (size_t k = from; k < end; ++k) {
      if (any(may(0., k))) something(k);
    }
  }
}

/* Find the contacts that may have met their walls in a step of length h, or passed them; whether there
   are any. */
static bool find_near(const struct walls* w, Work<double>* x, double h) {
  const size_t m = w->contacts;
  const double *start = x->start, *now = x->now;
  const auto may = [=](auto kind, size_t k) {
    using Real = decltype(kind);
    const Real g = at<Real>(start + k), last = at<Real>(now + k);
    const Real rate = magnitude(at<Real>(start + m + k)), end = magnitude(at<Real>(now + m + k));
    const Real known = select(is(rate >= 0.), rate, all<Real>(0.));  /* not NaN */
    return is(3. * h * select(is(end > known), end, known) + magnitude(last - g) >= g + last);
  };
  x->nears = 0;
  each_that(m, may, [x](size_t k) { x->near[x->nears++] = k; });
  return x->nears > 0;
}

/* Robots that are far from all walls: how far everything is was seen at a place, and nothing has come
   nearer since than coordinates have changed, see `equations/contact/stepping.py`. As long as that is
   far, distances are not asked for. */
enum { LOOKS = 8 }; /* steps from one look at all distances to the next, where it was of no use */

/* Whether nothing may be near its wall in a step of length h that begins or ends at (q, v), by the
   bound of `find_near`: one of three times the speed, and two of the way since `clear`. */
static int is_clear(const struct walls* w, const struct motion* s, const double* q, const double* v,
                    double h) {
  const double *place = s->clear + 2, far = s->clear[0] - w->touching;
  if (!w->travel_q || !(far > 0.)) return 0;
  double way = 0., speed = 0.;
  for (size_t i = 0; i < w->nq; ++i) way += w->travel_q[i] * fabs(q[i] - place[i]);
  for (size_t i = 0; i < w->nv; ++i) speed += w->travel_v[i] * fabs(v[i]);
  return 2. * way + 3. * h * speed < far;
}

/* See how far everything is, now and then. */
static void see_clearance(const struct walls* w, struct motion* s, const double* now) {
  if (!w->travel_q || --s->clear[1] > 0.) return;
  double far = INFINITY;
  for (size_t k = 0; k < w->contacts; ++k) {
    const double distance = now[k] / now[2 * w->contacts + k];
    far = distance < far ? distance : far;
  }
  s->clear[0] = far, s->clear[1] = LOOKS;
  memcpy(s->clear + 2, s->q, w->nq * sizeof *s->q);
}

/* Whether a contact that meets its wall comes so slowly that it rests at the end of the step: as
   fast as the step itself has made it, and with no bounce that would outlast it. One that is gone
   again at the end has not been slow: it may be beyond what it met. */
static int is_gentle(const struct walls* w, size_t k, double e, double h, double g, double rate,
                     double last, double end, double slope) {
  const double gained = fabs(end - rate);
  return !yields(w, k) && -end <= GENTLE * gained && -2. * e * end <= (1. - e) * gained &&
         !any(comes_and_goes(h, g, rate, last, end, slope));
}

/* Where contact k is active from the start of a step: it touches its wall, or pushed in the last step,
   rests and is as near as redundant contacts come that cannot all be closed; and does not leave. */
template <class Real>
static Bits<Real> stays(const struct walls* w, const Motion<Real>* s, const Work<Real>* x, size_t k) {
  const Real* one = x->now + k;
  const Real rate = one[w->contacts], slope = one[2 * w->contacts];
  const Bits<Real> near = is(one[0] <= NEAR * w->touching * slope);
  if (!any(near)) return near;
  const Bits<Real> rests = is(s->force[3 * k] > 0.) & is(magnitude(rate) <= w->slow * slope);
  const Bits<Real> touches = is(one[0] <= w->touching * slope) | (rests & near);
  return yields(w, k) ? touches : touches & is(rate <= 2. * w->slow * slope);
}
