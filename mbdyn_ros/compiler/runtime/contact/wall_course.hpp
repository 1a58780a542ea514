/* Where a place of a shape that touches a curved wall goes within a step: on its course on the body, as an
   edge or a rim, to where g is least. So the wall bends under the shape as it is, and forces are those
   of the curvature too. */
#pragma once
#include "contact_jacobian.hpp"
#include "curved_wall.hpp"

/* What a place may follow: nothing, a line along `one`, a plane along both; a circle about the point
   `one` across `other`, or that and the way along `other`; an ellipsoid. */
enum { CORNER = 1, LINE, FACE, CIRCLE, SIDE, EGG };

#define AT_EDGE 1e-9 /* share of a shape's size within which places are on its faces */

/* Unit vectors along which a place x may go, how many there are, and what their bend adds to that of g. */
static size_t directions(const struct solid* one, const double* pose, int course, const double* first,
                         const double* second, const double* x, const double* slope, double (*t)[3],
                         double* more) {
  double arm[3], out[3];
  *more = 0.;
  if (course == LINE || course == FACE) {
    memcpy(t[0], first, sizeof *t), memcpy(t[1], second, sizeof *t);
    return course == LINE ? 1 : 2;
  }
  if (course == EGG) {
    double e[3], f[3];
    for (int r = 0; r < 3; ++r) arm[r] = x[r] - pose[4 * r + 3];
    turn_back(pose, arm, out);
    for (int r = 0; r < 3; ++r) out[r] /= one->half_axes[r];
    tangents(out, e, f);
    for (int r = 0; r < 3; ++r) e[r] *= one->half_axes[r], f[r] *= one->half_axes[r];
    turn_by(pose, e, t[0]), turn_by(pose, f, t[1]);
    *more = -dot(3, arm, slope);
    return 2;
  }
  for (int r = 0; r < 3; ++r) arm[r] = x[r] - first[r];
  add_to(3, -dot(3, arm, second), second, arm);
  const double radius = sqrt(dot(3, arm, arm));
  for (int r = 0; r < 3; ++r) out[r] = arm[r] / radius;
  crossed(second, out, t[0]);
  memcpy(t[1], second, sizeof *t);
  *more = -dot(3, out, slope) / radius;
  return course == CIRCLE ? 1 : 2;
}

/* Go on along a course. */
static void go_along(const struct solid* one, const double* pose, int course, const double* first,
                     const double* second, double (*t)[3], const double* step, double* x) {
  if (course == LINE || course == FACE) {
    for (int k = 0; k < 2; ++k) add_to(3, step[k], t[k], x);
    return;
  }
  double arm[3], along = 0.;
  if (course == EGG) {
    double s[3], size = 0.;
    for (int r = 0; r < 3; ++r) arm[r] = x[r] - pose[4 * r + 3] + step[0] * t[0][r] + step[1] * t[1][r];
    turn_back(pose, arm, s);
    for (int r = 0; r < 3; ++r) s[r] /= one->half_axes[r], size += s[r] * s[r];
    for (int r = 0; r < 3; ++r) s[r] *= one->half_axes[r] / sqrt(size);
    move_by(pose, s, x);
    return;
  }
  for (int r = 0; r < 3; ++r) arm[r] = x[r] - first[r];
  along = dot(3, arm, second);
  add_to(3, -along, second, arm);
  const double radius = sqrt(dot(3, arm, arm)), turn = step[0] / radius;
  along += course == SIDE ? step[1] : 0.;
  for (int r = 0; r < 3; ++r) {
    x[r] = first[r] + along * second[r] + cos(turn) * arm[r] + sin(turn) * radius * t[0][r];
  }
}

/* What share of the way from x to y stays on a shape, on whose surface x is. */
static double share_within(const struct solids* t, const struct solid* one, const double* pose, int course,
                           const double* x, const double* y) {
  double from[3], to[3], arm[3], share = 1.;
  for (int r = 0; r < 3; ++r) arm[r] = x[r] - pose[4 * r + 3];
  turn_back(pose, arm, from);
  for (int r = 0; r < 3; ++r) arm[r] = y[r] - pose[4 * r + 3];
  turn_back(pose, arm, to);
  const auto stay = [&share](double before, double after, double most) {
    if (after > most && after > before) share = fmin(share, fmax(0., (most - before) / (after - before)));
  };
  if (one->kind == POLYTOPE) {
    for (int64_t k = one->first_face; k < one->first_face + one->faces; ++k) {
      const double *normal = t->normal + 3 * k, far = dot(3, normal, t->corner + 3 * t->loops[t->start[k]]);
      stay(dot(3, normal, from), dot(3, normal, to), far + AT_EDGE * one->reach);
    }
  } else if (course == FACE) {  /* the end of a drum */
    stay(hypot(from[0], from[1]), hypot(to[0], to[1]), one->radius);
  } else if (course == LINE || course == SIDE) {
    for (double sign = -1.; sign < 2.; sign += 2.) stay(sign * from[2], sign * to[2], one->half);
  }
  return share;
}

/* The place of a slot on a curved wall with its body in this pose, and the normal; gives the gap. It
   follows its course from where it was found, by Newton's method. */
EXPORTED double follow_wall(const struct solids* t, const double* plane, const double* body,
                            double* place, double* normal) {
  const int64_t* pair = t->pair + 2 * ((size_t)plane[13] / 2);
  const struct solid *one = t->solid + pair[0], *wall = t->solid + pair[1];
  const int course = (int)plane[0] - 1;
  double pose[12], x[3], first[3], second[3], way[2][3], step[2], more;
  pose_product(body, one->pose, pose);
  move_by(body, plane + 1, x);
  course == CIRCLE || course == SIDE ? move_by(body, plane + 5, first) : turn_by(body, plane + 5, first);
  turn_by(body, plane + 8, second);
  struct level here = least_level(wall, plane[4], x);
  for (int k = 0; course > CORNER && k < WALL_STEPS; ++k) {
    const size_t count = directions(one, pose, course, first, second, x, here.slope, way, &more);
    double d[2] = {}, M[2][2] = {{1., 0.}, {0., 1.}};
    for (size_t i = 0; i < count; ++i) {
      double bent[3];
      d[i] = dot(3, way[i], here.slope);
      for (int r = 0; r < 3; ++r) bent[r] = dot(3, here.bend + 3 * r, way[i]);
      for (size_t j = 0; j < count; ++j) M[i][j] = dot(3, way[j], bent);
    }
    M[0][0] += more;
    if (course == EGG) M[1][1] += more;
    const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double size = sqrt(dot(3, way[0], way[0])) * slope_of(here);
    if (fabs(d[0]) + fabs(d[1]) <= 1e-13 * size || !(M[0][0] > 0.) || !(det > 0.)) break;
    step[0] = -(M[1][1] * d[0] - M[0][1] * d[1]) / det;
    step[1] = -(M[0][0] * d[1] - M[1][0] * d[0]) / det;
    double next[3] = {x[0], x[1], x[2]};
    go_along(one, pose, course, first, second, way, step, next);
    const double share = share_within(t, one, pose, course, x, next);
    for (int i = 0; i < 2; ++i) step[i] *= share;
    go_along(one, pose, course, first, second, way, step, x);
    here = least_level(wall, plane[4], x);
    if (share < 1.) break;  /* it goes on from there as another one */
  }
  const double size = slope_of(here);
  for (int r = 0; r < 3; ++r) {
    normal[r] = here.slope[r] / size;
    place[r] = x[r] - plane[4] * normal[r];
  }
  return here.g / size;
}
