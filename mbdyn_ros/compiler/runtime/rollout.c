/* Many motions. */

/* n motions of `steps` steps; whether any ends beyond limits. A step_ of 0 uses the same start or
   efforts for all. The method: its place among those of `advance` in rollout.h. */
EXPORTED int rollout(const struct program* forward, const struct program* rate, size_t n,
                     size_t steps, const double* q, size_t step_q, const double* v,
                     size_t step_v, const double* effort, size_t step_effort,
                     const double* home, size_t step_home, double dt, int method, int whole,
                     double* q_out, double* v_out, const double* limits, int threads) {
  int left = 0;
  const struct rollout job = {.forward = forward, .q = q, .v = v, .effort = effort,
                              .home = home, .step_home = step_home, .step_q = step_q,
                              .step_v = step_v, .step_effort = step_effort, .steps = steps,
                              .dt = dt, .q_out = q_out, .v_out = v_out, .method = method,
                              .whole = whole, .limits = limits, .left = &left};
  share_out(n, LANES, threads, rate->rollout, &job);
  return left;
}
