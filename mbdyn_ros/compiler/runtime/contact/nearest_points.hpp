/* Nearest points of two convex shapes by the method of Gilbert, Johnson and Keerthi (1988): the
   difference of the shapes is walked by simplices to its point nearest to zero. Normals are those of
   the simplices, so that they are exact where faces or edges meet, however near these are. What
   overlaps is taken apart along the normal and put back: the way on which that changes nothing is the
   shortest one out, from where it begins. So are drums that are very near, whose simplices are small. */
#pragma once
#include "convex_shapes.hpp"

enum { MOST_WALKS = 64, MOST_TURNS = 8 };

#define TOGETHER 1e-9 /* share of the sizes that does not count as a distance */
#define ASUNDER 1e-4  /* share of the sizes by which shapes are taken apart */
#define SAME_WAY 1e-9 /* difference of unit vectors that are one */

struct simplex {
  int count;
  double w[4][3], a[4][3], share[4], nearest[3];
};

static double volume(const double* x, const double* y, const double* z) {
  double across[3];
  crossed(y, z, across);
  return dot(3, x, across);
}

/* The point nearest to zero of what some corners span, where it is between them all. */
static int lies_between(const struct simplex* s, const int* which, int count, double* share, double* v) {
  const double *p[4], *o;
  double e[3][3];
  for (int k = 0; k < count; ++k) p[k] = s->w[which[k]];
  o = p[0];
  for (int k = 1; k < count; ++k) {
    for (int r = 0; r < 3; ++r) e[k - 1][r] = p[k][r] - o[r];
  }
  memcpy(v, o, 3 * sizeof *v);
  share[0] = 1.;
  if (count == 2) {
    share[1] = -dot(3, o, e[0]) / dot(3, e[0], e[0]), share[0] = 1. - share[1];
    for (int r = 0; r < 3; ++r) v[r] += share[1] * e[0][r];
  } else if (count == 3) {
    double n[3], way[3];
    crossed(e[0], e[1], n);
    const double size = dot(3, n, n), most = fmax(dot(3, e[0], e[0]), dot(3, e[1], e[1]));
    if (!(size > 1e-24 * most * most)) return 0;
    for (int k = 0; k < 3; ++k) {
      crossed(p[(k + 1) % 3], p[(k + 2) % 3], way);
      share[k] = dot(3, n, way) / size;
    }
    for (int r = 0; r < 3; ++r) v[r] = dot(3, n, o) / size * n[r];
  } else if (count == 4) {
    const double whole = volume(e[0], e[1], e[2]), most = fmax(dot(3, e[0], e[0]), dot(3, e[1], e[1]));
    if (!(fabs(whole) > 1e-15 * most * sqrt(most))) return 0;
    share[0] = volume(p[1], p[2], p[3]) / whole, share[1] = -volume(o, p[2], p[3]) / whole;
    share[2] = volume(o, p[1], p[3]) / whole, share[3] = -volume(o, p[1], p[2]) / whole;
    memset(v, 0, 3 * sizeof *v);
  }
  for (int k = 0; k < count; ++k) {
    if (!(share[k] > 0.)) return 0;
  }
  return 1;
}

/* Keep of a simplex what its point nearest to zero is between; the last corner is one of these. */
static void reduce(struct simplex* s) {
  struct simplex best = *s;
  double least = HUGE_VAL;
  for (int mask = 0; mask < 1 << (s->count - 1); ++mask) {
    int which[4] = {s->count - 1}, count = 1;
    double share[4], v[3];
    for (int k = 0; k + 1 < s->count; ++k) {
      if (mask >> k & 1) which[count++] = k;
    }
    if (!lies_between(s, which, count, share, v)) continue;
    const double square = dot(3, v, v);
    if (!(square < least)) continue;
    least = square, best.count = count;
    for (int k = 0; k < count; ++k) {
      memcpy(best.w[k], s->w[which[k]], sizeof *s->w);
      memcpy(best.a[k], s->a[which[k]], sizeof *s->a);
    }
    memcpy(best.share, share, sizeof share);
    memcpy(best.nearest, v, sizeof v);
  }
  *s = best;
}

/* Distance of the cores of two shapes in poses (3, 4), the first one moved on by `shift`; 0 where they
   overlap. way: unit vector from the second to the first. place: of the nearest point of the first
   where it was, then that of the second. */
static double apart(const struct solids* t, const struct solid* const* one, const double* const* pose,
                    const double* shift, double* way, double (*place)[3]) {
  struct simplex s = {};
  const double size = one[0]->reach + one[1]->reach;
  double v[3], least = HUGE_VAL;
  for (int r = 0; r < 3; ++r) v[r] = pose[0][4 * r + 3] - pose[1][4 * r + 3] + shift[r];
  for (int k = 0; k < MOST_WALKS; ++k) {
    double back[3], a[3], b[3], w[3];
    for (int r = 0; r < 3; ++r) back[r] = -v[r];
    farthest(t, one[0], pose[0], back, a);
    farthest(t, one[1], pose[1], v, b);
    for (int r = 0; r < 3; ++r) w[r] = a[r] + shift[r] - b[r];
    if (k && least - dot(3, v, w) <= 1e-12 * least + 1e-15 * size * sqrt(least)) break;
    struct simplex next = s;
    memcpy(next.w[s.count], w, sizeof w);
    memcpy(next.a[s.count], a, sizeof a);
    ++next.count;
    reduce(&next);
    const double square = dot(3, next.nearest, next.nearest);
    if (!(square < least)) break;
    s = next, least = square;
    memcpy(v, s.nearest, sizeof v);
    if (s.count == 4 || !(square > TOGETHER * TOGETHER * size * size)) return 0.;
  }
  const double distance = sqrt(least);
  memset(place, 0, 2 * sizeof *place);
  for (int k = 0; k < s.count; ++k) add_to(3, s.share[k], s.a[k], place[0]);
  for (int r = 0; r < 3; ++r) {
    way[r] = v[r] / distance;
    place[1][r] = place[0][r] + shift[r] - v[r];
  }
  return distance;
}

static int is_curved(const struct solid* one) {
  return one->kind == DRUM || one->kind == ELLIPSOID;
}

/* Distance of two shapes, negative inside each other: along `way` from the second to the first, which
   is where to look first, and then what it is. place: the points of their cores there. */
static double nearest(const struct solids* t, const struct solid* const* one,
                      const double* const* pose, double* way, double (*place)[3]) {
  const double size = one[0]->reach + one[1]->reach;
  double shift[3] = {0.}, found[3], gap = 0., much = ASUNDER * size;
  for (int k = 0; k < 2; ++k) gap -= one[k]->kind == ROUNDED ? one[k]->radius : 0.;
  double distance = apart(t, one, pose, shift, found, place);
  const int curved = is_curved(one[0]) || is_curved(one[1]);
  if (distance > (curved ? ASUNDER * size : 0.)) {
    memcpy(way, found, sizeof found);
    return distance + gap;
  }
  distance = 0.;
  for (int k = 0; k < MOST_TURNS; ++k) {
    for (; !(distance > 0.) && much < 8. * size; much *= 8.) {
      for (int r = 0; r < 3; ++r) shift[r] = much * way[r];
      distance = apart(t, one, pose, shift, found, place);
    }
    double off = 0.;
    for (int r = 0; r < 3; ++r) off = fmax(off, fabs(found[r] - way[r]));
    distance -= dot(3, shift, found);
    memcpy(way, found, sizeof found);
    if (off < SAME_WAY || k + 1 == MOST_TURNS) break;
    much = fmax(0., -distance) + ASUNDER * size;
    distance = 0.;
  }
  return distance + gap;
}
