/* Where the distance of a contact falls below zero within a step, as its ends tell. */
#define FASTER 1.5  /* factor on the speeds at both ends of a step, for what lies between */
#define UNSEEN 1e-3 /* m that a contact has to come nearer than what is known of it */

/* a + s (u + s (two + s three)) */
static double cubic_at(double a, const double* c, double s) {
  return a + s * (c[0] + s * (c[1] + s * c[2]));
}

/* The first s in [0, 1] at which the cubic from a (slope u) to b (slope w) falls below zero;
   negative where it stays above -depth. */
static double crossing(double a, double u, double b, double w, double depth) {
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
static double meeting(const struct walls* w, double h, double g, double rate, double last,
                      double end, double slope) {
  const double depth = w->graze * fmax(slope, 1e-12);
  return crossing(g, rate * h, last, (w->stages ? end : 2. * end - rate) * h, depth);
}

/* Whether a contact came as if to hit its wall, and left as if it had. */
static int comes_and_goes(double h, double g, double rate, double last, double end, double slope) {
  const double more = UNSEEN * slope;
  return -rate * h > g + more && end * h > last + more;
}

/* Whether a contact that has met its wall nowhere on the way that its distances and rates tell may
   have passed it all the same: it came and went as if it had hit, or the way is another. */
static int may_have_passed(double h, double g, double rate, double last, double end,
                           double slope) {
  if (!(g > 0.)) return 0;
  return comes_and_goes(h, g, rate, last, end, slope) ||
         fabs(last - g - 0.5 * h * (rate + end)) > g + last + UNSEEN * slope;
}

/* Whether a contact comes near its wall within a step of length h and goes again. */
static int turns_near(const struct walls* w, double h, double g, double rate, double last,
                      double end, double slope) {
  const double slow = w->slow * slope;
  return -rate > slow && end > slow && g + last <= FASTER * h * fmax(-rate, end);
}
