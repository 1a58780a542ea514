/* Steps among walls, and contacts that are held: a library of its own, since few processes take any,
   and it takes most of the time to compile. */
#define _GNU_SOURCE
/* Products and sums are not fused, which compilers do here and there: the numbers of a motion do not
   depend on whether it is alone or in a vector. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif
#include "program.h"

#include "pool.c"
#include "run.c"
#include "step.c"
#include "walled_rollout.c"
#include "held.h"
