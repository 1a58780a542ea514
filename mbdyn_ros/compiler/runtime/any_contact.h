/* Of all contacts at once whether there is any of a kind: most are far from their walls, and only
   where one is not it is looked for. `now` and `start` are results of `distances`. */

/* Whether any touches its wall. */
static int any_touches(const struct walls* w, const double* now) {
  const size_t m = w->contacts;
  int64_t any = 0;
  for (size_t k = 0; k < m; ++k) any |= now[k] <= w->touching * now[2 * m + k];
  return any != 0;
}

/* Whether any is under the surface of its wall, or nobody knows. */
static int any_under(const struct walls* w, const double* now) {
  int64_t any = 0;
  for (size_t k = 0; k < w->contacts; ++k) any |= !(now[k] >= 0.);
  return any != 0;
}

/* Whether any may have met its wall in a step of length h, or passed it. */
static int any_near(const struct walls* w, const double* start, const double* now, double h) {
  const size_t m = w->contacts;
  int64_t any = 0;
  for (size_t k = 0; k < m; ++k) {
    const double rate = fabs(start[m + k]), end = fabs(now[m + k]), g = start[k], last = now[k];
    any |= 3. * h * (rate > end ? rate : end) + fabs(last - g) >= g + last;
  }
  return any != 0;
}
