/* Convex shapes that may touch: a library of its own, since few robots have any. Compiled as
   `stepping.cpp` is, whose steps ask it what is near. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contact/broad_phase.hpp"
