/* The way of a step with contacts: they close, and none of them pulls. Included for single motions
   and for vectors of them, whose contacts may differ. */

/* The velocity of a row. */
static inline REAL F(along_row)(const struct walls* w, const struct F(work)* x, size_t i,
                                const REAL* v) {
  return F(dot_at)(x->reach[i], x->reaches[i], x->S + i * w->nv, v);
}

/* v + M^-1 S^T f, of the first m rows. */
static void F(respond)(const struct walls* w, struct F(work)* x, size_t m, const REAL* f,
                       REAL* v) {
  REAL answer[w->nv + 1];
  F(clear)(w->nv, answer);
  for (size_t i = 0; i < m; ++i) F(add_to)(w->nv, f[i], x->X + i * w->nv, answer);
  F(solve_down)(w, x->mass, answer);
  F(add_to)(w->nv, ALL(1.), answer, v);
}

/* Add to a way what closes the contacts in `closed` that would stand apart by `gap`, by the least
   motion; A has m rows. The way is that of impulses f for a time `part`. Gives where all of it
   together pulls at no contact: else nothing is added, for the contacts cannot all close, and what
   comes near to it where they are redundant may be of any size. */
static BITS F(close_gaps)(const struct walls* w, struct F(work)* x, size_t m, double part,
                          REAL* way) {
  const size_t count = x->count;
  REAL most = ALL(0.), largest = ALL(0.), impulse[m + 1], y[count + 1], *a = x->closing;
  BITS closes = IS(most == 0.);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const REAL one = x->A[x->first[i] * m + x->first[j]];
      a[i * count + j] = F(select)(x->closed[i] & x->closed[j], one, ALL(0.));
    }
    most = F(greatest)(most, a[i * count + i]);
    largest = F(greatest)(largest, x->f[x->first[i]]);
  }
  for (size_t i = 0; i < count; ++i) {
    REAL* row = a + i * count;
    row[i] = F(select)(x->closed[i], row[i] + 1e-12 * most, ALL(1.));
    for (size_t j = 0; j <= i; ++j) {
      REAL left = row[j];
      for (size_t k = 0; k < j; ++k) left -= row[k] * a[j * count + k];
      if (j < i) row[j] = left * a[j * count + j];
      if (j < i) continue;
      closes &= IS(left > 0.);
      row[i] = 1. / F(root)(left);
    }
  }
  F(clear)(m, impulse);
  for (size_t i = 0; i < count; ++i) {
    REAL left = F(select)(x->closed[i], -x->gap[i], ALL(0.));
    for (size_t j = 0; j < i; ++j) left -= a[i * count + j] * y[j];
    y[i] = left * a[i * count + i];
  }
  for (size_t i = count; i-- > 0;) {
    REAL left = y[i];
    for (size_t j = i + 1; j < count; ++j) left -= a[j * count + i] * y[j];
    y[i] = left * a[i * count + i];
    closes &= IS(part * x->f[x->first[i]] + y[i] >= -PULL * part * largest) | ~x->closed[i];
  }
  for (size_t i = 0; i < count; ++i) impulse[x->first[i]] = F(select)(closes, y[i], ALL(0.));
  F(respond)(w, x, m, impulse, way);
  return closes;
}

#if SUFFIX == 1
/* Add to a way of impulses f for a time `part` what moves it least so that no contact is inside its
   wall, those that do not touch in the end pushing nowhere on it: gaps where no contact pulls. */
static void push_out(const struct walls* w, struct work1* x, size_t m, double part, double* way) {
  const size_t count = x->count, n = w->nv;
  size_t own[count + 1], none[count + 1];
  double mu[count + 1], gap[count + 1], push[count + 1], X[count * n + 1], impulse[m + 1];
  for (size_t i = 0; i < count; ++i) {
    const double* row = x->A + x->first[i] * m;
    own[i] = i, none[i] = NO_ROW, mu[i] = 0.;
    push[i] = part * x->f[x->first[i]];
    gap[i] = x->gap[i];
    for (size_t j = 0; j < count; ++j) {
      x->closing[i * count + j] = row[x->first[j]];
      gap[i] -= row[x->first[j]] * part * x->f[x->first[j]];
    }
    memcpy(X + i * n, x->X + x->first[i] * n, n * sizeof *X);
  }
  const struct cones1 cones = {count, count, 0, n, own, none, mu, NULL, x->closing, gap, X, x->cones};
  bits1 settled;
  impulses_of_cones1(&cones, w->settled, push, &settled);
  memset(impulse, 0, m * sizeof *impulse);
  for (size_t i = 0; i < count; ++i) {
    impulse[x->first[i]] = push[i] - part * x->f[x->first[i]];
  }
  respond1(w, x, m, impulse, way);
}
#endif
