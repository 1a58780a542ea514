/* Many motions. */

/* n motions of `steps` steps. A step_ of 0 uses the same start or efforts for all. The method: see
   `advance` in rollout.h. */
EXPORTED void rollout(const struct program* forward, const struct program* rate, size_t n,
                      size_t steps, const double* q, size_t step_q, const double* v,
                      size_t step_v, const double* effort, size_t step_effort,
                      const double* home, size_t step_home, double dt, int stages, const double* tableau,
                      int whole, double* q_out, double* v_out, int threads) {
  const struct rollout job = {.forward = forward, .q = q, .v = v, .effort = effort,
                              .home = home, .step_home = step_home, .step_q = step_q, .step_v = step_v,
                              .step_effort = step_effort, .steps = steps, .dt = dt,
                              .q_out = q_out, .v_out = v_out, .stages = stages,
                              .whole = whole, .tableau = tableau};
  share_out(n, LANES, threads, rate->rollout, &job);
}
