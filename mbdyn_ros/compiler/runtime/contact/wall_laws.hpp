/* Walls that yield, whose surface moves along itself, or that resist turning: laws that few have. */
#pragma once
#include "workspace.hpp"

#define SHALLOW 1e-9  /* m of depth at least at which a law without a slope at zero is looked at */
#define COARSE 2.     /* radians of its own vibration in a step above which a wall is damped */

/* F = k x^n (1 + c x') + d x' of a depth x, not below 0 (Hunt and Crossley 1975; d: Kelvin and Voigt);
   `velocity` of the surface, m/s in the world; friction (m) against turning about the normal, and against
   rolling. Python makes them in this order. */
struct law {
  double stiffness, exponent, damping, dissipation;
  double velocity[3];
  double torsion, rolling;
};

static const struct law* law_of(const struct walls* w, size_t k) {
  return w->laws ? (const struct law*)w->laws + k : nullptr;
}

static int yields(const struct walls* w, size_t k) {
  return w->laws && law_of(w, k)->stiffness > 0.;
}

/* Whether walls that are touched bring energy, as those that move may. */
static int gives_energy(const struct walls* w, const Work<double>* x) {
  for (size_t i = 0; w->laws && i < x->count; ++i) {
    const struct law* law = law_of(w, x->active[i]);
    if (dot(3, law->velocity, law->velocity) > 0.) return 1;
  }
  return 0;
}

/* What walls that yield hold and give back, J, at the distances in x->now. */
static double stored_energy(const struct walls* w, const Work<double>* x) {
  double sum = 0.;
  for (size_t k = 0; w->laws && k < w->contacts; ++k) {
    const struct law* law = law_of(w, k);
    const double depth = fmax(-x->now[k] / x->now[2 * w->contacts + k], 0.), n = law->exponent;
    if (law->stiffness > 0.) sum += law->stiffness * pow(depth, n + 1.) / (n + 1.);
  }
  return sum;
}

/* The force (N) at a depth (m) and its rate (m/s), and its slopes in both; `slope` (2). */
static double force_of(const struct law* law, double depth, double rate, double* slope) {
  const double x = fmax(depth, 0.), spring = law->stiffness * pow(x, law->exponent);
  const double least = fmax(depth, SHALLOW);
  const double bend = law->stiffness * law->exponent * pow(least, law->exponent - 1.);
  slope[0] = fmax(bend * (1. + law->dissipation * rate), 0.);
  slope[1] = spring * law->dissipation + law->damping;
  return spring * (1. + law->dissipation * rate) + law->damping * rate;
}

/* Rows of a contact that resist turning, from row m on, after those along its normal and tangents
   `along`; gives the next row. */
static size_t turning_rows(const struct walls* w, Work<double>* x, size_t i, size_t m,
                           const double* body, const double* other, const double (*along)[3],
                           double* (*begin)(const struct walls*, Work<double>*, size_t, size_t)) {
  const struct law* law = law_of(w, x->active[i]);
  const double friction[] = {law->torsion, law->rolling};
  for (int kind = 0; kind < 2; ++kind) {
    if (!(friction[kind] > 0.)) continue;
    const size_t d = x->discs++, rows = kind ? 2 : 1;
    x->disc_normal[d] = x->first[i], x->disc[d] = m, x->disc_rows[d] = rows;
    x->disc_mu[d] = friction[kind];
    for (size_t r = 0; r < rows; ++r, ++m) {
      const double* axis = along[kind ? 1 + r : 0];
      const double way[][6] = {{0., 0., 0., axis[0], axis[1], axis[2]}};
      const double against[][6] = {{0., 0., 0., -axis[0], -axis[1], -axis[2]}};
      double* row = begin(w, x, m, x->active[i]);
      add_motions<1>(w->mobility, x->column, body, way, w->nv, row);
      if (other) add_motions<1>(w->mobility, x->column, other, against, w->nv, row);
      x->carry[m] = 0.;
    }
  }
  return m;
}

/* Let the velocities b of a problem be those against surfaces that move. */
static void take_carry(const struct walls* w, const Work<double>* x, double* b) {
  if (w->laws) add_to(x->contact_rows, -1., x->carry, b);
}

/* Walls that yield in a step of length h, of which a share `part` is way: the force of the mean over
   the step, half of which is at its end, or more where the step is long for the wall. Along the normal
   the law is that of a rigid wall then with 1 / (h C) more on the diagonal of A, of slopes at the last
   trial. x->start: where the step begins; x->now: at its last trial, of which x->displacement was the way. */
static void yield_to(const struct walls* w, Work<double>* x, size_t m, double h, double part) {
  const size_t n = w->nv, contacts = w->contacts;
  for (size_t i = 0; w->laws && i < x->count; ++i) {
    const size_t k = x->active[i], row = x->first[i];
    const struct law* law = law_of(w, k);
    if (!(law->stiffness > 0.)) continue;
    double *own = x->A + row * m + row, slope[2];
    *own -= x->yield[i];
    const double g = x->start[k] / x->start[2 * contacts + k], trial = x->now[k] / x->now[2 * contacts + k];
    const double before = x->start[contacts + k] / x->start[2 * contacts + k];
    const double now = x->now[contacts + k] / x->now[2 * contacts + k];
    double share = part < h ? 0.5 : 1.;
    force_of(law, -fmin(g, trial), 0., slope);
    const double turns = h * sqrt(slope[0] * *own) + h * slope[1] * *own;
    share = fmax(share, 1. - 0.5 * COARSE / fmax(turns, COARSE));
    const double depth = -((1. - share) * g + share * trial), rate = -((1. - share) * before + share * now);
    const double force = force_of(law, depth, rate, slope);
    double way = 0.;  /* of the row, where impulses are not counted */
    for (size_t j = 0; j < x->reaches[row]; ++j) {
      const size_t at = (size_t)x->reach[row][j];
      way += x->S[row * n + at] * (part * (x->fast[at] + x->gained[at]) + x->displacement[at]);
    }
    const double far = trial - way - part * x->shift[row];  /* the gap at the end is far + part w */
    const double yields = share * (slope[0] * part + slope[1]);
    const double bias = force - slope[0] * (depth + (1. - share) * g + share * far) -
                        slope[1] * (rate + (1. - share) * before);
    x->yield[i] = 1. / (h * fmax(yields, 1e-9 * law->stiffness * SHALLOW));
    x->b[row] -= bias * h * x->yield[i];
    x->load[i] = h * force;
    *own += x->yield[i];
  }
}
