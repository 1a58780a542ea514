/* Where places of shapes that touch go within a step: each on its course on its shape, as an edge or a
   rim, to where a curved wall is deepest under it, or where two shapes are nearest. So shapes bend under
   each other as they do, and forces are those of the curvature too. */
#pragma once
#include "contact_jacobian.hpp"
#include "curved_wall.hpp"

/* What a place may follow: nothing, a line along a vector, a plane across it; a circle about a drum's
   axis, its side, an ellipsoid. 0: it does not ask. */
enum { CORNER = 1, LINE, FACE, CIRCLE, SIDE, EGG };

enum { MOST_COURSES = 3 }; /* of one place in one step */

#define AT_EDGE 1e-9 /* share of a shape's size within which places are on its faces */
#define ALMOST 1e-7  /* what Newton's method makes as good as none with its next step */
#define ONE_WAY 0.9  /* cosine of the normal at the start of a step and later, at least */

/* A place x on its course: `along` is the vector of a line or a plane. */
struct course {
  const struct solid* one;
  double pose[12], x[3], along[3];
  int kind;
};

/* From the numbers of a slot for a shape, whose body has this pose. */
static struct course course_of(const struct solid* one, const double* body, const double* place, double kind,
                               const double* along) {
  struct course c;
  c.one = one, c.kind = (int)kind;
  pose_product(body, one->pose, c.pose);
  move_by(body, place, c.x);
  turn_by(body, along, c.along);
  return c;
}

/* From a drum's middle and axis to the place: along the axis, and out (3); gives the radius. */
static double out_of_axis(const struct course* c, double* axis, double* along, double* out) {
  for (int r = 0; r < 3; ++r) axis[r] = c->pose[4 * r + 2], out[r] = c->x[r] - c->pose[4 * r + 3];
  *along = dot(3, out, axis);
  add_to(3, -*along, axis, out);
  const double radius = sqrt(dot(3, out, out));
  for (int r = 0; r < 3; ++r) out[r] /= radius;
  return radius;
}

/* How many directions a course has. */
static size_t freedom(int kind) { return kind <= CORNER ? 0 : kind == LINE || kind == CIRCLE ? 1 : 2; }

/* Vectors along which it may go, how many there are, and how the place bends along the first, and an
   ellipsoid's along both. */
static size_t directions(const struct course* c, double (*t)[3], double* bend) {
  for (int r = 0; r < 3; ++r) bend[r] = 0.;
  if (c->kind == LINE) memcpy(t[0], c->along, sizeof *t);
  if (c->kind == FACE) tangents(c->along, t[0], t[1]);
  if (c->kind == CIRCLE || c->kind == SIDE) {
    double along, out[3];
    const double radius = out_of_axis(c, t[1], &along, out);
    crossed(t[1], out, t[0]);
    add_to(3, -1. / radius, out, bend);
  }
  if (c->kind == EGG) {
    double arm[3], own[3], e[3], f[3];
    for (int r = 0; r < 3; ++r) arm[r] = c->x[r] - c->pose[4 * r + 3], bend[r] = -arm[r];
    turn_back(c->pose, arm, own);
    for (int r = 0; r < 3; ++r) own[r] /= c->one->half_axes[r];
    tangents(own, e, f);
    for (int r = 0; r < 3; ++r) e[r] *= c->one->half_axes[r], f[r] *= c->one->half_axes[r];
    turn_by(c->pose, e, t[0]), turn_by(c->pose, f, t[1]);
  }
  return freedom(c->kind);
}

/* Go on along the directions. */
static void go_along(struct course* c, double (*t)[3], size_t count, const double* step) {
  if (c->kind == CIRCLE || c->kind == SIDE) {
    double axis[3], along, out[3];
    const double radius = out_of_axis(c, axis, &along, out), turn = step[0] / radius;
    if (c->kind == SIDE) along += step[1];
    for (int r = 0; r < 3; ++r) {
      c->x[r] = c->pose[4 * r + 3] + along * axis[r] + radius * (cos(turn) * out[r] + sin(turn) * t[0][r]);
    }
    return;
  }
  for (size_t k = 0; k < count; ++k) add_to(3, step[k], t[k], c->x);
  if (c->kind != EGG) return;
  double arm[3], own[3], size = 0.;
  for (int r = 0; r < 3; ++r) arm[r] = c->x[r] - c->pose[4 * r + 3];
  turn_back(c->pose, arm, own);
  for (int r = 0; r < 3; ++r) own[r] /= c->one->half_axes[r], size += own[r] * own[r];
  for (int r = 0; r < 3; ++r) own[r] *= c->one->half_axes[r] / sqrt(size);
  move_by(c->pose, own, c->x);
}

/* What share of the way to y stays on a shape, on whose surface the place is. */
static double share_within(const struct solids* t, const struct course* c, const double* y) {
  const struct solid* one = c->one;
  double from[3], to[3], arm[3], share = 1.;
  for (int r = 0; r < 3; ++r) arm[r] = c->x[r] - c->pose[4 * r + 3];
  turn_back(c->pose, arm, from);
  for (int r = 0; r < 3; ++r) arm[r] = y[r] - c->pose[4 * r + 3];
  turn_back(c->pose, arm, to);
  const auto stay = [&share](double before, double after, double most) {
    if (after > most && after > before) share = fmin(share, fmax(0., (most - before) / (after - before)));
  };
  if (one->kind == POLYTOPE) {
    for (int64_t k = one->first_face; k < one->first_face + one->faces; ++k) {
      const double *normal = t->normal + 3 * k, far = dot(3, normal, t->corner + 3 * t->loops[t->start[k]]);
      stay(dot(3, normal, from), dot(3, normal, to), far + AT_EDGE * one->reach);
    }
  } else if (c->kind == FACE) {  /* the end of a drum */
    stay(hypot(from[0], from[1]), hypot(to[0], to[1]), one->radius);
  } else if (c->kind == LINE || c->kind == SIDE) {
    for (double sign = -1.; sign < 2.; sign += 2.) stay(sign * from[2], sign * to[2], one->half);
  }
  return share;
}

/* The place on a curved wall (3), and the normal; gives the gap. It follows its course from where it was
   found, by Newton's method. */
static double follow_wall(const struct solids* t, struct course* c, const struct solid* wall, double radius,
                          double* place, double* normal) {
  struct level here = least_level(wall, radius, c->x);
  for (int k = 0; k < WALL_STEPS; ++k) {
    double way[2][3], bend[3], d[2] = {}, M[2][2] = {{1., 0.}, {0., 1.}}, step[2];
    const size_t count = directions(c, way, bend);
    for (size_t i = 0; i < count; ++i) {
      double bent[3];
      d[i] = dot(3, way[i], here.slope);
      for (int r = 0; r < 3; ++r) bent[r] = dot(3, here.bend + 3 * r, way[i]);
      for (size_t j = 0; j < count; ++j) M[i][j] = dot(3, way[j], bent);
    }
    M[0][0] += dot(3, bend, here.slope);
    if (c->kind == EGG) M[1][1] += dot(3, bend, here.slope);
    const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double size = sqrt(dot(3, way[0], way[0])) * slope_of(here);
    if (!count || fabs(d[0]) + fabs(d[1]) <= 1e-13 * size || !(M[0][0] > 0.) || !(det > 0.)) break;
    step[0] = -(M[1][1] * d[0] - M[0][1] * d[1]) / det;
    step[1] = -(M[0][0] * d[1] - M[1][0] * d[0]) / det;
    struct course next = *c;
    go_along(&next, way, count, step);
    const double share = share_within(t, c, next.x);
    for (int i = 0; i < 2; ++i) step[i] *= share;
    go_along(c, way, count, step);
    here = least_level(wall, radius, c->x);
    if (share < 1.) break;  /* it goes on from there as another one */
  }
  const double size = slope_of(here);
  for (int r = 0; r < 3; ++r) {
    normal[r] = here.slope[r] / size;
    place[r] = c->x[r] - radius * normal[r];
  }
  return here.g / size;
}

/* Its place that is lowest along a normal (3). */
static void go_lowest(struct course* c, const double* normal) {
  if (c->kind == EGG) {
    const double down[] = {-normal[0], -normal[1], -normal[2]};
    farthest(nullptr, c->one, c->pose, down, c->x);
  } else if (c->kind == CIRCLE) {
    double axis[3], along, out[3], down[] = {-normal[0], -normal[1], -normal[2]};
    const double radius = out_of_axis(c, axis, &along, out);
    add_to(3, dot(3, normal, axis), axis, down);
    const double size = sqrt(dot(3, down, down));
    if (!(size > AT_EDGE)) return;  /* it lies flat */
    for (int r = 0; r < 3; ++r) c->x[r] = c->pose[4 * r + 3] + along * axis[r] + radius / size * down[r];
  }
}

/* Let places of two shapes be where these are nearest, and the normal (3) there, by Newton's method on
     a - b = gap n,   n t = 0 of all directions t of both;
   whether that was found. */
static bool follow_both(struct course* c, double* normal) {
  double gap = 0.;
  for (int r = 0; r < 3; ++r) gap += normal[r] * (c[0].x[r] - c[1].x[r]);
  for (int k = 0; k < WALL_STEPS; ++k) {
    double way[2][2][3], bend[2][3], n[2][3], J[49] = {}, x[7] = {}, off = 0.;
    size_t count[2];
    for (int i = 0; i < 2; ++i) count[i] = directions(c + i, way[i], bend[i]);
    tangents(normal, n[0], n[1]);
    const size_t turns = count[0] + count[1], all = turns + 3;
    for (size_t r = 0; r < 3; ++r) {
      double* row = J + r * all;
      x[r] = gap * normal[r] - (c[0].x[r] - c[1].x[r]);
      for (size_t j = 0; j < count[0]; ++j) row[j] = way[0][j][r];
      for (size_t j = 0; j < count[1]; ++j) row[count[0] + j] = -way[1][j][r];
      for (size_t j = 0; j < 2; ++j) row[turns + j] = -gap * n[j][r];
      row[turns + 2] = -normal[r];
      off = fmax(off, fabs(x[r]) / (c[0].one->reach + c[1].one->reach));
    }
    for (size_t i = 0, at = 3; i < 2; ++i) {
      for (size_t j = 0; j < count[i]; ++j, ++at) {
        double* row = J + at * all;
        x[at] = -dot(3, normal, way[i][j]);
        if (j == 0 || c[i].kind == EGG) row[at - 3] = dot(3, normal, bend[i]);
        for (size_t d = 0; d < 2; ++d) row[turns + d] = dot(3, n[d], way[i][j]);
        off = fmax(off, fabs(x[at]) / sqrt(dot(3, way[i][j], way[i][j])));
      }
    }
    if (!eliminate(all, J, x)) return false;
    go_along(c, way[0], count[0], x), go_along(c + 1, way[1], count[1], x + count[0]);
    for (int r = 0; r < 3; ++r) normal[r] += x[turns] * n[0][r] + x[turns + 1] * n[1][r];
    const double size = sqrt(dot(3, normal, normal));
    for (int r = 0; r < 3; ++r) normal[r] /= size;
    gap += x[turns + 2];
    if (off < ALMOST) return true;
    if (!(off < 1.)) return false;
  }
  return false;
}

/* Let a place on a drum or a rod go over from its side to an end, or back, where the normal out of it (3) or
   the place says so; whether it does. */
static bool change_course(struct course* c, const double* out) {
  double axis[3], along, arm[3];
  if (c->one->kind != DRUM && !(c->one->kind == ROUNDED && c->one->half > 0.)) return false;
  out_of_axis(c, axis, &along, arm);
  const bool is_side = c->kind == SIDE || c->kind == LINE, is_end = c->kind == CIRCLE || c->kind == CORNER;
  const double beyond = fabs(along) - c->one->half, close = AT_EDGE * c->one->reach;
  const bool is_rim = beyond > -close, turns_in = copysign(1., along) * dot(3, axis, out) < -AT_EDGE;
  if (is_side && beyond > close) {
    add_to(3, -copysign(beyond, along), axis, c->x);
    c->kind = c->kind == SIDE ? CIRCLE : CORNER;
    return true;
  }
  if (!(is_end && is_rim && turns_in)) return false;
  c->kind = c->kind == CIRCLE ? SIDE : LINE;
  return true;
}
