/* All loops of a robot closed, with answers that depend on q and home alone (newton.h). */

/* Dependent positions z of all loops at their independent positions y; 0 where they stay open. The
   answer depends on y, home and p alone: a loop of one independent joint, to which one way leads, may
   start from where it was last. */
static int close_loops(const struct loop *loops, int count, const double *y, const double *home_y,
                       const double *home_z, const double *p, double *last_y, double *last_z,
                       double *z) {
  const struct loop *loop;
  for (loop = loops; loop < loops + count; ++loop) {
    const int ny = loop->ny, nz = loop->nz;
    if (!(largest_of(y, ny) < HUGE_VAL)) return 0;
    if (equal(y, last_y, ny)) {
      copy(last_z, z, nz);
    } else if (!(ny == 1 && follow(loop, last_y, last_z, y, p, z)) &&
               !reach(loop, home_y, home_z, y, p, z)) {
      return 0;
    }
    copy(y, last_y, ny);
    copy(z, last_z, nz);
    y += ny, home_y += ny, last_y += ny;
    z += nz, home_z += nz, last_z += nz;
  }
  return 1;
}
