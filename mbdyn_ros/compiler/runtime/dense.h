/* Small dense matrices, row by row. */

static inline double dot(size_t n, const double* restrict x, const double* restrict y) {
  double sum[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (size_t k = 0; k < 4; ++k) sum[k] += x[i + k] * y[i + k];
  }
  for (; i < n; ++i) sum[0] += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* y + factor * x */
static inline void add(size_t n, double factor, const double* restrict x, double* restrict y) {
  for (size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* z = x cross y */
static void crossed(const double* x, const double* y, double* z) {
  for (int r = 0; r < 3; ++r) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    z[r] = x[s] * y[t] - x[t] * y[s];
  }
}

/* The lower factor of a = L L^T in place, its diagonal as reciprocals; 0 where a is not positive.
   What stands above the diagonal is left as it is. */
static int cholesky(size_t n, double* a) {
  for (size_t i = 0; i < n; ++i) {
    double* row = a + i * n;
    for (size_t j = 0; j < i; ++j) row[j] = (row[j] - dot(j, row, a + j * n)) * a[j * n + j];
    const double left = row[i] - dot(i, row, row);
    if (!(left > 0.)) return 0;
    row[i] = 1. / sqrt(left);
  }
  return 1;
}

/* L^-1 x in place. */
static void forward(size_t n, const double* factor, double* x) {
  for (size_t i = 0; i < n; ++i) x[i] = (x[i] - dot(i, factor + i * n, x)) * factor[i * n + i];
}

/* L^-T x in place. */
static void backward(size_t n, const double* factor, double* x) {
  for (size_t i = n; i-- > 0;) {
    x[i] *= factor[i * n + i];
    add(i, -x[i], factor + i * n, x);
  }
}

/* Solve a x = x in place by elimination with row pivoting; 0 where a is singular. */
static int eliminate(size_t n, double* a, double* x) {
  for (size_t k = 0; k < n; ++k) {
    size_t best = k;
    for (size_t i = k + 1; i < n; ++i) {
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    }
    if (!(fabs(a[best * n + k]) > 0.)) return 0;
    if (best != k) {
      for (size_t j = k; j < n; ++j) {
        const double swap = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = swap;
      }
      const double swap = x[k];
      x[k] = x[best];
      x[best] = swap;
    }
    const double pivot = 1. / a[k * n + k];
    for (size_t i = k + 1; i < n; ++i) {
      const double share = a[i * n + k] * pivot;
      if (share == 0.) continue;
      add(n - k - 1, -share, a + k * n + k + 1, a + i * n + k + 1);
      x[i] -= share * x[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    x[k] = (x[k] - dot(n - k - 1, a + k * n + k + 1, x + k + 1)) / a[k * n + k];
  }
  return 1;
}
