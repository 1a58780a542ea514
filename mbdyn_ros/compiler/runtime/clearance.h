/* Robots that are far from all walls: how far everything is was seen at a place, and nothing has come
   nearer since than coordinates have changed, see `equations/contact/travel.py`. As long as that is
   far, distances are not asked for. */
enum { LOOKS = 8 }; /* steps from one look at all distances to the next, where it was of no use */

/* Whether nothing may be near its wall in a step of length h that begins or ends at (q, v), by the
   bound of `any_near`: one of three times the speed, and two of the way since `clear`. */
static int is_clear(const struct walls* w, const struct walled* s, const double* q, const double* v,
                    double h) {
  const double *place = s->clear + 2, far = s->clear[0] - w->touching;
  if (!w->travel_q || !(far > 0.)) return 0;
  double way = 0., speed = 0.;
  for (size_t i = 0; i < w->nq; ++i) way += w->travel_q[i] * fabs(q[i] - place[i]);
  for (size_t i = 0; i < w->nv; ++i) speed += w->travel_v[i] * fabs(v[i]);
  return 2. * way + 3. * h * speed < far;
}

/* See how far everything is, now and then. */
static void look_around(const struct walls* w, struct walled* s, const double* now) {
  if (!w->travel_q || --s->clear[1] > 0.) return;
  double far = INFINITY;
  for (size_t k = 0; k < w->contacts; ++k) {
    const double distance = now[k] / now[2 * w->contacts + k];
    far = distance < far ? distance : far;
  }
  s->clear[0] = far, s->clear[1] = LOOKS;
  memcpy(s->clear + 2, s->q, w->nq * sizeof *s->q);
}
