/* The loop over many motions: forward dynamics integrated, several at once in vectors. It stands
   behind batch.h in the library of the rate of q at (q, v), where the C compiler knows all sizes
   and the methods, METHODS(each): each(name, stages, tableau). */
#include <stdlib.h>

typedef realv Real;
#include "runge_kutta.h"

#define SIZED(i, size, place) SIZE_##i = size,
enum { INPUTS(SIZED) NQ = SIZE_0, NV = SIZE_1, STATE = NQ + NV };

/* Accelerations, NaN where loops cannot be closed. */
static inline void accelerate(const struct rollout* job, double* memory, const realv* parameters,
                              const realv* q, const realv* v, const realv* effort, realv* a) {
  realv* const res[] = {a};
#ifdef SIZE_Z
  realv z[SIZE_Z];
  const bitsv closed = close_lanes(job->forward, q, job->home, memory, z);
  job->forward->batched((const realv* const[]){q, z, v, effort, parameters}, res);
  for (size_t i = 0; i < NV; ++i) a[i] = selectv(closed, a[i], allv(NAN));
#else
  job->forward->batched((const realv* const[]){q, v, effort, parameters}, res);
#endif
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

/* Divide every quaternion by its length. */
static void normalize(const struct program* program, realv* q) {
  for (size_t k = 0; k < program->quaternions; ++k) {
    realv* p = q + program->quaternion[k];
    const realv length = rootv(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int i = 0; i < 4; ++i) p[i] = p[i] / length;
  }
}

/* One step of a state, q and behind it v. No stages: the velocity first, then the position with
   it. Else an explicit Runge-Kutta method. */
static inline __attribute__((always_inline))
void advance(const struct rollout* job, double* memory, const realv* parameters,
             const realv* effort, realv* state, size_t stages, const double* tableau,
             realv (*slope)[STATE]) {
  realv trial[STATE];
  if (!stages) {
    accelerate(job, memory, parameters, state, state + NQ, effort, slope[0] + NQ);
    for (size_t i = 0; i < NV; ++i) state[NQ + i] += job->dt * slope[0][NQ + i];
    rate_of_q(state, state + NQ, slope[0]);
    for (size_t i = 0; i < NQ; ++i) state[i] += job->dt * slope[0][i];
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < stages; ++i) {
    stage_state(STATE, STATE, job->dt, stages, tableau, i, state, slope[0], trial);
    rate_of_q(trial, trial + NQ, slope[i]);
    accelerate(job, memory, parameters, trial, trial + NQ, effort, slope[i] + NQ);
  }
  if (stages) add_stages(STATE, STATE, job->dt, stages, tableau, slope[0], state);
  normalize(job->forward, state);
}

#define METHOD(name, stages, ...) \
  static void advance_##name(const struct rollout* job, double* memory, const realv* parameters, \
                             const realv* effort, realv* state) { \
    static const double tableau[] = {__VA_ARGS__}; \
    realv slope[stages + 1][STATE]; \
    advance(job, memory, parameters, effort, state, stages, tableau, slope); \
  }
METHODS(METHOD)

static void run_rollout(const void* pointer, size_t first, size_t last) {
#define STEP(name, ...) advance_##name,
  static void (*const step[])(const struct rollout*, double*, const realv*, const realv*, realv*) =
      {METHODS(STEP)};
  const struct rollout* job = pointer;
  const size_t kept = job->whole ? job->steps : 1;
#ifdef SIZE_Z
  const size_t remembered = LANES * job->forward->memory * sizeof(double);
  double* const memory = malloc(remembered);
  if (!memory) {
    for (size_t i = first * kept * NQ; i < last * kept * NQ; ++i) job->q_out[i] = NAN;
    for (size_t i = first * kept * NV; i < last * kept * NV; ++i) job->v_out[i] = NAN;
    return;
  }
#else
  double* const memory = NULL;
#endif
  realv parameters[PARAMETERS + 1];
  for (size_t k = first; k < last; k += LANES) {
    const size_t count = last - k < LANES ? last - k : LANES;
    const double* row[LANES];
    realv q[STATE + 1], *const v = q + NQ, effort[NE + 1];
    size_t lane[LANES];
    for (size_t l = 0; l < LANES; ++l) lane[l] = k + (l < count ? l : count - 1);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->q + lane[l] * job->step_q;
    read_rows(row, NQ, q);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->v + lane[l] * job->step_v;
    read_rows(row, NV, v);
    for (size_t l = 0; l < LANES; ++l) {
      row[l] = job->home + lane[l] * job->step_home + job->forward->home;
    }
    read_rows(row, PARAMETERS, parameters);
    normalize(job->forward, q);
#ifdef SIZE_Z
    memset(memory, 0, remembered);
#endif
    bitsv left = {0};
    for (size_t t = 0; t < job->steps; ++t) {
      for (size_t l = 0; l < LANES; ++l) {
        row[l] = job->effort + lane[l] * job->step_effort + t * NE;
      }
      read_rows(row, NE, effort);
      step[job->method](job, memory, parameters, effort, q);
      if (!job->whole && t + 1 < job->steps) continue;
      const size_t place = job->whole ? t : 0;
      write_rows(q, NQ, count, job->q_out + (k * kept + place) * NQ, kept * NQ);
      write_rows(v, NV, count, job->v_out + (k * kept + place) * NV, kept * NV);
    }
    for (size_t i = 0; i < NQ; ++i) {
      left |= isv(q[i] < job->limits[i]) | isv(q[i] > job->limits[NQ + i]);
    }
    if (anyv(left)) __atomic_store_n(job->left, 1, __ATOMIC_RELAXED);
  }
#ifdef SIZE_Z
  free(memory);
#endif
}
