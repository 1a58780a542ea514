/* Between rows of one state each and vectors of one element each. Elements j and j + 1 of every
   other state fill one vector, those of the states between them another; then the two are sorted
   into one vector for each element. */
#pragma once
#include "vector.h"
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector) /* Clang, and GCC from 12 on */
#define SHUFFLES
#endif
#endif
#if LANES == 8
#define LOWER 0, 8, 2, 10, 4, 12, 6, 14
#define UPPER 1, 9, 3, 11, 5, 13, 7, 15
#define PAIRS(of) of(0), of(2), of(4), of(6)
#elif LANES == 4
#define LOWER 0, 4, 2, 6
#define UPPER 1, 5, 3, 7
#define PAIRS(of) of(0), of(2)
#else
#define LOWER 0, 2
#define UPPER 1, 3
#define PAIRS(of) of(0)
#endif

/* The lower elements of every pair of x and y, and the upper ones. (<immintrin.h> has names for
   this and for all below, but to read it takes longer than to compile a program.) */
static inline void sort(realv x, realv y, realv* out) {
#ifdef SHUFFLES
  out[0] = __builtin_shufflevector(x, y, LOWER);
  out[1] = __builtin_shufflevector(x, y, UPPER);
#else
  out[0] = __builtin_shuffle(x, y, (bitsv){LOWER});
  out[1] = __builtin_shuffle(x, y, (bitsv){UPPER});
#endif
}

#ifdef SHUFFLES
typedef double real2 __attribute__((vector_size(16)));
typedef double real4 __attribute__((vector_size(32)));

static inline real2 load2(const double* x) { real2 y; memcpy(&y, x, sizeof y); return y; }
static inline real4 load4(const double* x) { real4 y; memcpy(&y, x, sizeof y); return y; }
#define JOIN2(x, y) __builtin_shufflevector(x, y, 0, 1, 2, 3)
#define JOIN4(x, y) __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7)
#endif

static inline realv every_other(const double* const* row, size_t j) {
#if defined SHUFFLES && LANES == 8
  return JOIN4(JOIN2(load2(row[0] + j), load2(row[2] + j)),
               JOIN2(load2(row[4] + j), load2(row[6] + j)));
#elif defined SHUFFLES && LANES == 4
  return JOIN2(load2(row[0] + j), load2(row[2] + j));
#else
#define PAIR(k) row[k][j], row[k][j + 1]
  return (realv){PAIRS(PAIR)};
#endif
}

static inline void to_every_other(realv x, double* out, size_t step) {
  for (size_t k = 0; k < LANES; k += 2) memcpy(out + k * step, (const double*)&x + k, 16);
}

#if defined SHUFFLES && LANES == 8
/* Elements j to j + 3 at once, with fewer loads. */
static inline void read_four(const double* const* row, size_t j, realv* out) {
  const realv a = JOIN4(load4(row[0] + j), load4(row[2] + j));
  const realv b = JOIN4(load4(row[4] + j), load4(row[6] + j));
  const realv c = JOIN4(load4(row[1] + j), load4(row[3] + j));
  const realv d = JOIN4(load4(row[5] + j), load4(row[7] + j));
#define FIRST(x, y) __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13)
#define LAST(x, y) __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15)
  sort(FIRST(a, b), FIRST(c, d), out);
  sort(LAST(a, b), LAST(c, d), out + 2);
}
#endif

/* The last two elements of a row are taken again where its length is odd. */
static inline void read_rows(const double* const* row, size_t size, realv* out) {
  if (size < 2) {
    for (size_t k = 0; k < size * LANES; ++k) out[0][k] = row[k][0];
    return;
  }
  size_t j = 0;
#if defined SHUFFLES && LANES == 8
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
