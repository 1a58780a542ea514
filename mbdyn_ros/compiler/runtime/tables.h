/* tables.h: numbers in blocks of columns, see `printers.lines`. Names end in 1 where numbers are
   single and vectors lie along the columns, in v where every number is a vector. */
#pragma once
#include "elementary.h"
/* Where a number stands in a table. */
#define PLACE1(rows, row, column) (((column) / LANES * (rows) + (row)) * LANES + (column) % LANES)
#define PLACEv(rows, row, column) ((column) * (rows) + (row))

/* One number of a table as what a block is multiplied with. */
#define ONE1(x) allv(x)
#define ONEv(x) (x)

/* Lanes of x, and behind them those of y. */
#ifdef __clang__
#define TAKEN(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define TAKEN(x, y, ...) __builtin_shuffle(x, y, (bitsv){__VA_ARGS__})
#endif

#if LANES == 8
#define LANE_BITS {1, 2, 4, 8, 16, 32, 64, 128}
#elif LANES == 4
#define LANE_BITS {1, 2, 4, 8}
#else
#define LANE_BITS {1, 2}
#endif

/* The numbers of x whose bits are set; zero elsewhere. */
static inline realv kept1(unsigned bits, realv x) {
  const bitsv chosen = ((bitsv){0} + (bits1)bits) & (bitsv)LANE_BITS;
  return real_ofv(bits_ofv(x) & isv(chosen != 0));
}
static inline realv keptv(unsigned bits, realv x) { (void)bits; return x; }

/* A block goes where it belongs: all of it, or `count` numbers. */
static inline void put1(double* to, realv x, size_t count) {
  if (count >= LANES) memcpy(to, &x, sizeof x);
  else for (size_t k = 0; k < count; ++k) to[k] = x[k];
}
static inline void putv(realv* to, realv x, size_t count) { (void)count; *to = x; }

/* What a block of combinations is multiplied with: a weight for each, or for one. */
#define WEIGHTS1(w) (*(const realv*)(w))
#define WEIGHTSv(w) allv(*(w))

/* A block goes to places that are `step` apart: all of it, or `count` numbers. */
static inline void spread1(double* to, realv x, size_t count, size_t step) {
  if (step == 1) put1(to, x, count);
  else for (size_t k = 0; k < LANES && k < count; ++k) to[k * step] = x[k];
}
static inline void spreadv(realv* to, realv x, size_t count, size_t step) {
  (void)count, (void)step;
  *to = x;
}

/* Linear combinations of four columns each of a table, or these columns themselves, into a result
   of that size. Results that have the same columns follow each other in a run: the place of the
   first, how far it is to the next, how many there are, and whether they are columns themselves,
   which are then listed one by one. Weights stand in the order in which they are read: of a block
   of results for one column after the other. */
#define COMBINING(n, width) \
  static inline void combine##n(const real##n* restrict from, size_t rows, \
                                real##n* restrict to, size_t size, const double* weight, \
                                const unsigned* column, const unsigned* run, size_t runs) { \
    for (; runs-- > 0; run += 4) { \
      const size_t step = run[1], count = run[2], blocks = (count + width - 1) / width; \
      for (size_t r = 0; r < rows; ++r) { \
        real##n* at = to + r * size + run[0]; \
        if (run[3]) { \
          for (size_t k = 0; k < count; ++k) at[k * step] = from[PLACE##n(rows, r, column[k])]; \
          continue; \
        } \
        const realv x0 = ONE##n(from[PLACE##n(rows, r, column[0])]); \
        const realv x1 = ONE##n(from[PLACE##n(rows, r, column[1])]); \
        const realv x2 = ONE##n(from[PLACE##n(rows, r, column[2])]); \
        const realv x3 = ONE##n(from[PLACE##n(rows, r, column[3])]); \
        const double* w = weight; \
        for (size_t k = 0; k < count; k += width, w += 4 * width) { \
          const realv sum = WEIGHTS##n(w) * x0 + WEIGHTS##n(w + width) * x1 + \
                            WEIGHTS##n(w + 2 * width) * x2 + WEIGHTS##n(w + 3 * width) * x3; \
          spread##n(at + k * step, sum, count - k, step); \
        } \
      } \
      column += run[3] ? count : 4; \
      weight += run[3] ? 0 : 4 * width * blocks; \
    } \
  }
COMBINING(1, LANES)
COMBINING(v, 1)
