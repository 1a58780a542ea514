/* What stands inside walls comes out of them. */
enum { MOST_LIFTS = 4 };

/* Lift what is inside walls out of them, by the least motions, in which what has come out of them
   stays out. */
static void lift(const struct walls* w, struct walled* s, struct work1* x) {
  const size_t m = w->contacts;
  char lifted[m + 1];
  memset(lifted, 0, m);
  for (int k = 0; k < MOST_LIFTS; ++k) {
    double way[w->nv + 1];
    size_t count = 0;
    int inside = 0;
    measure1(w, s, s->q, s->v, x->now);
    x->fresh = 1;
    for (size_t i = 0; i < m; ++i) {
      const int enters = x->now[i] < -w->graze * x->now[2 * m + i];
      inside |= enters;
      if (!(enters || lifted[i]) || count >= most_held(w)) continue;
      lifted[i] = 1;
      x->held[count] = i;
      x->on[count] = x->closed[count] = is1(1);
      x->gap[count++] = x->now[i] / x->now[2 * m + i];
    }
    if (!inside) return;
    x->count = count;
    if (!weigh1(w, s, x, 0.)) return;
    assemble1(w, s, x, 0);
    memset(way, 0, sizeof way);
    memset(x->f, 0, x->held_rows * sizeof *x->f);
    if (!close_gaps1(w, x, x->held_rows, 0., way)) push_out(w, x, x->held_rows, 0., way);
    move1(w, s, x, 1., way, s->q);
    x->fresh = 0;
  }
}
