/* Where convex shapes touch a curved wall: corners, and places between them where g is least along an edge,
   a rim, a rod or a face. What g does between two places is known from its derivatives there: bounds of
   these say how close together they are (see equations/contact/steepness.py). */
#pragma once
#include "manifold.hpp"

enum { MOST_FOUND = 48, MOST_PARTS = 64 };

#define EVEN_WALL 1e-9 /* m by which a wall bends away from what touches it in between, at least */
#define CLOSER 0.5     /* share of the way on which g bends anew, from place to place */

/* What is sought: places of one shape that are not farther from a wall than the margin, deep ones
   first where there are many. */
struct landing {
  const struct solid* wall;
  double radius, margin, size;
  int course;
  double along[3];
  struct touch found[MOST_FOUND];
  size_t count;
};

static void set_course(struct landing* l, int course, const double* along = nullptr) {
  l->course = course;
  for (int r = 0; r < 3; ++r) l->along[r] = along ? along[r] : 0.;
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
  found->turned = 0, found->course[0] = l->course, found->course[1] = 0, found->radius = l->radius, found->gap = gap;
  for (int r = 0; r < 3; ++r) {
    found->along[r] = l->along[r], found->along[3 + r] = 0.;
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
  set_course(l, CORNER);
  for (size_t k = 1; k < parts; ++k) {  /* where another hollow may come within the step */
    double x[3];
    for (int r = 0; r < 3; ++r) x[r] = a[r] + (double)k / (double)parts * way[r];
    land(l, x, level_at(l, x));
  }
  set_course(l, LINE, way);
  for (int r = 0; r < 3; ++r) l->along[r] /= length;
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
  set_course(l, FACE, normal);
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
    set_course(l, CORNER);
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
    set_course(l, CIRCLE);
    land_along(l, parts, whole, on_circle);
    set_course(l, CORNER);
    if (-dot(3, normal, here.slope) > ALIGNED * slope_of(here)) {  /* it stands */
      for (int k = 0; k < RIM; ++k) {
        double d[5];
        const struct level there = on_circle(whole * k / RIM, d);
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
  set_course(l, SIDE);
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
  set_course(l, EGG);
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
