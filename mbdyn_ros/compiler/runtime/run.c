/* A program at one state. Behind its inputs stand home and memory; see `close`. */

static size_t result_size(const struct program* program) {
  return program->rows * program->columns;
}

/* How many numbers the inputs have together. */
static size_t total_size(const struct program* program) {
  size_t total = 0;
  for (size_t i = 0; i < program->inputs; ++i) total += size_of(program->input + i);
  return total;
}

/* The loops closed, then the equations; NaN where the loops cannot be closed. */
static __attribute__((noinline))
void run_closed(const struct program* program, const double* const* arg, double* const* res) {
  const double* whole[program->inputs + 2];
  double z[program->z], *memory = (double*)arg[program->inputs + 1];
  if (!program->close(arg[0], arg[program->inputs], memory, z)) {
    for (size_t i = 0; i < result_size(program); ++i) res[0][i] = NAN;
    return;
  }
  whole[0] = arg[0];
  whole[1] = z;
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
