/* Contacts that are held in a smooth motion: rows S of their accelerations, with S a + drift = 0, and
   directions C of the forces that hold them, M a = F + C^T f. */
#pragma once
#include "contact_jacobian.hpp"

#define REDUNDANT 1e-10   /* pivot, as a share of the largest number, under which rows depend */

/* jacobians, drifts: results of `contact_rows` and `contact_drift`. Of every contact: where its body,
   the other one, normal and drift stand there (see `RowsLayout`), its point and radius (4), friction,
   where it slides (2), and whether it sticks, or slides. mobility: see there. */
struct held {
  size_t nv, count;
  const double *jacobians, *drifts;
  const int64_t *body, *partner, *normal, *drifts_at;
  const double *point, *friction, *slide;
  const int64_t *sticks, *slides;
  const struct mobility* mobility;
  double leaning;
  /* results of `rows_at`: place and normal (count, 2, 3); along the normal and two tangents the rows
     (count, 3, nv) and drifts (count, 3) */
  double *places, *J, *bends;
  /* of `held_rows`: (m, nv) twice, (m); velocities along the walls (count, 2) */
  double *rows, *columns, *drift, *along;
  /* of `held_forces`: M, X = (M^-1 C^T)^T, A = S X (m, m) and a copy, forces (m), C^T f (nv) */
  double *mass, *answers, *matrix, *factors, *force, *load;
};

/* The laws of every contact along its normal and two tangents; of a stop, which has none, the first. */
EXPORTED void rows_at(const struct held* h) {
  const size_t n = h->nv;
  memset(h->J, 0, 3 * n * h->count * sizeof *h->J);
  memset(h->bends, 0, 3 * h->count * sizeof *h->bends);
  for (size_t k = 0; k < h->count; ++k) {
    const double *body = h->jacobians + h->body[k], *drift = h->drifts + h->drifts_at[k];
    double *J = h->J + 3 * n * k, *bend = h->bends + 3 * k, *at = h->places + 6 * k;
    bend[0] = drift[0];
    if (h->normal[k] < 0) {
      memcpy(J, body, n * sizeof *J);
      continue;
    }
    const double* normal = h->jacobians + h->normal[k];
    const double* other = h->partner[k] < 0 ? nullptr : h->jacobians + h->partner[k];
    const double* place = h->partner[k] == -1 ? nullptr : normal + 3;
    double along[3][3] = {{normal[0], normal[1], normal[2]}};
    if (!place) touching_place(body, h->point + 4 * k, normal, at), place = at;
    tangents(normal, along[1], along[2]);
    add_contact_rows<3>(h->mobility, h->jacobians, body, other, place, along, n, J);
    for (int r = 0; r < 3; ++r) {
      at[r] = place[r], at[3 + r] = normal[r];
      if (r) bend[r] = dot(3, along[r], drift + 1);
    }
  }
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
  rows_at(h);
  for (size_t k = 0; k < h->count; ++k) {
    const double* J = h->J + 3 * n * k;
    double *along = h->along + 2 * k, *column = h->columns + m * n;
    double way[2] = {h->slide[2 * k], h->slide[2 * k + 1]};
    for (size_t i = 0; i < 2; ++i) along[i] = dot(n, J + (i + 1) * n, v);
    if (h->slides[k]) leans(h->leaning, along, h->slide + 2 * k, way);
    memcpy(h->rows + m * n, J, n * sizeof *J);
    memcpy(column, J, n * sizeof *J);
    for (size_t i = 0; i < 2; ++i) add_to(n, -h->friction[k] * way[i], J + (i + 1) * n, column);
    h->drift[m++] = h->bends[3 * k];
    for (size_t i = 1; h->sticks[k] && i < 3; ++i, ++m) {
      memcpy(h->rows + m * n, J + i * n, n * sizeof *J);
      memcpy(h->columns + m * n, J + i * n, n * sizeof *J);
      h->drift[m] = h->bends[3 * k + i];
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
