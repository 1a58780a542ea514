/* Loops that stay closed while parameters change, at the same independent positions:
   `continuation.reshape` in C99, for exported C, whose caller may change lengths at every call.

   It needs newton.h, and PARAMETERS, how many there are. */

/* From z, closed at y with the parameters before, to those after; 0 where the branch ends before. */
static int reshape(const struct loop *loop, const double *y, const double *before,
                   const double *after, double *z) {
  double share = 0.0, step = 1.0, ahead, p[PARAMETERS], still[MOST_Y];
  struct closed_place here, next;
  int i;
  for (i = 0; i < MOST_Y; ++i) still[i] = 0.0;
  copy(z, here.z, loop->nz);
  if (!close_loop(loop, y, still, before, &here)) return 0;
  while (share < 1.0) {
    if (!(step >= SMALLEST_STEP)) return 0;
    ahead = fmin(share + step, 1.0);
    for (i = 0; i < PARAMETERS; ++i) {
      p[i] = ahead < 1.0 ? before[i] + ahead * (after[i] - before[i]) : after[i];
    }
    next = here;
    if (close_loop(loop, y, still, p, &next) && next.sign == here.sign) {
      here = next;
      share = ahead;
      step *= 2.0;
    } else {
      step /= 2.0;
    }
  }
  copy(here.z, z, loop->nz);
  return 1;
}
