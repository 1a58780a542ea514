/* Elementary functions of vectors (ending in v) and of single numbers (ending in 1). */
#pragma once
#include "vector.h"

#define SUFFIX v
#include "elementary_template.h"
#define SUFFIX 1
#include "elementary_template.h"

/* Sines and cosines of n angles. */
static inline void sines_cosinesv(int n, const realv* x, realv* sine, realv* cosine) {
  bitsv far = {0};
  for (int i = 0; i < n; ++i) far |= near_sine_cosinev(x[i], sine + i, cosine + i);
  if (__builtin_expect(!anyv(far), 1)) return;
  for (int i = 0; i < n; ++i) far_sine_cosinev(x[i], sine + i, cosine + i);
}

/* Sines and cosines of n numbers, several at once: the arrays have room for whole vectors. */
static inline void sines_cosines1(int n, const double* x, double* sine, double* cosine) {
  for (int i = 0; i < n; i += LANES) {
    realv angle, s, c;
    memcpy(&angle, x + i, sizeof angle);
    sine_cosinev(angle, &s, &c);
    memcpy(sine + i, &s, sizeof s);
    memcpy(cosine + i, &c, sizeof c);
  }
}

/* Operations that are left to the C library, number by number. */
#define LIBRARY(name) EACH(1, each_##name, name) EACH(v, each_##name, name)
#define LIBRARY_PAIR(name) EACH_PAIR(1, each_##name, name) EACH_PAIR(v, each_##name, name)

LIBRARY(exp)
LIBRARY(log)
LIBRARY(tan)
LIBRARY(asin)
LIBRARY(acos)
LIBRARY(atan)
LIBRARY(sinh)
LIBRARY(cosh)
LIBRARY(tanh)
LIBRARY(floor)
LIBRARY(ceil)
LIBRARY_PAIR(pow)
LIBRARY_PAIR(fmod)
LIBRARY_PAIR(hypot)

/* Numbers of an array at places from 0 to the last; other places and NaN take one of these too. */
#define NUMBER_AT(n, attribute) \
  static attribute real##n number_at##n(const double* numbers, double last, real##n place) { \
    for (int k = 0; k < lanes##n; ++k) { \
      const double at = lane##n(&place, k); \
      lane##n(&place, k) = numbers[at > 0. ? (ptrdiff_t)(at < last ? at : last) : 0]; \
    } \
    return place; \
  }

NUMBER_AT(1, inline)
NUMBER_AT(v, __attribute__((noinline, unused)))
