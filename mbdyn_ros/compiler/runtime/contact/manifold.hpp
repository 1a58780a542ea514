/* Points at which two convex shapes touch: of face on face several, so that boxes stand.

   Where the normal between them is that of a face, the feature of the other shape that looks at it is
   clipped by the sides of that face (Sutherland and Hodgman 1974): each corner of what is left is a
   point of the one link against the plane of the other. Else the nearest points are the only pair. */
#pragma once
#include "nearest_points.hpp"

enum { MOST_POINTS = 4 };

#define ALIGNED (1. - 1e-5) /* cosine of normals that are one */
#define SAME_DEPTH 1e-6     /* m by which points are deeper than others */

/* A point of the one shape (of the second if `turned`), within a radius of its surface, against a
   plane of the other; or against a curved wall, where it `follows` a course: see wall_course.hpp. */
struct touch {
  int turned, follows;
  double point[3], radius, foot[3], normal[3], gap, one[3], other[3];
};

/* Clip points by the sides of a face; gives how many are left. There is room for twice as many as
   both have, and `spare` as much. */
static size_t clip(const struct feature* face, double (*points)[3], size_t count,
                   double (*spare)[3], double* beyond) {
  for (size_t i = 0; i < face->count && count; ++i) {
    const double *from = face->points[i], *to = face->points[(i + 1) % face->count];
    double side[3], out[3];
    for (int r = 0; r < 3; ++r) side[r] = to[r] - from[r];
    crossed(side, face->normal, out);
    const double limit = 1e-9 * (fabs(out[0]) + fabs(out[1]) + fabs(out[2])), own = dot(3, out, from);
    int any = 0;
    for (size_t k = 0; k < count; ++k) {
      beyond[k] = dot(3, out, points[k]) - own - limit;
      any |= beyond[k] > 0.;
    }
    if (!any) continue;
    size_t kept = 0;
    for (size_t k = 0; k < count; ++k) {
      const size_t next = (k + 1) % count;
      if (beyond[k] <= 0.) memcpy(spare[kept++], points[k], sizeof *points);
      if ((count == 2 && k) || (beyond[k] <= 0.) == (beyond[next] <= 0.)) continue;
      const double share = beyond[k] / (beyond[k] - beyond[next]);
      for (int r = 0; r < 3; ++r) {
        spare[kept][r] = points[k][r] + share * (points[next][r] - points[k][r]);
      }
      ++kept;
    }
    memcpy(points, spare, kept * sizeof *points);
    count = kept;
  }
  return count;
}

/* Of many the deepest, and those that span the widest area with it, first; gives how many. */
static size_t fewest(struct touch* all, size_t count) {
  size_t chosen[MOST_POINTS] = {0}, kept = 0;
  double far = -1., most = -HUGE_VAL, least = HUGE_VAL;
  struct touch few[MOST_POINTS];
  if (count <= MOST_POINTS) return count;
  for (size_t k = 1; k < count; ++k) {
    if (rint(all[k].gap / SAME_DEPTH) < rint(all[chosen[0]].gap / SAME_DEPTH)) chosen[0] = k;
  }
  const double* first = all[chosen[0]].point;
  double along[3] = {0.}, way[3], across[3];
  for (size_t k = 0; k < count; ++k) {
    for (int r = 0; r < 3; ++r) way[r] = all[k].point[r] - first[r];
    if (!(dot(3, way, way) > far)) continue;
    far = dot(3, way, way), chosen[1] = k;
    memcpy(along, way, sizeof way);
  }
  for (size_t k = 0; k < count; ++k) {
    for (int r = 0; r < 3; ++r) way[r] = all[k].point[r] - first[r];
    crossed(along, way, across);
    const double area = dot(3, across, all->normal);
    if (area > most) most = area, chosen[2] = k;
    if (area < least) least = area, chosen[3] = k;
  }
  for (size_t i = 0; i < MOST_POINTS; ++i) {
    int again = 0;
    for (size_t j = 0; j < i; ++j) again |= chosen[j] == chosen[i];
    if (!again) few[kept++] = all[chosen[i]];
  }
  memcpy(all, few, kept * sizeof *few);
  return kept;
}

/* Most corners of what is left of a face that is clipped by another, and the room for finding them. */
static size_t most_corners(const struct solids* t) { return 2 * (t->widest + RIM); }

EXPORTED size_t room_of_touches(const struct solids* t) {
  size_t room = most_corners(t) * (10 + (sizeof(struct touch) + sizeof(double) - 1) / sizeof(double));
  for (size_t k = 0; k < t->count; ++k) {  /* see wall_phase.hpp */
    const size_t corners = 4 * (size_t)t->solid[k].corners;
    room = corners > room ? corners : room;
  }
  return room;
}

/* Where two shapes touch or will soon, those points left out that are farther apart than the margin;
   `out` has MOST_POINTS. way, place: of `nearest`, whose distance they have. */
static size_t narrow_phase(const struct solids* t, const struct solid* const* one,
                      const double* const* pose, const double* way, double (*place)[3],
                      double margin, double* room, struct touch* out) {
  const size_t most = most_corners(t);
  double(*const points)[3] = (double(*)[3])room, *beyond = room + 9 * most, back[3], aligned[2];
  struct feature side[2] = {};
  side[0].points = points, side[1].points = points + most;
  for (int r = 0; r < 3; ++r) back[r] = -way[r];
  towards(t, one[0], pose[0], back, &side[0]);
  towards(t, one[1], pose[1], way, &side[1]);
  aligned[0] = side[1].flat ? dot(3, side[1].normal, way) : -1.;
  aligned[1] = side[0].flat ? dot(3, side[0].normal, back) : -1.;
  int turned = aligned[1] > aligned[0];
  if (aligned[turned] > ALIGNED) {
    const struct feature *face = side + !turned, *other = side + turned;
    struct touch* all = (struct touch*)(beyond + most);
    size_t near = 0;
    const size_t count = clip(face, other->points, other->count, points + 2 * most, beyond);
    for (size_t k = 0; k < count; ++k) {
      struct touch* found = all + near;
      double far[3];
      found->turned = turned, found->follows = 0, found->radius = other->radius;
      memcpy(found->point, other->points[k], sizeof found->point);
      memcpy(found->foot, face->points[0], sizeof found->foot);
      memcpy(found->normal, face->normal, sizeof found->normal);
      for (int r = 0; r < 3; ++r) far[r] = found->point[r] - found->foot[r];
      found->gap = dot(3, far, found->normal) - found->radius;
      near += found->gap < margin;
    }
    near = fewest(all, near);
    if (near) {
      memcpy(out, all, near * sizeof *out);
      return near;
    }
  }
  turned = one[1]->kind == ROUNDED;  /* what is round is the point */
  out->turned = turned, out->follows = 0;
  out->radius = one[turned]->kind == ROUNDED ? one[turned]->radius : 0.;
  memcpy(out->point, place[turned], sizeof out->point);
  memcpy(out->foot, place[!turned], sizeof out->foot);
  memcpy(out->normal, turned ? back : way, sizeof out->normal);
  double far[3];
  for (int r = 0; r < 3; ++r) far[r] = out->point[r] - out->foot[r];
  out->gap = dot(3, far, out->normal) - out->radius;
  return 1;
}
