/* What stands inside walls comes out of them. */
enum { MOST_LIFTS = 4 };

/* Lift what is inside walls out of them, by the least motions. */
static void lift(const struct walls* w, struct walled* s, struct work1* x) {
  const size_t m = w->contacts;
  for (int k = 0; k < MOST_LIFTS; ++k) {
    double way[w->nv + 1];
    size_t count = 0;
    measure1(w, s, s->q, s->v, x->now);
    x->fresh = 1;
    for (size_t i = 0; i < m; ++i) {
      if (!(x->now[i] < -w->graze * x->now[2 * m + i]) || count >= most_held(w)) continue;
      x->held[count] = i;
      x->on[count] = x->closed[count] = is1(1);
      x->gap[count++] = x->now[i] / x->now[2 * m + i];
    }
    if (!count) return;
    x->count = count;
    if (!weigh1(w, s, x, 0.)) return;
    assemble1(w, s, x, 0);
    memset(way, 0, sizeof way);
    close_gaps1(w, x, x->held_rows, way);
    move1(w, s, x, 1., way, s->q);
    x->fresh = 0;
  }
}
