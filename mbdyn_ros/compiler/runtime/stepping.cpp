/* Steps among walls: a library of its own, since few processes take
   any, and it takes most of the time to compile. Compiled without fused products and sums
   (-ffp-contract=off), so that the numbers of a motion do not depend on whether it is alone or in a
   vector. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "contact/step.hpp"
