/* The data of a step, one table each: `walls`, what does not change (the robot's programs, its
   contacts, laws and tolerances), and `motion`, where one motion stands. Python makes both from the
   text of these structures (`compiler/runtime/library.py`), so every field stands in one place.

   nq, nv, ne: positions, velocities, efforts. m = contacts. MANY of the contacts are `slots` for
   pairs of convex shapes, whose planes change from step to step. */
#pragma once
#include "dense.hpp"
#include "number.hpp"
#include "../pool.c"
#include "../run.c"

#define LAW 1e-8  /* m/s by which a law is met */
#define PULL 1e-9 /* share of the greatest push that counts as nothing */

/* Most stages of a method of free motion, problems of a step, and how often they are shifted before
   their rows are taken again. */
enum { MOST_STAGES = 8, MOST_PASSES = 5, MOST_SHIFTS = 2 };

/* What a step found no room for, so that it is to be taken again with more. */
enum { PAIRS = 1, CONTACTS = 2 };

enum { PLANE = 22 }; /* numbers of a slot, see `planes` */
enum { PAST = 3 };   /* steps whose reactions are known */

struct solids;
struct mobility;
struct motion;
template <class Real> struct Work;

/* The programs for vectors of states; the rate of q is one itself. */
struct programs {
  const struct program *acceleration, *mass, *distances, *rows, *energy;
};

struct walls {
  const struct program* acceleration; /* of (q, v, effort[, step, slides][, wrenches]) */
  const struct program* mass;         /* M of (q[, step]) */
  const struct program* distances;    /* of (q, v): distance (m), rate (m), metres of each (m) */
  const struct program* rows;         /* of q: transforms, velocities and normals, see `body` */
  const struct program* rate;         /* q' of (q, v), for vectors if not v itself */
  const struct program* energy;       /* kinetic and potential, of (q, v) */
  size_t nq, nv, ne;
  size_t contacts, rubbing; /* and rows of dry friction of joints */
  size_t most_active;       /* contacts that there is room for in one step */
  size_t bodies, slots;     /* slots: the last contacts */
  /* Where numbers stand in the result of `rows`, of every contact (m): */
  const int64_t* body;    /* transform (3, 4), then the centre (3) of its tree */
  const int64_t* partner; /* the same of the other body; -2: a rim's place follows; -1: none */
  const int64_t* normal;  /* (3), then the partner's place (3); -1: `body` is one row (nv) */
  const struct mobility* mobility; /* what moves the bodies there, see contact_jacobian.hpp */
  const double* point;    /* (m, 4): place in the body's frame, m, and radius, m */
  int64_t rubs, bounds;   /* rows (rubbing, nv) of dry friction, and bounds (rubbing) of its forces */
  size_t rates;           /* velocities of the tree's joints: how many `slides` the accelerations take */
  const int64_t* slides;  /* (rubbing): whose it is there */
  /* Which numbers are not zero, see mass_factor.hpp: */
  const int64_t *path_start, *reach_start; /* (nv + 1), (m + rubbing + 1) */
  const int32_t *path, *reach;
  const double *travel_q, *travel_v;      /* (nq), (nv): most that distances and rates change */
  const int64_t *still_v, *still_q;       /* (rubbing): its number in v and q, or -1 */
  const double *restitution, *friction;   /* (m), (m) */
  const double* laws;                     /* (m) as wall_laws.hpp has them; NULL: there are none */
  const int64_t* given;                   /* (givens): the velocities that nothing changes */
  size_t givens;
  const int64_t* beyond;                  /* (beyonds): the stops that are out of reach */
  size_t beyonds;
  const double* home;                     /* see `program.home` */
  double touching; /* m at which contacts touch */
  double graze;    /* m of depth that does not count as an impact */
  double closed;   /* m at which a step has landed */
  double slow;     /* m/s of what rests */
  double settled;  /* share of the velocities by which laws may be missed */
  double window;   /* s in which contacts are one impact */
  int constant_mass; /* whether M is the same at every q */
  int stages, damped; /* of the method of free motion; whether damping counts at a step's end */
  const double* tableau; /* of the method, as for rollouts */
  const struct programs* vectors; /* NULL where there are none */
  const struct solids* solids;    /* convex shapes that may touch in slots; NULL: none */
  int (*broad_phase)(const struct walls*, struct motion*, Work<double>*); /* finds which; NULL too */
  /* the gap of a slot with courses, its place and normal, from the poses of its bodies; NULL too */
  double (*follow)(const struct solids*, const double*, const double*, const double*, double*, double*);
};

struct motion {
  /* (slots, PLANE): 1 where in use; place (3) on the body and radius of a ball there; place (3) and
     normal (3) of a plane on the partner; where body and partner stand in the result of `rows`;
     twice the number of the pair, one more where the body is that of the second shape; the courses of
     both places, 0 where they stay, and a vector (3) of each: see courses.hpp. */
  double* planes;
  double* blocks;  /* (slots / MOST_POINTS, 4): see broad_phase.hpp */
  double* clear;   /* (2 + nq): m to the nearest wall, steps to the next look, and q there */
  size_t crowded;  /* PAIRS near each other, or active CONTACTS, were more than have room; else 0 */
  double *q, *v, *effort; /* (nq), (nv), (ne) */
  double* wrenches;       /* (bodies, 6) from outside; NULL: none */
  double* force;   /* (3 m + rubbing): last forces along normal and tangents; of dry friction */
  double* slip;    /* (3 m): velocities there at the end of the last step */
  double* trend;   /* (m): how much forces along normals changed from the step before to the last */
  double* turning; /* (3 m): moments about normal and tangents, as `force`; NULL without `laws` */
  double* mode;    /* (m): 0 apart, 1 active, 2 active and sliding */
  double* reaction; /* (PAST, nv): accelerations by contacts that last, in the last step first; else 0 */
  double* slow;    /* (nv): v at the start of the last step; NULL where nobody asks */
  double* whole;   /* (3 m): impulses of its contacts, impacts among them; NULL likewise */
  double time, step;       /* s */
  double lost, residual, trimmed; /* J taken; m/s by which laws were missed; J of errors taken */
  double* impacts;         /* (most_hits, size_of_impact): see `record_impact` */
  size_t hits, most_hits;  /* impacts there, and how many have room */
  size_t merged;           /* steps in which impacts without end became contacts */
  size_t unsettled;        /* problems that miss a law by more than LAW */
  size_t unseen, passed;   /* how often a contact may have passed its wall, and the last one */
  size_t unsound;          /* one more than a contact whose wall has no value, normal or inside */
  double passed_at, deepest; /* s; m */
  double *memory, *room;   /* (memory_of_motion), (room_of_motion) */
};

/* A vector of motions among walls: as `motion`, number by number. Programs are those for vectors of
   states; no loops are closed in these. */
struct motion_lanes {
  realv *q, *v, *effort, *force, *trend, *slip, *mode, *reaction;
  realv lost, residual;
  const realv* parameters;
};

template <class Real> struct MotionOf { using type = motion; };
template <> struct MotionOf<realv> { using type = motion_lanes; };
template <class Real> using Motion = typename MotionOf<Real>::type;

template <class Real> static inline auto programs_of(const struct walls* w) {
  if constexpr (is_single<Real>) {
    return w;
  } else {
    return w->vectors;
  }
}

static size_t most_rows(const struct walls* w) {
  return (w->laws ? 6 : 3) * w->most_active + w->rubbing;
}

/* Whether there is room for one more contact. */
static bool has_room(const struct walls* w, struct motion* s, size_t count) {
  if (count < w->most_active) return true;
  s->crowded = CONTACTS;
  return false;
}

/* How many numbers an impact has in the record: time, loss, q, v before and after, of every
   contact its impulses (3), restitution and whether it took part, and the planes. */
EXPORTED size_t size_of_impact(const struct walls* w) {
  return 2 + w->nq + 2 * w->nv + 5 * w->contacts + PLANE * w->slots;
}

/* How many numbers of memory the programs need. */
EXPORTED size_t memory_of_motion(const struct walls* w) {
  const struct program* each[] = {w->acceleration, w->mass, w->distances,
                                  w->rows, w->rate, w->energy};
  size_t total = 0;
  for (size_t k = 0; k < 6; ++k) total += each[k] ? each[k]->memory : 0;
  return total;
}

/* A program at its inputs, with room for two more: behind them come home and memory. */
static void apply(const struct walls* w, const struct motion* s, const struct program* program,
                  const double** arg, double* result) {
  const struct program* each[] = {w->acceleration, w->mass, w->distances, w->rows, w->rate};
  double *memory = s->memory, *res[] = {result};
  for (size_t k = 0; k < 5 && each[k] != program; ++k) memory += each[k] ? each[k]->memory : 0;
  arg[program->inputs] = w->home;
  arg[program->inputs + 1] = memory;
  run(program, arg, res);
}

static void evaluate(const struct walls* w, const struct motion* s, const struct program* program,
                     const double* one, const double* two, double* result) {
  const double* arg[] = {one, two, nullptr, nullptr};
  apply(w, s, program, arg, result);
}

static void evaluate(const struct walls*, const struct motion_lanes* s,
                     const struct program* program, const realv* one, const realv* two,
                     realv* result) {
  const realv* arg[] = {one, two, nullptr};
  realv* const res[] = {result};
  arg[program->inputs] = s->parameters;
  program->batched(arg, res);
}

/* Accelerations of (q, v); `damped` is the length of the step where damping counts at its end, and
   `slides` (rates) are the directions, +-1, in which joints with dry friction slide, 0 at rest. */
static void accelerate(const struct walls* w, const struct motion* s, const double* q,
                       const double* v, double damped, const double* slides, double* result) {
  const double* arg[8] = {q, v, s->effort};
  size_t inputs = 3;
  if (w->acceleration->inputs > (size_t)4) arg[inputs++] = &damped, arg[inputs++] = slides;
  arg[inputs] = s->wrenches;
  apply(w, s, w->acceleration, arg, result);
}

static void accelerate(const struct walls* w, const struct motion_lanes* s, const realv* q,
                       const realv* v, double damped, const realv* slides, realv* result) {
  const struct program* program = w->vectors->acceleration;
  const realv step = all<realv>(damped), *arg[] = {q, v, s->effort, &step, slides, nullptr};
  realv* const res[] = {result};
  arg[program->inputs] = s->parameters;
  program->batched(arg, res);
}

/* Rates of q at (q, v), which need no loop closed: always from the program for vectors, for another
   one may round otherwise. */
static void rate_of(const struct walls* w, const struct motion_lanes* s, const realv* q,
                    const realv* v, realv* result) {
  const realv* arg[] = {q, v, nullptr, nullptr};
  realv* const res[] = {result};
  if (!w->rate->quaternions) {
    memcpy(result, v, w->nv * sizeof *v);
    return;
  }
  if (w->rate->z) arg[1] = nullptr, arg[2] = v;
  arg[w->rate->inputs + (w->rate->z > 0)] = s->parameters;
  w->rate->batched(arg, res);
}

/* The room of a motion begins with a column of `rows` and with vectors for `rate_of`. */
static size_t room_of_column(const struct walls* w) { return w->rows ? w->rows->size : 0; }

static size_t room_of_rate(const struct walls* w) {
  return (2 * w->nq + w->nv + w->rate->parameters + 1) * LANES;
}

static void rate_of(const struct walls* w, const struct motion* s, const double* q,
                    const double* v, double* result) {
  const struct program* program = w->rate;
  if (!program->quaternions) {
    memcpy(result, v, w->nv * sizeof *v);
    return;
  }
  if (!program->batched) {
    evaluate(w, s, program, q, v, result);
    return;
  }
  const uintptr_t at = (uintptr_t)(s->room + room_of_column(w)), size = sizeof(realv);
  realv *in_q = (realv*)((at + size - 1) / size * size), *in_v = in_q + w->nq;
  realv *out = in_v + w->nv, *known = out + w->nq;
  struct motion_lanes lanes = {};
  lanes.parameters = known;
  for (size_t i = 0; i < w->nq; ++i) in_q[i] = all<realv>(q[i]);
  for (size_t i = 0; i < w->nv; ++i) in_v[i] = all<realv>(v[i]);
  for (size_t i = 0; i < program->parameters; ++i) {
    known[i] = all<realv>(w->home[program->home + i]);
  }
  rate_of(w, &lanes, in_q, in_v, out);
  for (size_t i = 0; i < w->nq; ++i) result[i] = out[i][0];
}

