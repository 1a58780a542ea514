/* The runtime library: what runs programs, whatever they compute. One for the process. */
#define _GNU_SOURCE
#include "program.h"

#include "pool.c"
#include "run.c"
#include "call.c"
#include "batch.c"
#include "rollout.c"
