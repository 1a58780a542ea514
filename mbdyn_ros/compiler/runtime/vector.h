/* Numbers one by one (real1) and in vectors (realv), in the vector types of GCC and Clang. The
   compiler's command says how many numbers a vector has, LANES: see `Toolchain.lanes`. */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef double real1;
typedef int64_t bits1;
typedef uint64_t word1;
typedef double realv __attribute__((vector_size(8 * LANES)));
typedef int64_t bitsv __attribute__((vector_size(8 * LANES)));
typedef uint64_t wordv __attribute__((vector_size(8 * LANES)));

static inline bits1 bits_of1(double x) { bits1 y; memcpy(&y, &x, sizeof y); return y; }
static inline double real_of1(bits1 x) { double y; memcpy(&y, &x, sizeof y); return y; }
static inline realv vector_of(double x) { return (realv){0} + x; }

#define bits_ofv(x) ((bitsv)(x))
#define real_ofv(x) ((realv)(x))
#define all1(x) (x)
#define allv(x) vector_of(x)
#define is1(relation) (-(bits1)(relation))
#define isv(relation) ((bitsv)(relation))
#define lane1(x, k) (*(x))
#define lanev(x, k) ((*(x))[k])
#define lanes1 1
#define lanesv LANES

static inline int any1(bits1 x) { return x != 0; }
static inline int anyv(bitsv x) {
  int64_t y[LANES], all = 0;
  memcpy(y, &x, sizeof y);
  for (int k = 0; k < LANES; ++k) all |= y[k];
  return all != 0;
}

/* A function of the C library, number by number. */
#define EACH(n, name, function) \
  static inline real##n name##n(real##n x) { \
    for (int k = 0; k < lanes##n; ++k) lane##n(&x, k) = function(lane##n(&x, k)); \
    return x; \
  }
#define EACH_PAIR(n, name, function) \
  static inline real##n name##n(real##n x, real##n y) { \
    for (int k = 0; k < lanes##n; ++k) lane##n(&x, k) = function(lane##n(&x, k), lane##n(&y, k)); \
    return x; \
  }

EACH(1, root, sqrt)
EACH(v, root, sqrt)
