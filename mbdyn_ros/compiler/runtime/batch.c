/* A program over many states. */

/* The program over n states, in vectors and on several threads. A step of 0 uses the same input for
   all. */
EXPORTED void batch(const struct program* program, size_t n, const double* const* start,
                    const size_t* step, double* result, int threads) {
  const struct batch job = {program, start, step, result};
  share_out(n, 128, threads, program->batch, &job);
}

/* The program over a few states, one by one; they may have homes of their own. */
EXPORTED void batch_of_few(const struct program* program, size_t n, const double* const* start,
                           const size_t* step, double* result) {
  const double* arg[MOST_ARGUMENTS];
  for (size_t k = 0; k < n; ++k) {
    double* const res[] = {result + k * program->size};
    for (size_t i = 0; i <= program->inputs; ++i) arg[i] = start[i] + k * step[i];
    arg[program->inputs + 1] = NULL;
    run(program, arg, res);
  }
}
