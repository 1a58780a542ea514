/* Factors M = L^T L of mass matrices, which are zero where two coordinates move no body together.
   L keeps those zeros, since a coordinate is eliminated before those that carry it (Featherstone,
   Rigid Body Dynamics Algorithms, 2008, 6.5). `path` lists of every coordinate those before it that
   stand in its row of L; `reach` is a set of coordinates that is closed under these, ascending.
   Included for single numbers and for vectors; sums have one order in both. */

/* L in place, its diagonal as reciprocals; whether M is positive. */
static BITS F(factor)(const struct walls* w, REAL* a) {
  const size_t n = w->nv;
  BITS positive = IS(ALL(0.) == 0.);
  for (size_t i = n; i-- > 0;) {
    const int32_t *path = w->path + w->path_start[i], *end = w->path + w->path_start[i + 1];
    REAL* row = a + i * n;
    positive &= IS(row[i] > 0.);
    row[i] = 1. / F(root)(row[i]);
    for (const int32_t* j = path; j < end; ++j) row[*j] *= row[i];
    for (const int32_t* j = path; j < end; ++j) {
      const REAL much = row[*j];
      REAL* other = a + (size_t)*j * n;
      for (const int32_t* k = path; k <= j; ++k) other[*k] -= much * row[*k];
    }
  }
  return positive;
}

/* L^-T x in place, for `rows` x, one behind the other, that are zero beyond their reach. */
static inline __attribute__((always_inline)) void F(solve_up)(
    const struct walls* w, const REAL* factor, const int32_t* reach, size_t count, size_t rows,
    REAL* x) {
  const size_t n = w->nv;
  while (count-- > 0) {
    const size_t i = (size_t)reach[count];
    const int32_t *path = w->path + w->path_start[i], *end = w->path + w->path_start[i + 1];
    const REAL* row = factor + i * n;
    REAL much[3];
    for (size_t r = 0; r < rows; ++r) much[r] = x[r * n + i] *= row[i];
    for (const int32_t* j = path; j < end; ++j) {
      for (size_t r = 0; r < rows; ++r) x[r * n + (size_t)*j] -= much[r] * row[*j];
    }
  }
}

/* L^-1 x in place. */
static void F(solve_down)(const struct walls* w, const REAL* factor, REAL* x) {
  for (size_t i = 0; i < w->nv; ++i) {
    const int32_t *path = w->path + w->path_start[i], *end = w->path + w->path_start[i + 1];
    const REAL* row = factor + i * w->nv;
    REAL left = x[i];
    for (const int32_t* j = path; j < end; ++j) left -= row[*j] * x[*j];
    x[i] = left * row[i];
  }
}

/* sum of x y over so many places */
static inline REAL F(dot_at)(const int32_t* place, size_t count, const REAL* x, const REAL* y) {
  REAL sum = ALL(0.);
  for (size_t k = 0; k < count; ++k) sum += x[place[k]] * y[place[k]];
  return sum;
}

/* The products of (rows, n) x and (columns, n) y over so many places, into out, `step` a row. */
static inline __attribute__((always_inline)) void F(products_at)(
    size_t n, const int32_t* place, size_t count, size_t rows, const REAL* x, size_t columns,
    const REAL* y, REAL* out, size_t step) {
  REAL sum[3][3] = {0};
  for (size_t k = 0; k < count; ++k) {
    const REAL *one = x + place[k], *other = y + place[k];
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) sum[r][c] += one[r * n] * other[c * n];
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) out[r * step + c] = sum[r][c];
  }
}

/* y + factor x */
static inline void F(add_to)(size_t n, REAL factor, const REAL* x, REAL* y) {
  for (size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/* Take what is new in some lanes, and keep the rest. */
static inline void F(take)(BITS where, size_t n, const REAL* x, REAL* y) {
  for (size_t i = 0; i < n; ++i) y[i] = F(select)(where, x[i], y[i]);
}

static inline void F(clear)(size_t n, REAL* x) { memset(x, 0, n * sizeof *x); }
static inline void F(copy)(size_t n, const REAL* x, REAL* y) { memcpy(y, x, n * sizeof *y); }
