/* A motion q' = N(q) v, M(q) v' = force, among one-sided walls, bounds and dry friction: what its
   programs are, where it stands, and the room that a step needs. */

#define LAW 1e-8  /* velocity by which a law is met */
#define PULL 1e-9 /* share of the greatest push that counts as nothing */

/* Most contacts that are held in one step, stages of a method of free motion, problems of a step, and
   how often their rows are taken again. */
enum { MOST_HELD = 128, MOST_STAGES = 8, MOST_PASSES = 5, MOST_SHIFTS = 2 };

enum { PLANE = 14 }; /* numbers of a slot, see `planes` */

/* For vectors of states; `rate` below is one, too. */
struct programs {
  const struct program *acceleration, *mass, *distances, *rows, *energy;
};

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
     normal; -2 where that is of a rim; else -1. The last contacts are slots, see `planes`. */
  const int64_t *body, *partner, *normal;
  const double* point;
  int64_t rubs, bounds;
  /* Which numbers of M and of rows are not zero, see `sparse_template.h`: of every coordinate, and of
     every contact and then of every row of dry friction, where theirs begin. */
  const int64_t *path_start, *reach_start;
  const int32_t *path, *reach;
  /* How far distances change at most with q and, their rates, with v; NULL: nobody knows. */
  const double *travel_q, *travel_v;
  /* Of every row of dry friction the number in v that it is, and that in q; -1: none. */
  const int64_t *still_v, *still_q;
  const double *restitution, *friction, *home;
  /* Distance of what touches, depth of what grazes, distance where a step has landed; velocity of
     what rests; by what share laws may be missed; time in which contacts are one impact. */
  double touching, graze, closed, slow, settled, window;
  /* The method of free motion, as for rollouts; whether damping counts at the end of a step. */
  int stages, damped;
  const double* tableau;
  /* The programs for vectors of states; NULL where there are none. */
  const struct programs* vectors;
  /* Convex shapes that may touch in slots, see `near_solids.h`; NULL where there are none. */
  const struct solids* solids;
};

/* Where a motion stands. wrenches: from outside on every body (6), NULL for none. force: of every contact the last force along its normal and two tangents,
   then those of dry friction, N or N m. slip: velocities there at the end of the last step.
   mode: of every contact 0 apart, 1 held, 2 held and sliding. lost: J that impacts and friction
   have taken; trimmed: J of errors of the steps, taken so that none is gained. residual: velocity by
   which laws were missed at most. slow, whole: v at the start of the last step, and the impulses of
   its contacts, impacts among them; NULL where nobody asks. planes: of every slot whether it is
   in use, a place (3) in the frame of its body with the radius of a ball there, a place (3) and
   the normal (3) of a plane in the frame of its partner, where both stand in the result of `rows`,
   and twice the number of its pair of shapes, one more where the body is that of the second. blocks:
   see `near_solids.h`. crowded: whether more pairs were near than have room. clear: how far from
   its wall everything was, how many steps are to go to the next look, and q there, see
   `clearance.h`. */
struct walled {
  double *planes, *blocks, *clear;
  size_t crowded;
  double *q, *v, *effort, *wrenches, *force, *slip, *mode, *slow, *whole;
  double time, step, lost, residual, trimmed;
  /* Impacts: see `record_impact`; how many stand there, and for how many there is room. */
  double* impacts;
  size_t hits, most_hits, merged;
  /* Problems whose impulses miss a law by more than LAW; parts of steps in which a contact may have
     passed its wall unseen, and which and when the last one was; the greatest depth at an end, m;
     one more than the number of a contact whose wall has no value, normal or inside. */
  size_t unsettled, unseen, passed, unsound;
  double passed_at, deepest;
  double *memory, *room;
};

static size_t most_held(const struct walls* w) {
  return w->contacts < MOST_HELD ? w->contacts : MOST_HELD;
}

static size_t most_rows(const struct walls* w) { return 3 * most_held(w) + w->rubbing; }

/* How many numbers an impact has in the record: time, loss, q, v before and after, of every
   contact its impulses (3), restitution and whether it took part, and the planes. */
EXPORTED size_t size_of_impact(const struct walls* w) {
  return 2 + w->nq + 2 * w->nv + 5 * w->contacts + PLANE * w->slots;
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

static void evaluate1(const struct walls* w, const struct walled* s, const struct program* program,
                     const double* one, const double* two, double* result) {
  const double* arg[] = {one, two, NULL, NULL};
  apply(w, s, program, arg, result);
}

/* Accelerations of (q, v); `damped` is the length of the step where damping counts at its end. */
static void accelerate1(const struct walls* w, const struct walled* s, const double* q,
                       const double* v, double damped, double* result) {
  const double* arg[7] = {q, v, s->effort};
  size_t inputs = 3;
  if (w->acceleration->inputs > (s->wrenches ? 4 : 3)) arg[inputs++] = &damped;
  arg[inputs] = s->wrenches;
  apply(w, s, w->acceleration, arg, result);
}

/* The slots at the column of `rows`: their normals and places there, and, where `result` is not
   NULL, their distances and rates. */
static void meet(const struct walls* w, const struct walled* s, const double* v,
                 double* column, double* result) {
  const size_t m = w->contacts, n = w->nv;
  for (size_t i = 0; s->planes && i < w->slots; ++i) {
    const double* plane = s->planes + PLANE * i;
    if (plane[0] == 0.) continue;
    const size_t k = m - w->slots + i;
    const double *one = column + (size_t)plane[11], *other = column + (size_t)plane[12];
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
        linear[r] = dot(n, speeds + r * n, v), turn[r] = dot(n, speeds + (3 + r) * n, v);
      }
      for (int r = 0; r < 3; ++r) {
        const int y = (r + 1) % 3, z = (r + 2) % 3;
        rate += (b ? -1. : 1.) * normal[r] * (linear[r] + turn[y] * arm[z] - turn[z] * arm[y]);
      }
    }
    result[k] = gap, result[m + k] = rate;
  }
}

static void measure_slots(const struct walls* w, const struct walled* s, const double* q,
                          const double* v, double* result) {
  double column[w->rows->size];
  evaluate1(w, s, w->rows, q, NULL, column);
  meet(w, s, v, column, result);
}
