/* Small systems of linear equations by LU factors, column by column, in C99. */
/* x - factor * y from one row to another. */
static void subtract(double *restrict x, double factor, const double *restrict y, int first,
                     int last) {
  int i;
  for (i = first; i < last; ++i) x[i] -= factor * y[i];
}

/* LU factors, with row pivoting, of an n x n matrix in place, the diagonal of U as reciprocals; the
   sign of its determinant. */
static int factorize(double *a, int *pivot, int n) {
  int sign = 1, i, j, k, p;
  for (k = 0; k < n; ++k) {
    double *left = a + n * k;
    p = k;
    for (i = k + 1; i < n; ++i) {
      if (fabs(left[i]) > fabs(left[p])) p = i;
    }
    pivot[k] = p;
    if (p != k) {
      sign = -sign;
      for (j = 0; j < n; ++j) {
        const double swap = a[k + n * j];
        a[k + n * j] = a[p + n * j];
        a[p + n * j] = swap;
      }
    }
    if (!(fabs(left[k]) > 0.0)) return 0;
    if (left[k] < 0.0) sign = -sign;
    left[k] = 1.0 / left[k];
    for (i = k + 1; i < n; ++i) left[i] *= left[k];
    for (j = k + 1; j < n; ++j) {
      const double factor = a[k + n * j];
      if (!(fabs(factor) <= 0.0)) subtract(a + n * j, factor, left, k + 1, n);
    }
  }
  return sign;
}

static void solve_factors(const double *factors, const int *pivot, double *x, int n) {
  int k;
  for (k = 0; k < n; ++k) {
    const double swap = x[k];
    x[k] = x[pivot[k]];
    x[pivot[k]] = swap;
  }
  for (k = 0; k < n; ++k) {
    if (!(fabs(x[k]) <= 0.0)) subtract(x, x[k], factors + n * k, k + 1, n);
  }
  for (k = n - 1; k >= 0; --k) {
    x[k] *= factors[k + n * k];
    if (!(fabs(x[k]) <= 0.0)) subtract(x, x[k], factors + n * k, 0, k);
  }
}
