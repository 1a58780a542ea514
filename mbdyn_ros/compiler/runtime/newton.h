/* The walk to the positions of loops without closed form: `continuation.reach` in C99.

   It stands in every library whose program has such loops, and in exported C. Its numbers are
   those of `continuation`, printed before it, and so are MOST_Y and MOST_Z, the most independent
   and dependent positions of one loop. It needs <math.h> and lu.h alone. */

/* A loop of ny independent positions y and nz dependent ones z.
   rows: the residual of the rows that determine z, their derivatives by z and y (column by column),
   the largest residual of all rows, and the least of the signs that reveal a turned frame; p are the
   parameters of the robot.
   change: that of by_z along dy and dz. */
struct loop {
  int ny, nz;
  void (*rows)(const double *y, const double *z, const double *p, double *residual, double *by_z,
               double *by_y, double *gap, double *aligned);
  void (*change)(const double *y, const double *z, const double *dy, const double *dz,
                 const double *p, double *change);
};

/* A closed configuration: z, the factors of by_z with their pivots and the sign of its
   determinant; over the whole way, the change of z and that of the determinant's logarithm. */
struct closed_place {
  double z[MOST_Z], factors[MOST_Z * MOST_Z], tangent[MOST_Z], rate;
  int pivot[MOST_Z], sign;
};

/* Largest magnitude; infinite where one is not a number. */
static double largest_of(const double *x, int n) {
  double result = 0.0;
  int i;
  for (i = 0; i < n; ++i) {
    if (!(fabs(x[i]) < HUGE_VAL)) return HUGE_VAL;
    result = fmax(result, fabs(x[i]));
  }
  return result;
}

/* Close a loop at y by Newton's method, from the guess in at->z; 0 where that fails nearby. */
static int close_loop(const struct loop *loop, const double *y, const double *whole,
                      const double *p, struct closed_place *at) {
  double step[MOST_Z], guess[MOST_Z], by_y[MOST_Z * MOST_Y], change[MOST_Z * MOST_Z];
  double gap = 0.0, aligned = 0.0, moved, last = HUGE_VAL;
  const int ny = loop->ny, nz = loop->nz;
  int i, j, k, exact;
  for (i = 0; i < nz; ++i) guess[i] = at->z[i];
  for (k = 0; k < ITERATIONS; ++k) {
    loop->rows(y, at->z, p, step, at->factors, by_y, &gap, &aligned);
    at->sign = factorize(at->factors, at->pivot, nz);
    if (!at->sign) return 0;
    solve_factors(at->factors, at->pivot, step, nz);
    moved = largest_of(step, nz);
    exact = gap <= EXACT && moved <= NOISE;
    if (!(moved <= last / 2.0 && moved < HUGE_VAL) && !(moved <= CLOSED) && !exact) return 0;
    last = fmax(moved, CLOSED);
    for (i = 0; i < nz; ++i) {
      at->z[i] -= step[i];
      if (!(fabs(at->z[i] - guess[i]) <= LARGEST_CORRECTION)) return 0;
    }
    if ((moved <= CLOSED || exact) && gap <= CLOSED && aligned > 0.0) {
      for (i = 0; i < nz; ++i) {
        at->tangent[i] = 0.0;
        for (j = 0; j < ny; ++j) at->tangent[i] -= by_y[i + nz * j] * whole[j];
      }
      solve_factors(at->factors, at->pivot, at->tangent, nz);
      loop->change(y, at->z, whole, at->tangent, p, change);
      at->rate = 0.0;
      for (j = 0; j < nz; ++j) {
        solve_factors(at->factors, at->pivot, change + nz * j, nz);
        at->rate += change[j + nz * j];
      }
      return 1;
    }
  }
  return 0;
}

/* From the closed (y0, z0) straight to y; z is the answer, and may be z0. */
static int follow(const struct loop *loop, const double *y0, const double *z0, const double *y,
                  const double *p, double *z) {
  double way = 0.0, size, step, ahead, largest, at[MOST_Y], whole[MOST_Y];
  struct closed_place here, next;
  const int ny = loop->ny, nz = loop->nz;
  int i;
  for (i = 0; i < ny; ++i) whole[i] = y[i] - y0[i];
  for (i = 0; i < nz; ++i) here.z[i] = z0[i];
  size = largest = LARGEST_MOVE / fmax(largest_of(whole, ny), LARGEST_MOVE);
  if (!(largest * MOST_STEPS >= 1.0) || !close_loop(loop, y0, whole, p, &here)) return 0;
  while (way < 1.0) {
    step = fmin(LARGEST_MOVE / largest_of(here.tangent, nz), GENTLE / fabs(here.rate));
    step = fmin(step, size);
    if (!(step >= SMALLEST_STEP * largest) || !(fabs(here.rate) < HUGE_VAL)) return 0;
    step = fmin(step, 1.0 - way);
    ahead = fmin(way + step, 1.0);
    for (i = 0; i < ny; ++i) at[i] = ahead < 1.0 ? y0[i] + ahead * whole[i] : y[i];
    for (i = 0; i < nz; ++i) next.z[i] = here.z[i] + step * here.tangent[i];
    if (close_loop(loop, at, whole, p, &next) && next.sign == here.sign &&
        fabs(next.rate) * step <= STEEP) {
      here = next;
      way = ahead;
      size = fmin(2.0 * size, largest);
    } else {
      size = step / 2.0;
    }
  }
  for (i = 0; i < nz; ++i) z[i] = here.z[i];
  return 1;
}

/* The same, one independent joint after the other. */
static int detour(const struct loop *loop, const double *y0, const double *z0, const double *y,
                  const double *p, double *z, int backwards) {
  double from[MOST_Y], to[MOST_Y];
  const int ny = loop->ny;
  int i, k;
  for (i = 0; i < ny; ++i) from[i] = to[i] = y0[i];
  for (i = 0; i < loop->nz; ++i) z[i] = z0[i];
  for (i = 0; i < ny; ++i) {
    k = backwards ? ny - 1 - i : i;
    to[k] = y[k];
    if (!follow(loop, from, z, to, p, z)) return 0;
    from[k] = y[k];
  }
  return 1;
}

/* By the first way that leads there; the answer depends on y0, z0, y and p alone. */
static int reach(const struct loop *loop, const double *y0, const double *z0, const double *y,
                 const double *p, double *z) {
  if (follow(loop, y0, z0, y, p, z)) return 1;
  return loop->ny > 1 && (detour(loop, y0, z0, y, p, z, 0) || detour(loop, y0, z0, y, p, z, 1));
}

/* 1 where n numbers are equal. */
static int equal(const double *x, const double *y, int n) {
  int i;
  for (i = 0; i < n; ++i) {
    if (!(x[i] <= y[i] && x[i] >= y[i])) return 0;
  }
  return 1;
}

static void copy(const double *from, double *to, int n) {
  int i;
  for (i = 0; i < n; ++i) to[i] = from[i];
}
