/* Convex shapes of links: corners and faces, drums, and balls and capsules, which are points and rods
   with a radius about them. Distances are of what is within the radius, their cores. Curved walls are
   among them as the second of a pair. */
#pragma once
#include "dense.hpp"


enum { POLYTOPE, DRUM, ROUNDED, ELLIPSOID, WALL, RIM = 8 };

#define STEEP 0.70710678118654752 /* cosine to a drum's axis from which its end looks that way */
#define LEANS 1e-6                /* sine to it from which an end has a foremost place */

/* kind, and where its body stands in the result of `rows`; corners and faces of a polytope in the
   tables; radius and half the length along z; radius of a ball that holds it; half axes of
   an ellipsoid; its place on the body (3, 4). Of a wall the program of x (3) that gives g, its gradient
   and second derivatives, the greatest |grad g|, and how far apart (m) places are looked at. */
struct solid {
  int64_t kind, body, first_corner, corners, first_face, faces;
  double radius, half, reach, half_axes[3], pose[12];
  const struct program* face;
  double steep, spread;
};

/* Pairs (2) of shapes that may touch. Corners (3); of every face its normal (3) and where its corners
   begin in `loops`, in order about it. widest: most corners of a face. law: of
   every pair restitution and friction. reach: of every shape, from reach_start on, the coordinates
   that move its body, as `walls` has them of contacts. fall: m/s^2. */
struct solids {
  const struct solid* solid;
  const int64_t *pair, *start, *loops;
  const double *corner, *normal, *law;
  const int64_t* reach_start;
  const int32_t* reach;
  size_t count, pairs, widest;
  double fall;
};

/* The part of a shape that looks into a direction: a face with its normal, an edge or a point. A drum's
   end has RIM corners, which stay on the body, and what is foremost among them, if any. */
struct feature {
  size_t count, foremost;
  double (*points)[3], normal[3], radius;
  int flat;
};

/* a + b c of poses (3, 4) */
static void pose_product(const double* a, const double* b, double* c) {
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < 4; ++k) {
      c[4 * r + k] = k == 3 ? a[4 * r + 3] : 0.;
      for (int i = 0; i < 3; ++i) c[4 * r + k] += a[4 * r + i] * b[4 * i + k];
    }
  }
}

static void turn_by(const double* pose, const double* x, double* y) {
  for (int r = 0; r < 3; ++r) y[r] = dot(3, pose + 4 * r, x);
}

static void turn_back(const double* pose, const double* x, double* y) {
  for (int r = 0; r < 3; ++r) y[r] = pose[r] * x[0] + pose[4 + r] * x[1] + pose[8 + r] * x[2];
}

static void move_by(const double* pose, const double* x, double* y) {
  turn_by(pose, x, y);
  for (int r = 0; r < 3; ++r) y[r] += pose[4 * r + 3];
}

/* The point of an ellipsoid that is farthest in a direction of its own axes. */
static void farthest_of_ellipsoid(const struct solid* one, const double* own, double* point) {
  double scaled[3];
  for (int r = 0; r < 3; ++r) scaled[r] = one->half_axes[r] * own[r];
  const double size = sqrt(dot(3, scaled, scaled));
  for (int r = 0; r < 3; ++r) point[r] = size > 0. ? one->half_axes[r] * scaled[r] / size : 0.;
}

/* The point of a shape's core that is farthest in a direction. */
static void farthest(const struct solids* t, const struct solid* one, const double* pose,
                     const double* way, double* point) {
  double own[3], found[3] = {0.};
  turn_back(pose, way, own);
  if (one->kind == POLYTOPE) {
    const double *corner = t->corner + 3 * one->first_corner, *best = corner;
    double most = dot(3, own, corner);
    for (int64_t k = 1; k < one->corners; ++k) {
      const double far = dot(3, own, corner + 3 * k);
      if (far > most) most = far, best = corner + 3 * k;
    }
    memcpy(found, best, sizeof found);
  } else if (one->kind == ELLIPSOID) {
    farthest_of_ellipsoid(one, own, found);
  } else {
    const double across = one->kind == DRUM ? hypot(own[0], own[1]) : 0.;
    if (across > 0.) {
      found[0] = one->radius * own[0] / across, found[1] = one->radius * own[1] / across;
    }
    found[2] = copysign(one->half, own[2]);
  }
  move_by(pose, found, point);
}

/* The feature that looks most into a direction; `points` has room for RIM and the widest face. */
static void towards(const struct solids* t, const struct solid* one, const double* pose,
                    const double* way, struct feature* out) {
  double own[3], normal[3] = {0.};
  turn_back(pose, way, own);
  out->radius = one->kind == ROUNDED ? one->radius : 0.;
  out->flat = 0, out->foremost = SIZE_MAX;
  if (one->kind == POLYTOPE) {
    int64_t best = one->first_face;
    for (int64_t k = best + 1; k < one->first_face + one->faces; ++k) {
      if (dot(3, own, t->normal + 3 * k) > dot(3, own, t->normal + 3 * best)) best = k;
    }
    const int64_t *loop = t->loops + t->start[best], *end = t->loops + t->start[best + 1];
    out->count = 0, out->flat = 1;
    memcpy(normal, t->normal + 3 * best, sizeof normal);
    for (; loop < end; ++loop) move_by(pose, t->corner + 3 * *loop, out->points[out->count++]);
  } else {
    const double across = hypot(own[0], own[1]), side = copysign(1., own[2]);
    double points[RIM + 1][3] = {{0., 0., -one->half}, {0., 0., one->half}};
    out->count = one->half > 0. ? 2 : 1;
    if (one->kind == ELLIPSOID) farthest_of_ellipsoid(one, own, points[0]);
    const auto on_rim = [&](double* point, double x, double y, double z) {
      point[0] = one->radius * x, point[1] = one->radius * y, point[2] = z;
    };
    if (one->kind == DRUM && fabs(own[2]) < STEEP) {
      for (int k = 0; k < 2; ++k) on_rim(points[k], own[0] / across, own[1] / across, points[k][2]);
    } else if (one->kind == DRUM) {
      const double part = 2. * 3.14159265358979323846 / RIM, angle = side * atan2(own[1], own[0]) / part;
      out->count = 0, out->flat = 1, normal[2] = side;
      for (int k = 0; k < RIM; ++k) {
        on_rim(points[out->count++], cos(part * k), side * sin(part * k), side * one->half);
        if (!(across > LEANS) || floor(angle < 0. ? angle + RIM : angle) != k) continue;
        out->foremost = out->count++;
        on_rim(points[out->foremost], own[0] / across, own[1] / across, side * one->half);
      }
    }
    for (size_t k = 0; k < out->count; ++k) move_by(pose, points[k], out->points[k]);
  }
  turn_by(pose, normal, out->normal);
}
