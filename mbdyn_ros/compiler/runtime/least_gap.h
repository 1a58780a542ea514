/* How far loops stay open where they cannot be closed, by least squares. Exported C prints the table
   `openings` and its sizes before it; it needs <math.h> and lu.h. */

static double half_square(const double *x, int n) {
  double sum = 0.0;
  int i;
  for (i = 0; i < n; ++i) sum += x[i] * x[i] / 2.0;
  return sum;
}

/* The widest length or angle that is left of one opening: Levenberg and Marquardt, 100 steps. */
static double least_gap(const struct opening *one, const double *q, const double *parameters) {
  double z[MOST_COLUMNS], next[MOST_COLUMNS], step[MOST_COLUMNS], residual[MOST_ROWS];
  double by_z[MOST_ROWS * MOST_COLUMNS], normal[MOST_COLUMNS * MOST_COLUMNS];
  double damping = 1e-3, cost, better, widest = 0.0;
  const double *row = residual;
  const int m = one->m, n = one->n;
  int pivot[MOST_COLUMNS], i, j, k, tried;
  for (j = 0; j < n; ++j) z[j] = one->start[j];
  one->rows(q, z, parameters, residual, by_z);
  cost = half_square(residual, m);
  for (tried = 0; tried < 100 && cost > 0.0; ++tried) {
    for (j = 0; j < n; ++j) {
      step[j] = 0.0;
      for (k = 0; k < m; ++k) step[j] -= by_z[k + m * j] * residual[k];
      for (i = 0; i < n; ++i) {
        normal[j * n + i] = 0.0;
        for (k = 0; k < m; ++k) normal[j * n + i] += by_z[k + m * j] * by_z[k + m * i];
      }
    }
    for (j = 0; j < n; ++j) normal[j * n + j] += damping;
    if (!factorize(normal, pivot, n)) break;
    solve_factors(normal, pivot, step, n);
    for (j = 0; j < n; ++j) next[j] = z[j] + step[j];
    one->rows(q, next, parameters, residual, by_z);
    better = half_square(residual, m);
    if (better < cost) {
      for (j = 0; j < n; ++j) z[j] = next[j];
      damping = fmax(damping / 10.0, 1e-15);
      if (cost - better <= 1e-15 * cost) tried = 100;
      cost = better;
    } else {
      damping *= 10.0;
      one->rows(q, z, parameters, residual, by_z);
    }
  }
  one->rows(q, z, parameters, residual, by_z);
  for (k = 0; k < one->count; ++k) {
    widest = fmax(widest, sqrt(2.0 * half_square(row, one->blocks[k])));
    row += one->blocks[k];
  }
  return widest;
}

static double gap(void *memory, const double *q, const double *parameters, const char **loop) {
  double widest;
  int k;
  (void)memory;
  for (k = 0; k < OPENINGS; ++k) {
    widest = least_gap(&openings[k], q, parameters);
    if (!(widest <= CLOSES)) {
      if (loop) *loop = openings[k].name;
      return widest;
    }
  }
  if (loop) *loop = NULL;
  return 0.0;
}
