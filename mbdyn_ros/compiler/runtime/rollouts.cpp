/* Many motions among walls, several in a vector: a library of its own, since few processes take any.
   Compiled as `stepping.cpp` is, whose steps it takes where motions are alone. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contact/rollout.hpp"
