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
static void ahead(size_t n, const realv* x, double span, const realv* y, realv* out) {
  for (size_t i = 0; i < n; ++i) out[i] = x[i] + span * y[i];
}

/* x + h / divisor * (the slopes, each with its weight); neighbours of equal weight first. The
   divisor stands behind the weights. */
static void add_slopes(size_t n, int stages, const double* weights, double h,
                       const realv (*slopes)[n + 1], realv* x) {
  const double span = h / weights[stages];
  for (size_t i = 0; i < n; ++i) {
    realv sum = allv(0.);
    for (int s = 0; s < stages;) {
      const double weight = weights[s];
      realv run = slopes[s][i];
      while (++s < stages && weights[s] == weight) run += slopes[s][i];
      sum += weight * run;
    }
    x[i] += span * sum;
  }
}

/* One step. No stages: the velocity first, then the position with it. Else an explicit
   Runge-Kutta method: the shares of the slopes on each stage, row by row, then their weights. */
static void advance(const struct rollout* job, const realv* effort, realv* q, realv* v) {
  const size_t nq = size_of(job->forward->input), nv = size_of(job->forward->input + 1);
  const double h = job->dt;
  const int stages = job->stages;
  realv x[nq + 1], y[nv + 1], by_q[stages + 1][nq + 1], by_v[stages + 1][nv + 1];
  if (!stages) {
    accelerate(job, q, v, effort, by_v[0]);
    ahead(nv, v, h, by_v[0], v);
    rate_of_q(job, q, v, by_q[0]);
    ahead(nq, q, h, by_q[0], q);
  }
  for (int s = 0; s < stages; ++s) {
    const double* share = job->tableau + s * stages;
    for (size_t i = 0; i < nq; ++i) x[i] = q[i];
    for (size_t i = 0; i < nv; ++i) y[i] = v[i];
    for (int j = 0; j < s; ++j) {
      if (share[j] == 0.) continue;
      ahead(nq, x, h * share[j], by_q[j], x);
      ahead(nv, y, h * share[j], by_v[j], y);
    }
    rate_of_q(job, x, y, by_q[s]);
    accelerate(job, x, y, effort, by_v[s]);
  }
  if (stages) {
    const double* weights = job->tableau + stages * stages;
    add_slopes(nq, stages, weights, h, (const realv (*)[nq + 1])by_q, q);
    add_slopes(nv, stages, weights, h, (const realv (*)[nv + 1])by_v, v);
  }
  normalize(job->forward, q);
}

static void run_rollout(const void* pointer, size_t first, size_t last) {
  const struct rollout* job = pointer;
  const size_t nq = size_of(job->forward->input), nv = size_of(job->forward->input + 1);
  const size_t ne = size_of(job->forward->input + 2);
  const size_t kept = job->whole ? job->steps : 1;
  for (size_t k = first; k < last; k += LANES) {
    const size_t count = last - k < LANES ? last - k : LANES;
    const double* row[LANES];
    realv q[nq + 1], v[nv + 1], effort[ne + 1];
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
      advance(job, effort, q, v);
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
