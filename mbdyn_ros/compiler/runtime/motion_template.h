/* Motions among walls at one state, or at a vector of them: their room, their programs, and how they
   move where nothing hinders. */

/* The room of a step. Rows of contacts: S v are velocities, X = L^-T S^T with M = L^T L, so that
   velocities answer to impulses by A = X^T X. */
struct F(work) {
  REAL *q, *v, *fast, *way, *rate, *slopes, *at_q, *at_v; /* states */
  REAL *old_q, *old_v;                                    /* where the step began */
  REAL *start, *now, *end, *column, *mass;                /* results of programs */
  REAL *S, *X, *A, *b, *f, *bound, *cones;                /* the problem of the contacts */
  REAL *closing, *gap, *shift;
  double* mu;
  size_t *held, *first, *tangent, count, held_rows;
  int64_t *body, *partner;                                /* of every contact, see `walls` */
  const int32_t** reach;                                  /* of every row, and how many */
  size_t *reaches, *whose;                                /* and of which contact it is */
  BITS *on, *closed;                                      /* where each of the held is held */
  int fresh, clear;                                       /* `now` is of q and v; nothing is near */
  int idle, clean;                                        /* no forces of contacts; `whole` is zero */
};

/* Hand out the room; gives how many numbers it has. */
static size_t F(share_room)(const struct walls* w, REAL* room, struct F(work)* x) {
  const size_t state = w->nq + w->nv, m = most_rows(w) + 1, k = most_held(w) + 1;
  REAL* at = room;
#define ROOM(place, size) x->place = (void*)at, at += (size)
  ROOM(q, w->nq), ROOM(v, w->nv), ROOM(fast, w->nv), ROOM(way, w->nv), ROOM(rate, w->nq);
  ROOM(slopes, (MOST_STAGES + 2) * state), ROOM(at_q, w->nq), ROOM(at_v, w->nv);
  ROOM(old_q, w->nq), ROOM(old_v, w->nv);
  ROOM(start, 3 * w->contacts), ROOM(now, 3 * w->contacts), ROOM(end, 3 * w->contacts);
  ROOM(column, w->rows ? w->rows->size : 0), ROOM(mass, w->nv * w->nv);
  ROOM(S, m * w->nv), ROOM(X, m * w->nv), ROOM(A, m * m), ROOM(b, m), ROOM(f, m);
  ROOM(bound, w->rubbing), ROOM(cones, room_of_cones(m, w->nv)), ROOM(closing, k * k);
  ROOM(gap, k), ROOM(shift, k), ROOM(mu, k), ROOM(held, k), ROOM(first, k), ROOM(tangent, k), ROOM(reach, m);
  ROOM(reaches, m), ROOM(whose, m), ROOM(on, k), ROOM(closed, k);
  x->body = (int64_t*)w->body, x->partner = (int64_t*)w->partner;
  if (w->slots) ROOM(body, w->contacts), ROOM(partner, w->contacts);
#undef ROOM
  x->fresh = x->clear = x->idle = x->clean = 0;
  return (size_t)(at - room);
}

static void F(measure)(const struct walls* w, const WALLED* s, const REAL* q, const REAL* v,
                       REAL* result) {
  if (w->distances) F(evaluate)(w, s, PROGRAM(w, distances), q, v, result);
#if SUFFIX == 1
  if (s->planes) measure_slots(w, s, q, v, result);
#endif
}

static void F(unit_quaternions)(const struct walls* w, REAL* q) {
  for (size_t k = 0; k < w->rate->quaternions; ++k) {
    REAL* p = q + w->rate->quaternion[k];
    REAL square = p[0] * p[0];
    for (int i = 1; i < 4; ++i) square += p[i] * p[i];
    const REAL length = F(root)(square);
    for (int i = 0; i < 4; ++i) p[i] /= length;
  }
}

/* q + span N velocity, of which quaternions have unit length */
static void F(move)(const struct walls* w, const WALLED* s, struct F(work)* x, double span,
                    const REAL* velocity, REAL* q) {
  F(rate_of)(w, s, q, velocity, x->rate);
  F(add_to)(w->nq, ALL(span), x->rate, q);
  F(unit_quaternions)(w, q);
}

/* The motion for a time h that nothing hinders. The methods are those of rollout.h. */
static void F(fly)(const struct walls* w, WALLED* s, struct F(work)* x, double h) {
  const size_t nq = w->nq, state = w->nq + w->nv;
  const double damped = w->damped ? h : 0.;
  REAL *q = s->q, *v = s->v, *slope = x->slopes, *trial = slope + (w->stages + 1) * state;
  if (!w->stages) {
    F(accelerate)(w, s, q, v, damped, slope);
    F(add_to)(w->nv, ALL(h), slope, v);
    F(move)(w, s, x, h, v, q);
    return;
  }
  const double* share = w->tableau;
  for (int i = 0; i < w->stages; ++i, share += w->stages) {
    const REAL *at_q = q, *at_v = v;
    if (i) {
      F(copy)(nq, q, trial);
      F(copy)(w->nv, v, trial + nq);
      for (int j = 0; j < i; ++j) {
        if (share[j] != 0.) F(add_to)(state, ALL(h * share[j]), slope + j * state, trial);
      }
      at_q = trial, at_v = trial + nq;
    }
    F(rate_of)(w, s, at_q, at_v, slope + i * state);
    F(accelerate)(w, s, at_q, at_v, damped, slope + i * state + nq);
  }
  const double scale = h / share[w->stages];
  for (int i = 0; i < w->stages; ++i) {
    F(add_to)(nq, ALL(scale * share[i]), slope + i * state, q);
    F(add_to)(w->nv, ALL(scale * share[i]), slope + i * state + nq, v);
  }
  F(unit_quaternions)(w, q);
}
