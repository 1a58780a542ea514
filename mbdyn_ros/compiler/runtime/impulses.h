/* Impulses of single problems: Newton's method, and where it does not settle the safe way. */
#include "convex_cones.h"

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law, at most
   `settled` times that of b unless nothing better was found. */
static double impulses_of_cones1(const struct cones1* c, double settled, double* f,
                                 bits1* done) {
  const size_t m = c->rows;
  double *best = c->room + m * m + 8 * m + c->size * c->size + 4 * c->size, *step = best + m;
  double size = 0.;
  for (size_t i = 0; i < m; ++i) size = fmax(size, fabs(c->free[i]));
  if (!(size > 0.)) {
    memset(f, 0, m * sizeof *f);
    *done = is1(1);
    return 0.;
  }
  steps_of1(c, step);
  double least = newton_on_cones1(c, step, f, settled * size);
  if (least > settled * size) {
    project_on_cones1(c, f);
    least = approach(c, step, f, size, settled, best);
    memcpy(f, best, m * sizeof *f);
    if (least > settled * size) {
      const double polished = newton_on_cones1(c, step, best, settled * size);
      if (polished < least) least = polished, memcpy(f, best, m * sizeof *f);
    }
  }
  project_on_cones1(c, f);
  *done = is1(least <= settled * size);
  return least;
}
