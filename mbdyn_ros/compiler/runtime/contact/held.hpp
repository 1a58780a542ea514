/* Contacts that are held in a smooth motion, on flat walls or as stops: rows S of their accelerations
   and directions C of the forces that hold them. `simulation/contact/rows.py` has them in NumPy, for
   any walls. */
#pragma once
#include "dense.hpp"


#define REDUNDANT 1e-10   /* pivot, as a share of the largest number, under which rows depend */

/* transforms (3, 3, 4), linear, angular (3, nv), turns (3): of every body, as `contact_state` gives
   them; stop_rows (nv), stop_drift: of every stop. Of every held contact: its body and -1, or -1 and
   its stop; its place on the body (3), radius and friction, then the normal (3) of its wall and two
   tangents, and of a rim about that place its axis on the body (3) and its size, else zeros; where it
   slides (2); and whether it sticks, or slides. */
struct held {
  size_t nv, count;
  const double *transforms, *linear, *angular, *turns, *stop_rows, *stop_drift;
  const int64_t* place;
  const double *numbers, *slide;
  const int64_t *sticks, *slides;
  double leaning, on_end;
  /* results: (m, nv) twice, (m); velocities along the walls (count, 2) */
  double *rows, *columns, *drift, *along;
  /* of `held_forces`: M, X = (M^-1 C^T)^T, A = S X (m, m) and a copy, forces (m), C^T f (nv),
     behind which 2 nv numbers are room */
  double *mass, *answers, *matrix, *factors, *force, *load;
};

/* The velocity along d of what is `arm` from the origin of a body, as a row. */
static void row_of_body(size_t n, const double* linear, const double* angular, const double* arm,
                        const double* d, double* row) {
  const double turn[] = {arm[1] * d[2] - arm[2] * d[1], arm[2] * d[0] - arm[0] * d[2],
                         arm[0] * d[1] - arm[1] * d[0]};
  for (size_t j = 0; j < n; ++j) {
    row[j] = 0.;
    for (size_t r = 0; r < 3; ++r) row[j] += d[r] * linear[r * n + j] + turn[r] * angular[r * n + j];
  }
}

/* Add to the place and to the drift of a rim's centre what leads to its point next to the wall; see
   `rim_arm` of rows.py. rim: its axis on the body, and its size. */
static void onto_rim(const double* at, const double* turning, const double* turns,
                     const double* normal, const double* rim, double on_end, double* arm,
                     double* ahead) {
  double axis[3], swing[3], unit[3], rate[3], out[3], way[3], bend[3];
  for (int r = 0; r < 3; ++r) axis[r] = dot(3, at + 4 * r, rim);
  crossed(turning, axis, swing);
  const double lean = dot(3, normal, axis), tilt = dot(3, normal, swing);
  for (int r = 0; r < 3; ++r) {
    unit[r] = normal[r] - lean * axis[r];
    rate[r] = -tilt * axis[r] - lean * swing[r];
  }
  const double size = sqrt(dot(3, unit, unit));
  if (!(size > on_end)) return;
  for (int r = 0; r < 3; ++r) unit[r] /= size;
  const double along = dot(3, unit, rate);
  for (int r = 0; r < 3; ++r) {
    out[r] = -rim[3] * unit[r];
    way[r] = -rim[3] / size * (rate[r] - along * unit[r]);
    arm[r] += out[r];
  }
  crossed(turns, out, bend), add_to(3, 1., bend, ahead);
  crossed(turning, way, bend), add_to(3, 1., bend, ahead);
}

/* Where a contact slides at the velocities along its wall; near rest it leans to where it did. */
static void leans(double leaning, const double* along, const double* slide, double* way) {
  const double speed = hypot(along[0], along[1]), share = speed / leaning;
  const double lean = leaning * exp(-share * share);
  way[0] = slide[0], way[1] = slide[1];
  if (!(speed > 0.) || along[0] * slide[0] + along[1] * slide[1] < 0.) return;
  const double x = along[0] + lean * slide[0], y = along[1] + lean * slide[1];
  const double length = hypot(x, y);
  way[0] = x / length, way[1] = y / length;
}

/* Fill rows, columns, drift and velocities along the walls at v; gives how many rows there are. */
EXPORTED size_t held_rows(const struct held* h, const double* v) {
  const size_t n = h->nv;
  size_t m = 0;
  double* const tangent[2] = {h->load + n, h->load + 2 * n};
  for (size_t k = 0; k < h->count; ++k) {
    const double *own = h->numbers + 18 * k, *normal = own + 5, mu = own[4];
    double *row = h->rows + m * n, *column = h->columns + m * n, way[2], bend[2] = {0.};
    double* along = h->along + 2 * k;
    along[0] = along[1] = 0.;
    if (h->place[2 * k] < 0) {
      const size_t stop = (size_t)h->place[2 * k + 1];
      memcpy(row, h->stop_rows + stop * n, n * sizeof *row);
      memcpy(column, row, n * sizeof *row);
      h->drift[m++] = h->stop_drift[stop];
      continue;
    }
    const size_t body = (size_t)h->place[2 * k];
    const double *at = h->transforms + 36 * body, *curve = at + 24, *turns = h->turns + 3 * body;
    const double *linear = h->linear + 3 * n * body, *angular = h->angular + 3 * n * body;
    double arm[3], ahead[3];
    for (int r = 0; r < 3; ++r) {
      arm[r] = dot(3, at + 4 * r, own) - own[3] * normal[r];
      ahead[r] = dot(3, curve + 4 * r, own) + curve[4 * r + 3];
    }
    if (own[17] > 0.) {
      double turning[3];
      for (size_t r = 0; r < 3; ++r) turning[r] = dot(n, angular + r * n, v);
      onto_rim(at, turning, turns, normal, own + 14, h->on_end, arm, ahead);
    }
    row_of_body(n, linear, angular, arm, normal, row);
    h->drift[m] = dot(3, normal, ahead);
    memcpy(column, row, n * sizeof *row);
    if (mu > 0.) {
      double with_ball[3];  /* whose surface turns with it */
      crossed(normal, turns, with_ball);
      add_to(3, own[3], with_ball, ahead);
      for (int i = 0; i < 2; ++i) {
        const double* d = normal + 3 + 3 * i;
        row_of_body(n, linear, angular, arm, d, tangent[i]);
        along[i] = dot(n, tangent[i], v);
        bend[i] = dot(3, d, ahead);
      }
      way[0] = h->slide[2 * k], way[1] = h->slide[2 * k + 1];
      if (h->slides[k]) leans(h->leaning, along, h->slide + 2 * k, way);
      for (int i = 0; i < 2; ++i) add_to(n, -mu * way[i], tangent[i], column);
    }
    ++m;
    for (int i = 0; h->sticks[k] && i < 2; ++i, ++m) {
      memcpy(h->rows + m * n, tangent[i], n * sizeof *row);
      memcpy(h->columns + m * n, tangent[i], n * sizeof *row);
      h->drift[m] = bend[i];
    }
  }
  return m;
}

/* Forces of m rows that hold the contacts, and the accelerations `a` with them; 0 where rows depend on
   each other, so that forces are not determined: `matrix` and `answers` are there then. */
EXPORTED int held_forces(const struct held* h, size_t m, double* a) {
  const size_t n = h->nv;
  if (!cholesky(n, h->mass)) return 0;
  double most = 0.;
  for (size_t i = 0; i < m; ++i) {
    double* answer = h->answers + i * n;
    memcpy(answer, h->columns + i * n, n * sizeof *answer);
    forward(n, h->mass, answer);
    backward(n, h->mass, answer);
  }
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < m; ++j) {
      const double one = dot(n, h->rows + i * n, h->answers + j * n);
      h->matrix[i * m + j] = h->factors[i * m + j] = one;
      most = fmax(most, fabs(one));
    }
    h->force[i] = -(dot(n, h->rows + i * n, a) + h->drift[i]);
  }
  if (!eliminate(m, h->factors, h->force)) return 0;
  for (size_t i = 0; i < m; ++i) {
    if (!(fabs(h->factors[i * m + i]) > REDUNDANT * most) && m > 1) return 0;
  }
  memset(h->load, 0, n * sizeof *h->load);
  for (size_t i = 0; i < m; ++i) {
    add_to(n, h->force[i], h->answers + i * n, a);
    add_to(n, h->force[i], h->columns + i * n, h->load);
  }
  return 1;
}
