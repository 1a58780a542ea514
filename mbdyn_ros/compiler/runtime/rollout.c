/* Many motions: forward dynamics integrated, several at once in vectors, on several threads. */
#include "rows.h"

struct rollout {
  const struct program *forward, *rate;  /* accelerations of (q, v, effort), q' of (q, v) */
  const double *q, *v, *effort, *home;
  size_t step_q, step_v, step_effort, steps;
  double dt, *q_out, *v_out;
  int stages, whole;
  const double* tableau;
};

static void accelerate(const struct rollout* job, const realv* q, const realv* v,
                       const realv* effort, realv* a) {
  const int walked = job->forward->close != NULL;
  const realv* arg[4] = {q};
  arg[1 + walked] = v;
  arg[2 + walked] = effort;
  run_together(job->forward, arg, job->home, a);
}

/* It depends on no loop, so none is closed. */
static void rate_of_q(const struct rollout* job, const realv* q, const realv* v, realv* out) {
  const realv* arg[3] = {q};
  realv* const res[] = {out};
  arg[1 + (job->rate->close != NULL)] = v;
  job->rate->together(arg, res);
}

/* x + span * y */
static inline void ahead(size_t n, const realv* x, double span, const realv* y, realv* out) {
#pragma GCC unroll 8
  for (size_t i = 0; i < n; ++i) out[i] = x[i] + span * y[i];
}

/* One step of a state, q and behind it v. No stages: the velocity first, then the position with
   it. Else an explicit Runge-Kutta method: the shares of the slopes on each stage, row by row,
   their weights, of which equal neighbours are added first, and what divides the weights. */
static void advance(const struct rollout* job, const realv* effort, realv* state) {
  const size_t nq = size_of(job->forward->input), nv = size_of(job->forward->input + 1);
  const size_t n = nq + nv;
  const double h = job->dt;
  const int stages = job->stages;
  realv trial[n + 1], slope[stages + 1][n + 1];
  if (!stages) {
    accelerate(job, state, state + nq, effort, slope[0] + nq);
    ahead(nv, state + nq, h, slope[0] + nq, state + nq);
    rate_of_q(job, state, state + nq, slope[0]);
    ahead(nq, state, h, slope[0], state);
  }
  const double* share = job->tableau;
  for (int s = 0; s < stages; ++s, share += stages) {
    const realv* at = state;
    for (int j = 0; j < s; ++j) {
      if (share[j] == 0.) continue;
      ahead(n, at, h * share[j], slope[j], trial);
      at = trial;
    }
    rate_of_q(job, at, at + nq, slope[s]);
    accelerate(job, at, at + nq, effort, slope[s] + nq);
  }
  for (int s = 0; s < stages;) {
    const double weight = share[s];
    const int first = s;
    while (++s < stages && share[s] == weight) ahead(n, slope[first], 1., slope[s], slope[first]);
    if (first) {
      ahead(n, slope[0], weight, slope[first], slope[0]);
    } else if (weight != 1.) {
      for (size_t i = 0; i < n; ++i) slope[0][i] *= weight;
    }
  }
  if (stages) ahead(n, state, h / share[stages], slope[0], state);
  normalize(job->forward, state);
}

static void run_rollout(const void* pointer, size_t first, size_t last) {
  const struct rollout* job = pointer;
  const size_t nq = size_of(job->forward->input), nv = size_of(job->forward->input + 1);
  const size_t ne = size_of(job->forward->input + 2);
  const size_t kept = job->whole ? job->steps : 1;
  for (size_t k = first; k < last; k += LANES) {
    const size_t count = last - k < LANES ? last - k : LANES;
    const double* row[LANES];
    realv q[nq + nv + 1], *const v = q + nq, effort[ne + 1];
    size_t lane[LANES];
    for (size_t l = 0; l < LANES; ++l) lane[l] = k + (l < count ? l : count - 1);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->q + lane[l] * job->step_q;
    read_rows(row, nq, q);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->v + lane[l] * job->step_v;
    read_rows(row, nv, v);
    normalize(job->forward, q);
    for (size_t t = 0; t < job->steps; ++t) {
      for (size_t l = 0; l < LANES; ++l) {
        row[l] = job->effort + lane[l] * job->step_effort + t * ne;
      }
      read_rows(row, ne, effort);
      advance(job, effort, q);
      if (!job->whole && t + 1 < job->steps) continue;
      const size_t place = job->whole ? t : 0;
      write_rows(q, nq, count, job->q_out + (k * kept + place) * nq, kept * nq);
      write_rows(v, nv, count, job->v_out + (k * kept + place) * nv, kept * nv);
    }
  }
}

/* n motions of `steps` steps. A step_ of 0 uses the same start or efforts for all. The method: see
   `advance`. */
EXPORTED void rollout(const struct program* forward, const struct program* rate, size_t n,
                      size_t steps, const double* q, size_t step_q, const double* v,
                      size_t step_v, const double* effort, size_t step_effort,
                      const double* home, double dt, int stages, const double* tableau,
                      int whole, double* q_out, double* v_out, int threads) {
  const struct rollout job = {.forward = forward, .rate = rate, .q = q, .v = v,
                              .effort = effort, .home = home, .step_q = step_q,
                              .step_v = step_v, .step_effort = step_effort, .steps = steps,
                              .dt = dt, .q_out = q_out, .v_out = v_out, .stages = stages,
                              .whole = whole, .tableau = tableau};
  share_out(n, LANES, threads, run_rollout, &job);
}
