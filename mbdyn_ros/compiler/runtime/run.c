/* A program at one state. Behind its inputs stand home and memory; see `close`. */

/* The loops closed, then the equations; NaN where the loops cannot be closed. */
static __attribute__((noinline))
void run_closed(const struct program* program, const double* const* arg, double* const* res) {
  const double* whole[program->inputs + 2];
  double z[program->z + program->terms], *memory = (double*)arg[program->inputs + 1];
  if (!program->close(arg[0], arg[program->inputs], memory, z)) {
    for (size_t i = 0; i < program->size; ++i) res[0][i] = NAN;
    return;
  }
  whole[0] = arg[0];
  whole[1] = z;
  if (program->terms) program->find_terms(whole, (double* const[]){z + program->z});
  for (size_t i = 1; i < program->inputs; ++i) whole[i + 1] = arg[i];
  whole[program->inputs + 1] = arg[program->inputs] + program->home;
  program->alone(whole, res);
}

static __attribute__((noinline))
void run_with_parameters(const struct program* program, const double* const* arg,
                         double* const* res) {
  const double* whole[program->inputs + 1];
  for (size_t i = 0; i < program->inputs; ++i) whole[i] = arg[i];
  whole[program->inputs] = arg[program->inputs] + program->home;
  program->alone(whole, res);
}

static inline void run(const struct program* program, const double* const* arg,
                       double* const* res) {
  if (program->close) {
    run_closed(program, arg, res);
  } else if (program->parameters) {
    run_with_parameters(program, arg, res);
  } else {
    program->alone(arg, res);
  }
}
