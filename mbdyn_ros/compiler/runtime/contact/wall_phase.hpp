/* Where convex shapes touch a curved wall g = 0, which is free where g > 0: corners, and places between
   them where g is least along an edge, a rim, a rod or a face. In each the tangent plane of the wall is
   touched. What g does between two places is known from its derivatives there: bounds of these say how
   close together they are (see equations/contact/steepness.py).

   In a step a place follows its course on the body, as an edge or a rim, to where g is least: so the
   wall bends under it as it is.

   A capsule is a rod of balls of radius r. g is the least in the ball about x then, at y = x - r n, and
   with S = (1 - n n^T) H / |grad g| there n changes with x by (1 + r S)^-1 S. */
#pragma once
#include "contact_jacobian.hpp"
#include "manifold.hpp"

enum { MOST_FOUND = 48, WALL_STEPS = 24, MOST_PARTS = 64 };

/* What a place may follow: nothing, a line along `one`, a plane along both; a circle about the point
   `one` across `other`, or that and the way along `other`; an ellipsoid. */
enum { CORNER = 1, LINE, FACE, CIRCLE, SIDE, EGG };

#define SETTLED 1e-11 /* share of the slope that is none along an edge */
#define EVEN_WALL 1e-9 /* m by which a wall bends away from what touches it in between, at least */
#define CLOSER 0.5 /* share of the way on which g bends anew, from place to place */
#define AT_EDGE 1e-9 /* share of a shape's size within which places are on its faces */
#define ONE_PLACE 1e-3 /* share of a shape's size within which places are one */

/* g with its gradient and second derivatives, as the program of a wall has them. */
struct level {
  double g, slope[3], bend[9];
};

/* What is sought: places of one shape that are not farther from a wall than the margin, deep ones
   first where there are many. */
struct landing {
  const struct solid* wall;
  double radius, margin, size;
  int course;
  double one[3], other[3];
  struct touch found[MOST_FOUND];
  size_t count;
};

static void set_course(struct landing* l, int course, const double* one, const double* other) {
  l->course = course;
  for (int r = 0; r < 3; ++r) l->one[r] = one ? one[r] : 0., l->other[r] = other ? other[r] : 0.;
}

/* Solve a x = x (3) in place; whether a is regular. */
static bool solve_three(const double* a, double* x) {
  double minors[3][3], y[3] = {};
  for (int r = 0; r < 3; ++r) crossed(a + 3 * ((r + 1) % 3), a + 3 * ((r + 2) % 3), minors[r]);
  const double all = dot(3, a, minors[0]);
  if (!(fabs(all) > 0.)) return false;
  for (int r = 0; r < 3; ++r) add_to(3, x[r] / all, minors[r], y);
  memcpy(x, y, sizeof y);
  return true;
}

static struct level level_at(const struct solid* wall, const double* x) {
  struct level found;
  const double* arg[] = {x, nullptr, nullptr};
  double* const res[] = {&found.g};
  wall->face->scalar(arg, res);
  return found;
}

static double slope_of(const struct level& one) { return sqrt(dot(3, one.slope, one.slope)); }

/* 1 + r S, and S. */
static void shape_of(const struct level& one, double radius, double* a, double* S) {
  const double size = slope_of(one);
  for (int i = 0; i < 9; ++i) {
    S[i] = one.bend[i] / size;
    for (int k = 0; k < 3; ++k) {
      S[i] -= one.slope[i / 3] * one.slope[k] * one.bend[3 * k + i % 3] / (size * size * size);
    }
    a[i] = radius * S[i] + (i % 4 ? 0. : 1.);
  }
}

/* The same of the least g in a ball of that radius about x. */
static struct level least_level(const struct solid* wall, double radius, const double* x) {
  struct level one = level_at(wall, x);
  if (!(radius > 0.)) return one;
  double u[3], a[9], S[9], size = slope_of(one);
  for (int r = 0; r < 3; ++r) u[r] = -radius * one.slope[r] / size;
  for (int k = 0; k < WALL_STEPS; ++k) {
    double y[3], off[3];
    for (int r = 0; r < 3; ++r) y[r] = x[r] + u[r];
    one = level_at(wall, y), size = slope_of(one);
    for (int r = 0; r < 3; ++r) off[r] = u[r] + radius * one.slope[r] / size;
    shape_of(one, radius, a, S);
    if (dot(3, off, off) <= 1e-26 * radius * radius) break;
    double way[3] = {off[0], off[1], off[2]};
    if (!solve_three(a, way)) memcpy(way, off, sizeof way);
    for (int r = 0; r < 3; ++r) u[r] -= way[r];
    const double length = sqrt(dot(3, u, u));
    for (int r = 0; r < 3; ++r) u[r] *= radius / length;
  }
  for (int k = 0; k < 3; ++k) {
    double column[3] = {S[k], S[3 + k], S[6 + k]};
    solve_three(a, column);
    for (int r = 0; r < 3; ++r) one.bend[3 * r + k] = size * column[r];
  }
  return one;
}

static struct level level_at(const struct landing* l, const double* x) {
  return least_level(l->wall, l->radius, x);
}

/* Take a place x of the shape, if it is near; of places that are one the deepest stays. */
static void land(struct landing* l, const double* x, const struct level& one) {
  const double size = slope_of(one), gap = one.g / size;
  if (!(gap < l->margin)) return;
  size_t at = l->count;
  for (size_t i = 0; i < l->count; ++i) {
    double far[3];
    for (int r = 0; r < 3; ++r) far[r] = l->found[i].point[r] - x[r];
    if (dot(3, far, far) < ONE_PLACE * ONE_PLACE * l->size * l->size) at = i;
  }
  if (at == MOST_FOUND) {
    at = 0;
    for (size_t i = 1; i < MOST_FOUND; ++i) {
      if (l->found[i].gap > l->found[at].gap) at = i;
    }
  }
  if (at < l->count && l->found[at].gap <= gap) return;
  l->count += at == l->count;
  struct touch* found = l->found + at;
  found->turned = 0, found->follows = l->course, found->radius = l->radius, found->gap = gap;
  for (int r = 0; r < 3; ++r) {
    found->one[r] = l->one[r], found->other[r] = l->other[r];
    found->point[r] = x[r], found->normal[r] = one.slope[r] / size;
    found->foot[r] = x[r] - (l->radius + gap) * found->normal[r];
  }
}

/* Whether g >= `least` everywhere keeps a shape farther away than the margin. */
static bool is_far(const struct landing* l, double least) {
  return least > l->margin * l->wall->steep;
}

/* In how many parts a way is looked at. */
static size_t parts_of(const struct landing* l, double length) {
  const double parts = ceil(length / (CLOSER * l->wall->spread));
  return (size_t)fmax(fmin(parts, MOST_PARTS), 1.);
}

/* Where g is least on a curve between two parameters where it falls and rises: `level_on(t, d)` gives
   the level at t and (d) its place (3) and the first two derivatives of g by t. */
template <class On>
static void land_between(struct landing* l, double low, double high, double from, double to, const On& on) {
  double t = low - from * (high - low) / (to - from), d[5];
  struct level one = on(t, d);
  for (int k = 0; k < WALL_STEPS && fabs(d[3]) > SETTLED * slope_of(one) * l->size; ++k) {
    (d[3] > 0. ? high : low) = t;
    const double next = t - d[3] / d[4];
    t = d[4] > 0. && next > low && next < high ? next : 0.5 * (low + high);
    one = on(t, d);
  }
  if (d[4] > 2. * EVEN_WALL * slope_of(one)) land(l, d, one);
}

/* The least g along a curve from 0 to `end`, of whose ends others take care unless it is closed. Where the
   slope has one sign at both ends of a part, it is looked at where a cubic through both would have it
   least, or most: there may be a hollow in between. */
template <class On>
static void land_along(struct landing* l, size_t parts, double end, const On& on) {
  double before[5], after[5], between[5], g = on(0., before).g;
  for (size_t k = 1; k <= parts; ++k) {
    const double high = end * (double)k / (double)parts, low = end * (double)(k - 1) / (double)parts;
    const double last = on(high, after).g, wide = high - low, d0 = before[3], d1 = after[3];
    const double rise = (last - g) / wide, bend = 3. * (d0 + d1 - 2. * rise), t = 0.5 + (d0 - d1) / (2. * bend);
    if (d0 < 0. && d1 > 0.) {
      land_between(l, low, high, d0, d1, on);
    } else if (d0 * d1 >= 0. && t > 0. && t < 1.) {
      const double middle = low + t * wide;
      on(middle, between);
      if (between[3] < 0. && d1 > 0.) land_between(l, middle, high, between[3], d1, on);
      if (between[3] > 0. && d0 < 0.) land_between(l, low, middle, d0, between[3], on);
    }
    memcpy(before, after, sizeof before);
    g = last;
  }
}

/* The same between two places. */
static void land_on_edge(struct landing* l, const double* a, const double* b) {
  double way[3];
  for (int r = 0; r < 3; ++r) way[r] = b[r] - a[r];
  const double length = sqrt(dot(3, way, way));
  const size_t parts = parts_of(l, length);
  set_course(l, CORNER, nullptr, nullptr);
  for (size_t k = 1; k < parts; ++k) {  /* where another hollow may come within the step */
    double x[3];
    for (int r = 0; r < 3; ++r) x[r] = a[r] + (double)k / (double)parts * way[r];
    land(l, x, level_at(l, x));
  }
  set_course(l, LINE, way, nullptr);
  for (int r = 0; r < 3; ++r) l->one[r] /= length;
  land_along(l, parts, 1., [&](double t, double* d) {
    for (int r = 0; r < 3; ++r) d[r] = a[r] + t * way[r];
    const struct level one = level_at(l, d);
    d[3] = dot(3, way, one.slope), d[4] = 0.;
    for (int r = 0; r < 3; ++r) d[4] += way[r] * dot(3, one.bend + 3 * r, way);
    return one;
  });
}

/* Where g is least in a plane, by Newton's method from a place x (3) in it along two unit vectors,
   as long as it is `within` what is looked at. */
template <class Within>
static void land_on_face(struct landing* l, const double* start, const double* e, const double* f,
                         double reach, const Within& within) {
  double x[3] = {start[0], start[1], start[2]};
  for (int k = 0; k < WALL_STEPS; ++k) {
    const struct level one = level_at(l, x);
    if (is_far(l, one.g - reach * l->wall->steep)) return;
    const double size = slope_of(one), d[2] = {dot(3, e, one.slope), dot(3, f, one.slope)};
    double He[3], Hf[3], step[2], total = 0.;
    for (int r = 0; r < 3; ++r) He[r] = dot(3, one.bend + 3 * r, e), Hf[r] = dot(3, one.bend + 3 * r, f);
    const double a = dot(3, e, He), b = dot(3, e, Hf), c = dot(3, f, Hf), det = a * c - b * b;
    const bool is_hollow = a > 0. && det > 0.;
    if (fabs(d[0]) + fabs(d[1]) <= SETTLED * size) {
      if (is_hollow && det / (a + c) * reach * reach > 2. * EVEN_WALL * size) land(l, x, one);
      return;
    }
    for (int i = 0; i < 9; ++i) total += one.bend[i] * one.bend[i];
    step[0] = is_hollow ? -(c * d[0] - b * d[1]) / det : -d[0] / (sqrt(total) + 1e-9 * size / reach);
    step[1] = is_hollow ? -(a * d[1] - b * d[0]) / det : -d[1] / (sqrt(total) + 1e-9 * size / reach);
    double share = fmin(1., reach / (hypot(step[0], step[1]) + 1e-300)), y[3];
    for (int half = 0; half < 4; ++half, share /= 2.) {
      for (int r = 0; r < 3; ++r) y[r] = x[r] + share * (step[0] * e[r] + step[1] * f[r]);
      if (within(y)) break;
      if (half == 3) return;
    }
    memcpy(x, y, sizeof x);
  }
}

/* Look at a flat face from a grid of places about its middle, as close together as the wall asks. */
template <class Within>
static void land_on_grid(struct landing* l, const double* middle, const double* normal, double reach,
                         const Within& within) {
  double e[3], f[3], x[3];
  tangents(normal, e, f);
  set_course(l, FACE, e, f);
  const int count = (int)parts_of(l, reach);
  for (int i = 1 - count; i < count; ++i) {
    for (int j = 1 - count; j < count; ++j) {
      const double s = reach * i / count, t = reach * j / count;
      for (int r = 0; r < 3; ++r) x[r] = middle[r] + s * e[r] + t * f[r];
      if (within(x)) land_on_face(l, x, e, f, reach, within);
    }
  }
}

/* Corners of a polytope, then its edges and faces where bounds of g do not keep them away. */
static void land_polytope(const struct solids* t, const struct solid* one, const double* pose,
                          struct landing* l, double* room) {
  double(*const corner)[3] = (double(*)[3])room, *g = room + 3 * one->corners;
  for (int64_t k = 0; k < one->corners; ++k) {
    move_by(pose, t->corner + 3 * (one->first_corner + k), corner[k]);
    const struct level here = level_at(l, corner[k]);
    g[k] = here.g;
    set_course(l, CORNER, nullptr, nullptr);
    land(l, corner[k], here);
  }
  for (int64_t face = one->first_face; face < one->first_face + one->faces; ++face) {
    const int64_t *loop = t->loops + t->start[face], *end = t->loops + t->start[face + 1];
    const double count = (double)(end - loop), steep = l->wall->steep;
    double middle[3] = {}, normal[3], reach = 0., most = -HUGE_VAL;
    for (const int64_t* at = loop; at < end; ++at) {
      const int64_t i = *at - one->first_corner, j = (at + 1 < end ? at[1] : *loop) - one->first_corner;
      double way[3];
      for (int r = 0; r < 3; ++r) way[r] = corner[j][r] - corner[i][r];
      const double length = sqrt(dot(3, way, way));
      if (i < j && !is_far(l, 0.5 * (g[i] + g[j] - length * steep))) land_on_edge(l, corner[i], corner[j]);
      add_to(3, 1. / count, corner[i], middle);
      most = fmax(most, g[i]);
    }
    for (const int64_t* at = loop; at < end; ++at) {
      double arm[3];
      for (int r = 0; r < 3; ++r) arm[r] = corner[*at - one->first_corner][r] - middle[r];
      reach = fmax(reach, sqrt(dot(3, arm, arm)));
    }
    if (is_far(l, most - 2. * reach * steep)) continue;
    turn_by(pose, t->normal + 3 * face, normal);
    land_on_grid(l, middle, normal, reach, [&](const double* x) {
      for (const int64_t* at = loop; at < end; ++at) {
        const int64_t next = at + 1 < end ? at[1] : *loop;
        const double *from = corner[*at - one->first_corner], *to = corner[next - one->first_corner];
        double side[3], arm[3], out[3];
        for (int r = 0; r < 3; ++r) side[r] = to[r] - from[r], arm[r] = x[r] - from[r];
        crossed(side, normal, out);
        if (dot(3, out, arm) > 0.) return false;
      }
      return true;
    });
  }
}

/* Rims and ends of a drum, and its side between them. */
static void land_drum(const struct solid* one, const double* pose, struct landing* l) {
  const double ex[] = {pose[0], pose[4], pose[8]}, ey[] = {pose[1], pose[5], pose[9]};
  const double axis[] = {pose[2], pose[6], pose[10]}, radius = one->radius;
  const double whole = 2. * 3.14159265358979323846;
  double z = 0.;
  const auto on_circle = [&](double angle, double* d) {
    double out[3], along[3];
    for (int r = 0; r < 3; ++r) {
      out[r] = cos(angle) * ex[r] + sin(angle) * ey[r], along[r] = cos(angle) * ey[r] - sin(angle) * ex[r];
      d[r] = pose[4 * r + 3] + z * axis[r] + radius * out[r];
    }
    const struct level here = level_at(l, d);
    d[3] = radius * dot(3, along, here.slope), d[4] = -radius * dot(3, out, here.slope);
    for (int r = 0; r < 3; ++r) d[4] += radius * radius * along[r] * dot(3, here.bend + 3 * r, along);
    return here;
  };
  const size_t parts = fmax(RIM, (double)parts_of(l, whole * radius));
  for (int end = -1; end < 2; end += 2) {
    double middle[3], normal[3];
    z = end * one->half;
    for (int r = 0; r < 3; ++r) middle[r] = pose[4 * r + 3] + z * axis[r], normal[r] = end * axis[r];
    const struct level here = level_at(l, middle);
    if (is_far(l, here.g - radius * l->wall->steep)) continue;
    set_course(l, CIRCLE, middle, axis);
    land_along(l, parts, whole, on_circle);
    set_course(l, CORNER, nullptr, nullptr);
    if (-dot(3, normal, here.slope) > ALIGNED * slope_of(here)) {  /* it stands */
      const double down[] = {dot(3, ex, here.slope), dot(3, ey, here.slope)};
      const double first = atan2(-down[1], -down[0]);
      for (int k = 0; k < RIM; ++k) {
        double d[5];
        const struct level there = on_circle(first + whole * k / RIM, d);
        land(l, d, there);
      }
    }
    land_on_grid(l, middle, normal, radius, [&](const double* x) {
      double arm[3];
      for (int r = 0; r < 3; ++r) arm[r] = x[r] - middle[r];
      return dot(3, arm, arm) < radius * radius;
    });
  }
  const size_t rings = parts_of(l, 2. * one->half);
  const double centre[] = {pose[3], pose[7], pose[11]};
  set_course(l, SIDE, centre, axis);
  for (size_t k = 0; k < rings; ++k) {
    struct landing ring = *l;
    ring.count = 0, ring.margin = HUGE_VAL;
    z = one->half * ((2. * (double)k + 1.) / (double)rings - 1.);
    land_along(&ring, parts, whole, on_circle);
    for (size_t i = 0; i < ring.count; ++i) {  /* down along the side, which turns as it goes */
      const double* x = ring.found[i].point;
      double angle, at = z, d[5];
      double arm[3];
      for (int r = 0; r < 3; ++r) arm[r] = x[r] - pose[4 * r + 3];
      angle = atan2(dot(3, ey, arm), dot(3, ex, arm));
      for (int step = 0; step < WALL_STEPS; ++step) {
        z = at;
        const struct level here = on_circle(angle, d);
        if (is_far(l, here.g - 2. * one->half * l->wall->steep)) break;
        double along[3], across_z = 0., own = 0.;
        for (int r = 0; r < 3; ++r) along[r] = radius * (cos(angle) * ey[r] - sin(angle) * ex[r]);
        for (int r = 0; r < 3; ++r) {
          const double turned = dot(3, here.bend + 3 * r, axis);
          own += axis[r] * turned, across_z += along[r] * turned;
        }
        const double dz = dot(3, axis, here.slope), size = slope_of(here);
        const double det = d[4] * own - across_z * across_z;
        const bool is_hollow = d[4] > 0. && det > 0.;
        if (fabs(d[3]) + l->size * fabs(dz) <= SETTLED * size * l->size) {
          if (is_hollow && det / d[4] * one->half * one->half > 2. * EVEN_WALL * size) land(l, d, here);
          break;
        }
        if (!is_hollow) break;  /* the rims are lower */
        angle -= (own * d[3] - across_z * dz) / det, at -= (d[4] * dz - across_z * d[3]) / det;
        if (fabs(at) >= one->half) break;
      }
    }
  }
}

/* Places of an ellipsoid middle + A s with |s| = 1: A^T grad g + l s = 0, by Newton's method from 26 of
   them. */
static void land_ellipsoid(const struct solid* one, const double* pose, struct landing* l) {
  set_course(l, EGG, nullptr, nullptr);
  for (int start = 0; start < 27; ++start) {
    double s[3] = {start % 3 - 1., start / 3 % 3 - 1., start / 9 - 1.}, x[3];
    double size = sqrt(dot(3, s, s)), moved = HUGE_VAL;
    if (!(size > 0.)) continue;
    struct level here = {};
    for (int k = 0; k < WALL_STEPS; ++k) {
      double own[3], slope[3], a[9], away[3], along[3];
      for (int r = 0; r < 3; ++r) own[r] = one->half_axes[r] * (s[r] /= size);
      move_by(pose, own, x);
      here = level_at(l, x);
      turn_back(pose, here.slope, slope);
      for (int r = 0; r < 3; ++r) slope[r] *= one->half_axes[r];
      const double scale = 1. / sqrt(dot(3, slope, slope));
      if (moved <= SETTLED) {
        if (dot(3, s, slope) < 0.) land(l, x, here);
        break;
      }
      for (int i = 0; i < 3; ++i) {  /* 1 + scale A^T H A */
        double row[3], turned[3];
        for (int r = 0; r < 3; ++r) row[r] = pose[4 * r + i];
        for (int r = 0; r < 3; ++r) along[r] = dot(3, here.bend + 3 * r, row);
        turn_back(pose, along, turned);
        for (int j = 0; j < 3; ++j) {
          a[3 * i + j] = (i == j) + scale * one->half_axes[i] * one->half_axes[j] * turned[j];
        }
      }
      for (int r = 0; r < 3; ++r) away[r] = s[r] + scale * slope[r], along[r] = slope[r];
      if (!solve_three(a, away) || !solve_three(a, along)) break;
      const double share = dot(3, s, away) / dot(3, s, along);
      for (int r = 0; r < 3; ++r) away[r] -= share * along[r], s[r] -= away[r];
      moved = sqrt(dot(3, away, away)), size = sqrt(dot(3, s, s));
    }
  }
}

/* The deepest places found, of as deep ones those that span the widest area; gives how many. */
static size_t choose(struct landing* l, struct touch* out) {
  size_t deep = 0, count = l->count;
  if (count > MOST_POINTS) count = MOST_POINTS;
  for (size_t i = 0; i < l->count; ++i) {  /* the deepest first */
    for (size_t k = i; k > 0 && l->found[k].gap < l->found[k - 1].gap; --k) {
      const struct touch deeper = l->found[k];
      l->found[k] = l->found[k - 1], l->found[k - 1] = deeper;
    }
  }
  while (deep < l->count && l->found[deep].gap < l->found[0].gap + SAME_DEPTH) ++deep;
  if (deep > MOST_POINTS) count = fewest(l->found, deep);
  memcpy(out, l->found, count * sizeof *out);
  return count;
}

/* Where a shape touches a wall or will soon, those left out that are farther apart than the margin;
   gives how many. `room` has 4 numbers for each corner, `out` MOST_POINTS. */
static size_t wall_phase(const struct solids* t, const struct solid* one, const struct solid* wall,
                         const double* pose, double margin, double* room, struct touch* out) {
  struct landing l = {};
  l.wall = wall, l.margin = margin, l.size = one->reach;
  if (one->kind == ROUNDED) l.radius = one->radius;
  const double middle[] = {pose[3], pose[7], pose[11]};
  if (is_far(&l, level_at(wall, middle).g - one->reach * wall->steep)) return 0;
  if (one->kind == POLYTOPE) land_polytope(t, one, pose, &l, room);
  if (one->kind == DRUM) land_drum(one, pose, &l);
  if (one->kind == ELLIPSOID) land_ellipsoid(one, pose, &l);
  if (one->kind == ROUNDED) {
    double ends[2][3], both = -2. * (one->half + one->radius) * wall->steep;
    for (int k = 0; k < 2; ++k) {
      for (int r = 0; r < 3; ++r) ends[k][r] = middle[r] + (k ? 1. : -1.) * one->half * pose[4 * r + 2];
      both += level_at(wall, ends[k]).g;
    }
    if (!is_far(&l, 0.5 * both)) land_on_edge(&l, ends[0], ends[1]);
  }
  return choose(&l, out);
}

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
