/* Many motions among walls, each as `walled_steps` takes them one by one. */
#include <stdlib.h>

struct walled_rollout {
  const struct walls* walls;
  const double *q, *v, *effort;
  size_t step_q, step_v, step_effort, steps;
  double dt, *q_out, *v_out;
  int whole;
};

static void keep_place(const struct walled_rollout* job, size_t k, size_t t, const double* q,
                       const double* v) {
  const size_t nq = job->walls->nq, nv = job->walls->nv;
  const size_t at = job->whole ? k * job->steps + t : k;
  memcpy(job->q_out + at * nq, q, nq * sizeof *q);
  memcpy(job->v_out + at * nv, v, nv * sizeof *v);
}

static void run_walled_rollout(const void* pointer, size_t first, size_t last) {
  const struct walled_rollout* job = pointer;
  const struct walls* w = job->walls;
  const size_t forces = 3 * w->contacts + w->rubbing, known = forces + 4 * w->contacts;
  const size_t memory = memory_of_motion(w) + 1, room = room_of_motion(w);
  double* numbers = malloc((w->nq + w->nv + known + memory + room) * sizeof *numbers);
  for (size_t k = first; k < last; ++k) {
    struct walled s = {.q = numbers, .v = numbers + w->nq, .step = job->dt};
    s.force = s.v + w->nv, s.slip = s.force + forces, s.mode = s.slip + 3 * w->contacts;
    s.memory = s.mode + w->contacts, s.room = s.memory + memory;
    if (numbers) {
      memcpy(s.q, job->q + k * job->step_q, w->nq * sizeof *s.q);
      memcpy(s.v, job->v + k * job->step_v, w->nv * sizeof *s.v);
      memset(s.force, 0, (known + memory) * sizeof *s.force);
      unit_quaternions(w, s.q);
    }
    int lost = !numbers;
    for (size_t t = 0; t < job->steps; ++t) {
      s.effort = (double*)job->effort + k * job->step_effort + t * w->ne;
      if (!lost && walled_steps(w, &s, 1) < 0) {
        lost = 1;
        for (size_t i = 0; i < w->nq + w->nv; ++i) numbers[i] = NAN;
      }
      if (!lost && (job->whole || t + 1 == job->steps)) keep_place(job, k, t, s.q, s.v);
      if (!lost || !(job->whole || t + 1 == job->steps)) continue;
      const size_t at = job->whole ? k * job->steps + t : k;
      for (size_t i = 0; i < w->nq; ++i) job->q_out[at * w->nq + i] = NAN;
      for (size_t i = 0; i < w->nv; ++i) job->v_out[at * w->nv + i] = NAN;
    }
  }
  free(numbers);
}

/* n motions of `steps` steps. A step_ of 0 uses the same start or efforts for all. */
EXPORTED void walled_rollout(const struct walls* walls, size_t n, size_t steps, const double* q,
                             size_t step_q, const double* v, size_t step_v, const double* effort,
                             size_t step_effort, double dt, int whole, double* q_out,
                             double* v_out, int threads) {
  const struct walled_rollout job = {.walls = walls, .q = q, .v = v, .effort = effort,
                                     .step_q = step_q, .step_v = step_v,
                                     .step_effort = step_effort, .steps = steps, .dt = dt,
                                     .q_out = q_out, .v_out = v_out, .whole = whole};
  share_out(n, 1, threads, run_walled_rollout, &job);
}
