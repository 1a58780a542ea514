/* Motions among walls at one state, or at a vector of them: their room, their programs, and how they
   move where nothing hinders. */
#pragma once
#include "contact_jacobian.hpp"
#include "islands.hpp"
#include "manifold.hpp"
#include "model.hpp"
#include "../runge_kutta.h"


/* Columns of a matrix that are computed together: as many as have room in registers. */
template <class Real> constexpr size_t tile = is_single<Real> ? 8 : 3;

/* The room of a step: k contacts are active, with r rows, which dry friction follows. Velocities
   along rows are S v; X = L^-T S^T with M = L^T L, so that velocities answer to impulses by the
   Delassus matrix A = X^T X. */
enum { KEPT_NUMBERS = 8 }; /* of a contact: force, slip, mode and trend */

template <class Real>
struct Work {
  Real *q, *v, *fast;          /* (nq), (nv) where the step begins; (nv) after free motion */
  Real *reaction, *old_reaction; /* (PAST, nv) what is expected of it, see there; before the step */
  Real* gained;                /* (nv) what it brings, m/s */
  Real *displacement, *further, *rate;  /* (nv), (nv) displacements of a correction; (nq) its rate */
  Real *slopes;                /* (MOST_STAGES + 2, nq + nv) of the method of free motion */
  Real *at_q, *at_v;           /* (nq), (nv) on trial */
  Real *old_q, *old_v;         /* (nq), (nv) where the whole step began */
  Real *start, *now, *end;     /* (3 m) results of `distances` */
  Real *column, *mass;         /* (rows->size) result of `rows`; (nv, nv) M, then its factor L */
  Real *S, *X, *A, *S_end;     /* (r, nv), (r, nv), (r, r), (r, nv) S where the step ends */
  Real* XT;                    /* (nv, r + tile) X^T */
  Real *b, *f;                 /* (r) velocities without impulses; impulses */
  Real *bound, *given;         /* (rubbing) of impulses of dry friction; those in free motion */
  Real *slides;                /* (rates) see `accelerate` */
  Real *cones;                 /* (room_of_cones), of single motions (room_of_single) */
  Real *closing;               /* (k, k) of the position correction */
  Real* lost_push;             /* (k) of contacts that are let go as others close */
  Bits<Real>* holds;           /* (k) which close */
  Real *gap, *shift;           /* (k) m; (r) m/s by which the problem is shifted */
  Real *answer, *impulse, *correction; /* (nv), (r), (k) */
  double *mu;                  /* (k) */
  size_t *active, *first, *tangent; /* (k): the contact; its row along the normal, along the wall */
  size_t count, contact_rows;     /* k, and rows of contacts */
  int64_t *body, *partner;     /* (m), see `walls`; */
  double *restitution, *friction; /* and of slots those of their pairs */
  int32_t* pair_reach;         /* (slots / MOST_POINTS, nv) coordinates that move their pairs, */
  size_t* pair_reaches;        /* (slots / MOST_POINTS) and how many */
  const int32_t** reach;       /* (r) coordinates that a row is not zero in, */
  size_t *reaches, *whose;     /* (r) how many, and of which contact it is */
  size_t *island, islands, *tree;  /* (r) see `Cones`; (2, nv) trees that contacts connect */
  char* solved;                /* (nv) whether an island needs no more passes */
  size_t* before;              /* (r) the row before in its island; NO_ROW: it is the first */
  size_t *wrote_before, *from, *to;  /* (r) the same of what A holds, and where X is not zero: */
  size_t wrote, zero_X, zero_A;  /* their rows, and how many numbers are zero elsewhere */
  Trees<Real> trees;           /* of rows, where all of them are `on_chains` */
  bool on_chains;
  Real* packed;                /* M as `Packed` has it */
  Real* chain_rows;              /* (r, nv + LANES) rows of S along their chains */
  size_t *begin, *tip, *zeros; /* (nv), (r), (r) see `Trees` */
  bool whole;                  /* whether A is known between contacts, see `delassus_matrix` */
  Bits<Real> *on, *closed;     /* (k) in which lanes it is active; where it is to close */
  Real* guess;                 /* (3 m + rubbing) forces of a step that is taken `again` */
  int again, mass_known;       /* mass_known: whether `mass` has been factored */
  size_t* gentle;              /* (m) contacts that land gently; lanes: where they do */
  size_t *near, nears;         /* (m) contacts that may meet their walls */
  size_t *known, knowns;       /* (m) contacts of which a motion keeps numbers, ascending; lanes: all */
  /* (m), (KEPT_NUMBERS m + rubbing) the same before the step, and these numbers */
  size_t *old_known, old_knowns;
  Real* old_numbers;
  /* of impacts: (k) restitutions; (nv), (nv) velocity and acceleration; (r) velocities before */
  Real *bounces, *hit_v, *hit_a, *approach;
  char *hits, *lifted;         /* (m) */
  size_t *own, *none, *push_island; /* (k), (k), (k), (k), (k), (k), (k, nv): problem of `push_out` */
  Real *push_mu, *push_gap, *push, *push_X;
  double (*pose)[12], *speed, *clipped; /* (count, 3, 4), (count), (room_of_touches): of shapes */
  /* of `laws`: (k) on the diagonal of A, impulses by the law; (r) velocities of surfaces; (r, r) */
  double *yield, *load, *carry, *root;
  size_t *disc_normal, *disc, *disc_rows, discs;  /* (2 k): see `Cones` */
  double* disc_mu;
  int fresh, clear;            /* whether `now` is of q and v; whether nothing is near */
  double stored;               /* J in walls that yield, where the whole step began */
  int idle, clean, fed;        /* no forces of contacts; `whole` is zero; walls may bring energy */
};

/* Do something with every contact of which a motion keeps numbers. */
template <class Real, class Do>
static inline void each_known(const struct walls* w, const Work<Real>* x, const Do& something) {
  if constexpr (is_single<Real>) {
    for (size_t i = 0; i < x->knowns; ++i) something(x->known[i]);
  } else {
    for (size_t k = 0; k < w->contacts; ++k) something(k);
  }
}

/* Know of which contacts a motion keeps numbers: those that were active in its last step. */
static void find_known(const struct walls* w, const struct motion* s, Work<double>* x) {
  x->knowns = 0;
  for (size_t k = 0; k < w->contacts; ++k) {
    const double *force = s->force + 3 * k, *slip = s->slip + 3 * k;
    const bool none = (s->mode[k] == 0.) & (s->trend[k] == 0.) & (force[0] == 0.) & (force[1] == 0.) &
                      (force[2] == 0.) & (slip[0] == 0.) & (slip[1] == 0.) & (slip[2] == 0.);
    if (!none) x->known[x->knowns++] = k;
  }
}

/* Forget the numbers of contacts. */
static void forget_contacts(const struct walls* w, struct motion* s, Work<double>* x) {
  each_known(w, x, [s](size_t k) {
    s->mode[k] = s->trend[k] = 0.;
    clear(3, s->force + 3 * k), clear(3, s->slip + 3 * k);
  });
  x->knowns = 0;
}

static int all_finite(size_t n, const double* x) {
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return 0;
  }
  return 1;
}

/* How many numbers the impulses of m rows need. */
template <class Real> static size_t room_of_problem(const struct walls* w, size_t m) {
  const size_t size = w->laws && m > w->nv ? m : w->nv;
  if (!is_single<Real>) return room_of_cones(m, size);
  return room_of_islands(m, size);
}

/* How many numbers of chains a matrix like M has room for. */
template <class Real> static size_t size_of_chains(const struct walls* w) {
  size_t size = 0;
  for (size_t j = 0; j < w->nv; ++j) size += whole_vectors<Real>((size_t)(w->path_start[j + 1] - w->path_start[j]));
  return size;
}

/* Whether coordinates are on chains of trees, and these so short that an elimination along them takes less
   than a third of a dense one. */
static bool are_bushy(const struct walls* w) {
  size_t products = 0;
  const auto depth_of = [w](size_t j) { return (size_t)(w->path_start[j + 1] - w->path_start[j]); };
  for (size_t j = 0; j < w->nv; ++j) {
    const size_t depth = depth_of(j);
    if (depth && depth_of((size_t)w->path[w->path_start[j + 1] - 1]) + 1 != depth) return false;
    products += depth * depth;
  }
  return 10 * products < w->nv * w->nv * w->nv;
}

/* Hand out the room; gives how many numbers it has. */
template <class Real>
static size_t share_room(const struct walls* w, Real* room, Work<Real>* x) {
  const size_t state = w->nq + w->nv, m = most_rows(w) + 1, k = w->most_active + 1;
  Real* at = room;
  if (is_single<Real>) at += room_of_column(w) + room_of_rate(w);
#define ROOM(place, size) x->place = reinterpret_cast<decltype(x->place)>(at), at += (size)
  ROOM(q, w->nq), ROOM(v, w->nv), ROOM(fast, w->nv), ROOM(reaction, PAST * w->nv), ROOM(old_reaction, PAST * w->nv), ROOM(gained, w->nv), ROOM(displacement, w->nv), ROOM(further, w->nv);
  ROOM(rate, w->nq), ROOM(slopes, (MOST_STAGES + 2) * state), ROOM(at_q, w->nq);
  ROOM(at_v, w->nv), ROOM(old_q, w->nq), ROOM(old_v, w->nv);
  ROOM(start, 3 * w->contacts), ROOM(now, 3 * w->contacts), ROOM(end, 3 * w->contacts);
  ROOM(column, room_of_column(w)), ROOM(mass, w->nv * w->nv);
  ROOM(S, m * w->nv), ROOM(X, m * w->nv), ROOM(A, m * m), ROOM(S_end, m * w->nv), ROOM(XT, (m + tile<Real>) * w->nv), ROOM(b, m), ROOM(f, m);
  ROOM(bound, w->rubbing), ROOM(given, w->rubbing), ROOM(slides, w->rates + 1), ROOM(cones, room_of_problem<Real>(w, m)), ROOM(closing, k * k);
  const size_t chains = size_of_chains<Real>(w);
  ROOM(packed, chains + w->nv), ROOM(chain_rows, m * (w->nv + LANES)), ROOM(begin, w->nv);
  ROOM(tip, m), ROOM(zeros, m), ROOM(trees.room, room_of_trees(w->nv, chains));
  x->trees.are_bushy = are_bushy(w);
  ROOM(lost_push, k), ROOM(holds, k), ROOM(gap, k), ROOM(shift, m), ROOM(answer, w->nv), ROOM(impulse, m), ROOM(correction, k);
  ROOM(mu, k), ROOM(active, k), ROOM(first, k), ROOM(tangent, k), ROOM(reach, m);
  ROOM(reaches, m), ROOM(whose, m), ROOM(island, m), ROOM(before, m), ROOM(solved, w->nv), ROOM(wrote_before, m), ROOM(from, m), ROOM(to, m), ROOM(tree, 2 * w->nv), ROOM(on, k), ROOM(closed, k), ROOM(gentle, w->contacts), ROOM(guess, 3 * w->contacts + w->rubbing);
  if (is_single<Real>) {
    ROOM(near, w->contacts), ROOM(known, w->contacts), ROOM(old_known, w->contacts);
    ROOM(old_numbers, KEPT_NUMBERS * w->contacts + w->rubbing);
    ROOM(bounces, k), ROOM(hit_v, w->nv), ROOM(hit_a, w->nv), ROOM(approach, m);
    ROOM(hits, w->contacts), ROOM(lifted, w->contacts), ROOM(own, k), ROOM(none, k), ROOM(push_island, k);
    ROOM(push_mu, k), ROOM(push_gap, k), ROOM(push, k), ROOM(push_X, k * w->nv);
  }
  if (is_single<Real> && w->laws) {
    ROOM(yield, k), ROOM(load, k), ROOM(carry, m), ROOM(root, m * m);
    ROOM(disc_normal, 2 * k), ROOM(disc, 2 * k), ROOM(disc_rows, 2 * k), ROOM(disc_mu, 2 * k);
  }
  x->discs = x->wrote = x->zero_X = x->zero_A = 0;
  if (w->solids) {
    ROOM(pose, 12 * w->solids->count), ROOM(speed, w->solids->count);
    ROOM(clipped, room_of_touches(w->solids));
  }
  x->body = (int64_t*)w->body, x->partner = (int64_t*)w->partner;
  x->restitution = (double*)w->restitution, x->friction = (double*)w->friction;
  if (w->slots) {
    ROOM(body, w->contacts), ROOM(partner, w->contacts);
    ROOM(restitution, w->contacts), ROOM(friction, w->contacts);
    ROOM(pair_reach, w->slots / MOST_POINTS * w->nv), ROOM(pair_reaches, w->slots / MOST_POINTS);
  }
#undef ROOM
  x->fresh = x->clear = x->idle = x->clean = x->fed = x->again = x->mass_known = 0;
  return (size_t)(at - room);
}

EXPORTED size_t room_of_motion(const struct walls* w) {
  Work<double> x;
  return share_room<double>(w, nullptr, &x);
}

/* The slots at the column of `rows`: their normals and places there, and, where `result` is not
   nullptr, their distances and rates. */
static void place_slots(const struct walls* w, const struct motion* s, const double* v,
                 double* column, double* result) {
  const size_t m = w->contacts;
  for (size_t i = 0; s->planes && i < w->slots; ++i) {
    const double* plane = s->planes + PLANE * i;
    if (plane[0] == 0.) continue;
    const size_t k = m - w->slots + i;
    const double *one = column + (size_t)plane[11], *other = column + (size_t)plane[12];
    double *normal = column + w->normal[k], *place = normal + 3, gap = 0., rate = 0.;
    const bool stays = plane[14] == 0.;
    if (!stays) gap = w->follow(w->solids, plane, one, other, place, normal);
    for (int r = 0; stays && r < 3; ++r) normal[r] = dot(3, other + 4 * r, plane + 8);
    for (int r = 0; stays && r < 3; ++r) {
      const double foot = dot(3, other + 4 * r, plane + 5) + other[4 * r + 3];
      place[r] = dot(3, one + 4 * r, plane + 1) + one[4 * r + 3] - plane[4] * normal[r];
      gap += normal[r] * (place[r] - foot);
    }
    if (!result) continue;
    for (int b = 0; b < 2; ++b) {
      const double* body = b ? other : one;
      double twist[6], arm[3], across[3];
      twist_of(w->mobility, column, body, v, twist);
      for (int r = 0; r < 3; ++r) arm[r] = place[r] - body[CENTRE + r];
      crossed(twist + 3, arm, across);
      for (int r = 0; r < 3; ++r) rate += (b ? -1. : 1.) * normal[r] * (twist[r] + across[r]);
    }
    result[k] = gap, result[m + k] = rate;
  }
}

static void evaluate_slots(const struct walls* w, const struct motion* s, const double* q,
                          const double* v, double* result) {
  double* column = s->room;
  evaluate(w, s, w->rows, q, nullptr, column);
  place_slots(w, s, v, column, result);
}

constexpr double OUT_OF_REACH = 1e9; /* m, as of slots that are not in use */

template <class Real>
static void evaluate_distances(const struct walls* w, const Motion<Real>* s, const Real* q, const Real* v,
                       Real* result) {
  if (w->distances) evaluate(w, s, programs_of<Real>(w)->distances, q, v, result);
  for (size_t i = 0; i < w->beyonds; ++i) {
    result[w->beyond[i]] = all<Real>(OUT_OF_REACH);
    result[w->contacts + (size_t)w->beyond[i]] = all<Real>(0.);
  }
  if constexpr (is_single<Real>) {
    if (s->planes) evaluate_slots(w, s, q, v, result);
  }
}

template <class Real>
static void unit_quaternions(const struct walls* w, Real* q) {
  for (size_t k = 0; k < w->rate->quaternions; ++k) {
    Real* p = q + w->rate->quaternion[k];
    Real square = p[0] * p[0];
    for (int i = 1; i < 4; ++i) square += p[i] * p[i];
    const Real length = root(square);
    for (int i = 0; i < 4; ++i) p[i] /= length;
  }
}

/* q + span N velocity, of which quaternions have unit length */
template <class Real>
static void move(const struct walls* w, const Motion<Real>* s, Work<Real>* x, double span,
                    const Real* velocity, Real* q) {
  rate_of(w, s, q, velocity, x->rate);
  add_to(w->nq, all<Real>(span), x->rate, q);
  unit_quaternions(w, q);
}

/* The velocity along a row of dry friction, whose own numbers are those of `column`. */
template <class Real>
static Real along_friction(const struct walls* w, const Work<Real>* x, size_t i, const Real* v) {
  if (w->still_v[i] >= 0) return v[w->still_v[i]];
  return dot(w->nv, x->column + w->rubs + i * w->nv, v);
}

/* The directions in which joints with dry friction slide at (q, v), where a step begins. */
template <class Real>
static void slide_directions(const struct walls* w, const Motion<Real>* s, Work<Real>* x) {
  int mixed = 0;
  for (size_t i = 0; i < w->rubbing; ++i) mixed |= w->still_v[i] < 0;
  if (mixed) evaluate(w, s, programs_of<Real>(w)->rows, s->q, nullptr, x->column);
  clear(w->rates, x->slides);
  for (size_t i = 0; i < w->rubbing; ++i) {
    const Real speed = along_friction(w, x, i, s->v), zero = all<Real>(0.);
    const Bits<Real> slides = is(magnitude(speed) > LAW);
    x->slides[w->slides[i]] = select(slides, with_sign(all<Real>(1.), speed), zero);
  }
}

/* Where all joints with dry friction still slide as they did, when free motion has come to (q, v). */
template <class Real>
static Bits<Real> all_slide_on(const struct walls* w, const Motion<Real>* s, Work<Real>* x) {
  Bits<Real> on = is(all<Real>(0.) == 0.);
  for (size_t i = 0; i < w->rubbing; ++i) on &= is(x->slides[w->slides[i]] != 0.);
  if (!w->rubbing || !any(on)) return on;
  evaluate(w, s, programs_of<Real>(w)->rows, s->q, nullptr, x->column);
  for (size_t i = 0; i < w->rubbing; ++i) {
    on &= is(along_friction(w, x, i, s->v) * x->slides[w->slides[i]] > LAW);
  }
  return on;
}

/* What reactions are expected, as a polynomial of the share of the step, by those `known` of the steps
   before: they turn with the axes of bodies, and are means, as of the middles of these steps. */
template <class Real>
static void expect_reaction(const struct walls* w, Work<Real>* x, const Real* known) {
  const size_t n = w->nv;
  Bits<Real> second = is(all<Real>(1.) < all<Real>(0.)), third = second;
  for (size_t j = 0; j < n; ++j) {
    second |= is(known[n + j] != 0.), third |= is(known[2 * n + j] != 0.);
  }
  for (size_t j = 0; j < n; ++j) {
    const Real last = known[j];
    const Real step = select(second, last - known[n + j], all<Real>(0.));
    const Real bend = select(third, 0.5 * (step - known[n + j] + known[2 * n + j]), all<Real>(0.));
    const Real slant = step + bend;  /* where the last step had its middle, half a step before */
    x->reaction[j] = last + 0.5 * slant + 0.25 * bend;
    x->reaction[n + j] = slant + bend;
    x->reaction[2 * n + j] = bend;
  }
}

/* The motion for a time h with the accelerations of `reaction`, and dry friction of joints that slide,
   against the directions at its start. */
template <class Real>
static void free_motion(const struct walls* w, Motion<Real>* s, Work<Real>* x, double h) {
  const size_t nq = w->nq, state = w->nq + w->nv;
  const double damped = w->damped ? h : 0., carried = w->stages && x->count ? h : 0.;
  const Real *level = x->reaction, *slant = level + w->nv, *bend = slant + w->nv;
  for (size_t j = 0; j < w->nv; ++j) {
    x->gained[j] = carried * (level[j] + 0.5 * slant[j] + bend[j] / 3.);
  }
  Real *q = s->q, *v = s->v, *slope = x->slopes, *trial = slope + (w->stages + 1) * state;
  if (!w->stages) {
    accelerate(w, s, q, v, damped, x->slides, slope);
    add_to(w->nv, all<Real>(h), slope, v);
    move(w, s, x, h, v, q);
    return;
  }
  const double* share = w->tableau;
  const size_t stages = (size_t)w->stages;
  for (size_t i = 0; i < stages; ++i, share += stages, slope += state) {
    const Real *at_q = q, *at_v = v;
    if (i) {
      stage_state(nq, state, h, stages, w->tableau, i, q, x->slopes, trial);
      stage_state(w->nv, state, h, stages, w->tableau, i, v, x->slopes + nq, trial + nq);
      at_q = trial, at_v = trial + nq;
    }
    rate_of(w, s, at_q, at_v, slope);
    accelerate(w, s, at_q, at_v, damped, x->slides, slope + nq);
    double at = 0., power = 1.;
    for (size_t j = 0; j < i; ++j) at += share[j];
    for (int k = 0; x->count && k < PAST; ++k, power *= at) {
      add_to(w->nv, all<Real>(power), x->reaction + k * w->nv, slope + nq);
    }
  }
  add_stages(nq, state, h, stages, w->tableau, x->slopes, q);
  add_stages(w->nv, state, h, stages, w->tableau, x->slopes + nq, v);
  unit_quaternions(w, q);
}
