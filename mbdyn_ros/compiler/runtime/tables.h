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
