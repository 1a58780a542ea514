/* The loop over many motions: forward dynamics integrated, several at once in vectors. It stands
   behind batch.h in the library of the rate of q at (q, v), where the C compiler knows the sizes of
   the state. */
#define SIZED(i, size, place) SIZE_##i = size,
enum { INPUTS(SIZED) NQ = SIZE_0, NV = SIZE_1, STATE = NQ + NV };

/* Accelerations, NaN where the loops cannot be closed. */
static __attribute__((noinline))
void accelerate_closed(const struct rollout* job, double* memory, const realv* parameters,
                       const realv* q, const realv* v, const realv* effort, realv* a) {
  realv z[job->forward->z];
  const bitsv closed = close_together(job->forward, q, job->home, memory, z);
  job->forward->together((const realv* const[]){q, z, v, effort, parameters},
                         (realv* const[]){a});
  for (size_t i = 0; i < NV; ++i) a[i] = selectv(closed, a[i], allv(NAN));
}

static inline void accelerate(const struct rollout* job, double* memory, const realv* parameters,
                              const realv* q, const realv* v, const realv* effort, realv* a) {
  if (job->forward->close) {
    accelerate_closed(job, memory, parameters, q, v, effort, a);
  } else {
    job->forward->together((const realv* const[]){q, v, effort, parameters}, (realv* const[]){a});
  }
}

/* It depends on no loop, so none is closed. */
static void rate_of_q(const realv* q, const realv* v, realv* out) {
#ifdef SIZE_Z
  const realv* const arg[] = {q, NULL, v};
#else
  const realv* const arg[] = {q, v};
#endif
  core(arg, (realv* const[]){out});
}

/* x + span * y */
static inline void ahead(size_t n, const realv* x, double span, const realv* y, realv* out) {
#pragma GCC unroll 8
  for (size_t i = 0; i < n; ++i) out[i] = x[i] + span * y[i];
}

/* Divide every quaternion by its length. */
static void normalize(const struct program* program, realv* q) {
  for (size_t k = 0; k < program->quaternions; ++k) {
    realv* p = q + program->quaternion[k];
    const realv length = rootv(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int i = 0; i < 4; ++i) p[i] = p[i] / length;
  }
}

/* One step of a state, q and behind it v. No stages: the velocity first, then the position with
   it. Else an explicit Runge-Kutta method: the shares of the slopes on each stage, row by row,
   their weights, of which equal neighbours are added first, and what divides the weights. */
static void advance(const struct rollout* job, double* memory, const realv* parameters,
                    const realv* effort, realv* state) {
  const double h = job->dt;
  const int stages = job->stages;
  realv trial[STATE + 1], slope[stages + 1][STATE + 1];
  if (!stages) {
    accelerate(job, memory, parameters, state, state + NQ, effort, slope[0] + NQ);
    ahead(NV, state + NQ, h, slope[0] + NQ, state + NQ);
    rate_of_q(state, state + NQ, slope[0]);
    ahead(NQ, state, h, slope[0], state);
  }
  const double* share = job->tableau;
  for (int s = 0; s < stages; ++s, share += stages) {
    const realv* at = state;
    for (int j = 0; j < s; ++j) {
      if (share[j] == 0.) continue;
      ahead(STATE, at, h * share[j], slope[j], trial);
      at = trial;
    }
    rate_of_q(at, at + NQ, slope[s]);
    accelerate(job, memory, parameters, at, at + NQ, effort, slope[s] + NQ);
  }
  for (int s = 0; s < stages;) {
    const double weight = share[s];
    const int first = s;
    while (++s < stages && share[s] == weight) {
      ahead(STATE, slope[first], 1., slope[s], slope[first]);
    }
    if (first) {
      ahead(STATE, slope[0], weight, slope[first], slope[0]);
    } else if (weight != 1.) {
      for (size_t i = 0; i < STATE; ++i) slope[0][i] *= weight;
    }
  }
  if (stages) ahead(STATE, state, h / share[stages], slope[0], state);
  normalize(job->forward, state);
}

static void run_rollout(const void* pointer, size_t first, size_t last) {
  const struct rollout* job = pointer;
  const size_t ne = size_of(job->forward->input + 2);
  const size_t kept = job->whole ? job->steps : 1;
  double memory[LANES * job->forward->memory + 1];
  realv parameters[job->forward->parameters + 1];
  for (size_t k = first; k < last; k += LANES) {
    const size_t count = last - k < LANES ? last - k : LANES;
    const double* row[LANES];
    realv q[STATE + 1], *const v = q + NQ, effort[ne + 1];
    size_t lane[LANES];
    for (size_t l = 0; l < LANES; ++l) lane[l] = k + (l < count ? l : count - 1);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->q + lane[l] * job->step_q;
    read_rows(row, NQ, q);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->v + lane[l] * job->step_v;
    read_rows(row, NV, v);
    for (size_t l = 0; l < LANES; ++l) {
      row[l] = job->home + lane[l] * job->step_home + job->forward->home;
    }
    read_rows(row, job->forward->parameters, parameters);
    normalize(job->forward, q);
    memset(memory, 0, sizeof memory);
    for (size_t t = 0; t < job->steps; ++t) {
      for (size_t l = 0; l < LANES; ++l) {
        row[l] = job->effort + lane[l] * job->step_effort + t * ne;
      }
      read_rows(row, ne, effort);
      advance(job, memory, parameters, effort, q);
      if (!job->whole && t + 1 < job->steps) continue;
      const size_t place = job->whole ? t : 0;
      write_rows(q, NQ, count, job->q_out + (k * kept + place) * NQ, kept * NQ);
      write_rows(v, NV, count, job->v_out + (k * kept + place) * NV, kept * NV);
    }
  }
}
