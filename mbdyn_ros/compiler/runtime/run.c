/* A program at one state. Behind its inputs stand home and memory; see `close`. */
#include <stdlib.h>

/* Room for a few numbers on the stack, or else on the heap: a robot may have any number of them. */
enum { ON_STACK = 512 };

static inline double* room_for(size_t n, double* few) {
  return n <= ON_STACK ? few : (double*)malloc(n * sizeof *few);
}

static inline void leave_room(double* room, const double* few) {
  if (room != few) free(room);
}

/* The loops closed, then the equations; NaN where the loops cannot be closed. */
static __attribute__((noinline))
void run_closed(const struct program* program, const double* const* arg, double* const* res) {
  const double* whole[MOST_ARGUMENTS];
  double few[ON_STACK], *z = room_for(program->z + program->terms, few);
  double* memory = (double*)arg[program->inputs + 1];
  if (!z || !program->close(arg[0], arg[program->inputs], memory, z)) {
    for (size_t i = 0; i < program->size; ++i) res[0][i] = NAN;
  } else {
    double* const terms[] = {z + program->z};
    whole[0] = arg[0];
    whole[1] = z;
    whole[2] = arg[program->inputs] + program->home;
    if (program->terms) program->find_terms(whole, terms);
    for (size_t i = 1; i < program->inputs; ++i) whole[i + 1] = arg[i];
    whole[program->inputs + 1] = arg[program->inputs] + program->home;
    program->scalar(whole, res);
  }
  leave_room(z, few);
}

static __attribute__((noinline))
void run_with_parameters(const struct program* program, const double* const* arg,
                         double* const* res) {
  const double* whole[MOST_ARGUMENTS];
  for (size_t i = 0; i < program->inputs; ++i) whole[i] = arg[i];
  whole[program->inputs] = arg[program->inputs] + program->home;
  program->scalar(whole, res);
}

static inline void run(const struct program* program, const double* const* arg,
                       double* const* res) {
  if (program->close) {
    run_closed(program, arg, res);
  } else if (program->parameters && program->home) {  /* else they stand where home does */
    run_with_parameters(program, arg, res);
  } else {
    program->scalar(arg, res);
  }
}
