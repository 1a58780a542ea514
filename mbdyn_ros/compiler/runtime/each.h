/* Operations that are left to the C library, number by number. */
#pragma once
#include "vector.h"
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
