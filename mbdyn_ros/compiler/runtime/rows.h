/* Between rows of one state each and vectors of one element each. Elements j and j + 1 of every
   other state fill one vector, those of the states between them another; then the two are sorted
   into one vector for each element. */
#if LANES == 8
#include <immintrin.h>

static inline realv every_other(const double* const* row, size_t j) {
  __m512d x = _mm512_castpd128_pd512(_mm_loadu_pd(row[0] + j));
  x = _mm512_insertf64x2(x, _mm_loadu_pd(row[2] + j), 1);
  x = _mm512_insertf64x2(x, _mm_loadu_pd(row[4] + j), 2);
  return (realv)_mm512_insertf64x2(x, _mm_loadu_pd(row[6] + j), 3);
}

static inline void to_every_other(realv x, double* out, size_t step) {
  _mm_storeu_pd(out, _mm512_castpd512_pd128((__m512d)x));
  _mm_storeu_pd(out + 2 * step, _mm512_extractf64x2_pd((__m512d)x, 1));
  _mm_storeu_pd(out + 4 * step, _mm512_extractf64x2_pd((__m512d)x, 2));
  _mm_storeu_pd(out + 6 * step, _mm512_extractf64x2_pd((__m512d)x, 3));
}

static inline void sort(realv x, realv y, realv* out) {
  out[0] = (realv)_mm512_unpacklo_pd((__m512d)x, (__m512d)y);
  out[1] = (realv)_mm512_unpackhi_pd((__m512d)x, (__m512d)y);
}

/* Elements j to j + 3 at once, with fewer loads. */
static inline __m512d two_rows(const double* x, const double* y) {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(x)), _mm256_loadu_pd(y), 1);
}

static inline void read_four(const double* const* row, size_t j, realv* out) {
  const __m512d a = two_rows(row[0] + j, row[2] + j), b = two_rows(row[4] + j, row[6] + j);
  const __m512d c = two_rows(row[1] + j, row[3] + j), d = two_rows(row[5] + j, row[7] + j);
  sort((realv)_mm512_shuffle_f64x2(a, b, 0x88), (realv)_mm512_shuffle_f64x2(c, d, 0x88), out);
  sort((realv)_mm512_shuffle_f64x2(a, b, 0xdd), (realv)_mm512_shuffle_f64x2(c, d, 0xdd), out + 2);
}
#elif LANES == 4
#include <immintrin.h>

static inline realv every_other(const double* const* row, size_t j) {
  const __m256d x = _mm256_castpd128_pd256(_mm_loadu_pd(row[0] + j));
  return (realv)_mm256_insertf128_pd(x, _mm_loadu_pd(row[2] + j), 1);
}

static inline void to_every_other(realv x, double* out, size_t step) {
  _mm_storeu_pd(out, _mm256_castpd256_pd128((__m256d)x));
  _mm_storeu_pd(out + 2 * step, _mm256_extractf128_pd((__m256d)x, 1));
}

static inline void sort(realv x, realv y, realv* out) {
  out[0] = (realv)_mm256_unpacklo_pd((__m256d)x, (__m256d)y);
  out[1] = (realv)_mm256_unpackhi_pd((__m256d)x, (__m256d)y);
}
#else
static inline realv every_other(const double* const* row, size_t j) {
  return (realv){row[0][j], row[0][j + 1]};
}

static inline void to_every_other(realv x, double* out, size_t step) {
  (void)step;
  memcpy(out, &x, sizeof x);
}

static inline void sort(realv x, realv y, realv* out) {
  out[0] = (realv){x[0], y[0]};
  out[1] = (realv){x[1], y[1]};
}
#endif

/* The last two elements of a row are taken again where its length is odd. */
static inline void read_rows(const double* const* row, size_t size, realv* out) {
  if (size < 2) {
    for (size_t k = 0; k < size * LANES; ++k) out[0][k] = row[k][0];
    return;
  }
  size_t j = 0;
#if LANES == 8
  for (; j + 4 <= size; j += 4) read_four(row, j, out + j);
#endif
  for (; j < size; j += 2) {
    if (j + 1 == size) --j;
    sort(every_other(row, j), every_other(row + 1, j), out + j);
  }
}

/* The way back, for the first `count` states; from row to row it is `step` numbers. */
static inline void write_rows(const realv* x, size_t size, size_t count, double* out,
                              size_t step) {
  if (size < 2 || count < LANES) {
    for (size_t k = 0; k < count; ++k) {
      for (size_t j = 0; j < size; ++j) out[k * step + j] = x[j][k];
    }
    return;
  }
  for (size_t j = 0; j < size; j += 2) {
    realv pair[2];
    if (j + 1 == size) --j;
    sort(x[j], x[j + 1], pair);
    to_every_other(pair[0], out + j, step);
    to_every_other(pair[1], out + step + j, step);
  }
}
