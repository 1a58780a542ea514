/* Impulses of single problems: Newton's method, and where it does not settle the safe ways. */
#include "convex_cones.h"
#include "sweeps.h"

enum { FEW = 4, MANY = 12 };

#define SAFELY 1e-9 /* velocity by which laws may be missed where safe ways are needed, */
#define LESS 10.    /* as long as it is no more times what is asked for */

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law, at most
   `settled` times that of b unless nothing better was found. */
static double impulses_of_cones1(const struct cones1* c, double settled, double* f, bits1* done) {
  const size_t m = c->rows;
  double *best = c->room + m * m + 8 * m + c->size * c->size + 6 * c->size, *step = best + m;
  double size = 0., way[m + 1];
  for (size_t i = 0; i < m; ++i) size = fmax(size, fabs(c->free[i]));
  if (!(size > 0.)) {
    memset(f, 0, m * sizeof *f);
    *done = is1(1);
    return 0.;
  }
  steps_of1(c, step);
  const double enough = settled * size, near = fmax(enough, fmin(SAFELY, LESS * enough));
  double least = newton_on_cones1(c, step, f, enough, SOFT);
  if (least > enough) {
    project_on_cones1(c, f);
    memcpy(way, f, m * sizeof *f);
    least = by_sweeps(c, step, way, enough, least, FEW, f);
  }
  for (double hardest = HARDEST; least > near && hardest > PENALTY; hardest /= 3.) {
    project_on_cones1(c, f);
    double gap = approach(c, step, f, size, near, hardest, best);
    if (gap > near) gap = fmin(gap, newton_on_cones1(c, step, best, enough, SOFTER));
    if (gap < least) least = gap, memcpy(f, best, m * sizeof *f);
  }
  if (least > near) least = by_sweeps(c, step, way, enough, least, MANY, f);
  project_on_cones1(c, f);
  *done = is1(least <= enough);
  return least;
}
