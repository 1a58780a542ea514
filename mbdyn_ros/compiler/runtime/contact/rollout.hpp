/* Many motions among walls, each as `walled_steps` takes them one by one. */
#pragma once
#include <stdlib.h>

#include "../rows.h"
#include "step_lanes.hpp"


struct walled_rollout {
  const struct walls* walls;
  const double *q, *v, *effort;
  size_t step_q, step_v, step_effort, steps;
  double dt, *q_out, *v_out;
  double *force_out, *planes_out; /* as a motion has them, after every step; null: not wanted */
  int whole;
  long (*steps_alone)(const struct walls*, struct motion*, long); /* `walled_steps` */
  size_t* unseen;  /* of all motions */
  char* unsound;   /* of every motion: 1 where it has met a wall that is, 1 more than what had no room */
};

/* Room for a motion: its state and what is known of its contacts. */
static size_t share_motion(const struct walls* w, double* at, double dt, struct motion* s) {
  double* const start = at;
  *s = motion{};
  s->step = dt;
#define ROOM(place, size) s->place = at, at += (size)
  ROOM(q, w->nq), ROOM(v, w->nv), ROOM(force, 3 * w->contacts + w->rubbing);
  ROOM(trend, w->contacts), ROOM(slip, 3 * w->contacts), ROOM(mode, w->contacts), ROOM(reaction, PAST * w->nv), ROOM(memory, memory_of_motion(w) + 1);
  ROOM(clear, w->nq + 2), ROOM(room, room_of_motion(w));
  if (w->slots) ROOM(planes, PLANE * w->slots), ROOM(blocks, w->slots);
#undef ROOM
  return (size_t)(at - start);
}

/* The state of a motion after step t, and its contacts where they are wanted; NaN if it is lost. */
static void keep_place(const struct walled_rollout* job, size_t k, size_t t, const struct motion* s,
                       int lost) {
  const struct walls* w = job->walls;
  const size_t nq = w->nq, nv = w->nv, forces = 3 * w->contacts, planes = PLANE * w->slots;
  if (!job->whole && t + 1 < job->steps) return;
  const size_t at = job->whole ? k * job->steps + t : k;
  for (size_t i = 0; i < nq; ++i) job->q_out[at * nq + i] = lost ? NAN : s->q[i];
  for (size_t i = 0; i < nv; ++i) job->v_out[at * nv + i] = lost ? NAN : s->v[i];
  if (!job->force_out) return;
  for (size_t i = 0; i < forces; ++i) job->force_out[at * forces + i] = lost ? NAN : s->force[i];
  for (size_t i = 0; i < planes; ++i) job->planes_out[at * planes + i] = lost ? NAN : s->planes[i];
}

static void start_alone(const struct walled_rollout* job, size_t k, struct motion* s) {
  const struct walls* w = job->walls;
  memcpy(s->q, job->q + k * job->step_q, w->nq * sizeof *s->q);
  memcpy(s->v, job->v + k * job->step_v, w->nv * sizeof *s->v);
  memset(s->force, 0, (size_t)(s->room - s->force) * sizeof *s->force);
  if (w->slots) memset(s->planes, 0, (PLANE + 1) * w->slots * sizeof *s->planes);
  unit_quaternions(w, s->q);
}

static void note_unsound(const struct walled_rollout* job, size_t k, struct motion* s) {
  if (s->unsound) job->unsound[k] = 1;
  if (s->crowded) job->unsound[k] = (char)(1 + s->crowded);
  s->unsound = s->crowded = 0;
}

static void roll_alone(const struct walled_rollout* job, size_t k, struct motion* s) {
  int lost = 0;
  start_alone(job, k, s);
  for (size_t t = 0; t < job->steps; ++t) {
    s->effort = (double*)job->effort + k * job->step_effort + t * job->walls->ne;
    lost |= !lost && job->steps_alone(job->walls, s, 1) < 0;
    note_unsound(job, k, s);
    keep_place(job, k, t, s, lost);
  }
}

/* The numbers that a motion keeps from step to step, and how many of each. */
enum { KEPT = 7 };
#define KEPT_OF(s) {(s)->q, (s)->v, (s)->force, (s)->trend, (s)->slip, (s)->mode, (s)->reaction}
#define SIZES_OF(w) \
  {(w)->nq, (w)->nv, 3 * (w)->contacts + (w)->rubbing, (w)->contacts, 3 * (w)->contacts, (w)->contacts, PAST * (w)->nv}

/* `count` motions from the first on, together. old: what they kept before the step. */
static void roll_lanes(const struct walled_rollout* job, size_t first, size_t count,
                          struct motion* one, struct motion_lanes* s, struct motion_lanes* old,
                          Work<realv>* x) {
  const struct walls* w = job->walls;
  const size_t size[] = SIZES_OF(w);
  double* alone[] = KEPT_OF(one);
  realv *lanes[] = KEPT_OF(s), *before[] = KEPT_OF(old);
  size_t lane[LANES];
  const double* row[LANES];
  bitsv open = {};
  for (size_t l = 0; l < LANES; ++l) {
    lane[l] = first + (l < count ? l : 0);
    open[l] = l < count ? -1 : 0;
    start_alone(job, lane[l], one);
    for (int i = 0; i < KEPT; ++i) {
      for (size_t j = 0; j < size[i]; ++j) lanes[i][j][l] = alone[i][j];
    }
  }
  x->fresh = 0;
  size_t unseen = 0;
  for (size_t t = 0; t < job->steps; ++t) {
    for (size_t l = 0; l < LANES; ++l) {
      row[l] = job->effort + lane[l] * job->step_effort + t * w->ne;
    }
    read_rows(row, w->ne, s->effort);
    for (int i = 0; i < KEPT; ++i) copy(size[i], lanes[i], before[i]);
    const bitsv odd = step_lanes(w, s, x, job->dt, open, old, &unseen);
    for (size_t l = 0; l < LANES; ++l) {
      if (!odd[l]) continue;
      for (int i = 0; i < KEPT; ++i) {
        for (size_t j = 0; j < size[i]; ++j) alone[i][j] = before[i][j][l];
      }
      one->effort = (double*)row[l];
      if (job->steps_alone(w, one, 1) < 0) open[l] = 0;
      note_unsound(job, lane[l], one);
      for (int i = 0; i < KEPT && open[l]; ++i) {
        for (size_t j = 0; j < size[i]; ++j) lanes[i][j][l] = alone[i][j];
      }
      x->fresh = 0;
    }
    for (size_t l = 0; l < count; ++l) {
      for (size_t j = 0; j < w->nq; ++j) one->q[j] = s->q[j][l];
      for (size_t j = 0; j < w->nv; ++j) one->v[j] = s->v[j][l];
      for (size_t j = 0; job->force_out && j < 3 * w->contacts; ++j) one->force[j] = s->force[j][l];
      keep_place(job, lane[l], t, one, !open[l]);
    }
  }
  one->unseen += unseen;
}

/* Room of lanes, as in `share_motion`. */
static size_t share_lanes(const struct walls* w, realv* at, struct motion_lanes* s) {
  const size_t size[] = SIZES_OF(w);
  realv *const start = at, **place[] = {&s->q, &s->v, &s->force, &s->trend, &s->slip, &s->mode, &s->reaction};
  for (int i = 0; i < KEPT; ++i) *place[i] = at, at += size[i] + 1;
  s->effort = at;
  return (size_t)(at - start) + w->ne + 1;
}

static void run_walled_rollout(const void* pointer, size_t first, size_t last) {
  const struct walled_rollout* job = (const struct walled_rollout*)pointer;
  const struct walls* w = job->walls;
  const size_t parameters = w->vectors ? w->vectors->acceleration->parameters : 0;
  struct motion one;
  struct motion_lanes s = {}, old = {};
  Work<realv> x;
  size_t vectors = 0;
  if (w->vectors) {
    vectors = 2 * share_lanes(w, nullptr, &s) + share_room<realv>(w, nullptr, &x) + parameters;
  }
  const size_t bytes = vectors * sizeof(realv) + share_motion(w, nullptr, 0., &one) * sizeof(double);
  realv* at = (realv*)aligned_alloc(sizeof(realv), (bytes / sizeof(realv) + 1) * sizeof(realv));
  if (!at) {
    for (size_t k = first; k < last; ++k) {
      for (size_t t = 0; t < job->steps; ++t) keep_place(job, k, t, nullptr, 1);
    }
    return;
  }
  share_motion(w, (double*)(at + vectors), job->dt, &one);
  if (!w->vectors) {
    for (size_t k = first; k < last; ++k) roll_alone(job, k, &one);
  } else {
    realv *known = at, *room = known + parameters;
    const double* home = w->home + w->vectors->acceleration->home;
    for (size_t i = 0; i < parameters; ++i) known[i] = all<realv>(home[i]);
    room += share_lanes(w, room, &s);
    room += share_lanes(w, room, &old);
    s.parameters = known;
    share_room(w, room, &x);
    for (size_t k = first; k < last; k += LANES) {
      roll_lanes(job, k, last - k < LANES ? last - k : LANES, &one, &s, &old, &x);
    }
  }
  __atomic_fetch_add(job->unseen, one.unseen, __ATOMIC_RELAXED);
  free(at);
}

/* n motions of `steps` steps. A step_ of 0 uses the same start or efforts for all. */
EXPORTED void walled_rollout(const struct walls* walls, size_t n, size_t steps, const double* q,
                             size_t step_q, const double* v, size_t step_v, const double* effort,
                             size_t step_effort, double dt, int whole, double* q_out,
                             double* v_out, double* force_out, double* planes_out,
                             long (*steps_alone)(const struct walls*, struct motion*, long),
                             size_t* unseen, char* unsound, int threads) {
  const struct walled_rollout job = {.walls = walls, .q = q, .v = v, .effort = effort,
                                     .step_q = step_q, .step_v = step_v,
                                     .step_effort = step_effort, .steps = steps, .dt = dt,
                                     .q_out = q_out, .v_out = v_out, .force_out = force_out,
                                     .planes_out = planes_out, .whole = whole,
                                     .steps_alone = steps_alone,
                                     .unseen = unseen, .unsound = unsound};
  share_out(n, LANES, threads, run_walled_rollout, &job);
}
