/* Steps among walls, and contacts that are held: a library of its own, since few processes take any,
   and it takes most of the time to compile. */
#define _GNU_SOURCE
#include "program.h"

#include "pool.c"
#include "run.c"
#include "step.c"
#include "walled_rollout.c"
#include "held.h"
