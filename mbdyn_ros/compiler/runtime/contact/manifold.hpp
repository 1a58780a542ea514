/* Points at which two convex shapes touch: of face on face several, so that boxes stand.

   Where the normal between them is that of a face, the feature of the other shape that looks at it is
   clipped by the sides of that face (Sutherland and Hodgman 1974): each corner of what is left is a
   point of the one link against the plane of the other. Lines side by side touch at both ends of what
   they have in common. Else the nearest points are the only pair. */
#pragma once
#include "courses.hpp"
#include "nearest_points.hpp"

enum { MOST_POINTS = 4 };

#define ALIGNED (1. - 1e-5) /* cosine of normals that are one */
#define BESIDE 0.6          /* corners of a drum's end that are no farther from the foremost one than they are
                               from each other: square of radii */
#define FLUSH 1e-14         /* by which they are no less so: faces on each other take no turns */
#define EXACT (1. - 1e-10)  /* the same of a face under what touches at one place anyway */
#define SAME_DEPTH 1e-6     /* m by which points are deeper than others */

#define PARALLEL 1e-4       /* sine of what is parallel */
#define ACROSS 1e-5         /* cosine of an edge and a normal */
#define SIDEWAYS 1e-3       /* the same of a drum's or a rod's axis, where the normal is not exact */
#define ONE_PLACE 1e-3      /* share of a shape's size within which places are one */

/* A point of the one shape (of the second if `turned`), within a radius of its surface, against a
   plane of the other or a curved wall; and the courses of both. */
struct touch {
  int turned, course[2];
  double point[3], radius, foot[3], normal[3], gap, along[6];
};

/* What a place follows of a shape that touches there along `way`: with its vector and the ends of a line.
   The place is moved onto that, as near as it is. */
static int course_at(const struct solids* t, const struct solid* one, const double* pose, double* x,
                     const double* way, double* along, double (*ends)[3]) {
  double arm[3], own[3];
  int course = one->kind == ELLIPSOID ? EGG : FACE;
  for (int r = 0; r < 3; ++r) arm[r] = x[r] - pose[4 * r + 3], along[r] = pose[4 * r + 2];
  turn_back(pose, arm, own);
  const double close = AT_EDGE * one->reach;
  if (one->kind == DRUM || one->kind == ROUNDED) {
    const double across = hypot(own[0], own[1]), lean = fabs(dot(3, along, way));
    const bool is_between = fabs(own[2]) < one->half - close;
    const bool is_side = one->half > 0. && lean < (is_between ? SIDEWAYS : PARALLEL);
    const bool is_end = one->kind == DRUM && lean > ALIGNED && across < one->radius - close;
    course = one->kind == ROUNDED ? is_side ? LINE : CORNER : is_side ? SIDE : is_end ? FACE : CIRCLE;
    for (int k = 0; k < 2 && !is_end; ++k) own[k] *= one->kind == ROUNDED ? 0. : one->radius / across;
    own[2] = is_side ? fmax(-one->half, fmin(one->half, own[2])) : copysign(one->half, own[2]);
    move_by(pose, own, x);
  }
  for (int k = 0; k < 2; ++k) {
    for (int r = 0; r < 3; ++r) ends[k][r] = x[r] + ((k ? 1. : -1.) * one->half - own[2]) * along[r];
  }
  if (one->kind != POLYTOPE) return course;
  for (int64_t face = one->first_face; face < one->first_face + one->faces; ++face) {
    const int64_t *loop = t->loops + t->start[face], *end = t->loops + t->start[face + 1];
    for (const int64_t* at = loop; at < end; ++at) {
      double side[3], from[3], off[3];
      const double *a = t->corner + 3 * *at, *b = t->corner + 3 * (at + 1 < end ? at[1] : *loop);
      for (int r = 0; r < 3; ++r) side[r] = b[r] - a[r], from[r] = own[r] - a[r];
      const double length = sqrt(dot(3, side, side)), share = dot(3, from, side) / (length * length);
      for (int r = 0; r < 3; ++r) off[r] = from[r] - share * side[r], side[r] /= length;
      turn_by(pose, side, along);
      if (dot(3, off, off) > close * close || fabs(dot(3, along, way)) > ACROSS) continue;
      if (share * length < -close || (share - 1.) * length > close) continue;
      move_by(pose, a, ends[0]), move_by(pose, b, ends[1]);
      return LINE;
    }
  }
  for (int64_t k = one->first_corner; k < one->first_corner + one->corners; ++k) {
    for (int r = 0; r < 3; ++r) arm[r] = own[r] - t->corner[3 * k + r];
    if (dot(3, arm, arm) < close * close) return CORNER;
  }
  return FACE;
}

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

/* Of many the deepest (of as deep ones what follows a course) and those that span the widest area with
   it, first; gives how many. */
static size_t fewest(struct touch* all, size_t count) {
  size_t chosen[MOST_POINTS] = {0}, kept = 0;
  double far = -1., most = -HUGE_VAL, least = HUGE_VAL;
  struct touch few[MOST_POINTS];
  if (count <= MOST_POINTS) return count;
  for (size_t k = 1; k < count; ++k) {
    const struct touch* best = all + chosen[0];
    const double deeper = rint(best->gap / SAME_DEPTH) - rint(all[k].gap / SAME_DEPTH);
    if (deeper > 0. || (!(deeper < 0.) && all[k].course[0] > best->course[0])) chosen[0] = k;
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
static size_t most_corners(const struct solids* t) { return 2 * (t->widest + RIM + 2); }

EXPORTED size_t room_of_touches(const struct solids* t) {
  size_t room = most_corners(t) * (10 + (sizeof(struct touch) + sizeof(double) - 1) / sizeof(double));
  for (size_t k = 0; k < t->count; ++k) {  /* see wall_phase.hpp */
    const size_t corners = 4 * (size_t)t->solid[k].corners;
    room = corners > room ? corners : room;
  }
  return room;
}

/* The points of one shape's feature against a face of the other that are nearer than a margin; gives how
   many. */
static size_t touch_face(const struct solid* round, int turned, const struct feature* face,
                         const struct feature* other, size_t most, double (*points)[3], double* beyond,
                         double margin, struct touch* out) {
  size_t near = 0;
  double foremost[3] = {HUGE_VAL};
  if (other->foremost < other->count) memcpy(foremost, other->points[other->foremost], sizeof foremost);
  const size_t count = clip(face, other->points, other->count, points + 2 * most, beyond);
  for (size_t k = 0; k < count; ++k) {
    struct touch* found = out + near;
    double far[3];
    found->turned = turned, found->radius = other->radius;
    found->course[0] = found->course[1] = 0;
    memset(found->along, 0, sizeof found->along);
    for (int r = 0; r < 3; ++r) far[r] = other->points[k][r] - foremost[r];
    const double square = dot(3, far, far);
    const bool is_rim = round->kind == DRUM && (!other->flat || !(square > 0.));
    if (!is_rim && square < BESIDE * round->radius * round->radius) continue;
    if (is_rim || round->kind == ELLIPSOID) {
      found->course[0] = is_rim ? CIRCLE : EGG, found->course[1] = FACE;
    }
    memcpy(found->point, other->points[k], sizeof found->point);
    memcpy(found->foot, face->points[0], sizeof found->foot);
    memcpy(found->normal, face->normal, sizeof found->normal);
    for (int r = 0; r < 3; ++r) far[r] = found->point[r] - found->foot[r];
    found->gap = dot(3, far, found->normal) - found->radius;
    near += found->gap < margin;
  }
  return near;
}

/* The nearest points, or both ends of what lines side by side have in common; gives how many. */
static size_t touch_nearest(const struct solids* t, const struct solid* const* one, const double* const* pose,
                            const double* way, double (*place)[3], struct touch* out) {
  double along[2][3], ends[2][2][3], back[3];
  int course[2];
  for (int r = 0; r < 3; ++r) back[r] = -way[r];
  for (int k = 0; k < 2; ++k) course[k] = course_at(t, one[k], pose[k], place[k], way, along[k], ends[k]);
  const int turned = one[1]->kind == ROUNDED || (course[0] == FACE && one[0]->kind != ROUNDED);
  const int first = turned, second = !turned;  /* what is round is the point, what is flat the plane */
  const auto is_line = [&](int k) { return course[k] == LINE || course[k] == SIDE; };
  double across[3];
  crossed(along[0], along[1], across);
  const bool are_parallel = is_line(0) && is_line(1) && dot(3, across, across) < PARALLEL * PARALLEL;
  const auto touch_at = [&](const double* point, const double* foot, int own, struct touch* found) {
    found->turned = turned;
    found->radius = one[first]->kind == ROUNDED ? one[first]->radius : 0.;
    memcpy(found->point, point, sizeof found->point);
    memcpy(found->foot, foot, sizeof found->foot);
    memcpy(found->normal, turned ? back : way, sizeof found->normal);
    memcpy(found->along, along[first], sizeof along[first]);
    memcpy(found->along + 3, along[second], sizeof along[second]);
    const bool meets = course[second] == FACE ? own == CIRCLE || own == EGG
                                              : freedom(own) + freedom(course[second]) > 1 || found->radius > 0.;
    found->course[0] = meets ? own : 0, found->course[1] = meets ? course[second] : 0;
    double far[3];
    for (int r = 0; r < 3; ++r) far[r] = point[r] - foot[r];
    found->gap = dot(3, far, found->normal) - found->radius;
  };
  double low = -HUGE_VAL, high = HUGE_VAL;
  if (are_parallel) {
    for (int k = 0; k < 2; ++k) {
      double at[2];
      for (int end = 0; end < 2; ++end) {
        double arm[3];
        for (int r = 0; r < 3; ++r) arm[r] = ends[k][end][r] - place[first][r];
        at[end] = dot(3, arm, along[first]);
      }
      low = fmax(low, fmin(at[0], at[1])), high = fmin(high, fmax(at[0], at[1]));
    }
  }
  if (are_parallel && high - low > ONE_PLACE * (one[0]->reach + one[1]->reach)) {
    for (int end = 0; end < 2; ++end) {
      double point[3], foot[3];
      for (int r = 0; r < 3; ++r) {
        point[r] = place[first][r] + (end ? high : low) * along[first][r];
        foot[r] = place[second][r] + (end ? high : low) * along[first][r];
      }
      touch_at(point, foot, course[first] == SIDE ? CIRCLE : CORNER, out + end);
    }
    return 2;
  }
  touch_at(place[first], place[second], are_parallel ? CORNER : course[first], out);
  return 1;
}

/* Where two shapes touch or will soon, those points left out that are farther apart than the margin;
   `out` has MOST_POINTS. distance, way, place: as `nearest` has them. Beyond a face that looks their way
   the other shape may be deeper than its own face is: then the nearest points are among them. */
static size_t narrow_phase(const struct solids* t, const struct solid* const* one,
                           const double* const* pose, double distance, const double* way,
                           double (*place)[3], double margin, double* room, struct touch* out) {
  const size_t most = most_corners(t);
  double(*const points)[3] = (double(*)[3])room, *beyond = room + 9 * most, back[3], aligned[2];
  struct feature side[2] = {};
  side[0].points = points, side[1].points = points + most;
  for (int r = 0; r < 3; ++r) back[r] = -way[r];
  towards(t, one[0], pose[0], back, &side[0]);
  towards(t, one[1], pose[1], way, &side[1]);
  aligned[0] = side[1].flat ? dot(3, side[1].normal, way) : -1.;
  aligned[1] = side[0].flat ? dot(3, side[0].normal, back) : -1.;
  const int turned = aligned[1] > aligned[0] + FLUSH;
  if (!(aligned[turned] > (one[turned]->kind == ELLIPSOID ? EXACT : ALIGNED))) {
    return touch_nearest(t, one, pose, way, place, out);
  }
  struct touch* all = (struct touch*)(beyond + most);
  double deepest = HUGE_VAL;
  size_t near = touch_face(one[turned], turned, side + !turned, side + turned, most, points, beyond, margin, all);
  for (size_t k = 0; k < near; ++k) deepest = fmin(deepest, all[k].gap);
  if (deepest > distance + SAME_DEPTH) near += touch_nearest(t, one, pose, way, place, all + near);
  near = fewest(all, near);
  memcpy(out, all, near * sizeof *out);
  return near;
}
