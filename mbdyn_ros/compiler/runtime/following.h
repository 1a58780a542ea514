/* Following: the positions of loops at a q near the last one, on the branch of the last.

   A motion changes q little from call to call. The last positions and the factors of by_z there
   give the next by their tangent, and one iteration of Newton's method; that no singularity lies
   between is tested as in Deuflhard, Newton Methods for Nonlinear Problems (2004), sections 2.1
   and 5.1: the correction is small compared with the step, the old factors and the new ones agree on it
   (so by_z has changed little, in whatever units), further corrections shrink quadratically, and
   the determinant keeps its sign and nearly its size. What fails is walked to: from the last
   positions, with a proof at every step, and where that fails too from home. With `farthest` above
   0, positions farther than that from the last are no motion and stay open, and nothing begins at
   home: the time of a call is bounded. */

/* Where a loop was last; sign 0: only y and z are known. Exported C has it in its header. */
#ifndef followed
struct followed {
  double y[MOST_Y], z[MOST_Z], factors[MOST_Z * MOST_Z], by_y[MOST_Z * MOST_Y], logarithm;
  int pivot[MOST_Z], sign;
};
#endif

/* Logarithm of the magnitude of the determinant. */
static double logarithm_of(const double *factors, int n) {
  double product = 1.0, result = 0.0;
  int i, power;
  for (i = 0; i < n; ++i) {
    product = frexp(product * factors[i + n * i], &power);
    result += power;
  }
  return -log(fabs(product)) - result * 0.6931471805599453;
}

/* Factors where the loop was last; 0 where there are none. */
static int prepare(const struct loop *loop, const double *p, struct followed *last) {
  double residual[MOST_Z], gap, aligned;
  loop->rows(last->y, last->z, p, residual, last->factors, last->by_y, &gap, &aligned);
  last->sign = factorize(last->factors, last->pivot, loop->nz);
  if (last->sign) last->logarithm = logarithm_of(last->factors, loop->nz);
  return last->sign;
}

/* One step to y; 0 where it is too long to be sure of, and `last` stays as it is. */
static int stepped(const struct loop *loop, struct followed *last, const double *y,
                   const double *p) {
  struct followed next;
  double dy[MOST_Y], dz[MOST_Z], old[MOST_Z], step[MOST_Z], by_z[MOST_Z * MOST_Z];
  double by_y[MOST_Z * MOST_Y], gap, aligned, moved, size, before;
  const int ny = loop->ny, nz = loop->nz;
  int i, j, k;
  for (j = 0; j < ny; ++j) dy[j] = y[j] - last->y[j];
  if (!(largest_of(dy, ny) <= LONGEST_STRIDE)) return 0;
  if (!last->sign && !prepare(loop, p, last)) return 0;
  for (i = 0; i < nz; ++i) dz[i] = 0.0;
  for (j = 0; j < ny; ++j) subtract(dz, dy[j], last->by_y + nz * j, 0, nz);
  solve_factors(last->factors, last->pivot, dz, nz);
  moved = fmax(largest_of(dy, ny), largest_of(dz, nz));
  if (!(moved <= LONGEST_STRIDE)) return 0;
  for (i = 0; i < nz; ++i) next.z[i] = last->z[i] + dz[i];

  loop->rows(y, next.z, p, step, next.factors, next.by_y, &gap, &aligned);
  for (i = 0; i < nz; ++i) old[i] = step[i];
  next.sign = factorize(next.factors, next.pivot, nz);
  if (next.sign != last->sign) return 0;
  next.logarithm = logarithm_of(next.factors, nz);
  if (!(fabs(next.logarithm - last->logarithm) <= GENTLE)) return 0;
  solve_factors(next.factors, next.pivot, step, nz);
  solve_factors(last->factors, last->pivot, old, nz);
  size = largest_of(step, nz);
  if (!(size <= fmax(SMALL * moved, CLOSED))) return 0;
  for (i = 0; i < nz; ++i) old[i] -= step[i];
  if (!(largest_of(old, nz) <= fmax(CONTRACTION * size, CLOSED))) return 0;
  for (i = 0; i < nz; ++i) next.z[i] -= step[i];

  for (k = 1; k < ITERATIONS; ++k) {
    before = size;
    loop->rows(y, next.z, p, step, by_z, by_y, &gap, &aligned);
    solve_factors(next.factors, next.pivot, step, nz);
    size = largest_of(step, nz);
    if (!(size <= fmax(CONTRACTION * before, CLOSED)) || !(aligned > 0.0)) return 0;
    for (i = 0; i < nz; ++i) next.z[i] -= step[i];
    if (size <= CLOSED && gap <= CLOSED) {
      for (j = 0; j < ny; ++j) next.y[j] = y[j];
      *last = next;
      return 1;
    }
  }
  return 0;
}

/* Be at home, and know nothing of what was before. */
static void start_at_home(const struct loop *loops, int count, const double *y, const double *z,
                          struct followed *last) {
  int k;
  for (k = 0; k < count; ++k) {
    copy(y, last[k].y, loops[k].ny);
    copy(z, last[k].z, loops[k].nz);
    last[k].sign = 0;
    y += loops[k].ny, z += loops[k].nz;
  }
}

/* Dependent positions z of all loops at their independent positions y, from where they were last;
   0 where they stay open. */
static int follow_loops(const struct loop *loops, int count, const double *y, const double *home_y,
                        const double *home_z, const double *p, struct followed *last,
                        double farthest, double *z) {
  const struct loop *loop;
  const double longest = farthest > 0.0 ? farthest : LARGEST_MOVE;
  double way[MOST_Y], found[MOST_Z], moved;
  int i;
  for (loop = loops; loop < loops + count; ++loop, ++last) {
    const int ny = loop->ny, nz = loop->nz;
    if (!(largest_of(y, ny) < HUGE_VAL)) return 0;
    for (i = 0; i < ny; ++i) way[i] = y[i] - last->y[i];
    moved = largest_of(way, ny);
    if (farthest > 0.0 && !(moved <= farthest)) return 0;
    if (!equal(y, last->y, ny) && !stepped(loop, last, y, p)) {
      if (!(moved <= longest && follow(loop, last->y, last->z, y, p, found)) &&
          (farthest > 0.0 || !reach(loop, home_y, home_z, y, p, found))) {
        return 0;
      }
      copy(y, last->y, ny);
      copy(found, last->z, nz);
      last->sign = 0;
    }
    copy(last->z, z, nz);
    y += ny, home_y += ny;
    z += nz, home_z += nz;
  }
  return 1;
}
