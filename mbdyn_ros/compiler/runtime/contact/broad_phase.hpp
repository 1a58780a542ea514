/* Convex shapes that may touch in a step, in the slots of a motion: found at its start. Points and
   planes then stay with their links through the step, or follow courses on them. */
#pragma once
#include "wall_phase.hpp"
#include "workspace.hpp"


#define ALWAYS_NEAR 1e-3 /* m within which shapes are near each other, however slow they are */
#define AHEAD 1.5        /* steps that are looked ahead */

/* Place (3), normal (3) and gap of a slot, see `planes` of struct motion, with its bodies in these poses. */
EXPORTED double follow(const struct solids* t, const double* plane, const double* body, const double* other,
                       double* place, double* normal) {
  const int64_t* pair = t->pair + 2 * ((size_t)plane[13] / 2);
  const bool turned = (size_t)plane[13] % 2;
  const struct solid *mine = t->solid + pair[turned], *theirs = t->solid + pair[!turned];
  struct course c[2] = {course_of(mine, body, plane + 1, plane[14], plane + 16)};
  if (theirs->kind == WALL) return follow_wall(t, c, theirs, plane[4], place, normal);
  const double radius = plane[4];
  double way[3], gap = 0.;
  turn_by(other, plane + 8, normal);
  c[1] = course_of(theirs, other, plane + 5, plane[15], plane + 19);
  const struct course before[2] = {c[0], c[1]};
  memcpy(way, normal, sizeof way);
  if (c[1].kind == FACE) {
    go_lowest(c, normal);
  } else {
    bool found = follow_both(c, way);
    for (int k = 0; found && k < MOST_COURSES; ++k) {
      const double back[] = {-way[0], -way[1], -way[2]};
      const bool turns[] = {change_course(c, back), change_course(c + 1, way)};
      if (!turns[0] && !turns[1]) break;
      found = follow_both(c, way);
    }
    found = found && dot(3, way, normal) > ONE_WAY;
    for (int i = 0; found && i < 2; ++i) {  /* edges end */
      found = before[i].kind != LINE || !(share_within(t, before + i, c[i].x) < 1.);
    }
    for (int i = 0; !found && i < 2; ++i) c[i] = before[i];
    if (found) memcpy(normal, way, sizeof way);
  }
  for (int r = 0; r < 3; ++r) {
    place[r] = c[0].x[r] - radius * normal[r];
    gap += normal[r] * (place[r] - c[1].x[r]);
  }
  return gap;
}

/* Where the other link, or the point, of a touch was last: the slot of the block from `first` on that
   is nearest to a place on the body, and not taken. */
static size_t nearest_slot(const double* planes, const int* taken, const double* place) {
  size_t best = MOST_POINTS;
  double least = HUGE_VAL;
  for (size_t k = 0; k < MOST_POINTS; ++k) {
    const double* old = planes + PLANE * k + 1;
    const double far = fabs(old[0] - place[0]) + fabs(old[1] - place[1]) + fabs(old[2] - place[2]);
    if (taken[k] || (far >= least && best < MOST_POINTS)) continue;
    best = k, least = far;
  }
  return best;
}

/* Put the touches of a pair into the slots of its block, each where the last one near it was. */
static void fill_block(const struct solids* t, size_t pair, const struct touch* found, size_t count,
                       const double* column, double* planes) {
  int taken[MOST_POINTS] = {};
  for (size_t i = 0; i < count; ++i) {
    const struct touch* one = found + i;
    const struct solid* mine = t->solid + t->pair[2 * pair + (size_t)one->turned];
    const struct solid* theirs = t->solid + t->pair[2 * pair + (size_t)!one->turned];
    const double *body = column + mine->body, *other = column + theirs->body;
    double arm[3], foot[3], place[3];
    for (int r = 0; r < 3; ++r) {
      arm[r] = one->point[r] - body[4 * r + 3], foot[r] = one->foot[r] - other[4 * r + 3];
    }
    turn_back(body, arm, place);
    const size_t k = nearest_slot(planes, taken, place);
    double* plane = planes + PLANE * k;
    taken[k] = 1;
    plane[0] = 1.;
    memcpy(plane + 1, place, sizeof place);
    plane[4] = one->radius;
    turn_back(other, foot, plane + 5);
    turn_back(other, one->normal, plane + 8);
    for (int b = 0; b < 2; ++b) {
      plane[14 + b] = one->course[b];
      turn_back(b ? other : body, one->along + 3 * b, plane + 16 + 3 * b);
    }
    plane[11] = (double)mine->body, plane[12] = (double)theirs->body;
    plane[13] = (double)(2 * pair + (size_t)one->turned);
  }
}

/* The block of a pair, or a free one for it, which looks first from center to center; nullptr where
   there is none. blocks: of every block one more than its pair, 0 where it is free, and the normal. */
static double* block_of(double* blocks, size_t count, size_t pair, const double* one,
                        const double* other) {
  double *block = nullptr, square = 0.;
  for (double* at = blocks; at < blocks + 4 * count; at += 4) {
    if (at[0] == (double)(pair + 1)) return at;
    if (at[0] == 0. && !block) block = at;
  }
  if (!block) return nullptr;
  for (int r = 0; r < 3; ++r) {
    block[1 + r] = one[4 * r + 3] - other[4 * r + 3];
    square += block[1 + r] * block[1 + r];
  }
  if (!(square > 0.)) block[3] = square = 1.;
  for (int r = 0; r < 3; ++r) block[1 + r] /= sqrt(square);
  return block;
}

/* Where a pair of shapes touches, or is not farther apart than a margin; gives how many places. way,
   place: of `nearest`. */
static size_t touches_of(const struct solids* t, const struct solid* const* one, const double* const* pose,
                         double margin, double* way, double (*place)[3], double* room,
                         struct touch* found) {
  if (one[1]->kind == WALL) return wall_phase(t, one[0], one[1], pose[0], margin, room, found);
  const double distance = nearest(t, one, pose, way, place);
  if (distance > margin) return 0;
  return narrow_phase(t, one, pose, distance, way, place, margin, room, found);
}

/* Find what may touch within a time, from the state of a motion; negative where more pairs are near
   than there is room for. */
static int find_pairs(const struct walls* w, struct motion* s, Work<double>* x, double span) {
  const struct solids* t = w->solids;
  const size_t blocks = w->slots / MOST_POINTS;
  double *column = x->column, (*pose)[12] = x->pose, *speed = x->speed;
  evaluate(w, s, w->rows, s->q, nullptr, column);
  for (size_t k = 0; k < t->count; ++k) {
    const struct solid* one = t->solid + k;
    const double* body = column + one->body;
    double twist[6], across[3], arm[3];
    pose_product(body, one->pose, pose[k]);
    for (int r = 0; r < 3; ++r) arm[r] = pose[k][4 * r + 3] - body[CENTRE + r];
    twist_of(w->mobility, column, body, s->v, twist);
    crossed(twist + 3, arm, across);
    add_to(3, 1., across, twist);
    speed[k] = sqrt(dot(3, twist, twist)) + one->reach * sqrt(dot(3, twist + 3, twist + 3)) +
               span * t->fall;
  }
  for (size_t i = 0; i < w->slots; ++i) s->planes[PLANE * i] = 0.;
  const auto margin_of = [&](const int64_t* pair) {
    return ALWAYS_NEAR + span * (speed[pair[0]] + speed[pair[1]]);
  };
  const auto touch = [&](size_t k, double* block) {  /* whether they are near; with a block for it */
    const int64_t* pair = t->pair + 2 * k;
    const struct solid* const one[] = {t->solid + pair[0], t->solid + pair[1]};
    const double* const poses[] = {pose[pair[0]], pose[pair[1]]};
    double place[2][3], fresh[] = {0., 0., 1.}, *way = block ? block + 1 : fresh;
    struct touch found[MOST_POINTS];
    const size_t count = touches_of(t, one, poses, margin_of(pair), way, place, x->clipped, found);
    if (!count || !block) return count > 0;
    block[0] = (double)(k + 1);
    fill_block(t, k, found, count, column,
               s->planes + PLANE * MOST_POINTS * (size_t)((block - s->blocks) / 4));
    return true;
  };
  const auto meet = [&](const int64_t* pair) {  /* spheres around them */
    double square = 0., reach = margin_of(pair);
    if (t->solid[pair[1]].kind == WALL) return true;
    for (int k = 0; k < 2; ++k) reach += t->solid[pair[k]].reach;
    for (int r = 3; r < 12; r += 4) {
      const double far = pose[pair[0]][r] - pose[pair[1]][r];
      square += far * far;
    }
    return square < reach * reach;
  };
  for (double* block = s->blocks; block < s->blocks + 4 * blocks; block += 4) {
    if (block[0] == 0.) continue;  /* those that were near before keep their blocks */
    const size_t k = (size_t)block[0] - 1;
    if (!meet(t->pair + 2 * k) || !touch(k, block)) block[0] = 0.;
  }
  for (size_t k = 0; k < t->pairs; ++k) {
    const int64_t* pair = t->pair + 2 * k;
    if (!meet(pair)) continue;
    double* block = block_of(s->blocks, blocks, k, pose[pair[0]], pose[pair[1]]);
    if (block && block[0] != 0.) continue;
    if (touch(k, block) && !block) return -1;
  }
  return 0;
}

EXPORTED int look_for_solids(const struct walls* w, struct motion* s, double span) {
  Work<double> x;
  share_room(w, s->room, &x);
  return find_pairs(w, s, &x, span);
}

/* Write normals and places of the slots of a motion into a column of `rows`, and their distances and
   rates to `result` (2 m). */
EXPORTED void place_solids(const struct walls* w, const struct motion* s, double* column, double* result) {
  place_slots(w, s, s->v, column, result);
}

/* Distance of a pair by itself, in poses (3, 4) of its shapes, see `nearest`; the points are those of
   the surfaces. */
EXPORTED double nearest_of_pair(const struct solids* t, size_t pair, const double* pose,
                                const double* other, double* way, double (*place)[3]) {
  const int64_t* ends = t->pair + 2 * pair;
  const struct solid* const one[] = {t->solid + ends[0], t->solid + ends[1]};
  const double* const poses[] = {pose, other};
  const double distance = nearest(t, one, poses, way, place);
  for (int k = 0; k < 2; ++k) {
    const double radius = one[k]->kind == ROUNDED ? one[k]->radius : 0.;
    add_to(3, k ? radius : -radius, way, place[k]);
  }
  return distance;
}

/* Its touches where it is no farther apart than a margin; gives how many. */
EXPORTED size_t touches_of_pair(const struct solids* t, size_t pair, const double* pose,
                                const double* other, double margin, double* way,
                                double* room, struct touch* found) {
  const int64_t* ends = t->pair + 2 * pair;
  const struct solid* const one[] = {t->solid + ends[0], t->solid + ends[1]};
  const double* const poses[] = {pose, other};
  double place[2][3];
  return touches_of(t, one, poses, margin, way, place, room, found);
}

/* The coordinates that move two shapes, ascending; gives how many. */
static size_t unite_reach(const struct solids* t, const int64_t* pair, int32_t* reach) {
  const int32_t *one = t->reach + t->reach_start[pair[0]], *other = t->reach + t->reach_start[pair[1]];
  const int32_t *end = t->reach + t->reach_start[pair[0] + 1];
  const int32_t *last = t->reach + t->reach_start[pair[1] + 1];
  size_t count = 0;
  while (one < end || other < last) {
    const int32_t next = other == last || (one < end && *one < *other) ? *one : *other;
    reach[count++] = next;
    one += one < end && *one == next;
    other += other < last && *other == next;
  }
  return count;
}

/* Find which shapes may touch in the next step; whether there is room for them. */
EXPORTED int broad_phase(const struct walls* w, struct motion* s, Work<double>* x) {
  if (find_pairs(w, s, x, AHEAD * s->step) < 0) {
    s->crowded = PAIRS;
    return 0;
  }
  const size_t first = w->contacts - w->slots;
  memcpy(x->body, w->body, w->contacts * sizeof *x->body);
  memcpy(x->partner, w->partner, w->contacts * sizeof *x->partner);
  copy(w->contacts, w->restitution, x->restitution);
  copy(w->contacts, w->friction, x->friction);
  for (size_t i = 0; i < w->slots; ++i) {
    const double* plane = s->planes + PLANE * i;
    if (plane[0] == 0.) continue;
    const double* law = w->solids->law + 2 * ((size_t)plane[13] / 2);
    x->body[first + i] = (int64_t)plane[11], x->partner[first + i] = (int64_t)plane[12];
    x->restitution[first + i] = law[0], x->friction[first + i] = law[1];
  }
  for (size_t i = 0; i < w->slots / MOST_POINTS; ++i) {
    const size_t number = (size_t)s->blocks[4 * i];
    if (!number) continue;
    const int64_t* pair = w->solids->pair + 2 * (number - 1);
    x->pair_reaches[i] = unite_reach(w->solids, pair, x->pair_reach + i * w->nv);
  }
  x->fresh = 0;
  return 1;
}
