/* Impulses of contacts one after the other, each by a projection with the velocity that the others
   leave it (Jean 1999): slow, but no contact has to be of the same kind from sweep to sweep. */
enum { SWEEPS = 50 };

static void sweep(const struct cones1* c, const double* step, double* f) {
  const size_t m = c->rows, last = m - c->bounded;
  const double *a = c->matrix, *b = c->free;
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    f[n] = fmax(0., f[n] - step[n] * (dot(m, a + n * m, f) + b[n]));
    if (t == NO_ROW) continue;
    const double x = f[t] - step[t] * (dot(m, a + t * m, f) + b[t]);
    const double y = f[t + 1] - step[t] * (dot(m, a + (t + 1) * m, f) + b[t + 1]);
    const double length = sqrt(x * x + y * y), bound = c->friction[k] * f[n];
    const double share = length > bound ? bound / length : 1.;
    f[t] = share * x, f[t + 1] = share * y;
  }
  for (size_t i = last; i < m; ++i) {
    const double bound = c->bound[i - last];
    f[i] = fmin(fmax(f[i] - step[i] * (dot(m, a + i * m, f) + b[i]), -bound), bound);
  }
}

/* Sweeps from the impulses in f, and Newton's method from where they lead, so many times at most; the
   best go to `best` if they miss laws by less than `least`. Gives by how much they do. */
static double by_sweeps(const struct cones1* c, const double* step, double* f, double enough,
                        double least, int times, double* best) {
  double trial[c->rows + 1];
  for (int k = 0; k < times && least > enough; ++k) {
    for (int i = 0; i < SWEEPS; ++i) sweep(c, step, f);
    memcpy(trial, f, c->rows * sizeof *f);
    const double gap = newton_on_cones1(c, step, trial, enough, SOFTER);
    if (gap < least) least = gap, memcpy(best, trial, c->rows * sizeof *best);
  }
  return least;
}
