/* A curved wall g = 0, which is free where g > 0: g and its derivatives where a shape may touch it.

   A capsule is a rod of balls of radius r. g is the least in the ball about x then, at y = x - r n, and
   with S = (1 - n n^T) H / |grad g| there n changes with x by (1 + r S)^-1 S. */
#pragma once
#include "convex_shapes.hpp"

enum { WALL_STEPS = 24 }; /* of Newton's method, at most */

#define SETTLED 1e-11 /* share of the slope that is none along an edge */

/* g with its gradient and second derivatives, as the program of a wall has them. */
struct level {
  double g, slope[3], bend[9];
};

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
