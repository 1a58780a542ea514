/* A motion q' = N(q) v, M(q) v' = force, among one-sided walls, bounds and dry friction: what its
   programs are, where it stands, and the room that a step needs. */

/* Most contacts that are held in one step, and stages of a method of free motion. */
enum { MOST_HELD = 128, MOST_STAGES = 8 };

struct walls {
  /* Of (q, v, effort, step, wrenches), the last two where it asks for them; of (q, step);
     of (q, v): of every contact its distance, its rate and
     how much these are of a metre; of q: see block; of (q, v); of (q, v), kinetic and potential.
     distances and rows are NULL where there are no contacts. */
  const struct program *acceleration, *mass, *distances, *rows, *rate, *energy;
  size_t nq, nv, ne, contacts, rubbing, bodies, slots;
  /* In the result of `rows`: of every contact its body, a transform (3, 4) and the velocities (6, nv)
     of origin and turning, and its normal (3), or, where that is -1, one row; then rows of dry
     friction and the bounds of its forces. point: places (3) in the bodies' frames, and radius.
     partner: where the other body stands if two links touch, whose place (3) then follows the
     normal; else -1. The last contacts are slots, see `planes`. */
  const int64_t *body, *partner, *normal;
  const double* point;
  int64_t rubs, bounds;
  /* Of every row of dry friction the number in v that it is, and that in q; -1: none. */
  const int64_t *still_v, *still_q;
  const double *restitution, *friction, *home;
  /* Distance of what touches, depth of what grazes, distance where a step has landed; velocity of
     what rests; by what share laws may be missed; time in which contacts are one impact. */
  double touching, graze, closed, slow, settled, window;
  /* The method of free motion, as for rollouts; whether damping counts at the end of a step. */
  int stages, damped;
  const double* tableau;
};

/* Where a motion stands. wrenches: from outside on every body (6), NULL for none. force: of every contact the last force along its normal and two tangents,
   then those of dry friction, N or N m. slip: velocities there at the end of the last step.
   mode: of every contact 0 apart, 1 held, 2 held and sliding. lost: J that impacts and friction
   have taken; trimmed: J of errors of the steps, taken so that none is gained. residual: velocity by
   which laws were missed at most. slow, whole: v at the start of the last step, and the impulses of
   its contacts, impacts among them; NULL where nobody asks. planes: of every slot whether it is
   in use, a place (3) in the frame of its body with the radius of a ball there, and a place (3) and
   the normal (3) of a plane in the frame of its partner; NULL where there are none. */
struct walled {
  const double* planes;
  double *q, *v, *effort, *wrenches, *force, *slip, *mode, *slow, *whole;
  double time, step, lost, residual, trimmed;
  /* Impacts: see `record_impact`; how many stand there, and for how many there is room. */
  double* impacts;
  size_t hits, most_hits, merged;
  double *memory, *room;
};

/* The room of a step. Rows of contacts: S v are velocities, X = L^-1 S^T with M = L L^T, so that
   velocities answer to impulses by A = X X^T. */
struct work {
  double *q, *v, *fast, *way, *rate, *slopes;        /* states */
  double *now, *end, *column, *mass;                 /* results of programs */
  double *S, *X, *A, *b, *f, *bound, *mu, *cones;    /* the problem of the contacts */
  double *closing, *gap;
  size_t *held, *first, *tangent, *closed, count, held_rows;
  int fresh;                                         /* `now` is of q and v */
};

static size_t most_held(const struct walls* w) {
  return w->contacts < MOST_HELD ? w->contacts : MOST_HELD;
}

static size_t most_rows(const struct walls* w) { return 3 * most_held(w) + w->rubbing; }

/* Hand out the room; gives how many numbers it has. */
static size_t share_room(const struct walls* w, double* room, struct work* x) {
  const size_t state = w->nq + w->nv, m = most_rows(w) + 1, k = most_held(w) + 1;
  double* at = room;
#define ROOM(place, size) x->place = at, at += (size)
  ROOM(q, w->nq), ROOM(v, w->nv), ROOM(fast, w->nv), ROOM(way, w->nv), ROOM(rate, w->nq);
  ROOM(slopes, (MOST_STAGES + 2) * state), ROOM(now, 3 * w->contacts);
  ROOM(end, 3 * w->contacts), ROOM(column, w->rows ? w->rows->size : 0);
  ROOM(mass, w->nv * w->nv), ROOM(S, m * w->nv), ROOM(X, m * w->nv), ROOM(A, m * m);
  ROOM(b, m), ROOM(f, m), ROOM(bound, w->rubbing), ROOM(mu, k), ROOM(cones, room_of_cones(m, w->nv));
  ROOM(closing, k * k), ROOM(gap, k);
#undef ROOM
  x->held = (size_t*)at, x->first = x->held + k, x->tangent = x->first + k;
  x->closed = x->tangent + k;
  x->fresh = 0;
  return (size_t)(at - room) + 4 * k;
}

EXPORTED size_t room_of_motion(const struct walls* w) {
  struct work x;
  return share_room(w, NULL, &x);
}

/* How many numbers an impact has in the record: time, loss, q, v before and after, of every
   contact its impulses (3), restitution and whether it took part. */
EXPORTED size_t size_of_impact(const struct walls* w) {
  return 2 + w->nq + 2 * w->nv + 5 * w->contacts;
}

/* How many numbers of memory the programs need. */
EXPORTED size_t memory_of_motion(const struct walls* w) {
  const struct program* all[] = {w->acceleration, w->mass, w->distances,
                                 w->rows, w->rate, w->energy};
  size_t total = 0;
  for (size_t k = 0; k < 6; ++k) total += all[k] ? all[k]->memory : 0;
  return total;
}

/* A program at its inputs, with room for two more: behind them come home and memory. */
static void apply(const struct walls* w, const struct walled* s, const struct program* program,
                  const double** arg, double* result) {
  const struct program* all[] = {w->acceleration, w->mass, w->distances, w->rows, w->rate};
  double *memory = s->memory, *res[] = {result};
  for (size_t k = 0; k < 5 && all[k] != program; ++k) memory += all[k] ? all[k]->memory : 0;
  arg[program->inputs] = w->home;
  arg[program->inputs + 1] = memory;
  run(program, arg, res);
}

static void evaluate(const struct walls* w, const struct walled* s, const struct program* program,
                     const double* one, const double* two, double* result) {
  const double* arg[] = {one, two, NULL, NULL};
  apply(w, s, program, arg, result);
}

/* Accelerations of (q, v); `damped` is the length of the step where damping counts at its end. */
static void accelerate(const struct walls* w, const struct walled* s, const double* q,
                       const double* v, double damped, double* result) {
  const double* arg[7] = {q, v, s->effort};
  size_t inputs = 3;
  if (w->acceleration->inputs > (s->wrenches ? 4 : 3)) arg[inputs++] = &damped;
  arg[inputs] = s->wrenches;
  apply(w, s, w->acceleration, arg, result);
}

/* The slots at the column of `rows`: their normals and places there, and, where `result` is not
   NULL, their distances and rates. */
static void meet(const struct walls* w, const struct walled* s, double* column, double* result) {
  const size_t m = w->contacts, n = w->nv;
  for (size_t i = 0; s->planes && i < w->slots; ++i) {
    const double* plane = s->planes + 11 * i;
    if (plane[0] == 0.) continue;
    const size_t k = m - w->slots + i;
    const double *one = column + w->body[k], *other = column + w->partner[k];
    double *normal = column + w->normal[k], *place = normal + 3, gap = 0., rate = 0.;
    for (int r = 0; r < 3; ++r) normal[r] = dot(3, other + 4 * r, plane + 8);
    for (int r = 0; r < 3; ++r) {
      const double foot = dot(3, other + 4 * r, plane + 5) + other[4 * r + 3];
      place[r] = dot(3, one + 4 * r, plane + 1) + one[4 * r + 3] - plane[4] * normal[r];
      gap += normal[r] * (place[r] - foot);
    }
    if (!result) continue;
    for (int b = 0; b < 2; ++b) {
      const double *body = b ? other : one, *speeds = body + 12;
      double arm[3], turn[3], linear[3];
      for (int r = 0; r < 3; ++r) {
        arm[r] = place[r] - body[4 * r + 3];
        linear[r] = dot(n, speeds + r * n, s->v), turn[r] = dot(n, speeds + (3 + r) * n, s->v);
      }
      for (int r = 0; r < 3; ++r) {
        const int y = (r + 1) % 3, z = (r + 2) % 3;
        rate += (b ? -1. : 1.) * normal[r] * (linear[r] + turn[y] * arm[z] - turn[z] * arm[y]);
      }
    }
    result[k] = gap, result[m + k] = rate;
  }
}

static void measure(const struct walls* w, const struct walled* s, double* result) {
  if (w->distances) evaluate(w, s, w->distances, s->q, s->v, result);
  if (!s->planes) return;
  double column[w->rows->size];
  evaluate(w, s, w->rows, s->q, NULL, column);
  meet(w, s, column, result);
}

/* q + span N velocity */
static void move(const struct walls* w, struct walled* s, struct work* x, double span,
                 const double* velocity) {
  evaluate(w, s, w->rate, s->q, velocity, x->rate);
  add(w->nq, span, x->rate, s->q);
}

static void unit_quaternions(const struct walls* w, double* q) {
  for (size_t k = 0; k < w->rate->quaternions; ++k) {
    double* p = q + w->rate->quaternion[k];
    const double length = sqrt(dot(4, p, p));
    for (int i = 0; i < 4; ++i) p[i] /= length;
  }
}

/* The motion for a time h that nothing hinders. The methods are those of rollout.h. */
static void fly(const struct walls* w, struct walled* s, struct work* x, double h) {
  const size_t nq = w->nq, state = w->nq + w->nv;
  const double damped = w->damped ? h : 0.;
  double *q = s->q, *v = s->v, *slope = x->slopes, *trial = slope + (w->stages + 1) * state;
  if (!w->stages) {
    accelerate(w, s, q, v, damped, slope);
    add(w->nv, h, slope, v);
    move(w, s, x, h, v);
    return;
  }
  const double* share = w->tableau;
  for (int i = 0; i < w->stages; ++i, share += w->stages) {
    const double *at_q = q, *at_v = v;
    if (i) {
      memcpy(trial, q, nq * sizeof *q);
      memcpy(trial + nq, v, w->nv * sizeof *v);
      for (int j = 0; j < i; ++j) {
        if (share[j] != 0.) add(state, h * share[j], slope + j * state, trial);
      }
      at_q = trial, at_v = trial + nq;
    }
    evaluate(w, s, w->rate, at_q, at_v, slope + i * state);
    accelerate(w, s, at_q, at_v, damped, slope + i * state + nq);
  }
  const double scale = h / share[w->stages];
  for (int i = 0; i < w->stages; ++i) {
    add(nq, scale * share[i], slope + i * state, q);
    add(w->nv, scale * share[i], slope + i * state + nq, v);
  }
}
